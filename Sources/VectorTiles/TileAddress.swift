// Which tile of Web Mercator's square is meant, where it lies, and how far its grid reaches.

import Geometry

/// A tile of the scheme that OGC's Two Dimensional Tile Matrix Set calls WebMercatorQuad: y grows southwards.
public struct TileAddress: Hashable, Sendable {
  /// Units of a tile's side.
  public static let extent = 4096
  /// Units beyond each side within which geometries are kept, so that symbols and outlines at the edge are whole.
  public static let buffer = 64
  public static let maxZoom = 24

  public let zoom: Int
  public let x: Int
  public let y: Int

  /// Nil if there is no such tile.
  public init?(zoom: Int, x: Int, y: Int) {
    guard (0...Self.maxZoom).contains(zoom), (0..<1 << zoom).contains(x), (0..<1 << zoom).contains(y) else { return nil }
    (self.zoom, self.x, self.y) = (zoom, x, y)
  }

  /// The tiles of the next zoom within this one; none at the last zoom.
  public var quarters: [TileAddress] {
    [(0, 0), (1, 0), (0, 1), (1, 1)].compactMap { TileAddress(zoom: zoom + 1, x: 2 * x + $0.0, y: 2 * y + $0.1) }
  }

  /// Half the width of the square in metres: half the circumference of Web Mercator's sphere.
  package static let reach = 6_378_137 * Double.pi

  /// Metres of a side.
  private var side: Double { 2 * Self.reach / Double(1 << zoom) }

  /// The box in metres, with the buffer.
  public var envelope: Envelope { box(margin: side * Double(Self.buffer) / Double(Self.extent)) }

  /// The box in metres, without the buffer.
  package var square: Envelope { box(margin: 0) }

  private func box(margin: Double) -> Envelope {
    let (west, north) = (-Self.reach + Double(x) * side, Self.reach - Double(y) * side)
    return Envelope(xMin: west - margin, yMin: north - side - margin, xMax: west + side + margin, yMax: north + margin)
  }

  /// Units of the world's width.
  package var turn: Double { Double(Self.extent << zoom) }

  /// Changes alternating x and y from metres to units from the north-western corner, y southwards.
  package func place(_ values: inout [Double]) {
    let scale = Double(Self.extent) / side
    let (west, north) = (-Self.reach + Double(x) * side, Self.reach - Double(y) * side)
    values.withUnsafeMutableBufferPointer { values in
      for index in stride(from: 0, to: values.count - 1, by: 2) {
        values[index] = (values[index] - west) * scale
        values[index + 1] = (north - values[index + 1]) * scale
      }
    }
  }

  /// The tile's place along a Hilbert curve behind all tiles of lower zooms: the id of PMTiles 3.
  public var hilbertID: UInt64 {
    var (x, y, along) = (UInt64(self.x), UInt64(self.y), UInt64(0))
    var side: UInt64 = zoom == 0 ? 0 : 1 << UInt64(zoom - 1)
    while side > 0 {
      let (right, lower): (UInt64, UInt64) = (x & side == 0 ? 0 : 1, y & side == 0 ? 0 : 1)
      along += side * side * ((3 * right) ^ lower)
      (x, y) = (x & (side - 1), y & (side - 1))
      if lower == 0 {
        if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
        (x, y) = (y, x)
      }
      side >>= 1
    }
    return ((1 << UInt64(2 * zoom)) - 1) / 3 + along
  }
}
