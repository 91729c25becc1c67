// Opens the files of a source within the policy: a reader gets open files and can open no others.

import Files
import Geometry
import Platform
import Reading

/// A file and its siblings with the same stem (`roads.shp`, `roads.dbf`), open for reading.
final class OpenFiles {
  /// The maximum of files in one message; more than any format has.
  private static let limit = 64

  let job: ReadJob
  let descriptors: [CInt]
  /// The sibling files that were omitted, and why.
  let warnings: [String]
  /// The states of the files at the time of opening, by path.
  private let identities: [String: FileIdentity]

  /// - Parameters:
  ///   - path: absolute, or an address if the policy allows the network.
  ///   - refusesPart: whether a sibling outside the allowed directories is an error; otherwise it is omitted.
  init(
    _ path: String, _ options: OpenOptions, _ policy: FilePolicy, refusesPart: Bool = false
  ) throws(ReadError) {
    if policy.allowsNetwork, FilePolicy.isAddress(path) {
      job = ReadJob(folder: "", names: [path], address: path, options: options)
      (descriptors, warnings, identities) = ([], [], [:])
      return
    }
    do throws(FileRefusal) { _ = try policy.resolve(path) } catch { throw .file(error) }
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let folder = String(path[..<cut])
    let name = String(path[path.utf8.index(after: cut)...])
    let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name

    let database = try Self.liveDatabase(path, policy)
    let siblings = database == nil ? Self.siblings(of: name, stem, in: folder) : []
    let names = database?.names ?? [name] + siblings.prefix(Self.limit - 1)
    var warnings = siblings.dropFirst(Self.limit - 1).filter(Self.isPart).map { "\($0) is left out: too many files." }
    var found: [String] = []
    var descriptors: [CInt] = []
    var identities: [String: FileIdentity] = [:]
    var refused: String?
    for leaf in names {
      let path = database == nil ? "\(folder)/\(leaf)" : leaf
      guard let (descriptor, identity) = Self.open(path, policy) else {
        let failure = errorText()
        let leadsOutside = realPath(path).map { !policy.allows(realPath: $0) } ?? false
        let isRegular = FileIdentity(path: path).map { $0.kind == .regular } ?? true
        let problem = leadsOutside ? errorText(EACCES) : isRegular ? failure : "not a regular file"
        if leaf == names.first { throw .file(.notReadable(path: path, reason: problem)) }
        if refusesPart, leadsOutside {
          refused = path
          break
        }
        if Self.isPart(leaf) {
          warnings.append(
            "\(leaf) is left out: \(leadsOutside ? "it leads outside the allowed directories" : problem).")
        }
        continue
      }
      found.append(leaf)
      descriptors.append(descriptor)
      if database == nil { identities[path] = identity }
    }
    job = ReadJob(folder: folder, names: found, database: database?.path, options: options)
    self.descriptors = descriptors
    self.identities = identities
    self.warnings = warnings
    if let refused { throw .file(.refused(path: path, reason: "\(refused) leads outside the allowed directories")) }
  }

  /// A GeoJSON document in memory, which refers to no file.
  init(geoJSON bytes: [UInt8]) throws(ReadError) {
    job = ReadJob(folder: "", names: ["inline.geojson"], options: OpenOptions(driver: .geoJSON))
    identities = [:]
    warnings = []
    descriptors = SharedMemory.file(holding: bytes).map { [$0] } ?? []
    guard !descriptors.isEmpty else { throw .file(.notReadable(path: "inline GeoJSON", reason: errorText())) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// The states of files, by path.
  typealias Key = [String: FileIdentity]

  /// Identifies these files in this state; nil for bytes and databases in use.
  var key: Key? { identities.isEmpty ? nil : identities }

  /// Whether a file has changed since it was opened, or its name now denotes another file.
  var haveChanged: Bool { identities.haveChanged }

  private static func open(_ path: String, _ policy: FilePolicy) -> (CInt, FileIdentity)? {
    // Non-blocking, in case the name belongs to a FIFO.
    let descriptor = Platform.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    // The open file is checked, not its name, which may have been redirected meanwhile.
    guard let identity = FileIdentity(descriptor: descriptor), identity.kind == .regular,
      let real = realPath(ofDescriptor: descriptor) ?? realPath(path), policy.allows(realPath: real)
    else {
      close(descriptor)
      return nil
    }
    return (descriptor, identity)
  }

  private static func siblings(of name: String, _ stem: String, in folder: String) -> [String] {
    guard let stream = opendir(folder.isEmpty ? "/" : folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let leaf = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if leaf.utf8.starts(with: (stem + ".").utf8), Text(leaf) != Text(name) { names.append(leaf) }
    }
    // Parts of known formats come first, since files above the limit are omitted.
    return names.filter(isPart).sorted() + names.filter { !isPart($0) }.sorted()
  }

  private static func isPart(_ name: String) -> Bool { parts.contains { name.lowercased().hasSuffix("." + $0) } }

  private static let parts = [
    "shp", "shx", "dbf", "prj", "cpg", "qix", "sbn", "sbx", "xml", "ovr", "msk", "hdr", "tfw", "wld", "ige", "rrd",
    "csvt",
  ]

  /// A database that another program has open, or did not close: one with a journal beside it. Nil for other files.
  ///
  /// It is opened by path: through a descriptor SQLite would take no lock and ignore the journal, and so read an old or
  /// half-written state. By path, SQLite reads one consistent state or reports an error.
  private static func liveDatabase(
    _ path: String, _ policy: FilePolicy
  ) throws(ReadError) -> (path: String, names: [String])? {
    guard let real = realPath(path) else { return nil }
    let journals = ["-wal", "-journal"].filter { (FileIdentity(path: real + $0)?.size ?? 0) > 0 }
    guard !journals.isEmpty else { return nil }
    for suffix in journals + ["-shm"] {
      if let journal = realPath(real + suffix), !policy.allows(realPath: journal) {
        throw .file(.refused(path: path, reason: "its journal lies outside the allowed directories"))
      }
    }
    // SQLite cannot create the log's index here; without the index it would ignore the log.
    if journals.contains("-wal"), FileIdentity(path: real + "-shm") == nil {
      throw .openFailed(
        driver: nil, path: path, reason: "a program left a write-ahead log beside it: open it once with that program")
    }
    return (real, [real] + (journals + ["-shm"]).map { real + $0 })
  }
}

extension OpenFiles.Key {
  /// Whether the state of any file differs now.
  var haveChanged: Bool { contains { FileIdentity(path: $0.key) != $0.value } }

  /// Whether any file was rewritten or replaced. A removed file is unchanged for readers that have it open.
  var wereReplaced: Bool { contains { name, state in FileIdentity(path: name).map { $0 != state } ?? false } }
}
