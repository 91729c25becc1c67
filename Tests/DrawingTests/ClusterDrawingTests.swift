// Clusters as a view draws them: items in place of points, with the rules of the feature reduction, and what is hit of them.

import Clusters
import Expressions
import FeatureStore
import GeoModel
import Geometry
import Projection
import Statistics
import Testing

@testable import Drawing

@Suite struct ClusterDrawingTests {
  private var world: World
  private let proj = PROJTransformer()
  /// Of the view: at it 60 pixels are 4.6 km.
  private static let scale = ClusterZoom.scale(zoom: 10)

  init() throws {
    world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    try world.createMap(id: ID("m"), title: nil, reference: .webMercator)
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(width: 400, height: 300, dpi: 96),
      viewpoint: .centerAndScale(center: Point(x: 0, y: 0), scale: Self.scale, rotation: nil, reference: .webMercator))
  }

  /// An overlay with four points near the middle, two 20 km to the east, two single ones, and a line.
  private mutating func addOverlay(_ reduction: FeatureReduction, _ changes: [MemberChange] = []) throws {
    try world.createOverlay(
      id: ID("o"), on: ID("v"), reference: .webMercator,
      [
        MemberChange(.renderer, Self.marker(4)), MemberChange(.featureReduction, reduction),
        MemberChange(.selectionColor, Color("#ff0000")),
      ] + changes)
    var batch = FeatureBatch()
    for (index, x) in [0.0, 100, 200, 300, 20000, 20100, -20000, 40000].enumerated() {
      batch.begin(id: index + 1)
      batch.setPoint(x: x, y: 0)
      batch.set(column: batch.column(named: "n"), .integer([1, 2, 3, 4, 20, 30, 7, 8][index]))
      if index == 1 { batch.setSelected() }
    }
    batch.begin(id: 9)
    batch.setGeometry(.lineString(Positions(values: [0, 0, 1000, 0])))
    _ = try world.addGraphics(batch, to: ID("o"))
  }

  private static func marker(_ size: Double) -> Renderer {
    Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol(size: size)))))
  }

  /// Four points of eight are half way between the sizes on the scale of logarithms.
  private static func reduction(_ change: (inout FeatureReduction) throws -> Void = { _ in }) rethrows
    -> FeatureReduction
  {
    var reduction = FeatureReduction()
    (reduction.minSymbolSize, reduction.maxSymbolSize) = (10, 30)
    reduction.aggregateFields = [NamedStatistic(name: "total", .sum, of: "n")]
    try change(&reduction)
    return reduction
  }

  private func layer() throws -> DrawnLayer { try #require(try ViewSnapshot(of: ID("v"), in: world).layers.first) }

  /// `id style size [labels] {attributes}` of each item.
  private func items() throws -> [String] {
    var lines: [String] = []
    try layer().forEachItem { item in
      var symbol = "-"
      if case .simpleMarker(let marker)? = item.symbol { symbol = "\(marker.style) \(marker.size)" }
      let labels = item.labels.map { "\($0.symbol.text):\($0.symbol.size)" }.joined(separator: ",")
      let attributes = item.cluster.map { cluster in
        " \(cluster.count) {"
          + cluster.attributes.map { "\($0.name) \($0.value.shownText(by: .neutral) ?? "null")" }
          .joined(separator: ", ") + "}"
      }
      lines.append(
        "\(item.id) \(symbol) [\(labels)]\(attributes ?? "")\(item.selectionColor == nil ? "" : " selected")")
    }
    return lines
  }

  @Test mutating func `clusters are items in place of their points, above what is drawn of features`() throws {
    try addOverlay(Self.reduction())
    #expect(
      try items() == [
        "7 circle 4.0 []", "8 circle 4.0 []", "9 circle 4.0 []",
        "1 circle 20.0 [] 4 {cluster_count 4, total 10} selected",
        "5 circle 10.0 [] 2 {cluster_count 2, total 50}",
      ])
    var places: [Point?] = []
    try layer().forEachItem { item in
      if item.cluster != nil, case .point(let point) = item.geometry { places.append(point) }
    }
    #expect(places.map { ($0?.x ?? .nan).rounded() } == [150, 20050])
  }

  @Test mutating func `symbols, labels and popups are those of the reduction, over its attributes`() throws {
    let styles: [(Double, SimpleMarkerSymbol.Style)] = [(10, .square), (50, .diamond)]
    let breaks = try ClassBreaksRenderer(
      source: .field("total"),
      breaks: styles.map {
        .init(maxValue: $0.0, entry: SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol(style: $0.1))))
      })
    let reduction = try Self.reduction {
      $0.renderer = Renderer(.classBreaks(breaks))
      $0.labels = [
        LabelDefinition(expression: try Expression("cluster_count")),
        LabelDefinition(expression: try Expression("total"), condition: try Expression("total > 20")),
        LabelDefinition(expression: try Expression("total"), minScale: Self.scale / 2),
      ]
      $0.labelsEnabled = true
      $0.popup = PopupDefinition(title: try Template("{cluster_count} places"))
    }
    try addOverlay(reduction)
    #expect(
      try items().suffix(2) == [
        "1 square 20.0 [4:8.0] 4 {cluster_count 4, total 10} selected",
        "5 diamond 10.0 [2:8.0,50:8.0] 2 {cluster_count 2, total 50}",
      ])
    let clusters = try #require(try layer().clusters { _ in })
    let nodes = clusters.features.nodes(in: nil, zoom: clusters.zoom) { _ in }.filter(\.isCluster)
    let rows = try clusters.portrayal.attributes.rows(of: nodes, in: clusters.features) { _ in }
    #expect(rows.map { clusters.portrayal.popup(of: $0)?.title } == ["4 places", "2 places"])
  }

  @Test mutating func `a visual variable of sizes, scale, filters and the switch decide what is drawn`() throws {
    let ramp = try Ramp([.init(value: 0, output: 0.0), .init(value: 100, output: 200)])
    let sized = Renderer(
      .simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol()))),
      visualVariables: [VisualVariable(source: .field("total"), effect: .size(ramp))])
    try addOverlay(Self.reduction { $0.renderer = sized })
    #expect(try items().suffix(2).map { $0.split(separator: " ")[2] } == ["20.0", "100.0"])
    try world.updateOverlay(
      ID("o"), [MemberChange(.featureReduction, Self.reduction { $0.maxScale = Self.scale + 1 })])
    #expect(try items().count == 9)
    try world.updateOverlay(ID("o"), [MemberChange(.featureReduction, Self.reduction { $0.isEnabled = false })])
    #expect(try items().count == 9)
    try world.updateOverlay(ID("o"), [MemberChange(.featureReduction, Self.reduction())])
    _ = try world.removeGraphics([2, 3, 4], from: ID("o"))
    #expect(try items().map { $0.prefix(1) } == ["1", "7", "8", "9", "5"])
  }

  @Test mutating func `a renderer that draws a cluster not leaves its label, or nothing`() throws {
    let one = try UniqueValueRenderer(
      sources: [.field("cluster_count")],
      entries: [.init(values: [.integer(2)], entry: SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol())))])
    try addOverlay(
      try Self.reduction {
        $0.renderer = Renderer(.uniqueValue(one))
        $0.labels = [LabelDefinition(expression: try Expression("total"), condition: try Expression("total < 20"))]
        $0.labelsEnabled = true
      })
    #expect(
      try items().suffix(2) == [
        "1 - [10:8.0] 4 {cluster_count 4, total 10} selected", "5 circle 10.0 [] 2 {cluster_count 2, total 50}",
      ])
  }

  @Test(arguments: UInt64(0)..<8)
  mutating func `what is hit is what every item, measured one by one, says`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let symbol = Symbol.simpleMarker(
      SimpleMarkerSymbol(
        style: seed % 2 == 0 ? .square : .triangle, xOffset: random.number(-9...9), yOffset: random.number(-9...9)))
    try addOverlay(
      Self.reduction {
        $0.radius = random.number(5...60)
        if seed % 3 > 0 { $0.renderer = Renderer(.simple(SymbolEntry(symbol: symbol))) }
      })
    var batch = FeatureBatch()
    for id in 100..<300 {
      batch.begin(id: id)
      batch.setPoint(x: random.number(-15000...15000), y: random.number(-11000...11000))
      batch.set(column: batch.column(named: "n"), .integer(Int64(id)))
    }
    _ = try world.addGraphics(batch, to: ID("o"))
    let view = try world.views.require(ID("v"))
    let layer = try layer()
    let clusters = try #require(try layer.clusters { _ in })
    var found = 0
    for _ in 0..<60 {
      let circle = ScreenCircle(x: random.number(0...400), y: random.number(0...300), radius: random.number(0...20))
      let hits = try layer.hits(
        in: circle, of: view, limit: 1000, clusters: clusters, proj, checking: { _ in }, cancellation: {})
      var measured: [String] = []
      try layer.forEachItem { item in
        guard let symbol = item.symbol else { return }
        let frame = view.frame(x: circle.x, y: circle.y)
        let distance = try GeometryDistance(frame: frame, symbol: symbol, check: {}).distance(to: item.geometry)
        if distance <= circle.radius { measured.append(item.cluster?.id ?? "\(item.id)") }
      }
      let ids =
        hits.clusters.map { clusters.features.clusterID(of: $0.node) ?? "" }
        + hits.hits.map { "\(layer.store[$0.row]?.id ?? -1)" }
      #expect(ids == measured.reversed())
      found += hits.clusters.count
    }
    #expect(found > 3)
  }
}
