// One conformance case: a file of steps, as Protocol/conformance/README.md describes them.

import Foundation
import JSON
import Testing

/// A case of Protocol/conformance.
struct Transcript: Sendable, CustomTestStringConvertible {
  let file: URL
  let framing: Framing

  enum Framing: String, Sendable { case lines, headers }

  var testDescription: String { "\(Self.name(of: file)) in \(framing.rawValue)" }

  /// `domain/case`.
  private static func name(of file: URL) -> String {
    "\(file.deletingLastPathComponent().lastPathComponent)/\(file.deletingPathExtension().lastPathComponent)"
  }

  static let folder = repository.appending(path: "Protocol/conformance")

  /// Every case that can be run in memory, in each framing that it is for.
  ///
  /// `GEOMODEL_CASES` restricts them to the cases that its glob matches (`overlay/*`), `GEOMODEL_QUICK` to one framing each.
  static let all: [Transcript] = {
    let environment = ProcessInfo.processInfo.environment
    let glob = environment["GEOMODEL_CASES"] ?? "*"
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let cases = (files?.allObjects as? [URL] ?? [])
      .filter { $0.pathExtension == "jsonl" && fnmatch(glob, name(of: $0), 0) == 0 }
      .sorted { $0.path < $1.path }
    return cases.flatMap { file -> [Transcript] in
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
      let head = try? Value(String(text.prefix { $0 != "\n" }))
      // A limit would be on this process, and on all tests. The Python runner gives the server a process of its own.
      if head?["fileSizeLimit"] != nil { return [] }
      let only = head?["framing"]?.string
      if let framing = only.flatMap(Framing.init) { return [Transcript(file: file, framing: framing)] }
      let lines = Transcript(file: file, framing: .lines)
      if environment["GEOMODEL_QUICK"] != nil { return [lines] }
      return text.contains("\"sendRaw\"") ? [lines] : [lines, Transcript(file: file, framing: .headers)]
    }
  }()

  /// The lines, parsed: the first says what case it is.
  func steps() throws -> [Step] {
    try Data(contentsOf: file).split(separator: 0x0A).enumerated().map { index, line in
      do { return try Step(line) } catch { throw Mismatch("line \(index + 1)", "\(error)") }
    }
  }

  /// Plays it against a fresh server.
  func play() throws {
    let steps = try steps()
    let conversation = try Conversation(self, steps.first?.value ?? [:])
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
    } catch { throw Mismatch("line \(line)", "\(error)") }
  }

  /// A line.
  struct Step {
    let value: Value
    /// What is sent when nothing is filled in: members in the order of the file.
    let sent: [UInt8]?

    init(_ line: Data) throws {
      let document = try JSONDocument(Array(line))
      value = try document.read { try Value($0) }
      sent = document.read { step in
        let message = step["send"]["$literal"].kind == .absent ? step["send"] : step["send"]["$literal"]
        return message.kind == .absent ? nil : Array(message.text.utf8)
      }
    }

    subscript(name: String) -> Value? { value[name] }
  }
}
