// A temporary folder for documents and their data.

import Foundation

/// A folder that is removed with the object.
public final class TemporaryFolder {
  public let url: URL
  public init() throws {
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "documents-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  public func path(_ name: String) -> String { url.appending(path: name).path }
  public func text(_ name: String) throws -> String {
    try String(contentsOf: url.appending(path: name), encoding: .utf8)
  }
  public func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: url.appending(path: name)) }
  public var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
}
