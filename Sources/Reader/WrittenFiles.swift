// The two files of a writer as GDAL sees them: every write of its drivers passes through these callbacks.

import CGDAL
import CReader
import Files
import Platform
import Reading
import Synchronization

/// The file that is written, those beside it, and a scratch file for the format's temporary data.
enum WrittenFiles {
  private struct State {
    var targets: [String: CInt] = [:]
    var scratch: CInt = -1
    var targetName = ""
    /// Names that GDAL has created and not removed.
    var names: Set<String> = []
    /// The error number of the first write that failed.
    var failure: CInt = 0
  }

  static let prefix = "/vsigeomodelout"
  /// The folder of names that map to the scratch file.
  static let scratchFolder = prefix + "/scratch"
  private static let state = Mutex(State())

  /// Sets the files: the target, which is empty if it is created, the scratch file, and those beside the target. Their descriptors
  /// stay open until the process ends.
  static func begin(_ job: WriteJob, _ files: [CInt]) {
    let names = ([job.driver.fileExtension] + job.driver.sideExtensions).map { "\(prefix)/out.\($0)" }
    let descriptors = files[..<1] + files[2...]
    state.withLock {
      $0 = State(
        targets: Dictionary(uniqueKeysWithValues: zip(names, descriptors)), scratch: files[1], targetName: names[0])
      if job.placement != .create { $0.names = [names[0]] }
    }
  }

  /// Changes the mark by which a database says that its journal is a write-ahead log. Without such a log beside it the content is the
  /// same, but SQLite would need to make one.
  ///
  /// - Returns: the earlier mark.
  /// - Source: https://www.sqlite.org/fileformat.html, section 1.3.3.
  static func setJournalMark(_ mark: [UInt8]) -> [UInt8] {
    let descriptor = state.withLock { $0.targets[$0.targetName] ?? -1 }
    var earlier: [UInt8] = [1, 1]
    guard pread(descriptor, &earlier, 2, 18) == 2, earlier != mark else { return mark }
    _ = pwrite(descriptor, mark, 2, 18)
    return earlier
  }

  /// The name under which GDAL creates the file.
  static var targetName: String { state.withLock(\.targetName) }

  /// The error number of the first write that failed; 0 if none did.
  static var failure: CInt { state.withLock(\.failure) }

  static func note(failure: CInt) {
    state.withLock { state in
      if state.failure == 0 { state.failure = failure }
    }
  }

  fileprivate static func isFolder(_ name: String) -> Bool {
    name == prefix || name == prefix + "/" || name == scratchFolder
  }

  /// The descriptor of an existing name.
  fileprivate static func find(_ name: String) -> CInt? {
    state.withLock { state in state.names.contains(name) ? descriptor(name, state) : nil }
  }

  /// Creates a name and returns its descriptor.
  fileprivate static func create(_ name: String) -> CInt? {
    state.withLock { state in
      guard let descriptor = descriptor(name, state) else { return nil }
      state.names.insert(name)
      return descriptor
    }
  }

  /// Removes the name; handles that have the file open continue to work.
  fileprivate static func remove(_ name: String) -> Bool { state.withLock { $0.names.remove(name) != nil } }

  private static func descriptor(_ name: String, _ state: State) -> CInt? {
    if let target = state.targets[name] { return target }
    return name.utf8.starts(with: (scratchFolder + "/").utf8) ? state.scratch : nil
  }
}

private final class WriteHandle: VirtualFile {
  let descriptor: CInt

  /// - Parameter access: as for `fopen`.
  init?(_ name: String, _ access: String) {
    let found = access.utf8.first == UInt8(ascii: "w") ? WrittenFiles.create(name) : WrittenFiles.find(name)
    guard let found else { return nil }
    descriptor = found
    super.init()
    if access.utf8.first == UInt8(ascii: "w"), ftruncate(found, 0) != 0 { return nil }
    if access.utf8.first == UInt8(ascii: "a") { offset = size }
  }

  override var size: Int { FileIdentity(descriptor: descriptor)?.size ?? 0 }

  override func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < target.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
      let got = pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      done += got
      offset += got
    }
    if done < target.count { isAtEnd = true }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let wrote = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
      if wrote < 0, errno == EINTR { continue }
      guard wrote > 0 else {
        WrittenFiles.note(failure: wrote < 0 ? errno : ENOSPC)
        break
      }
      done += wrote
      offset += wrote
    }
    return done
  }

  static func writable(_ file: UnsafeMutableRawPointer?) -> WriteHandle? { find(file) as? WriteHandle }
}

/// GDAL passes names without the prefix to the callbacks.
private func fullName(_ name: UnsafePointer<CChar>) -> String { "\(WrittenFiles.prefix)/\(String(cString: name))" }

// POSIX file modes: GDAL's headers and Glibc's both define the names.
private let folderMode: UInt32 = 0o040700
private let fileMode: UInt32 = 0o100600

extension WrittenFiles {
  static func install(_ gdal: GDAL) {
    VirtualFile.install(gdal, below: prefix) { callbacks in
      callbacks.open = { _, name, access in
        guard let name, let access else { return nil }
        return WriteHandle(fullName(name), String(cString: access))?.opened
      }
      callbacks.write = { file, buffer, size, count in
        guard let file = WriteHandle.writable(file), let buffer, let bytes = VirtualFile.byteCount(size, count) else {
          return 0
        }
        return file.write(UnsafeRawBufferPointer(start: buffer, count: bytes)) / size
      }
      callbacks.truncate = { file, size in
        guard let file = WriteHandle.writable(file), ftruncate(file.descriptor, off_t(size)) == 0 else {
          WrittenFiles.note(failure: errno)
          return -1
        }
        return 0
      }
      callbacks.stat = { _, name, status, _ in
        guard let name = name.map({ fullName($0) }), let status else { return -1 }
        if WrittenFiles.isFolder(name) {
          cgdal_set_status(status, folderMode, 0, 0)
          return 0
        }
        guard let file = WrittenFiles.find(name), let identity = FileIdentity(descriptor: file) else { return -1 }
        cgdal_set_status(status, fileMode, Int64(identity.size), Int64(identity.modifiedSeconds))
        return 0
      }
      callbacks.unlink = { _, name in name.map { WrittenFiles.remove(fullName($0)) ? 0 : -1 } ?? -1 }
    }
  }
}
