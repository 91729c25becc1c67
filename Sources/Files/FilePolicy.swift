// Which files may be opened: the one rule that the wrappers of vectors and of rasters share. No library, libc alone.

import Platform

/// Which files a client may have opened.
public struct FilePolicy: Hashable, Sendable {
  /// Directories that confine every file, symbolic links resolved; nil confines to none.
  public var allowedDirectories: [String]?
  /// Whether GDAL's virtual files, the network included, may be named. Such names are then not confined to directories.
  public var allowVirtual: Bool

  public init(allowedDirectories: [String]? = nil, allowVirtual: Bool = false) {
    self.allowedDirectories = allowedDirectories
    self.allowVirtual = allowVirtual
  }
}

/// Why a file is not opened.
public enum FileRefusal: Error, Hashable, Sendable {
  case notFound
  case isDirectory
  /// The policy says no.
  case refused(reason: String)
  /// The system says no, or it is no regular file.
  case notReadable(reason: String)
}

extension FilePolicy {
  /// Whether `name` goes to GDAL as it is: it names something virtual, and that is allowed.
  public func isAllowedVirtual(_ name: String) -> Bool {
    allowVirtual && !name.utf8.contains(0) && Self.virtualKind(of: name) != nil
  }

  /// The real path of a regular, readable file that the policy allows.
  /// - Parameter path: Absolute.
  public func resolve(_ path: String) throws(FileRefusal) -> String {
    if let kind = Self.virtualKind(of: path) { throw .refused(reason: kind) }
    guard let real = realPath(path) else {
      let reason = errno
      guard allows(missing: path) else { throw .refused(reason: "outside the allowed directories") }
      switch reason {
      case ENOENT, ENOTDIR: throw .notFound
      default: throw .notReadable(reason: errorText(reason))
      }
    }
    // Refused before anything about the file is told, so that a refusal says nothing of what lies outside.
    guard allows(realPath: real) else { throw .refused(reason: "outside the allowed directories") }
    guard let identity = FileIdentity(path: real) else { throw .notReadable(reason: errorText()) }
    switch identity.kind {
    case .directory: throw .isDirectory
    case .other: throw .notReadable(reason: "not a regular file")
    case .regular: break
    }
    guard access(real, R_OK) == 0 else { throw .notReadable(reason: errorText()) }
    return real
  }

  /// Whether a path without symbolic links lies in one of the allowed directories.
  public func allows(realPath path: String) -> Bool {
    guard let allowedDirectories else { return true }
    return allowedDirectories.contains { directory in
      guard let root = realPath(directory) else { return false }
      return root == "/" || (path + "/").begins(with: root + "/")
    }
  }

  /// Whether a path that leads to nothing stays inside as far as it leads: of what lies outside not even that it is missing is
  /// told.
  private func allows(missing path: String) -> Bool {
    guard allowedDirectories != nil else { return true }
    var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    while parts.popLast() != nil {
      if let real = realPath("/" + parts.joined(separator: "/")) { return allows(realPath: real) }
    }
    return false
  }

  /// Why `name` is not the absolute path of a file; nil when it is one.
  private static func virtualKind(of name: String) -> String? {
    if name.utf8.contains(0) { return "a path holds no NUL" }
    if name.begins(with: "/vsi") { return "virtual files are not allowed" }
    if name.begins(with: "/") { return nil }
    if name.begins(with: "<") || name.begins(with: "{") { return "inline documents are not allowed" }
    if name.utf8.contains(UInt8(ascii: ":")) { return "connection strings and network addresses are not allowed" }
    return "the path is not absolute"
  }
}

extension String {
  /// Compares bytes: `hasPrefix` compares characters, and a combining mark behind the prefix would hide it.
  fileprivate func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
