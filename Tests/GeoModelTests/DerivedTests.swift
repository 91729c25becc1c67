// Derived state found from changes alone equals derived state computed from everything.

import FeatureStore
import Geometry
import TestSupport
import Testing

@testable import GeoModel

/// A world of nested groups with two views, edited at random.
private struct Edited {
  var world = World.manual()
  private var random: SeededGenerator
  private var made = 0

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    _ = try world.makeView()
    let schema = SourceLayer(
      name: "cities", geometryType: "Point", featureCount: 2, extent: nil, reference: nil,
      fields: [Field(name: "n", type: .integer)])
    try world.run {
      try $0.addSource(id: "s", driver: "GeoJSON", origin: .inline([], reference: .wgs84), layers: [schema])
    }
    try world.run { try $0.createMap(id: "other", title: nil, reference: .webMercator) }
    try world.run { try $0.createView(id: "w", over: .map("m"), screen: Screen(), viewpoint: .at(0, 0, scale: 1000)) }
    _ = world.takeChanges()
  }

  /// A command, a transaction, or a step of history; some fail.
  mutating func edit() {
    let count = chance(0.2) ? Int.random(in: 2...5, using: &random) : 1
    let fails = chance(0.1)
    struct Stop: Error {}
    var world = self.world
    try? world.run { world in
      for _ in 0..<count {
        try? change(&world, isAlone: count == 1)
        // Derived state is also read between the commands of a transaction.
        if chance(0.5) { world.recordDerived() }
      }
      if fails { throw Stop() }
    }
    self.world = world
  }

  private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  private mutating func change(_ world: inout World, isAlone: Bool) throws {
    let all = Array(world.layers.values)
    let any = all.randomElement(using: &random)
    let leaf = all.filter { $0.features != nil }.randomElement(using: &random)
    let group = chance(0.6) ? all.filter { $0.kind == .group }.randomElement(using: &random)?.id : nil
    made += 1
    let id = LayerID(chance(0.3) ? "again\(Int.random(in: 0..<3, using: &random))" : "l\(made)")
    let map: ViewContent = chance(0.9) ? .map("m") : .map("other")
    switch Int.random(in: 0..<(isAlone ? 16 : 14), using: &random) {
    case 0, 1, 2:
      guard chance(0.9) else {
        try world.addLayer(id: id, to: map, over: "s", sourceLayer: nil, name: nil, asTable: true)
        return
      }
      try world.addLayer(
        id: id, to: map, over: "s", sourceLayer: nil, name: nil,
        at: LayerPosition(role: group == nil && chance(0.2) ? .base : nil, group: group, index: chance(0.5) ? 0 : nil))
    case 3, 4:
      try world.addGroupLayer(
        id: id, to: map, name: "G", visibilityMode: chance(0.3) ? .exclusive : .independent,
        at: LayerPosition(group: group))
    case 5, 6:
      guard let any else { return }
      try world.moveLayer(any.id, to: LayerPosition(group: group, index: chance(0.5) ? 0 : nil))
    case 7: if let any { try world.removeLayer(any.id) }
    case 8: if let leaf { _ = try world.beginLoad(leaf.id, retry: true) }
    case 9:
      guard let leaf else { return }
      _ = try world.finishLoad(leaf.id, store: FeatureStore(fields: [Field(name: "n", type: .integer)]))
    case 10: if let leaf { world.failLoad(leaf.id, Failure(kind: "ioFailed", message: "reason \(made)")) }
    case 11: if let leaf { world.abandonLoad(leaf.id) }
    case 12:
      guard let any else { return }
      try world.updateLayer(
        any.id, [MemberChange(.isVisible, chance(0.5)), MemberChange(.minScale, chance(0.5) ? 5000.0 : 1e9)])
    case 13: try world.setViewpoint(of: chance(0.5) ? "v" : "w", to: .at(0, 0, scale: chance(0.5) ? 1000 : 10_000))
    case 14: try world.undo()
    default: try world.redo()
    }
  }

  /// Load statuses of maps and groups, and layer states of views, computed from the layers.
  func found() throws -> [ObjectReference: String] {
    var found: [ObjectReference: String] = [:]
    for map in world.maps.values {
      found[map.reference] = "\(world.computedLoadStatus(of: .map(map.id)))"
      #expect(found[map.reference] == "\(world.loadStatus(of: .map(map.id)))")
    }
    for layer in world.layers.values where layer.kind == .group {
      found[layer.reference] = "\(world.computedLoadStatus(of: layer))"
      #expect(found[layer.reference] == "\(world.loadStatus(of: layer))")
    }
    for view in world.views.values {
      let states = world.layerViewStates(of: view).sorted { $0.layer.rawValue < $1.layer.rawValue }
      found[view.reference] = "\(states.map { "\($0.layer)=\($0.state.rawValue)" })"
    }
    return found
  }
}

struct DerivedTests {
  @Test(arguments: UInt64(0)..<20)
  func `load statuses and layer view states are recorded exactly when they change`(seed: UInt64) throws {
    var edited = try Edited(seed: seed)
    var total = 0
    for step in 0..<120 {
      let before = try edited.found()
      edited.edit()
      _ = try edited.found()
      var changed: Set<ObjectReference> = []
      var created: Set<ObjectReference> = []
      for change in edited.world.takeChanges() {
        switch change.event {
        case .created(let object): created.insert(object)
        case .changed(let object, .loadStatus) where edited.world.layers[ID(object.id)]?.features == nil:
          changed.insert(object)
        case .changed(let object, .layerViewStates): changed.insert(object)
        default: break
        }
      }
      let now = try edited.found()
      let expected = Set(now.filter { object, value in before[object].map { $0 != value } ?? false }.keys)
      // Objects inserted within the command are published as a whole.
      #expect(
        changed.filter { before[$0] != nil && now[$0] != nil }.subtracting(created) == expected.subtracting(created),
        "step \(step)")
      total += expected.count
    }
    #expect(total > 20)
  }
}
