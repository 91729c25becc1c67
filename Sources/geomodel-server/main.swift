// The process: flags in, one session on standard input and output.

serve(Flags.parse(CommandLine.arguments))
