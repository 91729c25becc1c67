// Every transcript of Protocol/conformance, against the server in memory.

import Testing

struct ConformanceTests {
  @Test(.enabled(if: !Transcript.all.isEmpty, "Protocol/conformance has no cases"), arguments: Transcript.all)
  func `the server does what the transcript says`(transcript: Transcript) throws {
    let steps = try transcript.steps()
    let conversation = try Conversation(transcript, try #require(steps.first))
    // Files that come first are there before the server is.
    let files = steps.dropFirst().prefix { $0["file"] != nil }
    var line = 1
    do {
      for step in files {
        line += 1
        try conversation.run(step)
      }
      try conversation.begin()
      for step in steps.dropFirst(line) {
        line += 1
        try conversation.run(step)
      }
      try conversation.end()
    } catch { Issue.record("\(transcript.testDescription), line \(line): \(error)") }
  }
}
