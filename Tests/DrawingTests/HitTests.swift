// What is hit at a screen point equals what every item of the layer, measured one by one, says.

import FeatureStore
import GeoModel
import Geometry
import Projection
import TestSupport
import Testing

@testable import Drawing

@Suite struct HitTests {
  private var world: World
  private let proj = PROJTransformer()

  init() throws {
    world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
  }

  /// A view of a new map whose middle is at a place.
  private mutating func addView(
    over reference: SpatialReference, _ center: Point, scale: Double, rotation: Double = 0
  ) throws {
    try world.createMap(id: ID("m"), title: nil, reference: reference)
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(width: 400, height: 300, dpi: 96),
      viewpoint: .centerAndScale(center: center, scale: scale, rotation: rotation, reference: .wgs84))
  }

  private mutating func addOverlay(_ reference: SpatialReference, _ batch: FeatureBatch) throws {
    try world.createOverlay(
      id: ID("o"), on: ID("v"), reference: reference,
      [MemberChange(.renderer, Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol(size: 10))))))])
    _ = try world.addGraphics(batch, to: ID("o"))
  }

  private func layer() throws -> DrawnLayer { try #require(try ViewSnapshot(of: ID("v"), in: world).layers.first) }

  private func hits(_ x: Double, _ y: Double, _ radius: Double, limit: Int = 1000) throws -> Hits {
    let view = try world.views.require(ID("v"))
    return try layer().hits(
      in: ScreenCircle(x: x, y: y, radius: radius), of: view, limit: limit, proj, checking: { _ in }, cancellation: {})
  }

  /// Ids of hits, last drawn first.
  private func ids(_ x: Double, _ y: Double, _ radius: Double, limit: Int = 1000) throws -> [Int] {
    let layer = try layer()
    return try hits(x, y, radius, limit: limit).hits.compactMap { layer.store[$0.row]?.id }
  }

  /// The ids by measuring each item, on the copies of the world around the middle.
  private func measured(_ x: Double, _ y: Double, _ radius: Double) throws -> [Int] {
    let view = try world.views.require(ID("v"))
    let layer = try layer()
    let transform = try MapTransform(from: layer.reference, to: view.reference.reference, proj)
    let period = view.wrap?.width ?? 0
    var ids: [Int] = []
    try layer.forEachItem { item in
      guard let symbol = item.symbol else { return }
      let shape = layer.reference == view.reference.reference ? item.geometry : try transform.drawn(item.geometry) {}
      let distance = try (-3...3).map { turn in
        let frame = view.frame(x: x, y: y).moved(east: Double(turn) * period)
        return try GeometryDistance(frame: frame, symbol: symbol, check: {}).distance(to: shape)
      }.min()
      if let distance, distance <= radius { ids.append(item.id) }
    }
    return ids.reversed()
  }

  private static func symbol(_ random: inout Random) -> String {
    let size = random.number(0...60)
    return switch random.integer(0..<4) {
    case 0:
      #"{"type": "simpleMarker", "size": \#(size), "xOffset": \#(random.number(-60...60)), "yOffset": \#(random.number(-60...60))}"#
    case 1: #"{"type": "simpleLine", "width": \#(size)}"#
    case 2: #"{"type": "simpleFill", "outline": {"width": \#(size / 3)}}"#
    default: #"{"type": "composite", "symbols": [{"type": "simpleMarker", "size": \#(size)}, {"type": "simpleFill"}]}"#
    }
  }

  /// Points, lines and areas around a place in degrees.
  private static func graphics(
    around center: Point, _ spread: Double, in reference: SpatialReference, _ proj: PROJTransformer,
    _ random: inout Random
  ) throws -> FeatureBatch {
    var batch = FeatureBatch()
    for id in 0..<150 {
      func place() -> Point {
        Point(
          x: center.x + random.number(-spread...spread),
          y: max(-89, min(center.y + random.number(-spread...spread), 89)))
      }
      let first = place()
      let near = (0..<4).map { _ in
        Point(
          x: first.x + random.number(-1...1) * spread / 4,
          y: max(-89, min(first.y + random.number(-1...1) * spread / 4, 89)))
      }
      let geometry: Geometry =
        switch random.integer(0..<4) {
        case 0: .point(first)
        case 1: .multiPoint(Positions(near))
        case 2: .lineString(Positions(near))
        default: .polygon([Positions(near + [near[0]])])
        }
      batch.begin(id: id)
      batch.setGeometry(try proj.transform(geometry, from: .wgs84, to: reference))
      batch.setZIndex(Int32(random.integer(0..<3)))
      if random.integer(0..<3) > 0 {
        symbol(&random).utf8.withContiguousStorageIfAvailable { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) }
      }
    }
    return batch
  }

  @Test(.slow, arguments: UInt64(0)..<24)
  mutating func `hits are what is measured one by one, in every reference, rotation and scale`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let references = [SpatialReference.webMercator, .wgs84, SpatialReference("EPSG:3395")]
    let center = Point(x: [0, 180, -179, 8][random.integer(0..<4)], y: random.number(-70...70))
    let scale = Double([1e4, 1e6, 1e8, 4e8][random.integer(0..<4)])
    let reference = references[random.integer(0..<3)]
    try addView(over: references[Int(seed % 3)], center, scale: scale, rotation: random.number(-200...200))
    let spread = min(scale * 400 / 96 * 0.0254 / 111_000, 150)
    try addOverlay(reference, try Self.graphics(around: center, spread, in: reference, proj, &random))
    var count = 0
    for _ in 0..<20 {
      let (x, y) = (random.number(0...400), random.number(0...300))
      for radius in [0.0, 12, 100] {
        let expected = try measured(x, y, radius)
        #expect(try ids(x, y, radius) == expected)
        #expect(try ids(x, y, radius, limit: 3) == Array(expected.prefix(3)))
        #expect(try hits(x, y, radius, limit: 3).exceedsLimit == (expected.count > 3))
        count += expected.count
      }
    }
    #expect(count > 0)
  }

  @Test(.slow, arguments: UInt64(0)..<12)
  mutating func `edges that a reference bends are found where the map draws them`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let (europe, mercator) = (SpatialReference("EPSG:3035"), SpatialReference.webMercator)
    let center = Point(x: random.number(-10...30), y: random.number(35...65))
    let scale = Double([1e6, 2e7, 1e8][random.integer(0..<3)])
    try addView(over: seed < 6 ? mercator : europe, center, scale: scale, rotation: random.number(-200...200))
    let spread = min(scale * 400 / 96 * 0.0254 / 111_000, 60)
    let reference = seed < 6 ? europe : [.wgs84, mercator][random.integer(0..<2)]
    try addOverlay(reference, try Self.graphics(around: center, spread, in: reference, proj, &random))
    for _ in 0..<30 {
      let (x, y) = (random.number(0...400), random.number(0...300))
      for radius in [0.0, 22] { #expect(try ids(x, y, radius) == (try measured(x, y, radius))) }
    }
  }

  @Test mutating func `a symbol that grows is found farther away, and one that shrinks is not`() throws {
    try addView(over: .webMercator, Point(x: 0, y: 0), scale: 1e6)
    var batch = FeatureBatch()
    batch.begin(id: 1)
    batch.setPoint(x: 0, y: 0)
    try addOverlay(.wgs84, batch)
    #expect(try ids(260, 150, 0) == [])
    func symbol(_ size: Int) throws {
      var edit = FeatureEdit(id: 1)
      edit.symbol = .set(#"{"type": "simpleMarker", "size": \#(size)}"#)
      _ = try world.updateGraphics([edit], of: ID("o"))
    }
    try symbol(121)
    #expect(try ids(260, 150, 0) == [1])
    try symbol(20)
    #expect(try ids(260, 150, 0) == [])
    #expect(try ids(210, 150, 0) == [1])
  }

  @Test(arguments: [
    ("square", 214.9, 164.9, true), ("square", 215.1, 150, false), ("diamond", 217, 150, true), ("diamond", 217.2, 150, false),
    ("triangle", 200, 129, true), ("triangle", 200, 128.6, false), ("triangle", 218, 164.9, true), ("cross", 209.9, 154.9, true),
    ("cross", 210.1, 150, false), ("x", 213.4, 156.4, true), ("x", 211, 161, false),
  ])
  mutating func `outlines of markers have sharp corners`(style: String, x: Double, y: Double, isHit: Bool) throws {
    try addView(over: .webMercator, Point(x: 0, y: 0), scale: 1e6)
    var batch = FeatureBatch()
    batch.begin(id: 1)
    batch.setPoint(x: 0, y: 0)
    try addOverlay(.wgs84, batch)
    var edit = FeatureEdit(id: 1)
    edit.symbol = .set(#"{"type": "simpleMarker", "style": "\#(style)", "size": 20, "outline": {"width": 10}}"#)
    _ = try world.updateGraphics([edit], of: ID("o"))
    #expect(try ids(x, y, 0) == (isHit ? [1] : []))
  }

  @Test mutating func `of a hundred thousand graphics under a pixel only those at the top are tested`() throws {
    try addView(over: .webMercator, Point(x: 0, y: 0), scale: 1e9)
    var batch = FeatureBatch()
    for id in 0..<100_000 {
      batch.begin(id: id)
      batch.setPoint(x: Double(id % 100) * 1e-6, y: Double(id / 100) * 1e-6)
    }
    try addOverlay(.wgs84, batch)
    var checks = 0
    let found = try layer().hits(
      in: ScreenCircle(x: 200, y: 150, radius: 22), of: try world.views.require(ID("v")), limit: 5, proj,
      checking: { if $0 >= 0.2 { checks += 1 } }, cancellation: {})
    #expect(found.hits.count == 5)
    #expect(found.exceedsLimit)
    #expect(checks <= 2)
    #expect(try ids(200, 150, 22, limit: 2) == [99_999, 99_998])
  }

  @Test mutating func `a search ends when it is cancelled, also within one geometry`() throws {
    try addView(over: .webMercator, Point(x: 0, y: 0), scale: 1e9)
    var batch = FeatureBatch()
    batch.begin(id: 1)
    var line = Positions()
    for index in 0..<200_000 { line.append(Point(x: Double(index % 1000) / 10, y: Double(index) * 1e-4)) }
    batch.setGeometry(.lineString(line))
    try addOverlay(.wgs84, batch)
    try world.updateOverlay(
      ID("o"),
      [MemberChange(.renderer, Renderer(.simple(SymbolEntry(symbol: .simpleLine(SimpleLineSymbol(width: 3))))))])
    for wanted in [1, 5, 20, 60] {
      var checks = 0
      #expect(throws: CancellationError.self) {
        _ = try layer().hits(
          in: ScreenCircle(x: 200, y: 150, radius: 22), of: try world.views.require(ID("v")), limit: 5, proj,
          checking: { _ in }
        ) {
          checks += 1
          if checks == wanted { throw CancellationError() }
        }
      }
      #expect(checks == wanted)
    }
  }
}

/// A seeded generator (SplitMix64).
struct Random {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func number(_ range: ClosedRange<Double>) -> Double {
    range.lowerBound + Double(next() >> 11) / 9_007_199_254_740_992 * (range.upperBound - range.lowerBound)
  }

  mutating func integer(_ range: Range<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
}
