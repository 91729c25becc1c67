// The pixels of a raster in tiles of Web Mercator, and how many zooms of them it has.

import GeoModel
import Geometry
import Pictures
import Platform
import Sorting
import VectorTiles

extension DrawnRaster {
  /// Pixels of a tile's side: tiles of pixels are drawn at the scales of vector tiles.
  package static let tileSize = 512

  /// The pixels that the raster has in a tile; nil if nothing is seen of it there.
  package func pixels(of address: TileAddress, checking check: CancellationCheck) throws -> DrawnPixels? {
    let found = try pixels(in: Self.frame(address, side: Self.tileSize), checking: check)
    return found?.colors.contains { $0 >> 24 > 0 } == true ? found : nil
  }

  /// Whether there may be pixels of it in a tile. The first zooms are so coarse that a raster may be between the places that are compared.
  package func meets(_ address: TileAddress) throws -> Bool {
    try address.zoom < 3 || RasterGrid(Self.frame(address, side: 4 * RasterGrid.cell), source.info, transformer) { _ in }.covered != nil
  }

  private static func frame(_ address: TileAddress, side: Int) -> PixelFrame {
    let (box, size) = (address.square, address.square.width / Double(side))
    return PixelFrame(
      width: side, height: side, reference: .webMercator, wrap: nil, origin: SIMD2(box.xMin, box.yMax), column: SIMD2(size, 0),
      row: SIMD2(0, -size))
  }

  /// The first zoom whose pixels are no larger than the raster's, where these are smallest.
  package func lastZoom() throws -> Int {
    let (info, steps) = (source.info, 5)
    let places = (0..<steps * steps).flatMap { index in
      let column = (Double(index % steps) + 0.5) / Double(steps) * Double(info.width)
      let row = (Double(index / steps) + 0.5) / Double(steps) * Double(info.height)
      return [(0.0, 0.0), (1, 0), (0, 1)].map { right, below in
        let place = info.transform.position(column: column + right, row: row + below)
        return Point(x: place.x, y: place.y)
      }
    }
    let found = try transformer.transformEach(places, from: info.reference, to: .webMercator).map { try? $0.get() }
    var size = Double.infinity
    for first in stride(from: 0, to: found.count, by: 3) {
      for next in [first + 1, first + 2] {
        guard let a = found[first], let b = found[next] else { continue }
        let length = ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot()
        if length > 0 { size = min(size, length) }
      }
    }
    guard size.isFinite, let world = TileAddress(zoom: 0, x: 0, y: 0) else { return 0 }
    // A raster that was made of tiles has exactly their pixels, but for rounding.
    let zoom = (log2(world.square.width / Double(Self.tileSize) / size) - 0.05).rounded(.up)
    return Int(min(max(zoom, 0), Double(TileAddress.maxZoom)))
  }
}

extension PictureWriter {
  /// Draws pixels where they are in a picture of `ratio` pixels to a device-independent one.
  package mutating func draw(_ pixels: DrawnPixels, ratio: Double = 1, opacity: Double) {
    let low = SIMD2(Float(pixels.x), Float(pixels.y)) / Float(ratio)
    let size = SIMD2(Float(pixels.width), Float(pixels.height)) / Float(ratio)
    if opacity < 1 { beginGroup(opacity: Float(opacity)) }
    image(pixels.colors, width: pixels.width, in: (low, low + size))
    if opacity < 1 { endGroup() }
  }
}
