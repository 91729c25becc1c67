// From Protocol/ to everything that follows from it.

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

guard let command = Command(Array(CommandLine.arguments.dropFirst())) else {
  Files.say(Command.usage)
  exit(64)
}
do {
  exit(try command.run())
} catch {
  Files.say("protocol-gen: \(error)")
  exit(2)
}
