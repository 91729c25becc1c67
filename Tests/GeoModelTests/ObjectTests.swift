// Maps, layers, overlays: order, load lifecycle, atomic bulk edits, revisions that include descendants.

import FeatureStore
import GeoModel
import Geometry
import Testing

struct ObjectTests {
  private var world = World.manual()

  init() throws {
    _ = try world.makeView()
    let schema = SourceLayer(
      name: "cities", geometryType: "Point", featureCount: 7, extent: nil, reference: nil, fields: [])
    var other = schema
    other.name = "countries"
    try world.run { try $0.addSource(id: "one", driver: "GeoJSON", origin: .inline([]), layers: [schema]) }
    try world.run { try $0.addSource(id: "two", driver: "GPKG", origin: .inline([]), layers: [schema, other]) }
    try world.run { try $0.createOverlay(id: "o", on: "v", reference: .wgs84) }
    _ = world.takeChanges()
  }

  private mutating func addLayer(_ id: LayerID, at index: Int? = nil) throws {
    try world.run {
      try $0.addLayer(id: id, to: .map("m"), over: "one", sourceLayer: nil, name: nil, at: LayerPosition(index: index))
    }
  }

  private var order: [String] { world.maps["m"]?.content.operationalLayers.map(\.rawValue) ?? [] }

  // MARK: Layers

  @Test mutating func `layers are kept in drawing order by id`() throws {
    for id in ["a", "b", "c"] as [LayerID] { try addLayer(id) }
    try addLayer("d", at: 0)
    try addLayer("e", at: 2)
    #expect(order == ["d", "a", "e", "b", "c"])
    try world.run { try $0.moveLayer("d", to: LayerPosition(index: 4)) }
    #expect(order == ["a", "e", "b", "c", "d"])
    try world.run { try $0.moveLayer("c", to: LayerPosition(index: 1)) }
    #expect(order == ["a", "c", "e", "b", "d"])
    try world.run { try $0.removeLayer("e") }
    #expect(order == ["a", "c", "b", "d"])
    #expect(world.layers["e"] == nil)
    #expect(throws: ModelError.indexOutOfRange(count: 4)) {
      try world.run { try $0.moveLayer("a", to: LayerPosition(index: 4)) }
    }
    #expect(throws: ModelError.indexOutOfRange(count: 4)) { try addLayer("f", at: 5) }
    #expect(throws: ModelError.unknownID(.layers, "e")) {
      try world.run { try $0.moveLayer("e", to: LayerPosition(index: 0)) }
    }
  }

  @Test mutating func `a source with several layers needs the name of one`() throws {
    #expect(throws: ModelError.unknownSourceLayer(name: nil, available: ["cities", "countries"])) {
      try world.run { try $0.addLayer(id: nil, to: .map("m"), over: "two", sourceLayer: nil, name: nil) }
    }
    let layer = try world.run {
      try $0.addLayer(id: nil, to: .map("m"), over: "two", sourceLayer: "countries", name: nil)
    }
    #expect(layer.name == "countries")
  }

  @Test mutating func `a scale range must not be empty`() throws {
    try addLayer("a")
    try world.run { try $0.updateLayer("a", [MemberChange(.minScale, 1000.0), MemberChange(.maxScale, 10.0)]) }
    for change in [MemberChange(.minScale, 10.0), MemberChange(.minScale, 5.0), MemberChange(.maxScale, 1000.0)] {
      #expect(throws: ModelError.invalidScaleRange) { try world.run { try $0.updateLayer("a", [change]) } }
    }
    try world.run { try $0.updateLayer("a", [MemberChange(.minScale, 5.0), MemberChange(.maxScale, nil)]) }
    #expect(world.layers["a"]?.appearance.minScale == 5)
    #expect(world.layers["a"]?.appearance.maxScale == nil)
  }

  // MARK: Loading

  @Test mutating func `a load has one attempt, and its failure stays until it is retried`() throws {
    try addLayer("a")
    func status() -> LoadStatus? { world.layers["a"]?.features?.loadStatus }
    guard case .read = try world.run({ try $0.beginLoad("a", retry: false) }) else {
      Issue.record("something to read")
      return
    }
    #expect(status() == .loading)
    _ = world.takeChanges()
    guard case .read = try world.run({ try $0.beginLoad("a", retry: false) }) else {
      Issue.record("the same attempt")
      return
    }
    #expect(!world.hasChanges)

    let failure = Failure(kind: "readFailed", message: "the disk is gone")
    world.run(origin: .task) { $0.failLoad("a", failure) }
    #expect(status() == .failed(failure))
    #expect(throws: ModelError.failed(failure)) { try world.run { _ = try $0.beginLoad("a", retry: false) } }
    _ = try world.run { try $0.beginLoad("a", retry: true) }
    #expect(status() == .loading)
    world.run { $0.abandonLoad("a") }
    #expect(status() == .notLoaded)
    world.run { $0.abandonLoad("a") }
    #expect(status() == .notLoaded)

    _ = try world.run { try $0.beginLoad("a", retry: false) }
    _ = world.takeChanges()
    var store = FeatureStore()
    _ = try store.append(points([Point(x: 1, y: 2), Point(x: 3, y: 4)]))
    let loaded = try world.run(origin: .task) { try $0.finishLoad("a", store: store) }
    #expect(loaded.featureCount == 2)
    #expect(
      world.takeChangeDescriptions() == [
        "layers/a.loadStatus", "layers/a.featureCount", "layers/a.extent", "maps/m.loadStatus",
        "views/v.layerViewStates",
      ])
    guard case .alreadyLoaded = try world.run({ try $0.beginLoad("a", retry: true) }) else {
      Issue.record("it is loaded")
      return
    }
    world.run { $0.abandonLoad("a") }
    #expect(status() == .loaded)
  }

  @Test mutating func `a layer that was removed while it loaded takes no features`() throws {
    try addLayer("a")
    _ = try world.run { try $0.beginLoad("a", retry: false) }
    try world.run { try $0.removeLayer("a") }
    #expect(throws: ModelError.unknownID(.layers, "a")) {
      try world.run { _ = try $0.finishLoad("a", store: FeatureStore()) }
    }
    world.run { $0.abandonLoad("a") }
    world.run { $0.failLoad("a", Failure(kind: "x", message: "x")) }
    #expect(world.layers["a"] == nil)
  }

  // MARK: Revisions

  @Test mutating func `an object's revision is the latest of its own and its descendants'`() throws {
    try addLayer("a")
    func revisions() -> [Int?] {
      [world.maps["m"]?.revision, world.views["v"]?.revision, world.overlays["o"]?.revision]
    }
    var last = revisions()
    try world.run { try $0.updateLayer("a", [MemberChange(.opacity, 0.5)]) }
    #expect(revisions() == [world.revision, last[1], last[2]])
    _ = try world.run { try $0.beginLoad("a", retry: false) }
    #expect(revisions() == [world.revision, last[1], last[2]])
    last = revisions()
    _ = try world.run { try $0.addGraphics(points([Point(x: 1, y: 1)]), to: "o") }
    #expect(revisions() == [last[0], world.revision, world.revision])
    try world.run { try $0.resizeView("v", [MemberChange(.width, 10.0)]) }
    #expect(revisions() == [last[0], world.revision, world.revision - 1])
    try world.run { try $0.removeLayer("a") }
    try world.run { try $0.close(OverlayID("o")) }
    #expect(revisions() == [world.revision - 1, world.revision, nil])
  }

  @Test mutating func `closing records all objects that close, descendants first`() throws {
    try addLayer("a")
    _ = world.takeChanges()
    try world.run { try $0.close(MapID("m")) }
    #expect(
      world.takeChangeDescriptions() == ["closed overlays/o", "closed views/v", "closed layers/a", "closed maps/m"])
    #expect(world.sources.count == 2)
  }

  @Test mutating func `ids of closed objects are free, but for objects that undo could not go back through`() throws {
    #expect(throws: ModelError.idExists("o", holder: "overlay", isClosed: false)) {
      try world.run { try $0.createMap(id: "o", title: nil, reference: .wgs84) }
    }
    try world.run { try $0.close(OverlayID("o")) }
    #expect(throws: ModelError.idExists("o", holder: "overlay", isClosed: true)) {
      try world.run {
        try $0.createView(id: "o", over: .map("m"), screen: Screen(), viewpoint: nil)
      }
    }
    try world.run { try $0.createMap(id: "o", title: nil, reference: .wgs84) }
    try world.run { try $0.undo() }
    #expect(world.maps["o"] == nil && world.overlays["o"] == nil)
    try world.run { try $0.undo() }
    #expect(world.overlays["o"] != nil)
    // A failed create takes no id.
    #expect(throws: ModelError.self) {
      try world.run { try $0.createMap(id: "p", title: nil, reference: SpatialReference("EPSG:0")) }
    }
    try world.run { try $0.createMap(id: "p", title: nil, reference: .wgs84) }
  }

  // MARK: Graphics

  private var ids: [Int] {
    var ids: [Int] = []
    world.overlays["o"]?.store.forEach {
      ids.append($0.id)
      return true
    }
    return ids
  }

  @Test mutating func `bulk edits of graphics are atomic, and each failure names its index`() throws {
    let many = (0..<10).map { Point(x: Double($0), y: 1) }
    let added = try world.run { try $0.addGraphics(points(many), to: "o") }
    #expect(added.firstID == 0 && added.count == 10)
    _ = world.takeChanges()
    let revision = world.revision
    func fails(
      _ indices: [Int], _ command: (inout World) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      do {
        try world.run(command)
        Issue.record("it was not refused", sourceLocation: sourceLocation)
      } catch ModelError.items(let items, let count) {
        #expect(items.map(\.index) == indices, sourceLocation: sourceLocation)
        #expect(count == indices.count, sourceLocation: sourceLocation)
      } catch { Issue.record("\(error)", sourceLocation: sourceLocation) }
      #expect(world.revision == revision, sourceLocation: sourceLocation)
      #expect(!world.hasChanges, sourceLocation: sourceLocation)
      #expect(ids == Array(0..<10), sourceLocation: sourceLocation)
      #expect(world.overlays["o"]?.selectedCount == 0, sourceLocation: sourceLocation)
    }
    let three = Array(many.prefix(3))
    fails([1]) { _ = try $0.addGraphics(points(three, ids: [nil, 4, nil]), to: "o") }
    fails([0, 2]) { _ = try $0.addGraphics(points(three, ids: [4, 50, 5]), to: "o") }
    fails([2]) { _ = try $0.addGraphics(points(three, ids: [50, 51, 50]), to: "o") }
    fails([1]) { _ = try $0.addGraphics(points(three, ids: [50, -1, 52]), to: "o") }
    fails([1]) { _ = try $0.removeGraphics([0, 99], from: "o") }
    fails([0]) { _ = try $0.selectGraphics([99, 1], .new, of: "o") }
    fails([1]) { _ = try $0.moveGraphics([0, 99], x: [5, 5], y: [5, 5], z: nil, of: "o") }
    fails([1]) { world in
      var hide = FeatureEdit(id: 0)
      var unknown = FeatureEdit(id: 99)
      hide.isVisible = false
      unknown.isVisible = false
      _ = try world.updateGraphics([hide, unknown], of: "o")
    }
    #expect(world.overlays["o"]?.store.feature(id: 0)?.point?.x == 0)
    #expect(world.overlays["o"]?.store.feature(id: 0)?.isVisible == true)
    // Refused commands have used up no id.
    #expect(try world.run { try $0.addGraphics(points(three), to: "o") }.firstID == 10)
  }

  @Test mutating func `selection follows its mode, and ends with removal`() throws {
    _ = try world.run { try $0.addGraphics(points((0..<5).map { Point(x: Double($0), y: 0) }), to: "o") }
    func select(_ ids: [Int], _ mode: SelectionMode) throws -> Int {
      try world.run { try $0.selectGraphics(ids, mode, of: "o") }
    }
    #expect(try select([1, 2], .new) == 2)
    #expect(try select([2, 3], .add) == 3)
    #expect(try select([1, 1], .subtract) == 2)
    #expect(try select([4], .new) == 1)
    _ = world.takeChanges()
    _ = try world.run { try $0.removeGraphics([4], from: "o") }
    #expect(world.overlays["o"]?.selectedCount == 0)
    #expect(world.takeChangeDescriptions().contains("overlays/o.selectedCount"))
    // An edit keeps the selection.
    _ = try select([0], .new)
    _ = try world.run { try $0.moveGraphics([0], x: [9], y: [9], z: nil, of: "o") }
    #expect(world.overlays["o"]?.selectedCount == 1)
    #expect(try select([], .new) == 0)
  }

  @Test mutating func `the extent follows the graphics`() throws {
    #expect(world.overlays["o"]?.store.extent == nil)
    _ = try world.run { try $0.addGraphics(points([Point(x: 1, y: 2), Point(x: 5, y: 7)]), to: "o") }
    #expect(world.overlays["o"]?.store.extent == Envelope(xMin: 1, yMin: 2, xMax: 5, yMax: 7))
    _ = try world.run { try $0.removeGraphics([1], from: "o") }
    #expect(world.overlays["o"]?.store.extent == Envelope(xMin: 1, yMin: 2, xMax: 1, yMax: 2))
    _ = try world.run { try $0.removeGraphics(nil, from: "o") }
    #expect(world.overlays["o"]?.store.extent == nil)
    #expect(try world.run { try $0.removeGraphics(nil, from: "o") } == 0)
  }
}

private func points(_ points: [Point], ids: [Int?]? = nil) -> FeatureBatch {
  var batch = FeatureBatch()
  for (index, point) in points.enumerated() {
    batch.begin(id: ids?[index])
    batch.setPoint(x: point.x, y: point.y)
  }
  return batch
}
