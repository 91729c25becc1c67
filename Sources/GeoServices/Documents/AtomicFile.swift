// A file that is replaced as a whole or not at all: written beside its target, synced, renamed over it.

import FeatureFormats
import Files
import GeoProtocol
import Geometry
import JSONRPC
import Platform
import Synchronization

/// What is being saved when the process ends.
public enum UnfinishedSaves {
  fileprivate struct Files {
    var names: Set<Text> = []
    /// Once the process ends nothing is begun.
    var isOver = false
  }
  fileprivate static let files = Mutex(Files())

  /// Takes away what was written so far, and begins nothing more; the files themselves stay as they are.
  public static func remove() {
    files.withLock { files in
      files.isOver = true
      for name in files.names { unlink(name.string) }
    }
  }
}

/// A new content for a file. Until it is committed the old one stands; given up, it leaves nothing behind.
struct AtomicFile: ~Copyable {
  private let target: String
  private let temporary: String
  private let descriptor: CInt
  private var isOpen = true

  /// Numbers for names that no two writers of the process share.
  private static let written = Atomic(0)

  private init(target: String, temporary: String, descriptor: CInt) {
    self.target = target
    self.temporary = temporary
    self.descriptor = descriptor
  }

  /// Begins a new content.
  ///
  /// - Parameter target: the real path, as `FilePolicy.resolveForWriting` gives it.
  static func begin(replacing target: String) throws(RPCError) -> AtomicFile {
    let mode = FileIdentity(path: target).map { mode_t($0.mode & 0o7777) }
    let folder = target.parentFolder
    var name = ""
    let (descriptor, problem) = UnfinishedSaves.files.withLock { files -> (CInt, CInt) in
      guard !files.isOver else { return (-1, ECANCELED) }
      while true {
        let number = written.add(1, ordering: .relaxed).newValue
        name = folder + (folder.hasSuffix("/") ? "" : "/") + ".geomodel-\(getpid())-\(number).tmp"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode ?? 0o666)
        // What an earlier process of this number left behind is not ours to touch.
        if descriptor < 0, errno == EEXIST { continue }
        if descriptor >= 0 { files.names.insert(Text(name)) }
        return (descriptor, errno)
      }
    }
    guard descriptor >= 0 else { throw RPCError(savingTo: target, problem) }
    let file = AtomicFile(target: target, temporary: name, descriptor: descriptor)
    // The mask of the process took bits from a mode that is to be kept.
    if let mode, fchmod(descriptor, mode) != 0 { throw file.failure() }
    return file
  }

  deinit {
    defer { UnfinishedSaves.files.withLock { _ = $0.names.remove(Text(temporary)) } }
    guard isOpen else { return }
    close(descriptor)
    unlink(temporary)
  }

  /// Appends bytes.
  func append(_ bytes: UnsafeRawBufferPointer) throws(RPCError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure()
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Makes what was written the file's content, on the disk too.
  consuming func commit() throws(RPCError) {
    guard fsync(descriptor) == 0 else { throw failure() }
    guard rename(temporary, target) == 0 else { throw failure() }
    isOpen = false
    let isClosed = close(descriptor) == 0
    let problem = errno
    let directory = open(target.parentFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      // Some file systems cannot sync a directory; then the rename is as safe as they make it.
      _ = fsync(directory)
      close(directory)
    }
    if !isClosed { throw RPCError(savingTo: target, problem) }
  }

  private func failure() -> RPCError { RPCError(savingTo: target, errno) }
}

extension FilePolicy {
  /// The real path of a file that may be written: one that is there, or a new one in a folder that is.
  ///
  /// - Parameter path: absolute.
  func resolveForWriting(_ path: String) throws(RPCError) -> String {
    func refused(_ reason: String) -> RPCError { RPCError(FormatError.refused(path: path, reason: reason)) }
    if path.begins(with: "/vsi") { throw refused("virtual files are not allowed") }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard let real = realPath(path) else { throw RPCError(savingTo: path, errno) }
      guard allows(realPath: real) else { throw refused("outside the allowed directories") }
      guard FileIdentity(path: real)?.kind == .regular else {
        throw RPCError(.notAFile, "\(path) is no file that can be replaced.", path: path, expected: "a file")
      }
      guard access(real, W_OK) == 0 else { throw RPCError(savingTo: path, errno) }
      return real
    }
    guard errno == ENOENT, let folder = realPath(path.parentFolder) else { throw RPCError(savingTo: path, errno) }
    let name = path.lastName
    if name.isEmpty || name == "." || name == ".." {
      throw RPCError(.notAFile, "\(path) is a directory.", path: path, expected: "a file")
    }
    let real = (folder == "/" ? "" : folder) + "/" + name
    guard allows(realPath: real) else { throw refused("outside the allowed directories") }
    return real
  }
}
