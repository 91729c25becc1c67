// Which files may be opened: the one rule that the wrappers of vectors and of rasters share. No library, libc alone.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
      default: throw .notReadable(reason: String(cString: strerror(reason)))
      }
    }
    // Refused before anything about the file is told, so that a refusal says nothing of what lies outside.
    guard allows(realPath: real) else { throw .refused(reason: "outside the allowed directories") }
    guard let identity = FileIdentity(path: real) else { throw .notReadable(reason: String(cString: strerror(errno))) }
    switch identity.kind {
    case .directory: throw .isDirectory
    case .other: throw .notReadable(reason: "not a regular file")
    case .regular: break
    }
    guard access(real, R_OK) == 0 else { throw .notReadable(reason: String(cString: strerror(errno))) }
    return real
  }

  /// Whether a path without symbolic links lies in one of the allowed directories.
  public func allows(realPath path: String) -> Bool {
    guard let allowedDirectories else { return true }
    return allowedDirectories.contains { directory in
      guard let root = realPath(directory) else { return false }
      return root == "/" || Text(path) == Text(root) || path.begins(with: root + "/")
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

/// The path with every symbolic link resolved; nil with `errno` set when there is no such file.
public func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// What tells one state of a file from another: a file read while these changed was not read as a whole.
public struct FileIdentity: Hashable, Sendable {
  public enum Kind: Hashable, Sendable { case regular, directory, other }
  public let kind: Kind
  /// Bytes.
  public let size: Int
  public let mode: UInt32
  public let modifiedSeconds: Int
  public let modifiedNanoseconds: Int
  private let device: UInt64
  private let inode: UInt64

  /// Follows symbolic links; nil with `errno` set when it cannot be looked at.
  public init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  public init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    default: kind = .other
    }
    size = Int(status.st_size)
    mode = UInt32(status.st_mode)
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    modifiedSeconds = Int(modified.tv_sec)
    modifiedNanoseconds = Int(modified.tv_nsec)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
