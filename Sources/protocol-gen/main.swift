// Generates files from Protocol/.

import Platform

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
