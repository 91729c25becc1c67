// Every method, notification and error of the definition has a conformance case.

import Foundation
import JSON
import Testing

struct CoverageTests {
  /// What no client can bring about by messages alone: other tests have it, or nothing can.
  private static let outOfReach: Set<String> = [
    "internalError", "serverBusy", "libraryMissing", "failedToStart", "state/resynced", "$/logMessage",
  ]
  private static let transcripts = SourceFile.all(in: ["Protocol/conformance"], endings: ["jsonl"])

  /// What no sequence of messages can bring about, and what tests it instead.
  private static let beyondMessages = [
    "state/resynced": "a client that stops reading: StateTests in ConformanceTests, and ServerTests",
    "$/logMessage": "the same",
    "serverBusy": "the same, in JSONRPCTests",
    "internalError": "a handler that fails: JSONRPCTests",
    "libraryMissing": "a machine without PROJ or GDAL",
  ]

  /// What a case says it covers besides what can be seen in it.
  private static func declared(_ member: StaticString) throws -> Set<String> {
    var names = outOfReach
    for file in transcripts {
      let head = try JSONDocument(String(file.lines.first ?? ""))
      try head.read { head in
        guard head[member].isPresent else { return }
        names.formUnion(try head[member].array { value throws(JSONError) in try value.string() })
      }
    }
    return names
  }

  private static func says(_ member: String, _ value: String) -> Bool {
    // In a message sent as text the quotes are escaped.
    let phrases = ["\"\(member)\": \"\(value)\"", "\"\(member)\":\"\(value)\"", "\\\"\(member)\\\":\\\"\(value)\\\""]
    return transcripts.contains { file in phrases.contains(where: file.text.contains) }
  }

  @Test(.enabled(if: !transcripts.isEmpty, "Protocol/conformance has no cases"))
  func `every method and notification has a conformance case`() throws {
    let declared = try Self.declared("methods")
    for file in SourceFile.all(in: ["Protocol/domains"], endings: ["json"]) {
      let definition = try JSONDocument(file.text)
      try definition.read { domain in
        for list in [domain["methods"], domain["notifications"]] where list.isPresent {
          for name in try list.array({ entry throws(JSONError) in try entry["name"].string() })
          where !declared.contains(name) && !Self.says("method", name) && Self.beyondMessages[name] == nil {
            Issue.record("no case has \(name) (\(file.path))")
          }
        }
      }
    }
  }

  @Test(.enabled(if: !transcripts.isEmpty, "Protocol/conformance has no cases"))
  func `every kind of error has a conformance case`() throws {
    let declared = try Self.declared("errors")
    let text = try String(contentsOf: ProtocolGen.root.appending(path: "Protocol/errors.json"), encoding: .utf8)
    try JSONDocument(text).read { errors in
      for kind in try errors["errors"].array({ entry throws(JSONError) in try entry["kind"].string() })
      where !declared.contains(kind) && !Self.says("kind", kind) && Self.beyondMessages[kind] == nil {
        Issue.record("no case has an error of kind \(kind)")
      }
    }
  }
}
