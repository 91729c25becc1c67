// A view snapshot, made from a world without any server: what a view draws, in drawing order, with everything evaluated.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Projection
import Testing

@testable import Drawing

@Suite struct ViewSnapshotTests {
  private var world: World

  init() throws {
    let proj = PROJTransformer()
    world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    try world.createMap(id: ID("m"), title: nil, reference: .webMercator)
    let schema = SourceLayer(
      name: "cities", geometryType: "Point", featureCount: 3, extent: nil, reference: .wgs84,
      fields: [Field(name: "name", type: .string), Field(name: "people", type: .integer)])
    try world.addSource(id: ID("s"), driver: "GPKG", origin: .inline([], reference: .wgs84), layers: [schema])
    try world.createView(
      id: ID("v"), over: .map(ID("m")), screen: Screen(),
      viewpoint: .centerAndScale(center: Point(x: 7, y: 50), scale: 1e6, rotation: nil, reference: .wgs84))
  }

  /// Three points: Aachen, Bonn and Cologne, with 1, 2 and 3 people.
  private mutating func addLayer(_ name: String, at position: LayerPosition, _ changes: [MemberChange] = []) throws {
    let id = LayerID(name)
    try world.addLayer(id: id, to: .map(ID("m")), over: ID("s"), sourceLayer: nil, name: name, at: position)
    _ = try world.beginLoad(id, retry: false)
    var batch = FeatureBatch()
    for (index, city) in ["Aachen", "Bonn", "Cologne"].enumerated() {
      batch.begin(id: index)
      batch.setPoint(x: Double(index), y: 50)
      batch.set(column: batch.column(named: "name"), .string(city))
      batch.set(column: batch.column(named: "people"), .integer(Int64(index + 1)))
    }
    var store = FeatureStore()
    try store.append(batch)
    _ = try world.finishLoad(id, store: store)
    try world.updateLayer(id, changes)
  }

  private mutating func addGroup(_ name: String, _ changes: [MemberChange]) throws {
    try world.addGroupLayer(
      id: ID(name), to: .map(ID("m")), name: name, visibilityMode: .independent, at: LayerPosition())
    try world.updateLayer(ID(name), changes)
  }

  private mutating func addOverlay(_ name: String, _ batch: FeatureBatch, _ changes: [MemberChange] = []) throws {
    try world.createOverlay(id: ID(name), on: ID("v"), reference: .wgs84, changes)
    _ = try world.addGraphics(batch, to: ID(name))
  }

  private static func marker(_ size: Double) -> Renderer {
    Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol(size: size)))))
  }

  /// `layer/id size [labels]` of each item.
  private func items() throws -> [String] {
    var lines: [String] = []
    for layer in try ViewSnapshot(of: ID("v"), in: world).layers {
      try layer.forEachItem { item in
        var size = "-"
        if case .simpleMarker(let marker)? = item.symbol { size = "\(marker.size)" }
        let labels = item.labels.map { "\($0.symbol.text):\($0.symbol.size)" }.joined(separator: ",")
        lines.append(
          "\(layer.object.id)/\(item.id) \(size) [\(labels)]\(item.selectionColor == nil ? "" : " selected")")
      }
    }
    return lines
  }

  @Test mutating func `every item is listed in drawing order, with symbol and labels as large as they are drawn`()
    throws
  {
    try addLayer("reference", at: LayerPosition(role: .reference), [MemberChange(.renderer, Self.marker(4))])
    try addLayer("base", at: LayerPosition(role: .base), [MemberChange(.renderer, Self.marker(1))])
    try addLayer(
      "filtered", at: LayerPosition(),
      [
        MemberChange(.renderer, Self.marker(2)), MemberChange(.definitionExpression, try Expression("people >= 2")),
        MemberChange(
          .labels, [LabelDefinition(expression: try Expression("name"), condition: try Expression("people = 3"))]),
        MemberChange(.labelsEnabled, true),
      ])
    var batch = FeatureBatch()
    let symbol = #"{"type": "simpleMarker", "size": 9}"#
    for (id, zIndex) in [(1, Int32(5)), (2, 0), (3, 0), (4, 5)] {
      batch.begin(id: id)
      batch.setPoint(x: Double(id), y: 0)
      batch.setZIndex(zIndex)
      if id == 2 { symbol.utf8.withContiguousStorageIfAvailable { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) } }
      if id == 3 { batch.setHidden() }
      if id == 4 { batch.setSelected() }
    }
    try addOverlay(
      "graphics", batch,
      [MemberChange(.renderer, Self.marker(3)), MemberChange(.selectionColor, Color("#ff0000"))])
    #expect(
      try items() == [
        "base/0 1.0 []", "base/1 1.0 []", "base/2 1.0 []", "filtered/1 2.0 []", "filtered/2 2.0 [Cologne:8.0]",
        "reference/0 4.0 []", "reference/1 4.0 []", "reference/2 4.0 []", "graphics/2 9.0 []", "graphics/1 3.0 []",
        "graphics/4 3.0 [] selected",
      ])
  }

  @Test mutating func `what is hidden, out of scale or not loaded is not drawn, and groups multiply opacities`() throws
  {
    try addGroup("half", [MemberChange(.opacity, 0.5)])
    try addLayer("a", at: LayerPosition(group: ID("half")), [MemberChange(.opacity, 0.5)])
    try addLayer("hidden", at: LayerPosition(), [MemberChange(.isVisible, false)])
    try addLayer("near", at: LayerPosition(), [MemberChange(.minScale, 1000.0)])
    try addGroup("closed", [MemberChange(.isVisible, false)])
    try addLayer("inside", at: LayerPosition(group: ID("closed")))
    try world.addLayer(id: ID("unread"), to: .map(ID("m")), over: ID("s"), sourceLayer: nil, name: nil)
    try addOverlay("far", FeatureBatch(), [MemberChange(.maxScale, 1e7)])
    try addOverlay("over", FeatureBatch(), [MemberChange(.opacity, 0.25)])
    let layers = try ViewSnapshot(of: ID("v"), in: world).layers
    #expect(layers.map(\.object.id) == ["a", "over"])
    #expect(layers.map(\.opacity) == [0.25, 0.25])
    #expect(layers.map(\.stratum) == [.operational, .overlay])
  }

  @Test mutating func `a snapshot stays as it is while the world changes`() throws {
    try addLayer("a", at: LayerPosition())
    let before = try ViewSnapshot(of: ID("v"), in: world)
    try world.removeLayer(ID("a"))
    var count = 0
    for layer in before.layers { try layer.forEachItem { _ in count += 1 } }
    #expect(count == 3)
    #expect(try items() == [])
  }
}
