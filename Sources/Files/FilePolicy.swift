// Which files may be opened: one rule for vector and raster files.

import Platform

/// Which files clients may open.
///
/// ```swift
/// let policy = FilePolicy(allowedDirectories: ["/data"])
/// let path = try policy.resolve("/data/roads.gpkg")
/// ```
public struct FilePolicy: Hashable, Sendable {
  /// Directories that contain all allowed files, symbolic links resolved; nil for no restriction.
  public var allowedDirectories: [String]?
  /// Whether data may also come from addresses in the network.
  public var allowsNetwork: Bool

  public init(allowedDirectories: [String]? = nil, allowsNetwork: Bool = false) {
    self.allowedDirectories = allowedDirectories
    self.allowsNetwork = allowsNetwork
  }

  /// Whether a name is the address of data in the network.
  public static func isAddress(_ name: String) -> Bool { name.begins(with: "https://") || name.begins(with: "http://") }
}

/// Why a file is not opened.
public enum FileRefusal: Error, Hashable, Sendable {
  case notFound(path: String)
  case isDirectory(path: String)
  /// The policy denies it.
  case refused(path: String, reason: String)
  /// The system denies it, or it is not a regular file.
  case notReadable(path: String, reason: String)
}

extension FilePolicy {
  /// The real path of a regular, readable file that the policy allows.
  /// - Parameter path: absolute.
  public func resolve(_ path: String) throws(FileRefusal) -> String {
    if let kind = Self.virtualKind(of: path) { throw .refused(path: path, reason: kind) }
    guard let real = realPath(path) else {
      let reason = errno
      guard allows(missing: path) else { throw .refused(path: path, reason: "outside the allowed directories") }
      switch reason {
      case ENOENT, ENOTDIR: throw .notFound(path: path)
      default: throw .notReadable(path: path, reason: errorText(reason))
      }
    }
    // Checked first, so that an error reveals nothing about files outside.
    guard allows(realPath: real) else { throw .refused(path: path, reason: "outside the allowed directories") }
    guard let identity = FileIdentity(path: real) else { throw .notReadable(path: path, reason: errorText()) }
    switch identity.kind {
    case .directory: throw .isDirectory(path: path)
    case .other: throw .notReadable(path: path, reason: "not a regular file")
    case .regular: break
    }
    guard access(real, R_OK) == 0 else { throw .notReadable(path: path, reason: errorText()) }
    return real
  }

  /// Whether a path without symbolic links is in one of the allowed directories.
  public func allows(realPath path: String) -> Bool {
    guard let allowedDirectories else { return true }
    return allowedDirectories.contains { directory in
      guard let root = realPath(directory) else { return false }
      return root == "/" || (path + "/").begins(with: root + "/")
    }
  }

  /// Whether the existing part of a missing path is inside: an error must not reveal that a file outside is missing.
  private func allows(missing path: String) -> Bool {
    guard allowedDirectories != nil else { return true }
    var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    while parts.popLast() != nil {
      if let real = realPath("/" + parts.joined(separator: "/")) { return allows(realPath: real) }
    }
    return false
  }

  /// Why `name` is not the absolute path of a file, as a description; nil if it is one.
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
  /// Compares bytes: `hasPrefix` compares characters, and a combining mark after the prefix would hide it.
  fileprivate func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
