// The content of maps and scenes: lists and groups, scale ranges, cameras; and state derived from it for views.

import FeatureStore
import Foundation
import GeoModel
import Geometry
import Testing

struct MapContentTests {
  private var world = World.manual()

  init() throws {
    _ = try world.makeView()
    let schema = SourceLayer(
      name: "cities", geometryType: "Point", featureCount: 2, extent: nil, reference: nil,
      fields: [Field(name: "n", type: .integer), Field(name: "at", type: .string)])
    try world.run {
      try $0.addSource(id: "s", driver: "GeoJSON", origin: .inline([], reference: .wgs84), layers: [schema])
    }
    _ = world.takeChanges()
  }

  private mutating func addLayer(_ id: LayerID, in group: LayerID? = nil) throws {
    try world.run {
      try $0.addLayer(
        id: id, to: .map("m"), over: "s", sourceLayer: nil, name: nil, at: LayerPosition(group: group))
    }
  }

  private mutating func addGroup(_ id: LayerID, in group: LayerID? = nil) throws {
    try world.run {
      try $0.addGroupLayer(
        id: id, to: .map("m"), name: "G", visibilityMode: .independent, at: LayerPosition(group: group))
    }
  }

  private mutating func load(_ id: LayerID) throws {
    _ = try world.run { try $0.beginLoad(id, retry: false) }
    _ = try world.run { try $0.finishLoad(id, store: FeatureStore(fields: [Field(name: "n", type: .integer)])) }
  }

  private func states() throws -> [String: LayerViewState] {
    Dictionary(
      uniqueKeysWithValues: world.layerViewStates(of: try world.view("v")).map { ($0.layer.rawValue, $0.state) })
  }

  // MARK: Groups

  @Test mutating func `nesting of groups is limited`() throws {
    try addGroup("g1")
    for depth in 2...64 { try addGroup(LayerID("g\(depth)"), in: LayerID("g\(depth - 1)")) }
    #expect(throws: ModelError.tooDeeplyNested(limit: 64)) { try addGroup("g65", in: "g64") }
    try addGroup("h1")
    try addGroup("h2", in: "h1")
    #expect(throws: ModelError.tooDeeplyNested(limit: 64)) {
      try world.run { try $0.moveLayer("h1", to: LayerPosition(group: "g63")) }
    }
    try world.run { try $0.moveLayer("h1", to: LayerPosition(group: "g62")) }
    #expect(throws: ModelError.cycle(["g1", "g2", "g3", "g1"])) {
      try world.run { try $0.moveLayer("g1", to: LayerPosition(group: "g3")) }
    }
    #expect(world.allLayers(of: .map("m")).count == 66)
    try world.run { try $0.removeLayer("g1") }
    #expect(world.layers.count == 0)
    #expect(world.maps["m"]?.content.operationalLayers == [])
  }

  @Test mutating func `a change in a group counts for all groups around it and the map`() throws {
    try addGroup("g")
    try addLayer("a", in: "g")
    try world.run { try $0.updateLayer("a", [MemberChange(.opacity, 0.5)]) }
    #expect(world.layers["g"]?.revision == world.revision)
    #expect(world.maps["m"]?.revision == world.revision)
  }

  // MARK: What follows

  @Test mutating func `a map's load status follows its layers, and is recorded when it changes`() throws {
    #expect(world.loadStatus(of: .map("m")) == .loaded)
    try addGroup("g")
    try addLayer("a", in: "g")
    try addLayer("b")
    #expect(world.loadStatus(of: .map("m")) == .notLoaded)
    _ = world.takeChanges()
    _ = try world.run { try $0.beginLoad("a", retry: false) }
    #expect(world.loadStatus(of: .map("m")) == .loading)
    #expect(
      world.takeChangeDescriptions() == [
        "layers/a.loadStatus", "maps/m.loadStatus", "layers/g.loadStatus", "views/v.layerViewStates",
      ])
    world.run { $0.failLoad("a", Failure(kind: "readFailed", message: "gone")) }
    guard case .failed(let failure) = world.loadStatus(of: .map("m")) else {
      Issue.record("a layer has failed")
      return
    }
    #expect(failure.path == "/layers/a" && failure.kind == "readFailed")
    try world.run { try $0.removeLayer("g") }
    try load("b")
    #expect(world.loadStatus(of: .map("m")) == .loaded)
    _ = world.takeChanges()
    // An irrelevant change records nothing.
    try world.run { try $0.updateLayer("b", [MemberChange(.opacity, 0.5)]) }
    #expect(world.takeChangeDescriptions() == ["layers/b.opacity"])
  }

  @Test mutating func `a layer's state in a view follows its groups, its scale range and its load status`() throws {
    try addGroup("g")
    try addLayer("a", in: "g")
    try addLayer("b", in: "g")
    #expect(try states() == ["g": [], "a": [], "b": []])
    try load("a")
    world.run { $0.failLoad("b", Failure(kind: "readFailed", message: "gone")) }
    #expect(try states() == ["g": [.active, .warning], "a": .active, "b": .error])
    try world.run { try $0.setViewpoint(of: "v", to: .scale(5000)) }
    try world.run { try $0.updateLayer("g", [MemberChange(.minScale, 5000.0), MemberChange(.maxScale, 1000.0)]) }
    #expect(try states()["a"] == .active)
    _ = world.takeChanges()
    try world.run { try $0.setViewpoint(of: "v", to: .scale(5001)) }
    #expect(world.takeChangeDescriptions() == ["views/v.viewpoint", "views/v.scale", "views/v.layerViewStates"])
    #expect(try states()["a"] == .outOfScale)
    try world.run { try $0.setViewpoint(of: "v", to: .scale(6000)) }
    try world.run { try $0.setViewpoint(of: "v", to: .center(Point(x: 1, y: 1), reference: .wgs84)) }
    #expect(!world.takeChangeDescriptions().contains("views/v.layerViewStates"))
    try world.run { try $0.updateLayer("g", [MemberChange(.isVisible, false), MemberChange(.minScale, nil)]) }
    #expect(try states() == ["g": [.notVisible, .warning], "a": .notVisible, "b": [.notVisible, .error]])
  }

  @Test(arguments: [GroupVisibilityMode.independent, .inherited, .exclusive])
  mutating func `a group shows its layers by its mode`(mode: GroupVisibilityMode) throws {
    try addGroup("g")
    for id in ["a", "b", "c"] as [LayerID] {
      try addLayer(id, in: "g")
      try load(id)
    }
    try world.run { try $0.updateLayer("c", [MemberChange(.isVisible, false)]) }
    try world.run { try $0.updateLayer("g", [MemberChange(.visibilityMode, mode)]) }
    let seen = try states().filter { $0.value.contains(.active) }.keys.sorted()
    switch mode {
    case .independent: #expect(seen == ["a", "b", "g"])
    case .inherited: #expect(seen == ["a", "b", "c", "g"])
    case .exclusive: #expect(seen == ["b", "g"])
    }
    try world.run { try $0.updateLayer("c", [MemberChange(.isVisible, true)]) }
    let others = ["a", "b"].map { world.layers[LayerID($0)]?.appearance.isVisible }
    #expect(others == (mode == .exclusive ? [false, false] : [true, true]))
  }

  // MARK: Scale

  @Test mutating func `with a reference scale, symbols grow with the scale`() throws {
    #expect(try world.maps.require("m").content.symbolScale(at: 1000) == 1)
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.referenceScale, 1000.0)]) }
    #expect(try world.maps.require("m").content.symbolScale(at: 500) == 2)
    #expect(try world.maps.require("m").content.symbolScale(at: 4000) == 0.25)
  }

  @Test mutating func `a view's scale always stays within the map's range`() throws {
    try world.run {
      try $0.updateContent(of: .map("m"), [MemberChange(.minScale, 10_000.0), MemberChange(.maxScale, 1000.0)])
    }
    for target in [
      ViewpointTarget.scale(1e6), .at(1, 1, scale: 1e6), .box(-1e6, -1e6, 1e6, 1e6), .mercator(0, 0, scale: 1e9),
    ] {
      try world.run { try $0.setViewpoint(of: "v", to: target) }
      #expect(try world.view("v").camera.scale == 10_000)
    }
    _ = try world.fly("v", to: .scale(1), duration: 1, easing: .linear)
    for _ in 0..<40 {
      world.advance(seconds: 1.0 / 30)
      #expect(try (1000...10_000).contains(world.view("v").camera.scale))
    }
    #expect(try world.view("v").camera.scale == 1000)
  }

  // MARK: Cameras

  @Test(arguments: [0.0, 30, 60, 84], [0.0, 45, 200, 359])
  mutating func `a camera looks at a point in its heading, at the scale of the ground there`(
    pitch: Double, heading: Double
  ) throws {
    try world.run { try $0.addScene(id: "sc", title: nil, elevationSources: []) }
    let camera = SceneCamera(longitude: 11, latitude: 47, altitude: 1500, heading: heading, pitch: pitch, roll: 0)
    try world.run { try $0.createView(id: "sv", over: .scene("sc"), screen: Screen(), viewpoint: .camera(camera)) }
    let view = try world.view("sv")
    #expect(view.viewpoint == .camera(camera))
    let line = try proj.inverse(from: Point(x: 11, y: 47), to: Point(x: view.camera.x, y: view.camera.y))
    let slant = pitch * .pi / 180
    #expect(abs(line.distance - 1500 * tan(slant)) < 1e-3)
    // 800 pixels at 96 dpi are 0.211667 m; a field of view of 55 degrees shows 1.041134 m of ground per metre of
    // distance.
    let distance = (line.distance * line.distance + 1500 * 1500).squareRoot()
    #expect(abs(view.camera.scale / (distance * 1.0411337 / 0.2116667) - 1) < 1e-5)
    #expect(view.camera.rotation == (heading == 0 ? 0 : 360 - heading))
  }

  @Test mutating func `an animation between cameras goes through cameras and ends exactly`() throws {
    try world.run { try $0.addScene(id: "sc", title: nil, elevationSources: []) }
    let start = SceneCamera(longitude: 179, latitude: 0, altitude: 100, heading: 350, pitch: 0, roll: 0)
    let end = SceneCamera(longitude: -179, latitude: 10, altitude: 10_000, heading: 10, pitch: 80, roll: -20)
    try world.run { try $0.createView(id: "sv", over: .scene("sc"), screen: Screen(), viewpoint: .camera(start)) }
    _ = try world.fly("sv", to: .camera(end), duration: 1, easing: .linear)
    world.advance(seconds: 0.5)
    guard case .camera(let middle) = try world.view("sv").viewpoint else {
      Issue.record("no camera on the way")
      return
    }
    #expect(abs(abs(middle.longitude) - 180) < 1e-9)
    #expect(abs(middle.altitude - 1000) < 1e-6)
    #expect(middle.heading < 1e-9 || middle.heading > 360 - 1e-9)
    #expect(abs(middle.pitch - 40) < 1e-9 && abs(middle.roll + 10) < 1e-9 && abs(middle.latitude - 5) < 1e-9)
    world.advance(seconds: 1)
    #expect(try world.view("sv").viewpoint == .camera(end))
  }

  // MARK: Features that count

  @Test mutating func `a definition expression is checked against the fields before features are loaded`() throws {
    try addLayer("a")
    #expect(throws: ModelError.self) {
      try world.run { try $0.updateLayer("a", [MemberChange(.definitionExpression, "x = 1")]) }
    }
    #expect(world.layers["a"]?.features?.definitionExpression == nil)
    try world.run { try $0.updateLayer("a", [MemberChange(.definitionExpression, "n > 1")]) }
    #expect(world.layers["a"]?.features?.isUnfiltered == false)
  }

  @Test mutating func `a failed command restores a layer's selection, and undo leaves it alone`() throws {
    try addLayer("a")
    var store = FeatureStore(fields: [Field(name: "n", type: .integer)])
    var batch = FeatureBatch()
    for _ in 0..<3 { batch.begin(id: nil) }
    _ = try store.append(batch)
    _ = try world.run { try $0.beginLoad("a", retry: false) }
    _ = try world.run { try $0.finishLoad("a", store: store) }
    let ids = world.layers["a"]?.store?.idsInOrder ?? []
    #expect(try world.run { try $0.selectFeatures([ids[0], ids[2]], .new, of: "a") } == 2)
    world.begin(origin: .client(nil))
    #expect(try world.selectFeatures([ids[1]], .new, of: "a") == 1)
    world.rollBack()
    #expect(world.layers["a"]?.store?.selectedIDs == [ids[0], ids[2]])
    #expect(world.layers["a"]?.features?.selectedCount == 2)
  }
}

extension FeatureStore {
  fileprivate var idsInOrder: [Int] {
    var ids: [Int] = []
    forEach {
      ids.append($0.id)
      return true
    }
    return ids
  }
}
