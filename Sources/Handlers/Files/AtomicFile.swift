// Atomic replacement of a file: writes to a temporary file in the same directory, syncs it, and renames it to the target.

import Files
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform
import Synchronization
import WireCoding

/// The temporary files of saves in progress, deleted when the process ends.
public enum UnfinishedSaves {
  fileprivate struct Files {
    var names: Set<Text> = []
    /// Whether the process is ending, so that no new temporary file may be created.
    var isEnding = false
  }
  fileprivate static let files = Mutex(Files())

  /// Deletes the temporary files and prevents new ones. Target files are unchanged.
  public static func remove() {
    files.withLock { files in
      files.isEnding = true
      for name in files.names { unlink(name.string) }
    }
  }
}

/// The new content of a file. ``commit(replaces:for:)`` gives it the target's name; otherwise `deinit` deletes it.
package struct AtomicFile: ~Copyable {
  private let target: String
  private let temporary: String
  /// The descriptor of the temporary file, open for writing.
  let descriptor: CInt
  /// Attributes of the replaced file that the new one does not have.
  package let lost: [FileAttribute]
  private var isOpen = true

  /// The last number used in a temporary file's name; makes names unique within the process.
  private static let lastNumber = Atomic(0)

  private init(target: String, temporary: String, descriptor: CInt, lost: [FileAttribute]) {
    self.lost = lost
    self.target = target
    self.temporary = temporary
    self.descriptor = descriptor
  }

  /// Creates the temporary file.
  ///
  /// - Parameter target: the real path, from `FilePolicy.resolveForWriting`.
  package static func begin(replacing target: String) throws(RPCError) -> AtomicFile {
    let replaced = FileIdentity(path: target)
    let folder = target.parentFolder
    clearLeftovers(in: folder)
    var name = ""
    let (descriptor, problem) = UnfinishedSaves.files.withLock { files -> (CInt, CInt) in
      guard !files.isEnding else { return (-1, ECANCELED) }
      while true {
        name = temporaryName(in: folder)
        let descriptor = open(
          name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, replaced == nil ? 0o666 : 0o600)
        // A file left by a crashed process with the same id is not overwritten; the next number is tried.
        if descriptor < 0, errno == EEXIST { continue }
        if descriptor >= 0 {
          // The lock tells other processes that this one is alive.
          flock(descriptor, LOCK_EX | LOCK_NB)
          files.names.insert(Text(name))
        }
        return (descriptor, errno)
      }
    }
    guard descriptor >= 0 else { throw RPCError(savingTo: target, problem) }
    let lost = replaced == nil ? [] : keepAttributes(of: target, for: descriptor)
    return AtomicFile(target: target, temporary: name, descriptor: descriptor, lost: lost)
  }

  /// A name that ``clearLeftovers(in:)`` recognizes.
  private static func temporaryName(in folder: String) -> String {
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    return folder + (folder.hasSuffix("/") ? "" : "/") + ".geomodel-\(getpid())-\(number).tmp"
  }

  /// Deletes temporary files of processes that were killed during a save: this process has no such file, and no other process
  /// holds a lock on it.
  private static func clearLeftovers(in folder: String) {
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let leaf = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let words = leaf.split(separator: "-", omittingEmptySubsequences: false)
      guard words.count == 3, words[0] == ".geomodel", let process = pid_t(words[1]), words[2].hasSuffix(".tmp"),
        Int(words[2].dropLast(4)) != nil, kill(process, 0) != 0, errno == ESRCH
      else { continue }
      let path = folder + (folder.hasSuffix("/") ? "" : "/") + leaf
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
      close(descriptor)
    }
  }

  deinit {
    defer { UnfinishedSaves.files.withLock { _ = $0.names.remove(Text(temporary)) } }
    guard isOpen else { return }
    close(descriptor)
    unlink(temporary)
  }

  /// Appends bytes.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(RPCError) {
    var remaining = bytes[...]
    while !remaining.isEmpty {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: remaining).baseAddress, remaining.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure()
      }
      remaining = remaining.dropFirst(count)
    }
  }

  /// Opens another file in the same folder, without a name: closing its descriptor, which the caller does, deletes it.
  func scratch() throws(RPCError) -> CInt {
    let name = Self.temporaryName(in: target.parentFolder)
    let scratch = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard scratch >= 0 else { throw failure() }
    unlink(name)
    return scratch
  }

  /// Number of bytes written so far.
  var size: Int { FileIdentity(descriptor: descriptor)?.size ?? 0 }

  /// Replaces the target by the written file, and syncs both to the disk.
  ///
  /// - Parameters:
  ///   - replaces: whether an existing file may be replaced; if not, throws `fileExists`.
  ///   - worker: the task's worker. The task may be cancelled until the sync is done; the target is then unchanged.
  package consuming func commit(replaces: Bool = true, for worker: Worker) throws {
    guard fsync(descriptor) == 0 else { throw failure() }
    try worker.work.commit()
    if replaces { try replace() } else { try place() }
    isOpen = false
    let isClosed = close(descriptor) == 0
    let problem = errno
    let directory = open(target.parentFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      // Some file systems cannot sync a directory; the result is ignored, since the rename has succeeded.
      _ = fsync(directory)
      close(directory)
    }
    if !isClosed { throw RPCError(savingTo: target, problem) }
  }

  private func replace() throws(RPCError) {
    guard rename(temporary, target) == 0 else { throw failure() }
  }

  /// Gives the file its name unless another file has it: making a link fails then, whereas renaming would replace the other file.
  private func place() throws(RPCError) {
    if link(temporary, target) == 0 {
      unlink(temporary)
      return
    }
    var status = stat()
    guard errno != EEXIST, lstat(target, &status) != 0 else { throw RPCError(fileExists: target) }
    // Some file systems have no links.
    try replace()
  }

  private func failure() -> RPCError { RPCError(savingTo: target, errno) }
}

extension FilePolicy {
  /// The real path for a file to be written: an existing file, or a new one in an existing directory.
  ///
  /// - Parameter path: an absolute path.
  package func resolveForWriting(_ path: String) throws(RPCError) -> String {
    func refused(_ reason: String) -> RPCError { RPCError(FileRefusal.refused(path: path, reason: reason)) }
    if path.begins(with: "/vsi") { throw refused("virtual files are not allowed") }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard let real = realPath(path) else {
        throw errno == ENOENT
          ? RPCError(savingTo: path, "it is a symbolic link, and what it leads to is not there")
          : RPCError(savingTo: path, errno)
      }
      guard allows(realPath: real) else { throw refused("outside the allowed directories") }
      guard FileIdentity(path: real)?.kind == .regular else {
        throw RPCError(.notAFile, "\(path) is not a regular file.", path: path, expected: "a file")
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
