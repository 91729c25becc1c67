// Both runners of transcripts send the same bytes: the Python client's tests read the same fixture.

import Foundation
import Testing

struct SentTextTests {
  @Test func `the text of the line is sent`() throws {
    let file = repository.appending(path: "Tests/Fixtures/sent.jsonl")
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      let example = try Value(String(line))
      let step = try Transcript.Step(Array((example["line"]?.string ?? "").utf8))
      let bindings = Bindings(values: example["bindings"]?.object ?? [:])
      let message = try #require(step.text["send"], "\(line)")
      let sent = try SentText(message.completed[...]).filled(bindings)
      #expect(String(decoding: sent, as: UTF8.self) == example["sent"]?.string, "\(line)")
    }
  }
}
