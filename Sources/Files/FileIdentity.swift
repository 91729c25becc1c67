// The state of a file, to detect changes while it is read.

import Platform

/// Identifies a state of a file: if it differs after reading, the content may mix states.
public struct FileIdentity: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case regular, directory
    /// A FIFO or a character device.
    case stream
    case other
  }
  public let kind: Kind
  /// Bytes.
  public let size: Int
  public let mode: UInt32
  public let modifiedSeconds: Int
  public let modifiedNanoseconds: Int
  /// Time of the last status change. A program can set the modification time back, but not this one.
  private let changedSeconds: Int
  private let changedNanoseconds: Int
  private let device: UInt64
  private let inode: UInt64

  /// Follows symbolic links; nil with `errno` set on failure.
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

  /// Whether both are states of one file.
  func isOfFile(_ other: FileIdentity) -> Bool { device == other.device && inode == other.inode }

  /// The state of a name in an open folder; symbolic links are not followed. Nil with `errno` set on failure.
  init?(_ name: String, in folder: CInt) {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    case S_IFIFO, S_IFCHR: kind = .stream
    default: kind = .other
    }
    size = Int(status.st_size)
    mode = UInt32(status.st_mode)
    modifiedSeconds = Int(status.modified.tv_sec)
    modifiedNanoseconds = Int(status.modified.tv_nsec)
    changedSeconds = Int(status.changed.tv_sec)
    changedNanoseconds = Int(status.changed.tv_nsec)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
