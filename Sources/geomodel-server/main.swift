// The process: flags in, one session on standard input and output; or the reader's role, which the server starts.

import Reader

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "--reader", let memory = UInt64(arguments[2]) {
  ReaderProcess.serve(at: 3, memory: memory, allowsNetwork: arguments.dropFirst(3).first == "--allow-network")
}
serve(Flags.parse(arguments))
