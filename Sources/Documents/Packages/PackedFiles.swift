// The files of a model's sources and rasters that come into a package as they are.

import Files
import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSONRPC
import Platform
import Reading
import WireCoding

/// Files to be copied, open for reading.
final class PackedFiles {
  struct Item {
    let name: String
    let descriptor: CInt
    let offset: Int
    let size: Int
    fileprivate let path: String
    fileprivate let identity: FileIdentity
  }

  private(set) var all: [Item] = []
  /// The names in the package, by absolute path.
  private(set) var names: [Text: String] = [:]
  private var taken: Set<Text>

  /// Formats of one file, by extension, besides those that readers of features have.
  private static let rasters: Set = ["tif", "tiff", "hgt", "dt0", "dt1", "dt2", "img", "mbtiles", "gpkg"]
  private static let several: Set = ["shp", "dbf", "gdb"]

  /// - Parameter converted: names in the package of the sources that do not come as they are, by their numbers.
  /// - Throws: for what a package cannot hold as it is: addresses, formats of several files, databases in use.
  init(in world: World, converted: [Int: String], _ worker: Worker) throws {
    taken = Set(converted.values.map { Text($0.lowercased()) })
    for source in DocumentSource.all(in: world) where converted[source.number] == nil {
      guard case .file(let file) = source.origin else { continue }
      if FilePolicy.isAddress(file.path) { throw Self.refusal(file.path, "packages hold files, and it is an address") }
      try add(file.path, worker) { !Self.several.contains($0) }
    }
    let rasters = world.layers.values.compactMap { $0.raster?.origin.path }
    for path in rasters + world.scenes.values.flatMap(\.surface.elevationSources).map(\.path.string) {
      if FilePolicy.isAddress(path) { throw Self.refusal(path, "packages hold files, and it is an address") }
      try add(path, worker) { Self.rasters.contains($0) }
    }
  }

  deinit { for item in all { close(item.descriptor) } }

  var bytes: Int { all.reduce(0) { $0 + $1.size } }

  private static func refusal(_ path: String, _ reason: String) -> RPCError {
    RPCError(FileRefusal.refused(path: path, reason: reason))
  }

  /// A name in the package for a file, free where case does not count, too. The file's own name stays, as some layers are named by it.
  static func free(_ file: String, _ taken: inout Set<Text>) -> String {
    var name = "data/\(file)"
    var count = 1
    while !taken.insert(Text(name.lowercased())).inserted {
      count += 1
      name = "data/\(count)/\(file)"
    }
    return name
  }

  private func add(_ path: String, _ worker: Worker, _ isOneFile: (String) -> Bool) throws {
    guard names[Text(path)] == nil else { return }
    let (stem, ending) = path.stemAndExtension
    guard isOneFile(ending) else { throw Self.refusal(path, "packages hold formats of one file, and it has several") }
    guard !stem.utf8.contains(UInt8(ascii: "\\")) else { throw Self.refusal(path, "names in packages have no backslash") }
    let file: OpenedFile
    do throws(FileRefusal) { file = try worker.files.policy.openInArchives(path) } catch { throw RPCError(error) }
    let real = file.name.path
    let isUsed = ["-wal", "-journal"].contains { (FileIdentity(path: real + $0)?.size ?? 0) > 0 }
    let part = file.entry == nil ? Self.part(of: path, file.descriptor, stem, ending, worker.files.policy) : nil
    guard file.entry?.isPacked != true, file.entry != nil || !isUsed, part == nil else {
      close(file.descriptor)
      let other = isUsed ? "a program has it open as a database" : "it is compressed in another package"
      throw Self.refusal(path, part.map { "packages hold formats of one file, and \($0) beside it says what is in it" } ?? other)
    }
    let name = Self.free(ending.isEmpty ? stem : "\(stem).\(ending)", &taken)
    names[Text(path)] = name
    all.append(
      Item(
        name: name, descriptor: file.descriptor, offset: file.entry?.offset ?? 0, size: file.entry?.size ?? file.identity.size,
        path: real, identity: file.identity))
  }

  /// The name of a file beside a file without which it would be another one: it says where pixels lie, or what columns are.
  private static func part(of path: String, _ file: CInt, _ stem: String, _ ending: String, _ policy: FilePolicy) -> String? {
    let name = ending.isEmpty ? stem : "\(stem).\(ending)"
    let folder = path.utf8.dropLast(name.utf8.count)
    func isThere(_ leaf: String) -> Bool { (FileIdentity(path: "\(Substring(folder))\(leaf)")?.size ?? 0) > 0 }
    let endings =
      switch ending {
      case "csv": ["csvt", "prj"]
      case "tif", "tiff": isPlaced(file) ? [] : ["tfw", "tifw", "wld", "tab"]
      case "img": ["ige"]
      default: [] as [String]
      }
    let cases = endings.flatMap { [$0, $0.uppercased(), $0.prefix(1).uppercased() + $0.dropFirst()] }
    if let part = cases.lazy.map({ "\(stem).\($0)" }).first(where: isThere) { return part }
    guard rasters.contains(ending) else { return nil }
    if isThere("\(name).msk") { return "\(name).msk" }
    let more = "\(name).aux.xml"
    return isThere(more) && !hasStatisticsAlone("\(path).aux.xml", policy) ? more : nil
  }

  /// Whether a TIFF says itself where its pixels lie, so that nothing reads a world file: its first directory has ModelPixelScale or
  /// ModelTransformation.
  ///
  /// - Source: https://docs.ogc.org/is/19-008r4/19-008r4.html, section 7.1; TIFF 6.0, section 2.
  private static func isPlaced(_ file: CInt) -> Bool {
    guard let head = readExactly(file, at: 0, count: 16) else { return false }
    func number(_ bytes: ArraySlice<UInt8>) -> Int {
      let ordered = head[0] == UInt8(ascii: "I") ? Array(bytes.reversed()) : Array(bytes)
      return ordered.reduce(0) { $0 << 8 | Int($1) } & (1 << 48 - 1)
    }
    let isBig = number(head[2..<4]) == 43
    let (start, width, step) = isBig ? (number(head[8..<16]), 8, 20) : (number(head[4..<8]), 2, 12)
    guard let count = readExactly(file, at: start, count: width).map({ min(number($0[...]), 4096) }),
      let entries = readExactly(file, at: start + width, count: count * step)
    else { return false }
    return (0..<count).contains { [33550, 34264].contains(number(entries[$0 * step..<$0 * step + 2])) }
  }

  /// Whether a file that GDAL wrote beside a raster says nothing of its pixels that is not in the raster.
  private static func hasStatisticsAlone(_ path: String, _ policy: FilePolicy) -> Bool {
    guard let file = try? policy.open(path) else { return true }
    defer { close(file.descriptor) }
    guard file.identity.size <= 1 << 20, let bytes = readExactly(file.descriptor, at: 0, count: file.identity.size) else { return false }
    let elements = String(decoding: bytes, as: UTF8.self).split(separator: "<")
    // A band that is gray or of no kind is so without that.
    let plain = elements.filter { !$0.hasPrefix("ColorInterp>Gray") && !$0.hasPrefix("ColorInterp>Undefined") }
    return Set(plain.map { $0.prefix { $0.isLetter } }).isDisjoint(with: telling)
  }

  /// The elements of such files that say what a raster is.
  ///
  /// - Source: https://gdal.org/user/raster_data_model.html, and GDALPamDataset in GDAL.
  private static let telling: Set<Substring> = [
    "SRS", "GeoTransform", "GCPList", "GeodataXform", "NoDataValue", "Scale", "Offset", "ColorInterp", "ColorTable", "CategoryNames",
    "UnitType", "GDALRasterAttributeTable",
  ]

  /// Throws `changedWhileRead` if a file is not what it was.
  func checkUnchanged() throws {
    for item in all where FileIdentity(path: item.path) != item.identity {
      throw RPCError(ReadError.changedWhileRead(path: item.path))
    }
  }
}
