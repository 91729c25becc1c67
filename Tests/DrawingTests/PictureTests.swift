// Views as lists of what is drawn: what is where, in which order, and which labels find room.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Pictures
import Projection
import Testing

@testable import Drawing

@Suite struct PictureTests {
  private var world: World

  init() throws {
    let proj = PROJTransformer()
    world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    try world.createMap(id: ID("m"), title: nil, reference: .webMercator)
    // A pixel of the screen is a hundredth of a degree on the equator.
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(width: 400, height: 300),
      viewpoint: .centerAndScale(center: Point(x: 0, y: 0), scale: 1113.19490793 * 96 / 0.0254, rotation: nil, reference: .wgs84))
  }

  private mutating func addOverlay(_ name: String, _ geometries: [(Int, Geometry)], _ changes: [MemberChange] = []) throws {
    try world.createOverlay(id: ID(name), on: ID("v"), reference: .wgs84, changes)
    var batch = FeatureBatch()
    for (id, geometry) in geometries {
      batch.begin(id: id)
      batch.setGeometry(geometry)
      batch.set(column: batch.column(named: "name"), .string("n\(id)"))
    }
    _ = try world.addGraphics(batch, to: ID(name))
  }

  private static func renderer(_ symbol: Symbol) -> MemberChange { MemberChange(.renderer, Renderer(.simple(SymbolEntry(symbol: symbol)))) }

  private static var marker: MemberChange { renderer(.simpleMarker(SimpleMarkerSymbol(size: 10))) }

  private func picture(_ options: PictureOptions = PictureOptions()) throws -> ViewPicture {
    let snapshot = try ViewSnapshot(of: ID("v"), in: world)
    return try ViewPicture(snapshot.layers, of: snapshot.view, in: world, options) { _ in }
  }

  /// What a picture says, in a form that can be compared.
  private func commands(_ picture: ViewPicture) throws -> [String] {
    try picture.words.words.withUnsafeBytes { bytes in
      var (reader, texts): (PictureReader, [String]) = (PictureReader(bytes), [])
      func run(_ values: UnsafeBufferPointer<Float>) -> String { values.map { "\(Int($0.rounded()))" }.joined(separator: " ") }
      while let command = try reader.command() {
        switch command {
        case .set(let marker): texts.append("marker \(marker.shape) \(Int(marker.size))")
        case .setStroke(let stroke): texts.append("stroke \(Int(stroke.width))")
        case .setFill(let fill): texts.append("fill \(fill.hatch)")
        case .setFont(let font): texts.append("font \(Int(font.size))")
        case .item(let number): texts.append("item \(number)")
        case .points(let places): texts.append("points \(run(places))")
        case .lines(let lines): texts.append("lines \(lines.map(run).joined(separator: ", "))")
        case .area(let rings): texts.append("area \(rings.map(run).joined(separator: ", "))")
        case .text(let text, let place, _, _): texts.append("text \(text) \(Int(place.x.rounded())) \(Int(place.y.rounded()))")
        case .textAlong(let text, _): texts.append("along \(text)")
        case .beginGroup(let opacity): texts.append("group \(opacity)")
        case .endGroup: texts.append("end")
        case .image, .beginClip, .endClip: texts.append("other")
        }
      }
      return texts
    }
  }

  @Test mutating func `layers are drawn in order, each point where the view has it`() throws {
    try addOverlay(
      "below", [(1, .point(Point(x: 1, y: 0))), (2, .point(Point(x: -1, y: 0)))],
      [Self.renderer(.simpleMarker(SimpleMarkerSymbol(style: .square, size: 6))), MemberChange(.opacity, 0.5)])
    try addOverlay("above", [(1, .point(Point(x: 0, y: 0)))], [Self.marker])
    #expect(
      try commands(picture()) == [
        "group 0.5", "marker square 6", "points 300 150 100 150", "end", "marker circle 10", "points 200 150",
      ])
  }

  @Test mutating func `what is far away, and what is behind the edge of the world, is not drawn or drawn beside it`() throws {
    try addOverlay("o", [(1, .point(Point(x: 50, y: 0))), (2, .point(Point(x: 361, y: 0)))], [Self.marker])
    #expect(try commands(picture()).filter { $0.hasPrefix("points") } == ["points 300 150"])
  }

  @Test mutating func `an area larger than the screen covers it, and its outline is cut outside`() throws {
    let ring = Positions([Point(x: -50, y: -40), Point(x: 50, y: -40), Point(x: 50, y: 40), Point(x: -50, y: 40), Point(x: -50, y: -40)])
    let outline = SimpleLineSymbol(color: .black, width: 2)
    try addOverlay("o", [(1, .polygon([ring]))], [Self.renderer(.simpleFill(SimpleFillSymbol(color: .gray, outline: outline)))])
    let drawn = try commands(picture())
    #expect(drawn.first == "fill solid")
    let area = try #require(drawn.first { $0.hasPrefix("area") })
    let numbers = area.split { $0 == " " || $0 == "," }.compactMap { Int($0) }
    #expect(numbers.min().map { $0 < 0 } == true && numbers.max().map { $0 > 400 && $0 < 1000 } == true)
  }

  @Test mutating func `pictures of numbers name each feature`() throws {
    try addOverlay("o", [(7, .point(Point(x: 0, y: 0))), (9, .point(Point(x: 0.5, y: 0)))], [Self.marker])
    var options = PictureOptions()
    options.isNumbered = true
    let picture = try picture(options)
    #expect(picture.items.map(\.id) == [7, 9])
    #expect(try commands(picture).filter { $0.hasPrefix("item") } == ["item 1", "item 2"])
  }

  @Test mutating func `the line around a selected area is above its neighbours`() throws {
    func square(_ x: Double) -> Geometry {
      .polygon([Positions([Point(x: x, y: 0), Point(x: x + 1, y: 0), Point(x: x + 1, y: 1), Point(x: x, y: 1), Point(x: x, y: 0)])])
    }
    try addOverlay("o", [(1, square(-1)), (2, square(0))], [Self.renderer(.simpleFill(SimpleFillSymbol(color: .gray)))])
    _ = try world.selectGraphics([1], .new, of: ID("o"))
    let drawn = try commands(picture()).map { $0.split(separator: " ")[0] }
    #expect(drawn == ["fill", "area", "area", "stroke", "lines"] || drawn == ["fill", "area", "fill", "area", "stroke", "lines"])
  }

  // MARK: Labels

  private static func labels(_ placement: LabelDefinition.Placement = .automatic, priority: Int = 0) throws -> [MemberChange] {
    let text = try Expression("name")
    return [
      MemberChange(.labels, [LabelDefinition(expression: text, symbol: TextSymbol(size: 12), placement: placement, priority: priority)]),
      MemberChange(.labelsEnabled, true),
    ]
  }

  private func placed() throws -> [PlacedLabel] { try picture().placedLabels(measuredBy: TextMeter(measuredBy: TextSize.estimates)) {} }

  @Test mutating func `labels that would meet one of a lower id are left out, whatever the order of the features`() throws {
    try addOverlay("o", [(3, .point(Point(x: 0, y: 0))), (1, .point(Point(x: 0.01, y: 0)))], try Self.labels(.pointCenterRight))
    #expect(try placed().map(\.id) == [1])
  }

  @Test mutating func `no two of a thousand labels meet, and each is within the screen`() throws {
    var random = SystemRandomNumberGenerator()
    let points = (0..<1000).map { ($0, Geometry.point(Point(x: .random(in: -2...2, using: &random), y: .random(in: -1.5...1.5, using: &random)))) }
    try addOverlay("o", points, try Self.labels())
    let labels = try placed()
    #expect(labels.count > 20)
    for (index, one) in labels.enumerated() {
      let (low, high) = (one.center - one.size / 2, one.center + one.size / 2)
      #expect(low.x >= 0 && low.y >= 0 && high.x <= 400 && high.y <= 300)
      for other in labels[..<index] {
        let gap = one.center - other.center
        #expect(abs(gap.x) >= (one.size.x + other.size.x) / 2 || abs(gap.y) >= (one.size.y + other.size.y) / 2)
      }
    }
    #expect(try placed().map(\.center) == labels.map(\.center))
  }

  @Test mutating func `labels keep off the symbols of other points where they can, and off panels`() throws {
    // To the upper right of the first, where its label would be.
    try addOverlay("o", [(1, .point(Point(x: 0, y: 0))), (2, .point(Point(x: 0.1, y: 0.1)))], [Self.marker] + Self.labels())
    let (first, second) = (SIMD2<Float>(200, 150), SIMD2<Float>(210, 140))
    let labels = try placed()
    #expect(labels.map(\.id) == [1, 2])
    for (label, other) in zip(labels, [second, first]) {
      let gap = label.center - other
      #expect(abs(gap.x) >= label.size.x / 2 || abs(gap.y) >= label.size.y / 2)
    }
    let all = ScreenBox(SIMD2(0, 0), SIMD2(400, 300))
    #expect(try picture().placedLabels(besides: [all], measuredBy: TextMeter(measuredBy: TextSize.estimates)) {}.isEmpty)
  }

  private func hits(_ x: Double, _ radius: Double = 0, limit: Int = 10, _ meter: TextMeter? = nil) throws -> Hits {
    let snapshot = try ViewSnapshot(of: ID("v"), in: world)
    let layer = try #require(snapshot.layers.first)
    return try layer.hits(
      in: ScreenCircle(x: x, y: 150, radius: radius), of: snapshot.view, limit: limit, labels: try placed(), world.transformer, meter,
      checking: { _ in }, cancellation: {})
  }

  @Test mutating func `a feature is hit once, by its label before its symbol and before what lies on it`() throws {
    try addOverlay(
      "o", [(1, .point(Point(x: 0, y: 0))), (2, .point(Point(x: 0.2, y: 0)))], [Self.marker] + Self.labels(.pointCenterRight))
    let store = try #require(try ViewSnapshot(of: ID("v"), in: world).layers.first?.store)
    func found(_ hits: Hits) -> [String] { hits.hits.compactMap { hit in store[hit.row].map { "\($0.id)\(hit.isLabel ? " label" : "")" } } }
    // The second marker lies on the end of the first label, which is 12 wide from 206.6 on.
    #expect(found(try hits(217)) == ["1 label", "2"])
    #expect(found(try hits(217, limit: 1)) == ["1 label"])
    #expect(try hits(217, limit: 1).exceedsLimit)
    #expect(found(try hits(200)) == ["1"])
    #expect(found(try hits(205, 10)) == ["1 label", "2"])
    #expect(try hits(205, 10).hits.first.map { abs($0.distance - 3.57) < 0.1 } == true)
    #expect(found(try hits(230, 2)) == ["2 label"])
  }

  @Test mutating func `texts have the sizes that are measured, each once`() throws {
    let text = TextSymbol(text: "ab", color: .black, size: 10)
    try addOverlay("o", [(1, .point(Point(x: 0, y: 0)))], [Self.renderer(.text(text))])
    let memory = TextMemory()
    var count = 0
    func meter() -> TextMeter {
      TextMeter(memory) { words in
        count += 1
        return TextSize.estimates(words).map { TextSize(width: 3 * $0.width, height: $0.height, ascent: 8) }
      }
    }
    // Estimated to be 10 wide, around the middle.
    #expect(try hits(206).isEmpty)
    #expect(try hits(204).count == 1)
    #expect(try hits(214, 0, limit: 10, meter()).count == 1)
    #expect(try hits(216, 0, limit: 10, meter()).isEmpty)
    #expect(count == 1)
  }

  @Test mutating func `degrees that a panel would cover are left out`() throws {
    func texts(_ panels: [ScreenBox]) throws -> Set<String> {
      var options = PictureOptions()
      options.graticule = Graticule(interval: 1, color: .black)
      options.panels = panels
      return Set(try commands(picture(options)).filter { $0.hasPrefix("text") }.map { String($0.split(separator: " ")[1]) })
    }
    #expect(try texts([]) == ["1°W", "0°", "1°E", "1°N", "1°S"])
    #expect(try texts([ScreenBox(SIMD2(0, 200), SIMD2(150, 300))]) == ["0°", "1°E", "1°N"])
  }

  @Test mutating func `a legend has three sizes of a layer whose sizes follow a field`() throws {
    let ramp = try Ramp([.init(value: 0, output: 4.0), .init(value: 1000, output: 16)])
    let sizes = VisualVariable(source: .field("name"), effect: .size(ramp))
    let renderer = Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol(size: 8)))), visualVariables: [sizes])
    try addOverlay("o", [(1, .point(Point(x: 0, y: 0)))], [MemberChange(.renderer, renderer), MemberChange(.name, "Cities")])
    let snapshot = try ViewSnapshot(of: ID("v"), in: world)
    var layout = PictureLayout()
    layout.hasLegend = true
    var picture = try picture()
    try LayoutDrawing(layout, snapshot.layers, of: snapshot.view, in: world, measuredBy: TextSize.estimates).draw(to: &picture)
    let drawn = try commands(picture)
    #expect(drawn.filter { $0.hasPrefix("text") }.map { String($0.split(separator: " ")[1]) } == ["Cities", "0", "500", "1000"])
    #expect(drawn.filter { $0.hasPrefix("marker") }.suffix(3) == ["marker circle 4", "marker circle 10", "marker circle 16"])
  }

  @Test mutating func `a line is labelled along it, and read from the left`() throws {
    let line = Positions([Point(x: 1, y: 1), Point(x: -1, y: -1)])
    try addOverlay("o", [(1, .lineString(line))], try Self.labels(.lineCenterAlong))
    let label = try #require(try placed().first)
    #expect(abs(label.angle + 45) < 0.1)
    #expect(abs(label.center.x - 200) < 1 && abs(label.center.y - 150) < 1)
  }

  @Test mutating func `an area is labelled inside, not in its hole`() throws {
    func square(_ half: Double) -> Positions {
      Positions([Point(x: -half, y: -half), Point(x: half, y: -half), Point(x: half, y: half), Point(x: -half, y: half), Point(x: -half, y: -half)])
    }
    try addOverlay("o", [(1, .polygon([square(1.2), square(0.6)]))], try Self.labels(.polygonAlwaysHorizontal))
    let label = try #require(try placed().first)
    let gap = label.center - SIMD2<Float>(200, 150)
    let away = SIMD2(abs(gap.x), abs(gap.y))
    #expect(max(away.x, away.y) < 120 && max(away.x, away.y) > 60)
  }

  @Test(arguments: [(12.5, true, "12°30′E"), (-0.25, true, "0°15′W"), (0, true, "0°"), (180, true, "180°"), (-45, false, "45°S"), (190, true, "170°W")])
  func `degrees at the edge are written as people write them`(degrees: Double, isMeridian: Bool, text: String) {
    #expect(Graticule.text(degrees, isMeridian: isMeridian) == text)
  }
}
