// Undo, redo, edits and rollback restore the world, except for what undo leaves alone.

import FeatureStore
import GeoModel
import Geometry
import Testing

struct HistoryTests {
  private var world = World.manual()

  init() throws {
    _ = try world.makeView()
    let schema = SourceLayer(
      name: "cities", geometryType: "Point", featureCount: 7, extent: nil, reference: nil, fields: [])
    try world.run { try $0.addSource(id: "s", driver: "GeoJSON", origin: .inline([]), layers: [schema]) }
    _ = world.takeChanges()
  }

  private mutating func addLayer(_ id: LayerID) throws {
    try world.run { try $0.addLayer(id: id, to: .map("m"), over: "s", sourceLayer: nil, name: nil) }
  }

  private var order: [String] { world.maps["m"]?.content.operationalLayers.map(\.rawValue) ?? [] }

  @Test mutating func `undone changes are recorded like any others, with the origin undo`() throws {
    try addLayer("a")
    try world.run { try $0.updateLayer("a", [MemberChange(.name, "A"), MemberChange(.opacity, 0.5)]) }
    _ = world.takeChanges()
    try world.run { try $0.undo() }
    #expect(world.layers["a"]?.name == "cities")
    #expect(world.layers["a"]?.appearance.opacity == 1)
    let changes = world.takeChanges()
    #expect(changes.contains { if case .changed(_, .opacity) = $0.event { $0.origin == .undo } else { false } })
    try world.run { try $0.redo() }
    #expect(world.layers["a"]?.name == "A")
  }

  @Test mutating func `an object is restored at its index under its id`() throws {
    for id in ["a", "b", "c"] as [LayerID] { try addLayer(id) }
    try world.run { try $0.removeLayer("b") }
    #expect(order == ["a", "c"])
    try world.run { try $0.undo() }
    #expect(order == ["a", "b", "c"])
    #expect(world.layers.ids.map(\.rawValue) == ["a", "b", "c"])
  }

  @Test mutating func `views, viewpoints and overlays of closed views are not undone`() throws {
    try world.run { try $0.createOverlay(id: "o", on: "v", reference: .wgs84) }
    try world.run { try $0.setViewpoint(of: "v", to: .at(2, 48, scale: 5000)) }
    #expect(world.history.undoNames.count == 2)
    try world.run { try $0.undo() }
    #expect(world.overlays["o"] == nil)
    #expect(try world.view("v").camera.scale == 5000)
    try world.run { try $0.redo() }
    #expect(try world.view("v").overlays == ["o"])
    try world.run { try $0.closeView("v") }
    #expect(world.history.undoNames.count == 1)
    try world.run { try $0.undo() }
    #expect(world.maps.count == 0)
    #expect(world.overlays.count == 0)
  }

  @Test mutating func `undoing the creation of a map closes its views`() throws {
    try world.run { try $0.undo() }
    #expect(world.maps.count == 0)
    #expect(world.views.count == 0)
    try world.run { try $0.redo() }
    #expect(world.maps["m"] != nil)
    #expect(world.views.count == 0)
  }

  @Test mutating func `a command that fails midway leaves no trace`() throws {
    try addLayer("a")
    let revision = world.revision
    #expect(throws: ModelError.unknownID(.layers, "b")) {
      try world.run {
        try $0.updateContent(of: .map("m"), [MemberChange(.title, "New")])
        try $0.createMap(id: "n", title: nil, reference: .wgs84)
        try $0.setViewpoint(of: "v", to: .at(2, 48, scale: 5000))
        try $0.close(MapID("m"))
        try $0.removeLayer("b")
      }
    }
    #expect(world.revision == revision)
    #expect(world.maps["m"]?.content.title == nil)
    #expect(world.maps["m"]?.revision == revision)
    #expect(order == ["a"])
    #expect(try world.view("v").camera.scale != 5000)
    #expect(world.layers["a"] != nil)
    try world.run { try $0.createMap(id: "n", title: nil, reference: .wgs84) }
    #expect(world.revision == revision + 1)
  }

  @Test mutating func `an edit keeps the state before a drag and no intermediate ones`() throws {
    try addLayer("a")
    try world.run { try $0.beginEdit("drag") }
    for step in 1...10_000 {
      try world.run { try $0.updateLayer("a", [MemberChange(.opacity, Double(step) / 10_000)]) }
    }
    #expect(world.history.byteCount < 10_000)
    try world.run { try $0.updateLayer("a", [MemberChange(.opacity, 0.25)]) }
    try world.run { try $0.endEdit() }
    #expect(world.history.undoName == "drag")
    try world.run { try $0.undo() }
    #expect(world.layers["a"]?.appearance.opacity == 1)
    try world.run { try $0.redo() }
    #expect(world.layers["a"]?.appearance.opacity == 0.25)
  }

  @Test mutating func `history keeps a hundred steps`() throws {
    for step in 1...150 { try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.title, "\(step)")]) } }
    #expect(world.history.undoNames.count == 100)
    for _ in 0..<100 { try world.run { try $0.undo() } }
    #expect(world.maps["m"]?.content.title == "50")
    #expect(throws: ModelError.nothingToUndo) { try world.run { try $0.undo() } }
  }

  @Test mutating func `steps beyond 64 MiB are dropped, the oldest first`() throws {
    try world.run { try $0.createOverlay(id: "o", on: "v", reference: .wgs84) }
    let text = String(repeating: "x", count: 20 << 20)
    for id in 1...5 {
      var batch = FeatureBatch()
      batch.begin(id: id)
      batch.set(column: batch.column(named: "text"), .string(text))
      try world.run { try $0.addGraphics(batch, to: "o") }
    }
    let before = world.history.undoNames.count
    for id in 1...5 {
      var edit = FeatureEdit(id: id)
      edit.attributes = [("text", .null)]
      try world.run { try $0.updateGraphics([edit], of: "o") }
    }
    #expect(world.history.byteCount <= History.byteLimit)
    #expect(world.history.undoNames.count < before)
    var undone = 0
    while world.history.canUndo {
      try world.run { try $0.undo() }
      undone += 1
    }
    #expect(undone == 3)
    let texts = (1...5).map { world.overlays["o"]?.store.feature(id: $0)?.value(0) == .string(text) }
    #expect(texts == [false, false, true, true, true])
  }

  @Test mutating func `undo back to the saved content clears isModified, unless something else has changed`() throws {
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.title, "saved")]) }
    world.markSaved()
    #expect(!world.history.isModified)
    try world.run { try $0.setViewpoint(of: "v", to: .at(2, 48, scale: 5000)) }
    #expect(!world.history.isModified)
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.title, "other")]) }
    #expect(world.history.isModified)
    try world.run { try $0.undo() }
    #expect(!world.history.isModified)
    try world.run { try $0.undo() }
    #expect(world.history.isModified)
    try world.run { try $0.redo() }
    #expect(!world.history.isModified)
    try world.run { try $0.resizeView("v", [MemberChange(.width, 100.0)]) }
    #expect(world.history.isModified)
  }
}
