// Inputs to start from, taken from the fixtures and the conformance transcripts; and inputs that once failed.

import Foundation
import JSON

enum Seeds {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The lines of all transcripts.
  static func lines() throws -> [[UInt8]] {
    let folder = root.appending(path: "Protocol/conformance")
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return try names.filter { $0.hasSuffix(".jsonl") }.sorted().flatMap { name in
      try Data(contentsOf: folder.appending(path: name)).split(separator: 0x0A).map { Array($0) }
    }
  }

  /// All strings in the transcripts that are no member's name, each once.
  static func texts() throws -> [String] {
    var texts: Set<String> = []
    for line in try lines() {
      try JSONDocument(line).read { collect($0, into: &texts) }
    }
    return texts.sorted()
  }

  private static func collect(_ value: JSONValue, into texts: inout Set<String>) {
    switch value.kind {
    case .string: value.withUTF8 { _ = texts.insert(String(decoding: $0, as: UTF8.self)) }
    case .array: for index in 0..<value.count { collect(value[index], into: &texts) }
    case .object: value.forEachMember { collect($1, into: &texts) }
    default: break
    }
  }

  static func fixture(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: root.appending(path: "Tests/Fixtures").appending(path: name)))
  }

  /// Inputs that a target failed with before it was mended: files of `Found/<target>`.
  static func found(by target: String) throws -> [[UInt8]] {
    let folder = root.appending(path: "Tests/FuzzTests/Found/\(target)")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return try names.sorted().map { Array(try Data(contentsOf: folder.appending(path: $0))) }
  }
}
