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
    var names: [Text: HeldName] = [:]
    /// Whether the process is ending, so that no new temporary file may be created.
    var isEnding = false
  }
  fileprivate static let files = Mutex(Files())

  /// Deletes the temporary files and prevents new ones. Target files are unchanged.
  public static func remove() {
    files.withLock { files in
      files.isEnding = true
      for name in files.names.values { name.unlink() }
    }
  }
}

/// The new content of a file. ``commit(replaces:for:)`` gives it the target's name; otherwise `deinit` deletes it.
package struct AtomicFile: ~Copyable {
  private let target: HeldName
  private let temporary: HeldName
  /// The descriptor of the temporary file, open for writing.
  package let descriptor: CInt
  /// Attributes of the replaced file that the new one does not have.
  package let lost: [FileAttribute]
  private var isOpen = true

  /// The last number used in a temporary file's name; makes names unique within the process.
  private static let lastNumber = Atomic(0)

  private init(target: HeldName, temporary: HeldName, descriptor: CInt, lost: [FileAttribute]) {
    self.lost = lost
    self.target = target
    self.temporary = temporary
    self.descriptor = descriptor
  }

  /// Creates the temporary file.
  ///
  /// - Parameter target: from `FilePolicy.resolveForWriting`.
  package static func begin(replacing target: HeldName) throws(RPCError) -> AtomicFile {
    let replaced = target.identity
    clearLeftovers(in: target.folder)
    var name = target
    let (descriptor, problem) = UnfinishedSaves.files.withLock { files -> (CInt, CInt) in
      guard !files.isEnding else { return (-1, ECANCELED) }
      while true {
        name = temporaryName(beside: target)
        let descriptor = name.open(O_RDWR | O_CREAT | O_EXCL, mode: replaced == nil ? 0o666 : 0o600)
        // A file left by a crashed process with the same id is not overwritten; the next number is tried.
        if descriptor < 0, errno == EEXIST { continue }
        if descriptor >= 0 {
          // The lock tells other processes that this one is alive.
          flock(descriptor, LOCK_EX | LOCK_NB)
          files.names[Text(name.path)] = name
        }
        return (descriptor, errno)
      }
    }
    guard descriptor >= 0 else { throw RPCError(savingTo: target.path, problem) }
    let lost = replaced == nil ? [] : target.keepAttributes(for: descriptor)
    return AtomicFile(target: target, temporary: name, descriptor: descriptor, lost: lost)
  }

  /// A name that ``clearLeftovers(in:)`` recognizes.
  private static func temporaryName(beside target: HeldName) -> HeldName {
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    return target.sibling(".geomodel-\(getpid())-\(number).tmp")
  }

  /// Deletes temporary files of processes that were killed during a save: this process has no such file, and no other process
  /// holds a lock on it.
  private static func clearLeftovers(in folder: HeldFolder) {
    for leaf in folder.names() ?? [] {
      let words = leaf.split(separator: "-", omittingEmptySubsequences: false)
      guard words.count == 3, words[0] == ".geomodel", let process = pid_t(words[1]), words[2].hasSuffix(".tmp"),
        Int(words[2].dropLast(4)) != nil, kill(process, 0) != 0, errno == ESRCH
      else { continue }
      let name = HeldName(leaf, in: folder)
      let descriptor = name.open(O_RDONLY | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { name.unlink() }
      close(descriptor)
    }
  }

  deinit {
    defer { UnfinishedSaves.files.withLock { _ = $0.names.removeValue(forKey: Text(temporary.path)) } }
    guard isOpen else { return }
    close(descriptor)
    temporary.unlink()
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

  /// Replaces the first bytes of what is written.
  package func replaceStart(_ bytes: [UInt8]) throws(RPCError) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset, off_t(offset)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      offset += count
    }
  }

  /// Opens another file in the same folder, without a name: closing its descriptor, which the caller does, deletes it.
  func scratch() throws(RPCError) -> CInt {
    let name = Self.temporaryName(beside: target)
    let scratch = name.open(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    guard scratch >= 0 else { throw failure() }
    name.unlink()
    return scratch
  }

  /// Number of bytes written so far.
  package var size: Int { FileIdentity(descriptor: descriptor)?.size ?? 0 }

  /// Replaces the target by the written file, and syncs both to the disk.
  ///
  /// - Parameters:
  ///   - replaces: whether an existing file may be replaced; if not, throws `fileExists`.
  ///   - worker: the task's worker. The task may be cancelled until the sync is done; the target is then unchanged. Nil if the task
  ///     does more after this, so that it may still be cancelled.
  package consuming func commit(replaces: Bool = true, for worker: Worker?) throws {
    guard fsync(descriptor) == 0 else { throw failure() }
    try worker?.work.commit()
    if replaces { try replace() } else { try place() }
    isOpen = false
    let isClosed = close(descriptor) == 0
    let problem = errno
    // Some file systems cannot sync a folder; the result is ignored, since the rename has succeeded.
    target.folder.sync()
    if !isClosed { throw RPCError(savingTo: target.path, problem) }
  }

  private func replace() throws(RPCError) {
    guard temporary.rename(to: target.name) == 0 else { throw failure() }
  }

  /// Gives the file its name unless another file has it: making a link fails then, whereas renaming would replace the other file.
  private func place() throws(RPCError) {
    if temporary.link(to: target.name) == 0 {
      temporary.unlink()
      return
    }
    guard errno != EEXIST, target.identity == nil else { throw RPCError(fileExists: target.path) }
    // Some file systems have no links.
    try replace()
  }

  private func failure() -> RPCError { RPCError(savingTo: target.path, errno) }
}

extension FilePolicy {
  /// The name for a file to be written, in a held folder: an existing file, or a new one in an existing folder.
  ///
  /// - Parameter path: an absolute path.
  package func resolveForWriting(_ path: String) throws(RPCError) -> HeldName {
    if isReadOnly { throw RPCError(.readOnlyClient, "This client only reads, and the request would write a file.") }
    if FilePolicy.isAddress(path) {
      throw RPCError(FileRefusal.refused(path: path, reason: "addresses are only read"))
    }
    if path.begins(with: "/vsi") {
      throw RPCError(FileRefusal.refused(path: path, reason: "virtual files are not allowed"))
    }
    var status = stat()
    let exists = lstat(path, &status) == 0
    let found = exists ? realPath(path) : errno == ENOENT ? realPath(path.parentFolder) : nil
    guard let found else {
      let problem = errno
      guard allowsWriting(missing: path) else { throw RPCError(Self.outside(path)) }
      throw exists && problem == ENOENT
        ? RPCError(savingTo: path, "it is a symbolic link, and what it leads to is not there")
        : RPCError(savingTo: path, problem)
    }
    let name = path.lastName
    let real = exists ? found : (found == "/" ? "" : found) + "/" + name
    guard allowsWriting(real) else { throw RPCError(Self.outside(path)) }
    if !exists, name.isEmpty || name == "." || name == ".." {
      throw RPCError(.notAFile, "\(path) is a directory.", path: path, expected: "a file")
    }
    guard let held = writableName(real) else {
      switch errno {
      case EISDIR: throw RPCError(FileRefusal.isDirectory(path: path))
      case ENOTDIR: throw RPCError(savingTo: path, "a folder of it was exchanged meanwhile")
      case let number: throw RPCError(savingTo: path, number)
      }
    }
    if let identity = held.identity {
      guard identity.kind == .regular else {
        throw RPCError(.notAFile, "\(path) is not a regular file.", path: path, expected: "a file")
      }
      guard held.isWritable else { throw RPCError(savingTo: path, errno) }
    }
    return held
  }
}
