// Folders that are held open: a file in one is opened, made, renamed and deleted in this folder, whatever its path denotes meanwhile.

import Platform

/// An open folder.
public final class HeldFolder: Sendable {
  /// The real path when the folder was opened.
  public let path: String
  fileprivate let descriptor: CInt

  /// Nil with `errno` set on failure.
  ///
  /// - Parameter path: a real path.
  public convenience init?(_ path: String) { self.init(path, in: AT_FDCWD, path) }

  private init?(_ name: String, in folder: CInt, _ path: String) {
    descriptor = openFolder(name, in: folder)
    self.path = path
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether a real path is that of the folder or in it, by the names alone.
  func contains(_ real: String) -> Bool { path == "/" || (real + "/").utf8.starts(with: (path + "/").utf8) }

  /// The folder at a path below this one, which has no `.` and `..`; nil with `errno` set on failure.
  ///
  /// Each folder is opened in the one before it, and no link is followed: an exchanged one is an error (`ENOTDIR`). `openat2` with
  /// `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` does the same in one call, but not on every system, kernel and container.
  func folder(_ names: ArraySlice<String>) -> HeldFolder? {
    names.reduce(self) { folder, name in
      folder.flatMap { HeldFolder(name, in: $0.descriptor, ($0.path == "/" ? "" : $0.path) + "/" + name) }
    }
  }

  /// The names of the files in the folder; nil with `errno` set on failure.
  public func names() -> [String]? {
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0, let stream = fdopendir(own) else {
      let problem = errno
      if own >= 0 { close(own) }
      errno = problem
      return nil
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  /// Writes the folder's names to the disk, where the file system can do that.
  public func sync() {
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { return }
    _ = fsync(own)
    close(own)
  }
}

/// The name of a file in a held folder. The calls return what the system calls do, with `errno` set.
public struct HeldName: Sendable {
  public let folder: HeldFolder
  public let name: String

  public init(_ name: String, in folder: HeldFolder) {
    self.folder = folder
    self.name = name
  }

  /// The path, for messages and as the file's identifier.
  public var path: String { (folder.path == "/" ? "" : folder.path) + "/" + name }

  /// Another name in the same folder.
  public func sibling(_ name: String) -> HeldName { HeldName(name, in: folder) }

  /// Opens the file unless the name belongs to a symbolic link.
  public func open(_ flags: CInt, mode: mode_t = 0) -> CInt {
    openat(folder.descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW, mode)
  }

  /// The state of the file, or of a symbolic link; nil with `errno` set on failure.
  public var identity: FileIdentity? { FileIdentity(name, in: folder.descriptor) }

  /// Whether the file may be written.
  public var isWritable: Bool { faccessat(folder.descriptor, name, W_OK, 0) == 0 }

  @discardableResult public func unlink() -> CInt { unlinkat(folder.descriptor, name, 0) }

  /// Gives the file another name in its folder; a file that has it is replaced.
  public func rename(to other: String) -> CInt { renameat(folder.descriptor, name, folder.descriptor, other) }

  /// Gives the file another name in its folder as well; fails if a file has it.
  public func link(to other: String) -> CInt { linkat(folder.descriptor, name, folder.descriptor, other, 0) }

  /// Gives an open file the attributes of this one; see ``Platform/keepAttributes(of:in:for:)``.
  public func keepAttributes(for descriptor: CInt) -> [FileAttribute] {
    Platform.keepAttributes(of: name, in: folder.descriptor, for: descriptor)
  }
}
