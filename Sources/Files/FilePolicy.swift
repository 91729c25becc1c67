// Which files may be opened: one rule for vector and raster files.

import Platform
import Synchronization

/// Which files clients may open.
///
/// ```swift
/// let policy = FilePolicy(allowedDirectories: ["/data"])
/// let file = try policy.open("/data/roads.gpkg")
/// ```
public struct FilePolicy: Sendable {
  /// Folders, held open, that contain all files that may be read; nil for no restriction.
  private let readable: [HeldFolder]?
  /// The same for files that may be written.
  private let writable: [HeldFolder]?
  /// Whether data may also come from addresses in the network.
  public var allowsNetwork: Bool
  /// Whether nothing may be written, as for a client that only reads.
  public var isReadOnly = false

  /// - Parameters:
  ///   - allowedDirectories: folders of files that may be read; nil for no restriction. They mean the folders that have these names now.
  ///   - writableDirectories: the same for files that may be written; nil if they are those that may be read.
  public init(
    allowedDirectories: [String]? = nil, writableDirectories: [String]? = nil, allowsNetwork: Bool = false
  ) {
    readable = allowedDirectories?.compactMap { realPath($0).flatMap { HeldFolder($0) } }
    writable = writableDirectories?.compactMap { realPath($0).flatMap { HeldFolder($0) } } ?? readable
    self.allowsNetwork = allowsNetwork
  }

  /// The folders of files that may be read; nil for no restriction.
  public var readableFolders: [String]? { readable?.map(\.path) }
  /// The folders of files that may be written; nil for no restriction.
  public var writableFolders: [String]? { writable?.map(\.path) }

  /// Whether a name is the address of data in the network. Its scheme is in any case (RFC 3986, 3.1).
  public static func isAddress(_ name: String) -> Bool {
    let begin = name.utf8.prefix("https://".utf8.count).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    return begin.starts(with: "https://".utf8) || begin.starts(with: "http://".utf8)
  }
}

/// Why a file is not opened.
public enum FileRefusal: Error, Hashable, Sendable {
  case notFound(path: String)
  case isDirectory(path: String)
  /// The policy denies it.
  case refused(path: String, reason: String)
  /// The system denies it, or it is not a regular file.
  case notReadable(path: String, reason: String)
  /// The process or the system has no more descriptors or memory.
  case exhausted(path: String, reason: String)
}

/// A regular file, open for reading.
public struct OpenedFile: Sendable {
  /// The caller closes it.
  public let descriptor: CInt
  /// The state at the time of opening.
  public let identity: FileIdentity
  /// The real path, with the folder held.
  public let name: HeldName
  /// The file that is meant in this archive; nil for the file itself.
  public var entry: ZipEntry?

  /// Whether no other file has its name.
  public var hasItsName: Bool { name.identity.map { $0.isOfFile(identity) } ?? true }
}

extension FilePolicy {
  /// Opens an archive for a path that goes on below it, as `/data/area.gmpk/data/roads.gpkg`; else as ``open(_:isFeed:)``.
  public func openInArchives(_ path: String) throws(FileRefusal) -> OpenedFile {
    guard let archive = Self.archive(in: path) else { return try open(path) }
    var file = try open(archive)
    let name = String(Substring(path.utf8.dropFirst(archive.utf8.count + 1)))
    var refusal = FileRefusal.notFound(path: path)
    do throws(ZipFault) { file.entry = try Self.directory(of: file)[name] } catch {
      if !error.isNoArchive { refusal = .notReadable(path: path, reason: error.reason) }
    }
    guard file.entry == nil else { return file }
    close(file.descriptor)
    throw refusal
  }

  /// The directory of the archive that was opened last: a document of a package has thousands of files in one.
  private static let last = Mutex<(identity: FileIdentity, directory: ZipDirectory)?>(nil)

  private static func directory(of file: OpenedFile) throws(ZipFault) -> ZipDirectory {
    if let known = last.withLock({ $0 }), known.identity == file.identity { return known.directory }
    let directory = try ZipDirectory(file.descriptor, size: file.identity.size)
    last.withLock { $0 = (file.identity, directory) }
    return directory
  }

  /// The file that is in the place of a folder of a path; nil if all are folders, or missing.
  private static func archive(in path: String) -> String? {
    guard path.begins(with: "/"), realPath(path) == nil, errno == ENOTDIR else { return nil }
    var rest = path.utf8[...]
    while let slash = rest.lastIndex(of: UInt8(ascii: "/")), slash > rest.startIndex {
      rest = rest[..<slash]
      let name = String(Substring(rest))
      if let real = realPath(name) { return FileIdentity(path: real)?.kind == .regular ? name : nil }
    }
    return nil
  }

  /// Opens a regular file that the policy allows to be read.
  /// - Parameter path: absolute.
  /// - Parameter isFeed: whether a FIFO or a character device will do as well.
  public func open(_ path: String, isFeed: Bool = false) throws(FileRefusal) -> OpenedFile {
    let name = try name(path)
    guard let found = name.identity else { throw Self.failure(path) }
    // Before it is opened: opening a device can have effects.
    try check(found, path, isFeed)
    // Non-blocking, in case it has become a FIFO.
    let descriptor = name.open(O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path) }
    guard let identity = FileIdentity(descriptor: descriptor) else {
      let problem = Self.failure(path)
      close(descriptor)
      throw problem
    }
    do throws(FileRefusal) { try check(identity, path, isFeed) } catch {
      close(descriptor)
      throw error
    }
    return OpenedFile(descriptor: descriptor, identity: identity, name: name)
  }

  private func name(_ path: String) throws(FileRefusal) -> HeldName {
    if let kind = Self.virtualKind(of: path) { throw .refused(path: path, reason: kind) }
    guard let real = realPath(path) else {
      let reason = errno
      // Checked first, so that an error reveals nothing about files outside.
      guard Self.allows(missing: path, in: readable) else { throw Self.outside(path) }
      if reason == ELOOP { throw .notReadable(path: path, reason: errorText(reason)) }
      errno = reason == ENOTDIR ? ENOENT : reason
      throw Self.failure(path)
    }
    guard allows(realPath: real) else { throw Self.outside(path) }
    guard let name = Self.held(real, in: readable) else { throw Self.failure(path) }
    return name
  }

  private func check(_ identity: FileIdentity, _ path: String, _ isFeed: Bool) throws(FileRefusal) {
    switch identity.kind {
    case .directory: throw .isDirectory(path: path)
    case .stream where isFeed: break
    case .stream, .other: throw .notReadable(path: path, reason: "not a regular file")
    case .regular: break
    }
  }

  /// Why the system did not open a file, by `errno`.
  package static func failure(_ path: String) -> FileRefusal {
    switch errno {
    // The real path has no links, so there was none a moment ago.
    case ELOOP, ENOTDIR: .refused(path: path, reason: "a folder of it was exchanged meanwhile")
    case ENOENT: .notFound(path: path)
    case EISDIR: .isDirectory(path: path)
    case EMFILE, ENFILE, ENOMEM: .exhausted(path: path, reason: errorText())
    case let number: .notReadable(path: path, reason: errorText(number))
    }
  }

  /// The refusal of a path that leads outside.
  public static func outside(_ path: String) -> FileRefusal {
    .refused(path: path, reason: "outside the allowed directories")
  }

  /// The name for a file to be written; nil with `errno` set on failure.
  ///
  /// - Parameter path: a real path for which ``allowsWriting(_:)``.
  package func writableName(_ path: String) -> HeldName? { Self.held(path, in: writable) }

  /// Whether a path without symbolic links is in a folder whose files may be read.
  public func allows(realPath path: String) -> Bool { Self.allows(path, in: readable) }

  /// Whether a path without symbolic links is in a folder whose files may be written.
  package func allowsWriting(_ path: String) -> Bool { Self.allows(path, in: writable) }

  /// Whether the existing part of a missing path is in such a folder: an error must not reveal that a file outside is missing.
  package func allowsWriting(missing path: String) -> Bool { Self.allows(missing: path, in: writable) }

  private static func allows(missing path: String, in folders: [HeldFolder]?) -> Bool {
    guard folders != nil else { return true }
    var parts = path.pathNames[...]
    while parts.popLast() != nil {
      if let real = realPath("/" + parts.joined(separator: "/")) { return allows(real, in: folders) }
    }
    return false
  }

  private static func allows(_ real: String, in folders: [HeldFolder]?) -> Bool {
    folders?.contains { $0.contains(real) } ?? true
  }

  /// Holds the folder of a real path, beginning with the allowed one that contains it.
  private static func held(_ real: String, in folders: [HeldFolder]?) -> HeldName? {
    guard let root = folders == nil ? HeldFolder("/") : folders?.first(where: { $0.contains(real) }) else { return nil }
    var names = real.pathNames.dropFirst(root.path.pathNames.count)
    guard let leaf = names.popLast() else {
      errno = EISDIR
      return nil
    }
    return root.folder(names).map { HeldName(leaf, in: $0) }
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
  /// The names between slashes. Splits bytes of UTF-8: a split by characters misses a slash that a combining mark follows.
  package var pathNames: [String] { utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

  /// Compares bytes: `hasPrefix` compares characters, and a combining mark after the prefix would hide it.
  fileprivate func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
