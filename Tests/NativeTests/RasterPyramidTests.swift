// Pixels of real files at several reductions, read by the confined reader.

import Files
import Foundation
import Geometry
import Readers
import Reading
import Testing

@Suite struct `Pixels from files` {
  private func whole(_ raster: RasterPyramid, level: Int = 0, bands: [Int], isNearest: Bool = true) throws -> RasterPixels {
    let window = RasterWindow(column: 0, row: 0, width: raster.info.width(at: level), height: raster.info.height(at: level))
    return try raster.pixels(window, level: level, bands: bands, isNearest: isNearest)
  }

  @Test func `bytes come with their mask`() throws {
    let raster = try RasterPyramid(readers, path: fixture("colors.tif"), table: nil)
    #expect(raster.info.bands.map(\.type) == ["Byte", "Byte", "Byte"])
    #expect(raster.info.reference == .wgs84 && raster.info.extent == Envelope(xMin: 10, yMin: 47, xMax: 14, yMax: 50))
    let pixels = try whole(raster, bands: [0, 2])
    guard case .bytes(let bytes) = pixels.numbers else {
      Issue.record("no bytes")
      return
    }
    #expect(bytes[1..<4] == [90, 140, 190] && bytes[12 + 1..<12 + 4] == [180, 160, 140])
    #expect(pixels.mask == [0] + [UInt8](repeating: 255, count: 11))
  }

  @Test func `a window across tiles is the same as its pixels alone`() throws {
    let raster = try RasterPyramid(readers, path: fixture("jacksboro_dem.tif"), table: nil)
    let all = try whole(raster, bands: [0])
    let window = RasterWindow(column: 250, row: 250, width: 20, height: 15)
    let part = try raster.pixels(window, level: 0, bands: [0], isNearest: true)
    let (own, numbers) = (part.floats(ofBand: 0), all.floats(ofBand: 0))
    for row in 0..<15 { for column in 0..<20 { #expect(own[row * 20 + column] == numbers[(250 + row) * 403 + 250 + column]) } }
    #expect(try raster.statistics(ofBand: 0).map { [$0.least, $0.greatest] } == [236, 1076])
  }

  @Test func `reduced pixels are means`() throws {
    let raster = try RasterPyramid(readers, path: fixture("jacksboro_dem.tif"), table: nil)
    let (fine, coarse) = (try whole(raster, bands: [0]).floats(ofBand: 0), try whole(raster, level: 2, bands: [0], isNearest: false))
    #expect((coarse.width, coarse.height) == (101, 86))
    let numbers = coarse.floats(ofBand: 0)
    // 403 columns are 101 of 3.99; in the first of them the difference to 4 is small.
    for row in 0..<5 {
      let sum = (0..<16).reduce(Float(0)) { $0 + fine[(4 * row + $1 / 4) * 403 + $1 % 4] }
      #expect(abs(numbers[row * 101] - sum / 16) < 3)
    }
  }

  @Test func `a palette is known`() throws {
    let raster = try RasterPyramid(readers, path: fixture("classes.tif"), table: nil)
    #expect(raster.info.bands[0].colors?.prefix(4) == [0x0000_00FF, 0xFF00_00FF, 0x00FF_00FF, 0x0000_FFFF])
  }

  @Test(arguments: [("tiles.mbtiles", nil), ("tiles.gpkg", "DAY"), ("tiles.gpkg", "NIGHT")] as [(String, String?)])
  func `tiles of databases are pixels`(file: String, table: String?) throws {
    let raster = try RasterPyramid(readers, path: fixture(file), table: table)
    #expect(raster.info.reference == .webMercator && raster.info.width == 256)
    let pixels = try whole(raster, bands: [0, 1, 2])
    #expect([0, 1, 2].map { pixels.floats(ofBand: $0)[0] } == [200, 150, 50])
    #expect([0, 1, 2].map { pixels.floats(ofBand: $0)[65535] } == [0, 0, 50])
  }

  @Test func `of several tables one has to be named`() throws {
    for table in [nil, "dusk"] {
      #expect { try RasterPyramid(readers, path: fixture("tiles.gpkg"), table: table) } throws: { error in
        if case .noSuchLayer(_, let available)? = error as? ReadError { available == ["DAY", "NIGHT"] } else { false }
      }
    }
  }
}
