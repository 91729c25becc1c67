// A folder of a test's own, for documents and their data.

import Foundation

/// A folder that goes with the test.
final class TemporaryFolder {
  let url: URL
  init() throws {
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "documents-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
  func text(_ name: String) throws -> String { try String(contentsOf: url.appending(path: name), encoding: .utf8) }
  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: url.appending(path: name)) }
  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
}
