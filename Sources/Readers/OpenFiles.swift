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
  private let states: Key

  /// - Parameters:
  ///   - path: absolute, or an address if the policy allows the network.
  ///   - refusesPart: whether a sibling outside the allowed directories is an error; otherwise it is omitted.
  init(
    _ path: String, _ options: OpenOptions, _ policy: FilePolicy, refusesPart: Bool = false
  ) throws(ReadError) {
    if policy.allowsNetwork, FilePolicy.isAddress(path) {
      let address = Address(path)
      guard !address.lacksSecret else {
        throw .address(path: address.shown, AddressFault(.credentials, "its password is not stored"))
      }
      job = ReadJob(folder: "", names: [address.shown], address: path, options: options)
      (descriptors, warnings, states) = ([], [], Key())
      return
    }
    let main: OpenedFile
    do throws(FileRefusal) { main = try policy.openInArchives(path) } catch { throw .file(error) }
    var descriptors = [main.descriptor]
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let folder = String(path[..<cut])
    let name = String(path[path.utf8.index(after: cut)...])
    let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    if let entry = main.entry {
      job = ReadJob(folder: folder, names: [name], part: entry, options: options)
      self.descriptors = descriptors
      states = Key(files: [main.name.path: main.identity], entry: entry.name)
      warnings = []
      return
    }
    do throws(ReadError) {
      let journals = try Self.journals(of: main, path, policy)
      let siblings = journals.isEmpty ? try Self.siblings(of: name, stem, in: folder) : []
      let others = journals + siblings.prefix(Self.limit - 1)
      var warnings = siblings.dropFirst(Self.limit - 1).filter(Self.isPart).map { "\($0) is left out: too many files." }
      var found = [journals.isEmpty ? name : main.name.path]
      var identities = journals.isEmpty ? [path: main.identity] : [:]
      for leaf in others {
        let other = journals.isEmpty ? "\(folder)/\(leaf)" : leaf
        do throws(FileRefusal) {
          let file = try policy.open(other)
          found.append(leaf)
          descriptors.append(file.descriptor)
          if journals.isEmpty { identities[other] = file.identity }
        } catch {
          let reason: String
          switch error {
          // Without this part the file would be another one.
          case .exhausted: throw .file(error)
          case .refused where refusesPart:
            throw .file(.refused(path: path, reason: "\(other) leads outside the allowed directories"))
          case .refused: reason = "it leads outside the allowed directories"
          case .notFound: reason = errorText(ENOENT)
          case .isDirectory: reason = "not a regular file"
          case .notReadable(_, let problem): reason = problem
          }
          if Self.isPart(leaf) { warnings.append("\(leaf) is left out: \(reason).") }
        }
      }
      job = ReadJob(
        folder: folder, names: found, database: journals.isEmpty ? nil : main.name.path, options: options)
      self.descriptors = descriptors
      states = Key(files: identities)
      self.warnings = warnings
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
  }

  /// An entry of an open archive.
  init(_ entry: ZipEntry, of archive: CInt, _ path: String) throws(ReadError) {
    let copy = fcntl(archive, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0, let identity = FileIdentity(descriptor: copy) else {
      throw .file(.exhausted(path: path, reason: errorText()))
    }
    job = ReadJob(folder: path, names: [String(entry.name.pathNames.last ?? "")], part: entry, options: OpenOptions())
    (descriptors, warnings, states) = ([copy], [], Key(files: [path: identity], entry: entry.name))
  }

  /// A GeoJSON document in memory, which refers to no file.
  init(geoJSON bytes: [UInt8]) throws(ReadError) {
    job = ReadJob(folder: "", names: ["inline.geojson"], options: OpenOptions(driver: .geoJSON))
    states = Key()
    warnings = []
    descriptors = SharedMemory.file(holding: bytes).map { [$0] } ?? []
    guard !descriptors.isEmpty else { throw .file(.notReadable(path: "inline GeoJSON", reason: errorText())) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// The states of files, by path; and the file that is meant in an archive.
  struct Key: Hashable, Sendable {
    var files: [String: FileIdentity] = [:]
    var entry: String?
  }

  /// Identifies these files in this state; nil for bytes and databases in use.
  var key: Key? { states.files.isEmpty ? nil : states }

  /// Whether a file has changed since it was opened, or its name now denotes another file.
  var haveChanged: Bool { states.haveChanged }

  private static func siblings(of name: String, _ stem: String, in folder: String) throws(ReadError) -> [String] {
    guard let all = realPath(folder.isEmpty ? "/" : folder).flatMap({ HeldFolder($0) })?.names() else {
      let refusal = FilePolicy.failure("\(folder)/\(name)")
      if case .exhausted = refusal { throw .file(refusal) }
      return []
    }
    let names = all.filter { $0.utf8.starts(with: (stem + ".").utf8) && Text($0) != Text(name) }
    // Parts of known formats come first, since files above the limit are omitted.
    return names.filter(isPart).sorted() + names.filter { !isPart($0) }.sorted()
  }

  private static func isPart(_ name: String) -> Bool { parts.contains { name.lowercased().hasSuffix("." + $0) } }

  private static let parts = [
    "shp", "shx", "dbf", "prj", "cpg", "qix", "sbn", "sbx", "xml", "ovr", "msk", "hdr", "tfw", "wld", "ige", "rrd",
    "csvt",
  ]

  /// The paths of the journals of a database that another program has open, or did not close; none for other files.
  ///
  /// Such a database is opened by path: through a descriptor SQLite would take no lock and ignore the journal, and so read an old or
  /// half-written state. By path, SQLite reads one consistent state or reports an error.
  private static func journals(
    of database: OpenedFile, _ path: String, _ policy: FilePolicy
  ) throws(ReadError) -> [String] {
    let real = database.name.path
    let journals = ["-wal", "-journal"].filter { (FileIdentity(path: real + $0)?.size ?? 0) > 0 }
    guard !journals.isEmpty else { return [] }
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
    return (journals + ["-shm"]).map { real + $0 }
  }
}

extension OpenFiles.Key {
  /// Whether the state of any file differs now.
  var haveChanged: Bool { files.contains { FileIdentity(path: $0.key) != $0.value } }

  /// Whether any file was rewritten or replaced. A removed file is unchanged for readers that have it open.
  var wereReplaced: Bool { files.contains { name, state in FileIdentity(path: name).map { $0 != state } ?? false } }
}
