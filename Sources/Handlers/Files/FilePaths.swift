// Converts names given by clients to absolute paths. The policy is checked when a file is opened.

import Files
import GeoProtocol
import Geometry
import JSONRPC

package struct FilePaths: Sendable {
  /// The directory that relative paths start from; nil if the client's root is not a directory on this machine.
  package private(set) var root: String?
  package private(set) var policy: FilePolicy

  /// - Parameters:
  ///   - allowedDirectories: folders of files that may be read; empty for no restriction.
  ///   - writableDirectories: folders of files that may be written; empty if they are those that may be read.
  package init(
    root: String, allowedDirectories: [String], writableDirectories: [String] = [], allowsNetwork: Bool = false
  ) {
    self.root = root
    policy = FilePolicy(
      allowedDirectories: allowedDirectories.isEmpty ? nil : allowedDirectories,
      writableDirectories: writableDirectories.isEmpty ? nil : writableDirectories, allowsNetwork: allowsNetwork)
  }

  /// Sets the root to `initialize.rootPath`.
  package mutating func setRoot(_ name: String) throws(RPCError) { root = try path(name) }

  /// Sets the root to `initialize.rootUri`, which editors also give for remote folders. Relative paths are then refused when used.
  package mutating func setRoot(uri: String) { root = try? path(uri) }

  /// From now on nothing may be written.
  package mutating func forbidWriting() { policy.isReadOnly = true }

  /// The same rules, with another directory for relative paths.
  package func rooted(at folder: String) -> FilePaths {
    var result = self
    result.root = folder
    return result
  }

  /// The absolute path for an absolute path, a `file://` URI, or a path relative to the root. Addresses are returned with
  /// their scheme in lower case if they are allowed.
  package func path(_ name: String) throws(RPCError) -> String {
    guard !name.utf8.contains(0) else {
      throw RPCError(.pathRefused, "A path cannot contain NUL.", expected: "a path without NUL")
    }
    if name.begins(with: "file:") { return try Self.path(ofURI: name) }
    let shown = String(Address(name).shown.prefix(200))
    if FilePolicy.isAddress(name) {
      let scheme = name.prefix { $0 != ":" }
      if policy.allowsNetwork { return scheme.lowercased() + name[scheme.endIndex...] }
      throw RPCError(
        .pathRefused, "\(shown) is refused: the server runs without --allow-network.", path: shown, expected: "the path of a file")
    }
    // Names in the form of a document, a connection or an address are not files in this directory.
    let first = name.utf8.prefix { $0 != UInt8(ascii: "/") }
    if name.begins(with: "<") || name.begins(with: "{") || first.contains(UInt8(ascii: ":")) {
      throw RPCError(
        .pathRefused, "\(shown) is no path of a file.", path: shown,
        expected: "an absolute path, a file:// URI or a path relative to rootPath")
    }
    if name.begins(with: "/") { return name }
    guard let root else {
      throw RPCError(
        .pathRefused, "\(shown) is relative, and rootUri is no folder of this machine.", path: shown, expected: "an absolute path")
    }
    return root + (root.utf8.last == UInt8(ascii: "/") ? "" : "/") + name
  }

  /// The path of `file:///a%20b` or `file://localhost/a` (RFC 8089).
  private static func path(ofURI uri: String) throws(RPCError) -> String {
    let refused = RPCError(.pathRefused, "\(uri) is no file URI of this machine.", path: uri, expected: "file:///...")
    var encoded = uri.utf8.dropFirst("file:".utf8.count)
    if encoded.starts(with: "//".utf8) {
      encoded = encoded.dropFirst(2)
      let host = encoded.prefix { $0 != UInt8(ascii: "/") }
      guard host.isEmpty || host.elementsEqual("localhost".utf8) else { throw refused }
      encoded = encoded.dropFirst(host.count)
    }
    guard encoded.first == UInt8(ascii: "/") else { throw refused }
    var bytes: [UInt8] = []
    while let byte = encoded.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: encoded.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16), value != 0 else { throw refused }
      bytes.append(value)
      encoded = encoded.dropFirst(2)
    }
    guard let path = String(validating: bytes, as: UTF8.self) else { throw refused }
    return path
  }
}

extension String {
  /// The path of the directory that contains the file: "/" for a file at the root, "." for a bare name.
  package var parentFolder: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// The text after the last slash.
  package var lastName: String {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map { String(Substring($0)) }
      ?? self
  }

  /// The last name without its extension, and the extension in lower case.
  package var stemAndExtension: (stem: String, extension: String) {
    let name = lastName
    guard let point = name.utf8.lastIndex(of: UInt8(ascii: ".")), point != name.startIndex else { return (name, "") }
    return (String(name[..<point]), String(Substring(name.utf8[point...].dropFirst())).lowercased())
  }
}
