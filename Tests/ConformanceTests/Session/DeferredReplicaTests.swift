// Subscriptions with `edits: "deferred"`: no delta during an edit, one coalesced delta at its end.

import Testing

struct DeferredReplicaTests {
  private let patterns: [[String]] = [
    [""], ["/maps/*/title", "/views/*/viewpoint"], ["/overlays"], ["/overlays/*/graphics/*"],
    ["/views/*/viewpoint/targetScale", "/views"], ["/overlays/*/graphics/0", "/overlays/*/graphics/*/attributes/name"],
    ["/*/*/name"], ["/views/*/overlays/0", "/overlays/*/opacity"],
  ]

  @Test(arguments: UInt64(300)..<330)
  func `a deferred replica receives no delta during an edit and equals the model after it`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = RandomEdits(server, seed: seed)
    try server.call("clock/set", ["mode": "manual"])
    var observers: [Observer] = []
    for patterns in patterns {
      let paths: Value = .array(patterns.map { .string($0) })
      let answer = try server.call("state/observe", ["paths": paths, "edits": "deferred"])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for round in 0..<8 {
      let isEdit = round % 2 == 0
      server.record = []
      defer { server.record = nil }
      if isEdit { try server.call("edit/begin") }
      _ = try server.takeMessages()
      let before = server.record?.count ?? 0
      for _ in 0..<10 { try edits.step() }
      _ = try server.takeMessages()
      if isEdit {
        let within = server.record?.dropFirst(before) ?? []
        #expect(!within.contains { $0["method"] == "state/changed" })
        try server.call("edit/end")
        _ = try server.takeMessages()
      }
      let log = server.record ?? []
      for index in observers.indices {
        for message in log {
          do { try observers[index].replica.apply(message) } catch {
            Issue.record("seed \(seed), round \(round), \(observers[index].patterns): \(error)\n\(message)")
            return
          }
        }
        try observers[index].check(server, "seed \(seed), round \(round)")
      }
    }
  }

  @Test func `changes that an edit takes back itself are not sent`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m", "title": "One"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v", "name": "n"])
    let point: Value = ["type": "Point", "coordinates": [1, 2]]
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [["id": 1, "geometry": point]]])
    for path in [
      "/maps", "/maps/m/title", "/overlays", "/overlays/o/graphics/*", "/views/v/overlays", "/overlays/*/name",
    ] {
      try server.call("state/observe", ["paths": [.string(path)], "edits": "deferred"])
    }
    try server.call("edit/begin")
    try server.call("map/update", ["map": "m", "title": "Two"])
    try server.call("overlay/updateGraphics", ["overlay": "o", "graphics": [["id": 1, "isVisible": false]]])
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [["id": 2, "geometry": point]]])
    try server.call("overlay/removeGraphics", ["overlay": "o", "ids": [2]])
    try server.call("overlay/create", ["id": "p", "view": "v"])
    try server.call("overlay/close", ["overlay": "p"])
    try server.call("overlay/updateGraphics", ["overlay": "o", "graphics": [["id": 1, "isVisible": true]]])
    try server.call("map/update", ["map": "m", "title": "One"])
    try server.call("edit/end")
    #expect(try server.takeNotifications("state/changed") == [])

    // A cancelled edit restores what it closed, without a delta.
    try server.call("edit/begin")
    try server.call("overlay/close", ["overlay": "o"])
    try server.call("map/update", ["map": "m", "title": "Two"])
    try server.call("edit/cancel")
    #expect(try server.takeNotifications("state/changed") == [])
    try server.call("map/update", ["map": "m", "title": "Three"])
    #expect(try server.takeNotifications("state/changed").count == 2)
    #expect(try server.takeNotifications("state/ended") == [])
    // One that ends leaves it closed.
    try server.call("edit/begin")
    try server.call("overlay/close", ["overlay": "o"])
    #expect(try server.takeNotifications("state/ended") == [])
    try server.call("edit/end")
    #expect(try server.takeNotifications("state/ended").count == 1)
  }

  @Test func `a subscription made during an edit starts from the state at that time`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m", "title": "One"])
    try server.call("edit/begin")
    try server.call("map/update", ["map": "m", "title": "Two"])
    var replica = try Replica(try server.call("state/observe", ["paths": ["/maps/m/title"], "edits": "deferred"]))
    try server.call("map/update", ["map": "m", "title": "Three"])
    #expect(try server.takeNotifications("state/changed") == [])
    server.request("edit/end")
    for message in try server.takeMessages() { try replica.apply(message) }
    #expect(try replica.values(at: "/maps/m/title") == ["/maps/m/title": "Three"])
  }
}
