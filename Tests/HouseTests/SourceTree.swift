// The files of the checkout, for rules about source code.

import Foundation

/// A file below the checkout's root.
struct SourceFile: Sendable {
  /// Relative to the root, with slashes.
  let path: String
  let text: String

  var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  /// The folder below Sources or Tests.
  var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
  var isGenerated: Bool {
    path.contains("/Generated/") || path.contains("/_generated/") || path.contains("/SampleProtocol/")
  }

  /// The modules imported by `import`, `public import` or `@testable import`.
  var imports: [String] {
    lines.compactMap { line in
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"),
        words[..<index].allSatisfy({ Self.modifiers.contains(String($0)) })
      else { return nil }
      return words.dropFirst(index + 1).first { !Self.kinds.contains(String($0)) }.map {
        String($0.split(separator: ".")[0])
      }
    }
  }

  private static let modifiers = [
    "public", "package", "internal", "fileprivate", "private", "@testable", "@preconcurrency", "@_exported",
  ]
  private static let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]

  /// All files with one of the endings, below folders of the root, without build products.
  static func all(in folders: [String], endings: [String]) -> [SourceFile] {
    folders.flatMap { folder -> [SourceFile] in
      let root = ProtocolGen.root.appending(path: folder)
      let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
      return files.compactMap { file in
        guard endings.contains(file.pathExtension), let text = try? String(contentsOf: file, encoding: .utf8) else {
          return nil
        }
        let path = folder + file.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count)
        let isForeign = path.split(separator: "/").contains {
          $0.hasPrefix(".") || $0 == "__pycache__" || $0 == "build" || $0.hasSuffix(".egg-info")
        }
        return isForeign ? nil : SourceFile(path: path, text: text)
      }
    }.sorted { $0.path < $1.path }
  }
}
