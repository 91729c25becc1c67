// Paths of data in a document: relative to its folder, so that both can be moved together.

import Geometry
import JSONRPC

extension String {
  /// Everything before the last name; "/" for a name at the root, "." for a bare name.
  var parentFolder: String {
    guard let slash = lastIndex(of: "/") else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// What stands behind the last slash.
  var lastName: String { lastIndex(of: "/").map { String(self[index(after: $0)...]) } ?? self }
}

/// The folder that a document's paths start from.
struct DocumentFolder: Sendable {
  /// Absolute, without symbolic links.
  let path: String

  /// - Parameter file: the document's real path.
  init(of file: String) { path = file.parentFolder }

  /// An absolute path as it stands in the document.
  func relative(_ absolute: String) -> String {
    let target = Self.names(of: absolute)
    let own = Self.names(of: path)
    var shared = 0
    while shared < own.count, shared < target.count - 1, own[shared] == target[shared] { shared += 1 }
    let ups = Array(repeating: "..", count: own.count - shared)
    return (ups + target[shared...]).joined(separator: "/")
  }

  /// The absolute path for what stands in a document.
  func absolute(_ name: String, _ files: Files) throws(RPCError) -> String {
    let full = try files.rooted(at: path).path(name)
    return "/" + Self.names(of: full).joined(separator: "/")
  }

  /// The names of an absolute path, `.` and `..` resolved: by what is there when they stand behind a symbolic link.
  private static func names(of path: String) -> [String] {
    let names = path.split(separator: "/").map(String.init)
    guard names.contains(where: { $0 == "." || $0 == ".." }) else { return names }
    if let real = realPath(path) { return real.split(separator: "/").map(String.init) }
    return names.reduce(into: []) { names, name in
      switch name {
      case ".": break
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
  }
}
