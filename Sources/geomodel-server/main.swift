// The process: flags in, one session on standard input and output. An echo for now, until GeoServices takes this place.

serve(Flags.parse(CommandLine.arguments))
