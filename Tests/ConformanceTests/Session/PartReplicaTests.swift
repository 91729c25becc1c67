// Changes of a basemap and of a base surface are sent by member, and their lists by operations, for any observed pattern.

import Testing

/// A map and a scene of which only the basemap and the base surface change, with the lists that are expected.
private struct Surfaces {
  let server: MemoryServer
  var random: SeededGenerator
  private(set) var layers: [String: [String]] = ["base": ["b0"], "reference": []]
  private(set) var elevationSources: [String] = []
  private var created = 0

  init(_ server: MemoryServer, seed: UInt64) throws {
    self.server = server
    random = SeededGenerator(seed: seed)
    try server.call("map/create", ["id": "m"])
    try server.call("scene/create", ["id": "s"])
    let point: Value = ["type": "Feature", "properties": [:], "geometry": ["type": "Point", "coordinates": [1, 2]]]
    try server.call("source/openInline", ["id": "data", "data": point])
    // The first layer creates the basemap.
    try server.call("layer/add", ["map": "m", "source": "data", "id": "b0", "role": "base"])
  }

  mutating func step() throws {
    created += 1
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: try addLayer()
    case 2, 3: try changeLayer()
    case 4: try server.call("map/update", ["map": "m", "basemap": ["name": .string("n\(created)")]])
    case 5: try addElevationSource()
    default: try changeElevationSource()
    }
  }

  private mutating func addLayer() throws {
    let role = Bool.random(using: &random) ? "base" : "reference"
    let index = Int.random(in: 0...(layers[role]?.count ?? 0), using: &random)
    layers[role]?.insert("b\(created)", at: index)
    try server.call(
      "layer/add",
      ["map": "m", "source": "data", "id": .string("b\(created)"), "role": .string(role), "index": .integer(index)])
  }

  private mutating func changeLayer() throws {
    let role = Bool.random(using: &random) ? "base" : "reference"
    guard let layer = layers[role]?.randomElement(using: &random) else { return }
    layers[role]?.removeAll { $0 == layer }
    let params: [String: Value] = ["layer": .string(layer)]
    guard Bool.random(using: &random) else {
      _ = try server.call("layer/remove", .object(params))
      return
    }
    let index = Int.random(in: 0...(layers[role]?.count ?? 0), using: &random)
    layers[role]?.insert(layer, at: index)
    try server.call("layer/move", .object(params.merging(["index": .integer(index)]) { $1 }))
  }

  private mutating func addElevationSource() throws {
    let index = Int.random(in: 0...elevationSources.count, using: &random)
    elevationSources.insert("e\(created)", at: index)
    try server.call(
      "scene/addElevationSource",
      [
        "scene": "s", "path": "Tests/Fixtures/jacksboro_dem.tif", "id": .string("e\(created)"),
        "index": .integer(index),
      ])
  }

  private mutating func changeElevationSource() throws {
    guard let source = elevationSources.randomElement(using: &random) else { return }
    elevationSources.removeAll { $0 == source }
    let params: [String: Value] = ["scene": "s", "elevationSource": .string(source)]
    guard Bool.random(using: &random) else {
      _ = try server.call("scene/removeElevationSource", .object(params))
      return
    }
    let index = Int.random(in: 0...elevationSources.count, using: &random)
    elevationSources.insert(source, at: index)
    try server.call("scene/moveElevationSource", .object(params.merging(["index": .integer(index)]) { $1 }))
  }

  /// Checks the server's lists against the expected ones.
  func check() throws {
    let lists = try server.state("/maps/m/basemap/*")
    for (role, ids) in layers {
      #expect(lists["/maps/m/basemap/\(role)Layers"] == .array(ids.map { .string($0) }))
    }
    let path = "/scenes/s/baseSurface/elevationSources"
    #expect(try server.state(path)[path]?.array?.compactMap { $0["id"]?.string } == elevationSources)
  }
}

struct PartReplicaTests {
  /// Observed patterns, and other params of the subscription.
  private static let subscriptions: [([String], [String: Value])] = [
    (["/maps/m/basemap", "/scenes/s/baseSurface"], [:]), (["/maps", "/scenes"], ["maxRate": 1]),
    (["/maps/m/basemap/baseLayers", "/scenes/s/baseSurface/elevationSources"], [:]),
    (["/maps/*/basemap/*", "/scenes/*/baseSurface/*"], ["edits": "deferred"]),
    (["/maps/m/basemap/baseLayers/0", "/scenes/s/baseSurface/elevationSources/1/id"], [:]),
    ([""], ["edits": "deferred"]),
  ]

  @Test(arguments: UInt64(0)..<15)
  func `lists in a basemap and in a base surface are sent by element, for any observed pattern`(seed: UInt64) throws {
    let server = try MemoryServer()
    var surfaces = try Surfaces(server, seed: seed)
    var observers: [Observer] = []
    for (patterns, more) in Self.subscriptions {
      let paths: [String: Value] = ["paths": .array(patterns.map { .string($0) })]
      let answer = try server.call("state/observe", .object(paths.merging(more) { $1 }))
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for round in 0..<10 {
      let isEdit = Bool.random(using: &surfaces.random)
      if isEdit { try server.call("edit/begin") }
      for _ in 0..<Int.random(in: 1...4, using: &surfaces.random) { try surfaces.step() }
      if isEdit { try server.call("edit/end") }
      server.loop.advance(by: 2_000_000_000)
      let whole = ["/maps/m/basemap", "/maps/m/basemap/baseLayers", "/scenes/s/baseSurface"]
      for message in try server.takeMessages() {
        for entry in message["params"]?["changes"]?.array ?? [] {
          #expect(!whole.contains(entry["path"]?.string ?? ""), "sent whole: \(message)")
        }
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      for observer in observers { try observer.check(server, "seed \(seed), round \(round)") }
      try surfaces.check()
    }
  }
}
