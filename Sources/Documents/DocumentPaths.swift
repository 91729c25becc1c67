// Paths of data files in a document are relative to its directory, so that both can be moved together.

import Files
import Geometry
import Handlers
import JSONRPC
import Platform

/// The directory from which a document's relative paths start.
struct DocumentFolder: Sendable {
  /// Absolute, without symbolic links.
  let path: String

  /// The names of files in a package, by absolute path; empty for other documents.
  private var packed: [Text: String] = [:]

  /// - Parameter file: the document's real path.
  init(of file: String) { path = file.parentFolder }

  /// The folder of a package that is written.
  init(packing names: [Text: String]) { (path, packed) = ("/", names) }

  /// The relative form of an absolute path, for documents.
  func relative(_ absolute: String) -> String {
    if let name = packed[Text(absolute)] { return name }
    if FilePolicy.isAddress(absolute) { return absolute }
    let target = Self.names(of: absolute)
    let own = Self.names(of: path)
    var shared = 0
    while shared < own.count, shared < target.count - 1, Text(own[shared]) == Text(target[shared]) { shared += 1 }
    let ups = Array(repeating: "..", count: own.count - shared)
    return (ups + target[shared...]).joined(separator: "/")
  }

  /// The absolute path for a path in the document.
  func absolute(_ name: String, _ files: FilePaths) throws(RPCError) -> String {
    let full = try files.rooted(at: path).path(name)
    if FilePolicy.isAddress(full) { return full }
    return "/" + Self.names(of: full).joined(separator: "/")
  }

  /// The names of an absolute path with `.` and `..` resolved by the file system, since `..` may follow a symbolic link; by the
  /// text alone if the file does not exist.
  private static func names(of path: String) -> [String] {
    let names = path.pathNames
    guard names.contains(where: { $0 == "." || $0 == ".." }) else { return names }
    if let real = realPath(path) { return real.pathNames }
    return names.reduce(into: []) { names, name in
      switch name {
      case ".": break
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
  }
}
