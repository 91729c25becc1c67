// The files that GDAL may read: those that the request carries as open descriptors. Reads report progress.

import CReader
import Files
import Geometry
import Platform
import Reading
import Synchronization

/// The open files of a request.
///
/// `@unchecked`: GDAL's callbacks find the instance through a global. Everything else happens on the one thread on which GDAL
/// reads.
final class ReaderFiles: @unchecked Sendable {
  static let prefix = "/vsigeomodel"
  private static let shared = Mutex<ReaderFiles?>(nil)

  private let folder: String
  /// The name for GDAL of a source without descriptors: a database path or an address.
  private let foreignName: String?
  /// What no message contains.
  private let secrets: [String]
  private let descriptors: [Text: CInt]
  /// Where the main file is in its descriptor's; nil for the whole.
  private let part: ZipEntry?
  /// Why there is no main file.
  let fault: ReadError?
  private let main: Text
  private let identities: [CInt: FileIdentity]
  private let progress: (Double) -> Void
  private var reported = 0.0
  /// Progress, in 0...1, when the main file has been read to its end; the rest is for features.
  var readShare = 0.0

  /// Takes ownership of the descriptors, one for each name; there are none for a database. GDAL finds these files until the next
  /// request replaces them.
  init(_ job: ReadJob, _ descriptors: [CInt], progress: @escaping (Double) -> Void) {
    folder = job.folder
    foreignName = job.address.map { "/vsicurl/" + $0 } ?? job.database
    secrets = job.address.map { Address($0).secrets } ?? []
    main = Text(job.names.first ?? "")
    self.progress = progress
    var descriptors = descriptors
    (part, fault) = Self.unpack(job.part, &descriptors)
    self.descriptors = Dictionary(zip(job.names.map { Text($0) }, descriptors)) { first, _ in first }
    identities = Dictionary(
      descriptors.compactMap { file in FileIdentity(descriptor: file).map { (file, $0) } }
    ) { first, _ in first }
    Self.shared.withLock { $0 = self }
  }

  deinit { for descriptor in descriptors.values { close(descriptor) } }

  /// Unpacks an entry in memory, in place of its archive.
  private static func unpack(_ entry: ZipEntry?, _ descriptors: inout [CInt]) -> (ZipEntry?, ReadError?) {
    guard let entry, entry.isPacked, let archive = descriptors.first else { return (entry, nil) }
    let memory = creader_memory_file()
    descriptors = [memory]
    defer { close(archive) }
    let result = creader_inflate(archive, off_t(entry.offset), entry.packedSize, memory, entry.size, entry.checksum)
    let reason: String
    switch result {
    case 0: return (nil, nil)
    case CInt(CREADER_CHECKSUM): reason = ZipFault(.checksum, entry.name).reason
    case CInt(CREADER_NO_ZLIB): return (nil, .unavailable(reason: "zlib did not load"))
    case CInt(CREADER_NOT_WRITTEN): reason = "shared memory: \(errorText())"
    default: reason = ZipFault(.damaged, entry.name).reason
    }
    return (nil, .openFailed(driver: nil, path: "", reason: reason))
  }

  static var current: ReaderFiles? { shared.withLock { $0 } }

  /// Bytes of the main file; 0 for a database that SQLite opens, and for a source in the network.
  var mainSize: Int { part?.size ?? descriptors[main].flatMap { identities[$0]?.size } ?? 0 }

  /// The main file; nil for a database that SQLite opens, and for a source in the network.
  var mainDescriptor: CInt? { descriptors[main] }

  /// The main file's name without its extension.
  var mainStem: String {
    let leaf = main.string.split(separator: "\\", omittingEmptySubsequences: false).last ?? ""
    return leaf.lastIndex(of: ".").map { String(leaf[..<$0]) } ?? String(leaf)
  }

  /// The encoding that GDAL takes for another: a dBase table with the mark 57h has texts in the ANSI code page of Windows. Nil if a `.cpg`
  /// file states one.
  var tableEncoding: String? {
    func file(_ ending: String) -> CInt? { descriptors.first { $0.key.string.lowercased().hasSuffix(ending) }?.value }
    var mark: UInt8 = 0
    guard file(".cpg") == nil, let table = file(".dbf"), pread(table, &mark, 1, off_t(range(table).lowerBound) + 29) == 1 else { return nil }
    return mark == 0x57 ? "windows-1252" : nil
  }

  /// The name that GDAL opens.
  var gdalName: String { foreignName ?? "\(Self.prefix)\(folder)/\(main.string)" }

  /// The names of the files, if `name` is the folder's name for GDAL; nil for any other folder.
  func list(_ name: String) -> [String]? {
    let own = Self.prefix + folder
    return name == own || name == own + "/" ? descriptors.keys.map(\.string) : nil
  }

  /// The open file and whether it is the main one, for a name that GDAL opens.
  func find(_ name: String) -> (descriptor: CInt, isMain: Bool)? {
    let own = Array("\(Self.prefix)\(folder)/".utf8)
    guard name.utf8.starts(with: own) else { return nil }
    let leaf = Text(String(Substring(name.utf8.dropFirst(own.count))))
    return descriptors[leaf].map { ($0, leaf == main) }
  }

  func identity(_ descriptor: CInt) -> FileIdentity? { identities[descriptor] }

  /// Where a file's bytes are in its descriptor's.
  func range(_ descriptor: CInt) -> Range<Int> {
    if let part { return part.offset..<part.offset + part.size }
    return 0..<(identities[descriptor]?.size ?? 0)
  }

  /// A message of GDAL without the prefix of the virtual file system, and without the secrets of an address.
  static func cleaned(_ message: String) -> String {
    let replacements =
      [(prefix, ""), ("/vsicurl/", "")].map { (Array($0.utf8), $1) } + (current?.secrets ?? []).map { (Array($0.utf8), "***") }
    var rest = Array(message.utf8)[...]
    var cleaned: [UInt8] = []
    while let byte = rest.first {
      if let (found, replacement) = replacements.first(where: { rest.starts(with: $0.0) }) {
        rest = rest.dropFirst(found.count)
        cleaned += replacement.utf8
      } else {
        cleaned.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: cleaned, as: UTF8.self)
  }

  /// The name of a layer, without what of an address with secrets GDAL has made it of.
  func shown(layer name: String) -> String {
    guard !secrets.isEmpty, foreignName?.contains(name) == true else { return name }
    return String(name.prefix { !"?#:".contains($0) })
  }

  /// Reports progress if it has risen by a hundredth.
  func reached(_ fraction: Double) {
    let fraction = min(fraction, 1)
    guard fraction >= reported + 0.01 || (fraction == 1 && reported < 1) else { return }
    reported = fraction
    progress(fraction)
  }
}
