// What the files of many tiles have in common: tiles one after the other, then what is said of all.

import Geometry

/// What a file says of its tiles.
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

/// The form of a file while its tiles are written.
package protocol TileFile {
  init()
  /// Where the tiles begin; the start is written last.
  static var dataOffset: Int { get }
  /// Number of tiles so far.
  var tileCount: Int { get }
  /// The bytes that are appended to the file for a tile in gzip. Tiles come by ascending ``TileAddress/hilbertID``.
  mutating func place(_ address: TileAddress, _ data: [UInt8]) -> [UInt8]
  /// The start of the file, of at most ``dataOffset`` bytes, and its end behind the tiles.
  mutating func finished(_ about: TileSet) -> (head: [UInt8], tail: [UInt8])
}
