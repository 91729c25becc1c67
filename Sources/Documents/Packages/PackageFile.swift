// Reads packages: their index alone, or all. A package counts as hostile.

import Files
import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import Platform
import Readers
import Reading
import WireCoding

/// A package that is open for reading.
final class PackageFile {
  typealias Index = PackageProtocol.PackageIndex

  static let indexName = "package.json"
  static let thumbnailName = "thumbnail.png"
  static let documentName = "document.json"
  /// Maximum size of an index, in bytes.
  private static let indexLimit = 16 << 20

  /// Its absolute path, without symbolic links.
  let path: String
  let size: Int
  private let directory: ZipDirectory
  private let descriptor: CInt
  private let worker: Worker

  /// - Parameter name: as a client gives it.
  init(_ name: String, _ worker: Worker) throws {
    let path = try worker.files.path(name)
    let file: OpenedFile
    do throws(FileRefusal) { file = try worker.files.policy.open(path) } catch { throw RPCError(error) }
    do throws(ZipFault) { directory = try ZipDirectory(file.descriptor, size: file.identity.size) } catch {
      close(file.descriptor)
      throw RPCError(error, in: path)
    }
    (self.path, size, descriptor, self.worker) = (file.name.path, file.identity.size, file.descriptor, worker)
  }

  deinit { close(descriptor) }

  func invalid(_ reason: String) -> RPCError {
    RPCError(.invalidPackage, "\(path) is no valid package: \(reason).", path: path).with("reason", reason)
  }

  // MARK: Entries

  private func entry(_ name: String, limit: Int) throws(RPCError) -> ZipEntry {
    guard let entry = directory[name] else { throw invalid("there is no \(name)") }
    guard entry.size <= limit else { throw invalid("\(name) has more than \(limit) bytes") }
    return entry
  }

  /// The bytes of an entry, whose checksum is right.
  private func bytes(of entry: ZipEntry) throws -> [UInt8] {
    if entry.isPacked { return try unpack(entry) }
    guard let bytes = readExactly(descriptor, at: entry.offset, count: entry.size) else { throw damaged(.damaged, entry) }
    var sum = CRC32()
    bytes.withUnsafeBytes { sum.add($0) }
    guard sum.value == entry.checksum else { throw damaged(.checksum, entry) }
    return bytes
  }

  private func unpack(_ entry: ZipEntry) throws -> [UInt8] {
    do throws(ReadError) {
      return try worker.readers.unpack(entry, of: descriptor, path) { worker.isCancelled }
    } catch { throw fault(error, of: entry) }
  }

  private func fault(_ error: ReadError, of entry: ZipEntry) -> any Error {
    guard case .openFailed(_, _, let reason) = error else { return error }
    return damaged(reason == ZipFault(.checksum, entry.name.lastName).reason ? .checksum : .damaged, entry)
  }

  private func damaged(_ kind: ZipFault.Kind, _ entry: ZipEntry) -> RPCError { RPCError(ZipFault(kind, entry.name), in: path) }

  /// Verifies the checksums of all entries.
  func verify() throws {
    let total = directory.entries.reduce(1) { $0 + $1.size }
    var done = 0
    for entry in directory.entries {
      if entry.isPacked {
        do throws(ReadError) { try worker.readers.verify(entry, of: descriptor, path) { worker.isCancelled } } catch {
          throw fault(error, of: entry)
        }
      } else {
        try verify(entry) { worker.work.report(Double(done + $0) / Double(total)) }
      }
      done += entry.size
      try worker.checkCancelled()
    }
  }

  private func verify(_ entry: ZipEntry, _ report: (Int) -> Void) throws {
    var sum = CRC32()
    var at = 0
    while at < entry.size {
      try worker.checkCancelled()
      let count = min(1 << 20, entry.size - at)
      guard let bytes = readExactly(descriptor, at: entry.offset + at, count: count) else { throw damaged(.damaged, entry) }
      bytes.withUnsafeBytes { sum.add($0) }
      at += count
      report(at)
    }
    guard sum.value == entry.checksum else { throw damaged(.checksum, entry) }
  }

  // MARK: Contents

  /// Its index, which keeps nothing of the text; and how it was made, if it says so.
  func index() throws -> (index: Index, origin: Value?) {
    let bytes = try bytes(of: entry(Self.indexName, limit: Self.indexLimit))
    do {
      let (index, origin) = try bytes.withUnsafeBytes { try JSONDocument($0, maximum: 1 << 20) }.read {
        json throws(JSONError) -> (Index, Value?) in
        var index = try Index(from: json)
        guard let origin = index.origin else { return (index, nil) }
        let value = try Wire.value(origin)
        index.origin = Wire.opaque(value)
        return (index, value)
      }
      guard index.version == 1 else { throw invalid("it is of version \(index.version), and this server knows 1") }
      for time in [index.created, index.expires].compactMap(\.self) where Instant(time) == nil {
        throw invalid("\(time) is no time")
      }
      if let name = index.thumbnail, directory[name] == nil { throw invalid("its index names \(name), which is not in it") }
      return (index, origin)
    } catch let error as JSONError {
      throw invalid("\(Self.indexName) has no \(error.expected) where one has to be")
    } catch is JSONSyntaxError { throw invalid("\(Self.indexName) is no JSON") }
  }

  /// The data files that have digests.
  var digestedFiles: [String] { directory.entries.compactMap { PackageDigests.file(of: $0.name) } }

  /// The digests of a data file of the package; empty if it has none.
  func digests(of file: String) throws -> PackageDigests {
    guard let entry = directory[PackageDigests.name(of: file)] else { return PackageDigests() }
    // A server writes them unpacked; what is packed may be a bomb for its memory.
    guard entry.size <= (entry.isPacked ? Self.indexLimit : ZipDirectory.packedLimit),
      let digests = try PackageDigests(try bytes(of: entry), checking: worker.checkCancelled)
    else { throw damaged(.damaged, entry) }
    return digests
  }

  /// The checksum of an entry; nil if there is none.
  func checksum(of name: String) -> UInt32? { directory[name]?.checksum }

  /// Calls `body` with the document's value, whose data are in the package.
  func withDocument<R>(_ index: Index, _ body: (JSONValue) throws -> R) throws -> R {
    let bytes = try bytes(of: entry(Self.documentName, limit: worker.documentLimits.bytes))
    let document: JSONDocument
    do { document = try bytes.withUnsafeBytes { try JSONDocument($0, maximum: worker.documentLimits.values) } } catch let error
      as JSONSyntaxError
    { throw RPCError(error, inDocument: "\(path)/\(Self.documentName)") }
    return try document.read { root in
      for path in Self.paths(in: root) where directory[path] == nil {
        throw invalid("its document names \(path), which is not in it")
      }
      for (list, names) in [("maps", index.maps.map(\.map)), ("scenes", index.scenes.map(\.scene))] {
        let found = Set(Self.ids(list, in: root))
        if let lost = names.first(where: { !found.contains($0) }) { throw invalid("its index names \(lost), which is not in it") }
      }
      return try body(root)
    }
  }

  private static func elements(_ list: JSONValue) -> [JSONValue] { list.kind == .array ? (0..<list.count).map { list[$0] } : [] }

  private static func ids(_ list: String, in root: JSONValue) -> [String] {
    elements(root.member(list)).compactMap { try? $0.member(String(list.dropLast())).string() }
  }

  /// The names of the files that a document reads.
  private static func paths(in root: JSONValue) -> [String] {
    let contents = elements(root["maps"]) + elements(root["scenes"])
    let lists = contents.flatMap { content in
      ["elevationSources", "operationalLayers", "baseLayers", "referenceLayers"].flatMap { elements(content.member($0)) }
    }
    return (elements(root["sources"]) + lists).compactMap { $0["path"].isPresent ? (try? $0["path"].string()) ?? "" : nil }
  }

  /// Reads a document of the package into a new world.
  func read(_ root: JSONValue, into empty: World) throws -> OpenedDocument {
    try DocumentFile.read(root, of: "\(path)/\(Self.documentName)", into: empty, worker)
  }
}

extension RPCError {
  init(_ fault: ZipFault, in path: String) {
    self = RPCError(.packageRefused, "\(path) is refused: \(fault.reason).", path: path).with("fault", fault.kind.rawValue)
      .with("entry", fault.entry)
  }
}
