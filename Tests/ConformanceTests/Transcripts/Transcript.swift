// One conformance case: a file of steps, as Protocol/conformance/README.md describes them.

import Foundation
import JSON
import TestSupport
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

  /// Every case that can run in memory, once for each framing it applies to.
  ///
  /// `GEOMODEL_CASES` is a glob that selects cases (`overlay/*`). `GEOMODEL_QUICK` selects one framing for each, and leaves out
  /// those with `patience`, which process many features.
  static let all: [Transcript] = {
    let environment = ProcessInfo.processInfo.environment
    let glob = environment["GEOMODEL_CASES"] ?? "*"
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let cases = (files?.allObjects as? [URL] ?? [])
      .filter {
        $0.pathExtension == "jsonl" && fnmatch(glob, name(of: $0), 0) == 0 && !name(of: $0).hasPrefix("setups/")
      }
      .sorted { $0.path < $1.path }
    return cases.flatMap { file -> [Transcript] in
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
      let head = try? Value(String(text.prefix { $0 != "\n" }))
      // A file size limit would apply to the test process. The Python runner covers these cases.
      if head?["fileSizeLimit"] != nil { return [] }
      if isQuick, head?["patience"] != nil { return [] }
      let only = head?["framing"]?.string
      if let framing = only.flatMap(Framing.init) { return [Transcript(file: file, framing: framing)] }
      let lines = Transcript(file: file, framing: .lines)
      return isQuick || text.contains("\"sendRaw\"") ? [lines] : [lines, Transcript(file: file, framing: .headers)]
    }
  }()

  /// The head of the case, the steps of its setup, and its own.
  func read() throws -> (head: Value, steps: [Step]) {
    let own = try Self.lines(of: file, "")
    guard let head = own.first else { throw Mismatch("line 1", "no head") }
    guard let setup = head["setup"]?.string else { return (head.value, Array(own.dropFirst())) }
    let shared = file.deletingLastPathComponent().deletingLastPathComponent().appending(path: "setups/\(setup).jsonl")
    return (head.value, Array(try Self.lines(of: shared, " of setups/\(setup)").dropFirst() + own.dropFirst()))
  }

  private static func lines(of file: URL, _ whose: String) throws -> [Step] {
    try Data(contentsOf: file).split(separator: 0x0A).enumerated().map { index, line in
      let place = "line \(index + 1)\(whose)"
      do { return try Step(Array(line), at: place) } catch { throw Mismatch(place, "\(error)") }
    }
  }

  /// Runs the case against a new server.
  func play() throws {
    let (head, steps) = try read()
    let conversation = try Conversation(self, head, steps)
    // Files at the beginning are written before the server starts.
    let files = steps.prefix { $0["file"] != nil }
    var place = "line 1"
    do {
      for step in files { try conversation.run(step) }
      try conversation.begin()
      for step in steps.dropFirst(files.count) {
        place = step.place
        try conversation.run(step)
      }
      place = "after \(place)"
      try conversation.end()
    } catch { throw Mismatch(place, "\(error)") }
  }

  /// A line.
  struct Step {
    let value: Value
    let text: SentText
    let place: String

    init(_ line: [UInt8], at place: String = "before line 2") throws {
      self.place = place
      value = try Value(line)
      text = SentText(line.trimmingPrefix { $0 == 0x20 })
    }

    subscript(name: String) -> Value? { value[name] }
  }
}
