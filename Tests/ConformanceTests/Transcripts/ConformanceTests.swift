// Every transcript of Protocol/conformance, against the server in memory.

import Testing

struct ConformanceTests {
  @Test(.enabled(if: !Transcript.all.isEmpty, "Protocol/conformance has no cases"), arguments: Transcript.all)
  func `the server does what the transcript says`(transcript: Transcript) throws {
    do { try transcript.play() } catch { Issue.record("\(transcript.testDescription), \(error)") }
  }
}
