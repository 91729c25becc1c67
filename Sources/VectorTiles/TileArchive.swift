// The file of PMTiles 3: tiles by their place along a Hilbert curve, so that a client reads those it needs by ranges of bytes.
// https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md

import Geometry

/// What a file of tiles says of them.
package struct TileSet: Sendable {
  package let name: String
  /// A JSON object with the name and the layers, as `vector_layers`.
  package let metadata: String
  /// Whether the tiles are PNG in place of vector tiles in gzip.
  package let isOfPixels: Bool
  package let zooms: ClosedRange<Int>
  /// In degrees.
  package let bounds: Envelope

  package init(name: String, metadata: String, isOfPixels: Bool = false, zooms: ClosedRange<Int>, bounds: Envelope) {
    (self.name, self.metadata, self.isOfPixels, self.zooms, self.bounds) = (name, metadata, isOfPixels, zooms, bounds)
  }
}

/// The directory of an archive while its tiles are written one after the other, by ascending ``TileAddress/hilbertID``.
///
/// The header and the root directory have their place at the start of the file, the tiles follow from ``dataOffset`` on, the other
/// directories and the metadata after these.
package struct TileArchive {
  private struct Entry {
    let id: UInt64
    var run: UInt64
    let offset: UInt64
    let length: UInt64
  }

  /// The root directory ends within the first 16 KiB.
  package static let dataOffset = 16_384
  private static let headerSize = 127
  /// Tiles that are likely to occur several times, such as those within one area, are small.
  private static let sharedSize = 1024

  private var entries: [Entry] = []
  private var known: [[UInt8]: Int] = [:]
  private var dataSize: UInt64 = 0
  private var contents: UInt64 = 0
  /// Number of tiles so far.
  package private(set) var tileCount = 0

  package init() {}

  /// The bytes that are appended to the file for a tile. Tiles come by ascending ``TileAddress/hilbertID``.
  package mutating func place(_ address: TileAddress, _ data: [UInt8]) -> [UInt8] {
    tileCount += 1
    let id = address.hilbertID
    if data.count <= Self.sharedSize, let index = known[data] {
      let same = entries[index]
      if let last = entries.last, last.offset == same.offset, last.id + last.run == id {
        entries[entries.count - 1].run += 1
      } else {
        entries.append(Entry(id: id, run: 1, offset: same.offset, length: same.length))
      }
      return []
    }
    entries.append(Entry(id: id, run: 1, offset: dataSize, length: UInt64(data.count)))
    if data.count <= Self.sharedSize { known[data] = entries.count - 1 }
    dataSize += UInt64(data.count)
    contents += 1
    return data
  }

  /// The start of the file, of at most ``dataOffset`` bytes, and its end behind the tiles.
  package mutating func finished(_ about: TileSet) throws(GzipError) -> (head: [UInt8], tail: [UInt8]) {
    let (metadata, zooms, bounds) = (try Array(about.metadata.utf8).gzip, about.zooms, about.bounds)
    var (root, leaves) = (try Self.directory(entries[...]), [UInt8]())
    var leafSize = 4096
    while root.count > Self.dataOffset - Self.headerSize {
      var pointers: [Entry] = []
      leaves = []
      for start in stride(from: 0, to: entries.count, by: leafSize) {
        let leaf = try Self.directory(entries[start..<min(start + leafSize, entries.count)])
        // A run of none points to a leaf.
        pointers.append(Entry(id: entries[start].id, run: 0, offset: UInt64(leaves.count), length: UInt64(leaf.count)))
        leaves += leaf
      }
      root = try Self.directory(pointers[...])
      leafSize *= 2
    }
    let leafOffset = UInt64(Self.dataOffset) + dataSize
    var head = TileBytes(capacity: Self.dataOffset)
    Array("PMTiles".utf8).withUnsafeBytes { head.append($0) }
    head.append(bytes: [3])
    for number in [
      UInt64(Self.headerSize), UInt64(root.count), leafOffset + UInt64(leaves.count), UInt64(metadata.count), leafOffset,
      UInt64(leaves.count), UInt64(Self.dataOffset), dataSize, UInt64(tileCount), UInt64(entries.count), contents,
    ] { head.append(number) }
    // In the order of ids, directories in gzip; PNG as it is, or vector tiles in gzip.
    head.append(bytes: [1, 2] + (about.isOfPixels ? [1, 2] : [2, 1]) + [UInt8(zooms.lowerBound), UInt8(zooms.upperBound)])
    let center = bounds.center
    for degrees in [bounds.xMin, bounds.yMin, bounds.xMax, bounds.yMax] { head.append(degrees: degrees) }
    head.append(bytes: [UInt8(zooms.lowerBound)])
    for degrees in [center.x, center.y] { head.append(degrees: degrees) }
    head.append(bytes: root)
    return (Array(head.bytes), leaves + metadata)
  }

  private static func directory(_ entries: ArraySlice<Entry>) throws(GzipError) -> [UInt8] {
    var bytes = TileBytes(capacity: 16 + 8 * entries.count)
    bytes.put(UInt64(entries.count))
    var last: UInt64 = 0
    for entry in entries {
      bytes.put(entry.id - last)
      last = entry.id
    }
    for entry in entries { bytes.put(entry.run) }
    for entry in entries { bytes.put(entry.length) }
    var end: UInt64?
    for entry in entries {
      // 0 is right behind the entry before.
      bytes.put(entry.offset == end ? 0 : entry.offset + 1)
      end = entry.offset + entry.length
    }
    return try Array(bytes.bytes).gzip
  }
}

extension TileBytes {
  fileprivate mutating func append(bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  /// Degrees in steps of 1e-7, as an integer of 32 bits.
  fileprivate mutating func append(degrees: Double) {
    withUnsafeBytes(of: Int32((degrees * 1e7).rounded()).littleEndian) { append($0) }
  }
}
