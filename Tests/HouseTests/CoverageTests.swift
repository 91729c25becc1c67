// Every method, notification and error of the definition has a conformance case.

import Foundation
import GeoProtocol
import JSON
import Testing

struct CoverageTests {
  private static let transcripts = SourceFile.all(in: ["Protocol/conformance"], endings: ["jsonl"])

  /// Items that no sequence of messages can cause, and the tests that cover them: a client that does not read, a
  /// handler that fails, a missing library.
  private static let beyondMessages = [
    "state/resynced": "Tests/ServerTests/BackpressureTests.swift",
    "$/logMessage": "Tests/JSONRPCTests/LifecycleTests.swift",
    "serverBusy": "Tests/ServerTests/BackpressureTests.swift",
    "limitReached": "Tests/ConformanceTests/Session/LimitTests.swift",
    "tooManyGroups": "Tests/QueryTests/StatisticsTests.swift",
    "internalError": "Tests/JSONRPCTests/MessageTests.swift",
    "libraryMissing": "Tests/ServerTests/LibraryTests.swift",
    "readerFailed": "Tests/NativeTests/ReaderTests.swift",
    "writerFailed": "Tests/NativeTests/WriterTests.swift",
    "engineFailed": "Tests/NativeTests/EngineTests.swift",
    "serverLost": "Clients/python/tests/test_sharing_ends.py",
    "undoConflict": "Clients/python/tests/test_sharing.py",
    "painterFailed": "Clients/python/tests/test_pictures.py",
  ]

  /// Items a case covers beyond the messages in it, as it states.
  private static func declared(_ member: StaticString) throws -> Set<String> {
    var names = Set(beyondMessages.keys)
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
    // In a message sent as text, quotes are escaped.
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
          where !declared.contains(name) && !Self.says("method", name) {
            Issue.record("no case has \(name) (\(file.path))")
          }
        }
      }
    }
  }

  @Test func `no answer is expected to be just any object`() {
    for file in Self.transcripts {
      for (index, line) in file.lines.enumerated()
      where line.contains("\"result\": {}") || line.contains("\"result\": {\"$type\": \"object\"}") {
        Issue.record("\(file.path):\(index + 1): its members are known (none: {\"$exact\": {}})")
      }
    }
  }

  @Test func `setups exist, and several cases begin with each`() throws {
    var uses = Dictionary(
      uniqueKeysWithValues: SourceFile.all(in: ["Protocol/conformance/setups"], endings: ["jsonl"]).map { ($0.path, 0) }
    )
    for file in Self.transcripts {
      let head = try JSONDocument(String(file.lines.first ?? ""))
      try head.read { head in
        guard head["setup"].isPresent else { return }
        let path = "Protocol/conformance/setups/\(try head["setup"].string()).jsonl"
        #expect(uses[path] != nil, "\(file.path): there is no \(path)")
        if head["case"].isPresent { uses[path, default: 0] += 1 }
      }
    }
    for (path, count) in uses { #expect(count > 1, "\(path)") }
  }

  @Test func `methods that check meta.ifRevision declare contentModified`() {
    // These shapes run in `Host.change`, as do session handlers that call it.
    let shapes: Set<GeoProtocol.MethodShape> = [.command, .process, .task]
    for method in GeoProtocol.WireProtocol.methods
    where shapes.contains(method.shape) || ["model/apply", "document/new"].contains(method.name) {
      #expect(method.errors.contains(.contentModified), "\(method.name)")
    }
  }

  @Test(.enabled(if: !transcripts.isEmpty, "Protocol/conformance has no cases"))
  func `every kind of error has a conformance case`() throws {
    let declared = try Self.declared("errors")
    let text = try String(contentsOf: ProtocolGen.root.appending(path: "Protocol/errors.json"), encoding: .utf8)
    try JSONDocument(text).read { errors in
      for kind in try errors["errors"].array({ entry throws(JSONError) in try entry["kind"].string() })
      where !declared.contains(kind) && !Self.says("kind", kind) {
        Issue.record("no case has an error of kind \(kind)")
      }
    }
  }

  @Test func `errors that messages cannot cause are tested where stated`() {
    let tests = SourceFile.all(in: ["Tests", "Clients/python/tests"], endings: ["swift", "py"])
    for (name, path) in Self.beyondMessages {
      #expect(tests.first { $0.path == path }?.text.contains(name) == true, "\(path) does not test \(name)")
    }
  }
}
