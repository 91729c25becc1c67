// Tiles of rasters as PNG: one is drawn above the other, and a painter packs them.

import Drawing
import Pictures
import VectorTiles

extension Worker {
  /// A tile; nil if nothing is seen in it.
  ///
  /// - Parameter hasOpacity: whether opacities of layers are in the tile.
  func png(_ rasters: [DrawnRaster], of address: TileAddress, hasOpacity: Bool = true) throws -> [UInt8]? {
    var picture = PictureWriter()
    for raster in rasters {
      guard let pixels = try raster.pixels(of: address, checking: { _ in try checkCancelled() }) else { continue }
      picture.draw(pixels, opacity: hasOpacity ? raster.opacity : 1)
    }
    guard !picture.words.isEmpty else { return nil }
    let side = Double(DrawnRaster.tileSize)
    return try paint(PictureJob(.png, width: side, height: side), picture).withBytes { Array($0) }
  }
}
