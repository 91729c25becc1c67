// Pixels of rasters in pictures: places, colours, slopes, and what is read for them.

import FeatureStore
import Foundation
import GeoModel
import Geometry
import Pictures
import Projection
import Synchronization
import Testing

@testable import Drawing

/// A raster in memory.
private final class GridSource: RasterSource {
  let info: RasterInfo
  /// Band after band; NaN without data.
  private let numbers: [Float]
  private let asked = Mutex<[(level: Int, window: RasterWindow)]>([])

  init(
    width: Int, height: Int, x: Double, y: Double, cell: Double, in reference: SpatialReference = .webMercator,
    bands: [RasterBand] = [RasterBand(type: "Float32", isBytes: false)], _ numbers: [Float]
  ) throws {
    let transform = try #require(RasterTransform([x, cell, 0, y, 0, -cell]))
    info = RasterInfo(width: width, height: height, transform: transform, reference: reference, bands: bands)
    self.numbers = numbers
  }

  var levels: Set<Int> { asked.withLock { Set($0.map(\.level)) } }
  var pixelCount: Int { asked.withLock { $0.reduce(0) { $0 + $1.window.count } } }

  func pixels(
    _ window: RasterWindow, level: Int, bands: [Int], isNearest: Bool, isCancelled: () -> Bool
  ) throws -> RasterPixels {
    if isCancelled() { throw CancellationError() }
    asked.withLock { $0.append((level, window)) }
    #expect(window.column >= 0 && Int(window.column + window.width) <= info.width(at: level))
    #expect(window.row >= 0 && Int(window.row + window.height) <= info.height(at: level))
    var floats: [Float] = []
    var mask = [UInt8](repeating: 0, count: window.count)
    for band in bands {
      for index in 0..<window.count {
        let column = min((Int(window.column) + index % Int(window.width)) << level, info.width - 1)
        let row = min((Int(window.row) + index / Int(window.width)) << level, info.height - 1)
        let number = numbers[band * info.width * info.height + row * info.width + column]
        floats.append(number.isNaN ? 0 : number)
        if !number.isNaN { mask[index] = 255 }
      }
    }
    return RasterPixels(width: Int(window.width), height: Int(window.height), numbers: .floats(floats), mask: mask)
  }

  func statistics(ofBand band: Int, isCancelled: () -> Bool) throws -> RasterStatistics? {
    let window = RasterWindow(column: 0, row: 0, width: info.width, height: info.height)
    return RasterStatistics(try pixels(window, level: 0, bands: [band], isNearest: true, isCancelled: isCancelled))
  }
}

private func drawn(_ renderer: RasterRenderer, _ source: GridSource) -> DrawnRaster {
  DrawnRaster(ObjectReference(.layers, "r"), .operational, renderer, source, PROJTransformer())
}

/// A frame with the north up, from its top left.
private func frame(
  _ width: Int, _ height: Int, x: Double, y: Double, step: Double, _ reference: SpatialReference = .webMercator
) throws -> PixelFrame {
  let proj = PROJTransformer()
  return PixelFrame(
    width: width, height: height, reference: reference, wrap: WorldWrap(try proj.describe(reference), proj), origin: SIMD2(x, y),
    column: SIMD2(step, 0), row: SIMD2(0, -step))
}

extension DrawnPixels {
  /// The color at a pixel of the picture.
  fileprivate func color(_ column: Int, _ row: Int) -> UInt32 {
    guard (x..<x + width).contains(column), (y..<y + height).contains(row) else { return 0 }
    return colors[(row - y) * width + column - x]
  }
}

private let plain = RasterRenderer.stretch(band: 0, .minMax(0, 255), RasterRenderer.grays)

@Suite struct `Pixels of rasters` {
  @Test func `pixels that meet those of the picture keep their numbers`() throws {
    let source = try GridSource(width: 3, height: 2, x: 100, y: 200, cell: 10, [0, 51, 102, 153, .nan, 255])
    let pixels = try #require(try drawn(plain, source).pixels(in: frame(5, 4, x: 90, y: 210, step: 10)))
    #expect(pixels.color(0, 0) == 0)
    #expect((1...3).map { pixels.color($0, 1) } == [0xFF00_0000, 0xFF33_3333, 0xFF66_6666])
    #expect((1...3).map { pixels.color($0, 2) } == [0xFF99_9999, 0, 0xFFFF_FFFF])
    #expect((0..<5).allSatisfy { pixels.color($0, 3) == 0 })
  }

  @Test func `a stretch that has no width has the colours of its ends`() throws {
    let source = try GridSource(width: 2, height: 1, x: 0, y: 0, cell: 10, [0, 5])
    let narrow = RasterRenderer.stretch(band: 0, .minMax(0, 1e-300), RasterRenderer.grays)
    let pixels = try #require(try drawn(narrow, source).pixels(in: frame(2, 1, x: 0, y: 0, step: 10)))
    #expect((0..<2).map { pixels.color($0, 0) } == [0xFF00_0000, 0xFFFF_FFFF])
    let equal = try GridSource(width: 1, height: 1, x: 0, y: 0, cell: 10, [Float(UInt64.max)])
    let renderers: [RasterRenderer] = [.stretch(band: 0, .minMax(nil, nil), RasterRenderer.grays), .rgb(bands: [0, 0, 0], .minMax(nil, nil))]
    for renderer in renderers {
      #expect(try drawn(renderer, equal).pixels(in: frame(1, 1, x: 0, y: 0, step: 10)) != nil)
    }
  }

  @Test func `a raster beside the picture has no pixels and is not read`() throws {
    let source = try GridSource(width: 1, height: 1, x: 0, y: 0, cell: 10, [1])
    #expect(try drawn(plain, source).pixels(in: frame(20, 20, x: 1000, y: 0, step: 1)) == nil)
    #expect(source.pixelCount == 0)
  }

  @Test func `the picture of a turned view shows what lies there`() throws {
    let proj = PROJTransformer()
    var world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    try world.createMap(id: ID("m"), title: nil, reference: .webMercator)
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(),
      viewpoint: .centerAndScale(center: Point(x: 0, y: 0), scale: 1e6, rotation: 30, reference: .webMercator))
    let view = try world.views.require(ID("v"))
    let frame = PixelFrame(of: view, pixelRatio: 2)
    #expect((frame.width, frame.height) == (Int(2 * view.screen.width), Int(2 * view.screen.height)))
    // One pixel is as wide as a few of the screen.
    let cell = 2000.0
    let numbers = (0..<16).map { Float($0 * 17) }
    let source = try GridSource(width: 4, height: 4, x: -2 * cell, y: 2 * cell, cell: cell, numbers)
    let pixels = try #require(try drawn(.colormap(band: 0, (0..<16).map { .init(value: Double($0 * 17), color: Color(red: UInt8($0 * 17), green: 0, blue: 0), label: nil) }), source).pixels(in: frame))
    for index in 0..<16 {
      let middle = Point(x: (Double(index % 4) - 1.5) * cell, y: (1.5 - Double(index / 4)) * cell)
      let place = view.screenPoint(of: middle)
      #expect(pixels.color(Int(place.x * 2), Int(place.y * 2)) == 0xFF00_0000 | UInt32(index * 17) << 16)
    }
  }

  @Test(arguments: ["EPSG:3857", "EPSG:3035", "EPSG:32633", "EPSG:4326"])
  func `places in other references are off by less than a quarter of a pixel`(reference: String) throws {
    let proj = PROJTransformer()
    let target = try proj.describe(SpatialReference(reference)).reference
    let source = try GridSource(width: 3600, height: 1800, x: -180, y: 90, cell: 0.1, in: .wgs84, [])
    for step in [0.01, 0.2, 2] {
      let center = try proj.transform(Point(x: 12, y: 50), from: .wgs84, to: target)
      let unit = reference == "EPSG:4326" ? step : step * 111_000
      let (width, height) = (75, 40)
      let frame = try frame(width, height, x: center.x - unit * 37, y: center.y + unit * 20, step: unit, target)
      let grid = try RasterGrid(frame, source.info, proj) { _ in }
      var places = [SIMD2<Double>](repeating: .zero, count: 80 * 48)
      try places.withUnsafeMutableBufferPointer { places in
        let base = try #require(places.baseAddress)
        for row in 0..<3 {
          for column in 0..<5 {
            try grid.places(column: column, row: row, into: base + row * 16 * 80 + column * 16, stride: 80, scale: SIMD2(1, 1))
          }
        }
      }
      var worst = 0.0
      for row in 0..<height {
        for column in 0..<width {
          let position = frame.position(x: Double(column) + 0.5, y: Double(row) + 0.5)
          let found = places[row * 80 + column]
          guard (try? proj.transform(Point(x: position.x, y: position.y), from: target, to: .wgs84)) != nil, !found.x.isNaN else { continue }
          let place = Point(x: found.x / 10 - 180, y: 90 - found.y / 10)
          guard let shown = try? proj.transform(place, from: .wgs84, to: target) else { continue }
          let turns = frame.wrap.map { ((shown.x - position.x) / $0.width).rounded() * $0.width } ?? 0
          worst = max(worst, hypot(shown.x - turns - position.x, shown.y - position.y) / unit)
        }
      }
      #expect(worst < 0.25, "\(reference) at \(step)")
    }
  }

  @Test func `copies of the world show a raster, also across the antimeridian`() throws {
    let proj = PROJTransformer()
    // From 170 degrees east to 170 degrees west, as files have it.
    let source = try GridSource(width: 20, height: 10, x: 170, y: 5, cell: 1, in: .wgs84, (0..<200).map { Float($0 % 20 * 10) })
    let width = 2 * 6_378_137 * Double.pi
    for turn in -1...1 {
      let picture = try frame(64, 32, x: Double(turn) * width + width / 2 - 32 * 50_000, y: 16 * 50_000, step: 50_000)
      let pixels = try #require(try drawn(plain, source).pixels(in: picture))
      for column in 14..<50 {
        let position = picture.position(x: Double(column) + 0.5, y: 16)
        let place = try proj.transform(Point(x: position.x, y: 0), from: .webMercator, to: .wgs84)
        let number = ((place.x < 0 ? place.x + 360 : place.x) - 170 - 0.5) * 10
        #expect(abs(Double(pixels.color(column, 16) & 255) - number) <= 1, "\(column) in \(turn)")
      }
      #expect(pixels.color(5, 16) == 0 && pixels.color(60, 16) == 0)
    }
  }

  @Test(arguments: [0, 3.5, 1e6])
  func `a raster around the world has no gap where it ends`(shift: Double) throws {
    let half = 6_378_137 * Double.pi
    let source = try GridSource(width: 64, height: 64, x: -half, y: half, cell: half / 32, [Float](repeating: 51, count: 64 * 64))
    let pixels = try #require(try drawn(plain, source).pixels(in: frame(256, 64, x: -2 * half + shift, y: half, step: half / 64)))
    #expect((pixels.x, pixels.y, pixels.width, pixels.height) == (0, 0, 256, 64))
    #expect(pixels.colors.allSatisfy { $0 == 0xFF33_3333 })
  }

  @Test func `a small picture reads a reduced raster`() throws {
    let source = try GridSource(width: 1024, height: 1024, x: 0, y: 1024, cell: 1, [Float](repeating: 9, count: 1024 * 1024))
    let pixels = try #require(try drawn(plain, source).pixels(in: frame(256, 256, x: 0, y: 1024, step: 4)))
    #expect(pixels.colors.allSatisfy { $0 == 0xFF09_0909 })
    #expect(source.levels == [2])
    #expect(source.pixelCount < 300 * 300)
  }

  @Test func `bands are red, green and blue`() throws {
    let bands = [RasterBand](repeating: RasterBand(type: "Byte", isBytes: true), count: 3)
    let source = try GridSource(width: 2, height: 1, x: 0, y: 1, cell: 1, bands: bands, [10, 20, 30, 40, 50, 60])
    let pixels = try #require(try drawn(.standard(for: source.info), source).pixels(in: frame(2, 1, x: 0, y: 1, step: 1)))
    #expect(pixels.colors == [0xFF0A_1E32, 0xFF14_283C])
    let turned = try #require(try drawn(.rgb(bands: [2, 1, 0], .minMax(0, 102)), source).pixels(in: frame(2, 1, x: 0, y: 1, step: 1)))
    #expect(turned.colors == [0xFF7D_4B19, 0xFF96_6432])
  }

  @Test func `classes and single numbers have their colours, others none`() throws {
    let source = try GridSource(width: 5, height: 1, x: 0, y: 1, cell: 1, [0, 1, 2, 3, 9])
    let (red, blue) = (Color(red: 255, green: 0, blue: 0), Color(red: 0, green: 0, blue: 255, alpha: 128))
    func colors(_ renderer: RasterRenderer) throws -> [UInt32] {
      try #require(try drawn(renderer, source).pixels(in: frame(5, 1, x: 0, y: 1, step: 1))).colors
    }
    let classes = [
      RasterRenderer.Class(minValue: 1, maxValue: 2, color: red, label: nil), .init(minValue: nil, maxValue: 5, color: blue, label: nil),
    ]
    #expect(try colors(.classified(band: 0, classes)) == [0, 0xFFFF_0000, 0xFFFF_0000, 0x8000_0080, 0])
    #expect(try colors(.colormap(band: 0, [.init(value: 3, color: red, label: nil)])) == [0, 0, 0, 0xFFFF_0000, 0])
  }

  @Test func `ends of a ramp come from all numbers`() throws {
    let source = try GridSource(width: 101, height: 1, x: 0, y: 1, cell: 1, (0...100).map { Float($0) })
    func ends(_ stretch: RasterStretch) throws -> [Double] {
      let ends = try #require(try stretch.ends(ofBand: 0, in: source) { false })
      return [ends.low, ends.high]
    }
    #expect(try ends(.minMax(nil, 50)) == [0, 50])
    #expect(try ends(.percentClip(2, 10)) == [2, 90])
    let deviations = try ends(.standardDeviation(1))
    #expect(abs(deviations[0] - 20.845) < 0.001 && abs(deviations[1] - 79.155) < 0.001)
  }

  @Test func `a picture that nobody waits for ends`() throws {
    let source = try GridSource(width: 1024, height: 1024, x: 0, y: 1024, cell: 1, [Float](repeating: 9, count: 1024 * 1024))
    #expect(throws: CancellationError.self) {
      try drawn(plain, source).pixels(in: frame(1024, 1024, x: 0, y: 1024, step: 1)) { if $0 > 0.3 { throw CancellationError() } }
    }
    #expect(source.pixelCount < 1024 * 512)
  }
}

@Suite struct `Rasters of views` {
  private var world: World

  init() throws {
    let proj = PROJTransformer()
    world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    try world.createMap(id: ID("m"), title: nil, reference: .webMercator)
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(width: 40, height: 30),
      viewpoint: .centerAndScale(center: Point(x: 0, y: 0), scale: 96 / 0.0254 * 100, rotation: nil, reference: .webMercator))
  }

  private mutating func addRaster(_ id: String, _ numbers: [Float], bands: Int = 1) throws {
    let bands = [RasterBand](repeating: RasterBand(type: "Float32", isBytes: false), count: bands)
    let source = try GridSource(width: 2, height: 1, x: -1000, y: 500, cell: 1000, bands: bands, numbers)
    try world.addRasterLayer(id: ID(id), to: .map(ID("m")), LayerRaster(FileOrigin(path: "/\(id).tif"), table: nil), name: nil)
    guard case .read = try world.beginLoad(ID(id), retry: false) else { return }
    _ = try world.finishLoad(ID(id), raster: source)
  }

  private mutating func addPoint(_ id: String) throws {
    let schema = SourceLayer(name: "p", geometryType: "Point", featureCount: 1, extent: nil, reference: .webMercator, fields: [])
    try world.addSource(id: ID("s" + id), driver: "GPKG", origin: .inline([], reference: .webMercator), layers: [schema])
    try world.addLayer(id: ID(id), to: .map(ID("m")), over: ID("s" + id), sourceLayer: nil, name: id)
    _ = try world.beginLoad(ID(id), retry: false)
    var batch = FeatureBatch()
    batch.begin(id: 1)
    batch.setPoint(x: 0, y: 0)
    var store = FeatureStore()
    try store.append(batch)
    _ = try world.finishLoad(ID(id), store: store)
  }

  @Test mutating func `a raster is drawn between the layers below and above it`() throws {
    try addRaster("ground", [0, 10])
    try addPoint("below")
    try addRaster("middle", [0, 10])
    try addPoint("above")
    try world.updateLayer(ID("middle"), [MemberChange(.opacity, 0.5)])
    let snapshot = try ViewSnapshot(of: ID("v"), in: world)
    #expect(snapshot.layers.map(\.object.id) == ["below", "above"])
    #expect(snapshot.rasters.map(\.object.id) == ["ground", "middle"] && snapshot.rasters.map(\.index) == [0, 1])
    #expect(snapshot.rasters.map(\.opacity) == [1, 0.5])
    let picture = try ViewPicture(snapshot.layers, rasters: snapshot.rasters, of: snapshot.view, in: world, PictureOptions()) { _ in }
    var (order, groups): ([String], Int) = ([], 0)
    try picture.words.words.withUnsafeBytes { bytes in
      var reader = PictureReader(bytes)
      while let command = try reader.command() {
        switch command {
        case .points: order.append("points")
        case .image(let pixels, let width, let height, let low, let high):
          order.append("image")
          #expect(low == SIMD2<Float>(0, 0) && high == SIMD2<Float>(32, 30))
          #expect(width == 32 && height == 30)
          // 100 metres a pixel: ten pixels of each of the raster's two.
          let row: [UInt32] = [0, 10, 29, 30].map { pixels[15 * 32 + $0] }
          #expect(row == [0, 0xFF00_0000, 0xFFFF_FFFF, 0])
        case .beginGroup(let opacity): groups += opacity == 0.5 ? 1 : 0
        default: break
        }
      }
    }
    #expect(order == ["image", "points", "image", "points"] && groups == 1)
  }

  @Test mutating func `hidden rasters, and those without the band of their renderer, are not drawn`() throws {
    try addRaster("r", [0, 10])
    #expect(throws: ModelError.self) { try world.updateLayer(ID("r"), [MemberChange(.rasterRenderer, RasterRenderer.stretch(band: 1, .minMax(0, 1), RasterRenderer.grays))]) }
    try world.updateLayer(ID("r"), [MemberChange(.isVisible, false)])
    #expect(try ViewSnapshot(of: ID("v"), in: world).rasters.isEmpty)
  }
}

@Suite struct `Slopes of rasters` {
  /// The output of gdaldem for `hills.tif`.
  private struct Hills: Decodable {
    let width: Int
    let height: Int
    let noData: Float
    let heights: [Float]
    let hillshade: [Double]
    let slope: [Double]
  }

  private let hills: Hills
  private let source: GridSource

  init() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/hills.json")
    let hills = try JSONDecoder().decode(Hills.self, from: Data(contentsOf: path))
    self.hills = hills
    source = try GridSource(
      width: hills.width, height: hills.height, x: 500_000, y: 5_000_000, cell: 30, in: SpatialReference("EPSG:32633"),
      hills.heights.map { $0 == hills.noData ? .nan : $0 })
  }

  private func values(_ quantity: RasterRelief.Quantity, zFactor: Double) throws -> [Float] {
    let window = RasterWindow(column: 0, row: 0, width: hills.width, height: hills.height)
    let pixels = try source.pixels(window, level: 0, bands: [0], isNearest: true) { false }
    return RasterRelief(quantity: quantity, zFactor: zFactor, info: source.info, level: 0, metersPerUnit: 1)
      .values(pixels.floats(ofBand: 0), pixels.mask, window)
  }

  @Test func `slopes are those of gdaldem`() throws {
    for (own, other) in zip(try values(.slope, zFactor: 1), hills.slope) where other != -9999 { #expect(abs(Double(own) - other) < 0.001) }
  }

  @Test func `shading is that of gdaldem`() throws {
    for (own, other) in zip(try values(.hillshade(azimuth: 300, altitude: 40), zFactor: 2), hills.hillshade) where other != 0 {
      #expect(abs(Double(own) - other) <= 1)
    }
  }

  @Test func `shading is drawn in grey, without the pixel that has no height`() throws {
    let proj = PROJTransformer()
    let frame = PixelFrame(
      width: 20, height: 16, reference: try proj.describe(SpatialReference("EPSG:32633")).reference, wrap: nil,
      origin: SIMD2(500_000, 5_000_000), column: SIMD2(30, 0), row: SIMD2(0, -30))
    let pixels = try #require(
      try drawn(.hillshade(band: 0, azimuth: 300, altitude: 40, zFactor: 2), source).pixels(in: frame))
    for (own, other) in zip(pixels.colors, hills.hillshade) {
      if other == 0 { #expect(own == 0) } else { #expect(abs(Double(own & 255) - other) <= 1 && own >> 24 == 255) }
    }
  }
}
