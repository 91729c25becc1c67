// The states of many layers in views: sent in pieces, in snapshots and deltas.

import Testing

struct LayerStateTests {
  private static let count = 4_500
  private let server: MemoryServer

  /// Groups stand for layers: a map with some thousands at its top level and in a group.
  init() throws {
    server = try MemoryServer()
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    let commands = (0..<Self.count).map { number -> Value in
      var params: [String: Value] = ["id": .string("g\(number)"), "map": "m"]
      if number % 10 == 1 { params["group"] = .string("g2") }
      return ["method": "layer/addGroup", "params": .object(params)] as Value
    }
    // The group comes first.
    try server.call("model/apply", ["commands": .array([commands[2]] + commands[..<2] + commands[3...])])
  }

  @Test(
    arguments: [
      ["/views"], ["/views/*"], ["/views/v/layerViewStates", "/views/w"], ["/views/*/layerViewStates/*"], ["/*/*"],
      [""],
    ])
  func `a replica has the states of all layers`(patterns: [String]) throws {
    _ = try server.takeMessages()
    server.record = []
    let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
    #expect(answer["snapshot"] == nil)
    var observer = Observer(replica: try Replica(answer), patterns: patterns)
    try server.call("view/create", ["id": "w", "map": "m"])
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000]])
    try server.call("layer/update", ["layer": "g2", "isVisible": false])
    try server.call("map/create", ["id": "n"])
    try server.call("view/setContent", ["view": "v", "map": "n"])
    try server.call("view/setContent", ["view": "v", "map": "m"])
    _ = try server.takeMessages()
    let messages = server.record ?? []
    for message in messages { try observer.replica.apply(message) }
    try observer.check(server, "\(patterns)")
    // In pieces: each layer of the new view is an operation of its own, not one with all of them.
    let operations = messages.flatMap { $0["params"]?["changes"]?.array ?? [] }
    let pieces = operations.count { $0["path"]?.string?.hasPrefix("/views/w/layerViewStates/") == true }
    #expect(pieces >= Self.count)
    let states = try server.state("/views/w/layerViewStates")["/views/w/layerViewStates"]?.object
    #expect(states?.count == Self.count)
    #expect(states?["g11"] == ["notVisible"])
  }
}
