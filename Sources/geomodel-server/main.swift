// The process: parses flags and serves one session on standard input and output; or runs as a reader, a writer, an engine, a painter or
// what follows a feed, which the server starts.

import CLibraries
import Reader

clibraries_isolate()
let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "--reader", let memory = UInt64(arguments[2]) {
  ReaderProcess.serve(at: 3, memory: memory, allowsNetwork: arguments.dropFirst(3).first == "--allow-network")
}
if arguments.count > 2, arguments[1] == "--reader-template", let memory = UInt64(arguments[2]) {
  ReaderProcess.serveTemplate(at: 3, memory: memory)
}
if arguments.count > 2, arguments[1] == "--writer", let memory = UInt64(arguments[2]) {
  WriterProcess.serve(at: 3, memory: memory)
}
if arguments.count > 2, arguments[1] == "--engine", let memory = UInt64(arguments[2]) {
  EngineProcess.serve(at: 3, memory: memory)
}
if arguments.count > 2, arguments[1] == "--feed", let memory = UInt64(arguments[2]) {
  FeedProcess.serve(at: 3, memory: memory)
}
if arguments.count > 2, arguments[1] == "--painter", let memory = UInt64(arguments[2]) {
  PainterProcess.serve(at: 3, memory: memory)
}
let flags = Flags.parse(arguments)
switch flags.role {
case .stdio: serve(flags)
case .listen(let name): listen(flags, name)
case .attach(let name): attach(flags, name)
case .list: list(flags)
case .stop(let name): stop(name)
}
