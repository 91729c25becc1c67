// Elevation of a real raster, and of small handwritten ones with known values.

import Elevation
import Files
import Foundation
import Geometry
import Readers
import Reading
import Testing

@Suite struct `Heights from rasters` {
  /// 3 x 2 pixels of 1 unit from (10, 22) downwards; the last one unknown.
  private func grid(_ directory: TemporaryDirectory) throws -> ElevationRaster {
    try ElevationRaster(
      readers,
      path: try directory.write(
        "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 1\nNODATA_value -9999\n1 2 3\n4 5 -9999\n", to: "g.asc")
    )
  }

  @Test func `the fixture is described and gives its known pixel`() throws {
    let raster = try ElevationRaster(readers, path: fixture("jacksboro_dem.tif"))
    #expect(raster.description.driver == "GTiff")
    #expect((raster.description.width, raster.description.height) == (403, 344))
    #expect(raster.description.spatialReference == .wgs84)
    #expect(raster.description.noData == -32768)
    #expect(abs(raster.description.transform.resolution.x - 3.0 / 3600) < 1e-9)
    #expect(try raster.sample(Point(x: -84.25, y: 36.6), interpolation: .nearest) == .value(513))
    #expect(try raster.sample(Point(x: 0, y: 0)) == .outside)
    #expect(try raster.sample(Point(x: .nan, y: 36.6)) == .outside)
  }

  @Test func `many samples equal single ones`() throws {
    let raster = try ElevationRaster(readers, path: fixture("jacksboro_dem.tif"))
    let box = raster.description.extent
    var positions = Positions()
    for index in 0..<500 {
      // Outside too, and in random order of tiles.
      let u = Double(index * 7919 % 500) / 490 - 0.01
      let v = Double(index * 104_729 % 500) / 490 - 0.01
      positions.append(Point(x: box.xMin + u * box.width, y: box.yMin + v * box.height))
    }
    for interpolation in [Interpolation.bilinear, .nearest] {
      let all = try #require(try raster.sample(positions, interpolation: interpolation))
      for index in 0..<positions.count {
        #expect(try raster.sample(positions[index], interpolation: interpolation) == all[index])
      }
      #expect(all.contains(.outside))
    }
  }

  @Test func `values hold at pixel centres and change evenly between`() throws {
    let raster = try grid(try TemporaryDirectory())
    #expect(try raster.sample(Point(x: 10.5, y: 21.5)) == .value(1))
    #expect(try raster.sample(Point(x: 11, y: 21.5)) == .value(1.5))
    #expect(try raster.sample(Point(x: 11, y: 21)) == .value(3))
    // Between the outermost centres and the edge one pixel determines the value; the edge is inside.
    #expect(try raster.sample(Point(x: 10, y: 22)) == .value(1))
    #expect(try raster.sample(Point(x: 10.1, y: 20)) == .value(4))
    #expect(try raster.sample(Point(x: 9.99, y: 21)) == .outside)
    #expect(try raster.sample(Point(x: 11.2, y: 20.3), interpolation: .nearest) == .value(5))
  }

  @Test func `an unknown pixel with a weight makes the sample unknown, one without does not`() throws {
    let raster = try grid(try TemporaryDirectory())
    #expect(try raster.sample(Point(x: 12.5, y: 20.5)) == .noData)
    #expect(try raster.sample(Point(x: 11.6, y: 20.5)) == .noData)
    #expect(try raster.sample(Point(x: 12.4, y: 21.4)) == .noData)
    #expect(try raster.sample(Point(x: 11.5, y: 20.5)) == .value(5))
    guard case .value(let between) = try raster.sample(Point(x: 12.4, y: 21.5)) else { throw Unexpected() }
    #expect(abs(between - 2.9) < 1e-12)
    #expect(try raster.sample(Point(x: 11.6, y: 20.5), interpolation: .nearest) == .value(5))
    // At a centre but for rounding.
    #expect(try raster.sample(Point(x: (11.5).nextUp, y: 20.5)) == .value(5))
    #expect(try raster.sample(Point(x: 12.5 - 1e-9, y: 21.5 - 1e-9)) == .value(3))
    #expect(try raster.sample(Point(x: 12.5, y: 21.5 - 1e-5)) == .noData)
  }

  private static let units: [(String, Double)] = [
    ("ft", 0.3048), ("Foot (International)", 0.3048), ("US survey foot", 1200.0 / 3937.0), ("US_survey_foot", 1200.0 / 3937.0),
    ("[ft_us]", 1200.0 / 3937.0), ("mm", 0.001), ("yd", 0.9144), ("fathom", 1.8288), ("metre", 1.0), ("m above sea", 1.0),
  ]

  @Test(arguments: units)
  func `the unit of heights is known in the words of different writers`(unit: String, metres: Double) throws {
    let directory = try TemporaryDirectory()
    _ = try directory.write(
      "<PAMDataset><PAMRasterBand band=\"1\"><UnitType>\(unit)</UnitType></PAMRasterBand></PAMDataset>", to: "g.asc.aux.xml")
    #expect(try grid(directory).sample(Point(x: 11.5, y: 20.5)) == .value(5 * metres))
  }

  @Test func `pixels without area have no transform`() throws {
    #expect(try #require(RasterTransform([100, 0, 2, 50, 2, 0])).resolution == (2, 2))
    #expect(RasterTransform([0, 1, 2, 0, 2, 4]) == nil)
    #expect(RasterTransform([0, .nan, 2, 0, 2, 4]) == nil)
  }

  /// GDAL's sidecar rotates the fixture's grid, and declares its numbers as half feet above 100.
  @Test func `rotated pixels, scale, offset and feet are taken from the file`() throws {
    let directory = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let path = try directory.copy(fixture("jacksboro_dem.tif"), to: "turned.tif")
    let sidecar = """
      <PAMDataset><GeoTransform>100, 0, 2, 50, 2, 0</GeoTransform><PAMRasterBand band="1">
      <Offset>100</Offset><Scale>0.5</Scale><UnitType>ft</UnitType></PAMRasterBand></PAMDataset>
      """
    _ = try directory.write(sidecar, to: "turned.tif.aux.xml")
    let plain = try ElevationRaster(readers, path: fixture("jacksboro_dem.tif"))
    let turned = try ElevationRaster(readers, path: path)
    #expect(turned.description.transform == RasterTransform([100, 0, 2, 50, 2, 0]))
    let box = turned.description.extent
    #expect(box == Envelope(xMin: 100, yMin: 50, xMax: 100 + 2 * 344, yMax: 50 + 2 * 403))
    let known = plain.description.transform
    for (column, row) in [(10.5, 20.5), (300.2, 7.9), (401, 343)] {
      let straight = Point(
        x: known.xOrigin + column * known.xPerColumn, y: known.yOrigin + row * known.yPerRow)
      guard case .value(let height) = try plain.sample(straight),
        case .value(let scaled) = try turned.sample(Point(x: 100 + 2 * row, y: 50 + 2 * column))
      else { throw Unexpected() }
      #expect(abs(scaled - (height * 0.5 + 100) * 0.3048) < 1e-6)
    }
    // The same sidecar through a link that leads outside.
    let policy = FilePolicy(allowedDirectories: [directory.path])
    #expect(throws: Never.self) { try ElevationRaster(readers, path: path, policy: policy) }
    let target = try outside.write(sidecar, to: "a.xml")
    try FileManager.default.removeItem(atPath: path + ".aux.xml")
    try FileManager.default.createSymbolicLink(atPath: path + ".aux.xml", withDestinationPath: target)
    #expect(throws: ReadError.self) { try ElevationRaster(readers, path: path, policy: policy) }
  }

  @Test func `the policy holds for rasters too`() throws {
    let directory = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let policy = FilePolicy(allowedDirectories: [directory.path])
    let dem = fixture("jacksboro_dem.tif")
    #expect(throws: ReadError.file(.refused(path: dem, reason: "outside the allowed directories"))) {
      try ElevationRaster(readers, path: dem, policy: policy)
    }
    let link = directory.file("link.tif")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: dem)
    #expect(throws: ReadError.self) { try ElevationRaster(readers, path: link, policy: policy) }
    #expect(throws: ReadError.file(.notFound(path: outside.file("x.tif")))) {
      try ElevationRaster(readers, path: outside.file("x.tif"))
    }
    #expect(throws: ReadError.file(.isDirectory(path: outside.path))) {
      try ElevationRaster(readers, path: outside.path)
    }
    for name in ["/vsimem/x.tif", "NETCDF:/tmp/x.nc:z", "<VRTDataset/>", "x.tif"] {
      let error = try #require(throws: ReadError.self) { try ElevationRaster(readers, path: name) }
      guard case .file(.refused) = error else { throw error }
    }
    let vrt = try outside.write(
      "<VRTDataset rasterXSize=\"1\" rasterYSize=\"1\"><VRTRasterBand dataType=\"Byte\" band=\"1\"/></VRTDataset>",
      to: "x.vrt")
    #expect(throws: ReadError.unrecognized(path: vrt)) { try ElevationRaster(readers, path: vrt) }
  }

  @Test func `a truncated raster is an error, not a height`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.copy(fixture("jacksboro_dem.tif"), to: "half.tif", fraction: 0.5)
    #expect(throws: ReadError.self) {
      let raster = try ElevationRaster(readers, path: path)
      let box = raster.description.extent
      for step in 0...20 {
        _ = try raster.sample(Point(x: box.center.x, y: box.yMin + Double(step) / 20 * box.height))
      }
    }
  }

  @Test func `a cancel stops a long sample`() throws {
    let raster = try ElevationRaster(readers, path: fixture("jacksboro_dem.tif"))
    let center = raster.description.extent.center
    let positions = Positions([Point](repeating: center, count: 20_000))
    var asked = 0
    #expect(throws: ReadError.cancelled) {
      try raster.sample(positions) {
        asked += 1
        return asked > 2
      }
    }
    #expect(asked == 3)
  }

  @Test(arguments: [1.0, 0.3])
  func `scattered positions have the same heights as alone, in whole metres and in others`(scale: Double) throws {
    let directory = try TemporaryDirectory()
    // 6 x 6 tiles, of which a request that touches all reads single cells.
    let side = 1400
    let rows = (0..<side).map { row in
      (0..<side).map { $0 % 97 == 5 ? "-9999" : "\(Double(($0 * 31 + row * 17) % 800) * scale)" }.joined(separator: " ")
    }
    let head = "ncols \(side)\nnrows \(side)\nxllcorner 0\nyllcorner 0\ncellsize 1\nNODATA_value -9999\n"
    let path = try directory.write(head + rows.joined(separator: "\n") + "\n", to: "g.asc")
    let (scattered, alone) = (try ElevationRaster(readers, path: path), try ElevationRaster(readers, path: path))
    var positions = Positions()
    for index in 0..<600 {
      positions.append(Point(x: Double(index * 7919 % 14_000) / 10, y: Double(index * 104_729 % 14_000) / 10))
    }
    // One tile that has many positions beside those that have few.
    for index in 0..<300 { positions.append(Point(x: 300 + Double(index) / 4, y: 300.25)) }
    for interpolation in [Interpolation.bilinear, .nearest] {
      let all = try #require(try scattered.sample(positions, interpolation: interpolation))
      for index in stride(from: 0, to: positions.count, by: 7) {
        #expect(try alone.sample(positions[index], interpolation: interpolation) == all[index])
      }
    }
    let known = Positions([Point(x: 310.5, y: 300.5)])
    #expect(try scattered.sample(known, onlyKept: true) == alone.sample(known))
    #expect(try scattered.sample(Positions([Point(x: 1300, y: 1300)]), onlyKept: true) == nil)
  }

  @Test func `tiles are kept within their bytes, those used last`() throws {
    let tiles = RasterTiles<RasterHeights>()
    let heights = RasterHeights([Double](repeating: 0.1, count: 1 << 17))
    let (raster, other) = (tiles.makeRaster(), tiles.makeRaster())
    let count = RasterTiles<RasterHeights>.limit / heights.byteCount
    for tile in 0..<count { tiles.keep(heights, raster: raster, tile: tile) }
    #expect(tiles[raster, 0] != nil)
    tiles.keep(heights, raster: other, tile: 0)
    #expect(tiles[raster, 0] != nil && tiles[raster, 1] == nil && tiles[raster, 2] != nil && tiles[other, 0] != nil)
    tiles.forget(raster: raster)
    #expect(tiles[raster, 0] == nil && tiles[other, 0] != nil)
  }

  @Test func `several threads may sample one raster`() async throws {
    let raster = try ElevationRaster(readers, path: fixture("jacksboro_dem.tif"))
    let point = Point(x: -84.25, y: 36.6)
    let expected = try raster.sample(point)
    try await withThrowingTaskGroup(of: HeightSample.self) { group in
      for _ in 0..<16 { group.addTask { try raster.sample(point) } }
      for try await sample in group { #expect(sample == expected) }
    }
  }
}

extension ElevationRaster {
  fileprivate func sample(_ point: Point, interpolation: Interpolation = .bilinear) throws -> HeightSample {
    try sample(Positions(values: [point.x, point.y]), interpolation: interpolation)?[0] ?? .outside
  }
}
