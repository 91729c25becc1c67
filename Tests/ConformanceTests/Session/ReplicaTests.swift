// Promises 3, 4 and 5: after any commands, a replica of any pattern that deltas update equals the model.

import JSONRPC
import Testing

/// Patterns of subscriptions: everything, collections, single values, parts of values, overlapping patterns.
private let observedPatterns: [[String]] = [
  [""], ["/views"], ["/overlays", "/maps"], ["/views/*/viewpoint"], ["/overlays/*/graphicCount", "/overlays/*/extent"],
  ["/overlays/o1/graphics", "/overlays/o2/graphics", "/overlays/o3/graphics"], ["/overlays/*/graphics/*"],
  ["/views/*/viewpoint/targetScale"],
  ["/views/*/viewpoint/center/coordinates/0", "/views/*/locationDisplay/autoPanMode"],
  ["/views/*/viewpoint/targetScale", "/views"], ["/overlays/*/graphics/0", "/overlays/*/graphics/1/attributes/name"],
  ["/*/*/name"], ["/*/*/opacity", "/clock"], ["/views/*/viewpoint/*"],
  ["/layers/*/loadStatus/type", "/layers/*/featureCount"],
  ["/locationSources/*/location", "/locationSources/*/status"], ["/maps/*/operationalLayers/0", "/views/*/overlays/0"],
  ["/overlays/*/graphics/*/geometry/type"], ["/views/*/*"], ["/layers/nobody/name", "/views/nobody"],
  ["/maps/*/basemap", "/scenes/*/basemap"], ["/maps/*/basemap/baseLayers", "/maps/*/basemap/name"],
  ["/maps/*/basemap/*", "/scenes/*/basemap/*/0"],
]

struct ReplicaTests {
  @Test(arguments: UInt64(0)..<40)
  func `replicas fed only by deltas equal the model after every step`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = RandomEdits(server, seed: seed)
    try server.call("clock/set", ["mode": "manual"])
    var observers: [Observer] = []
    var stated = 0
    for step in 0..<60 {
      if edits.chance(step == 0 ? 1 : 0.15), let patterns = edits.pick(observedPatterns) {
        let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
        observers.append(Observer(replica: try Replica(answer), patterns: patterns))
      }
      if edits.chance(0.05), !observers.isEmpty {
        let gone = observers.removeFirst()
        try server.call("state/unobserve", ["subscription": .string(gone.replica.subscription)])
      }
      _ = try server.takeMessages()
      var log: [Value] = []
      try recording(&log, server) { try edits.step() }
      for message in log {
        if let revision = message["result"]?["revision"]?.integer { stated = max(stated, revision) }
        if message["method"] == "state/changed", let revision = message["params"]?["revision"]?.integer {
          #expect(revision > stated, "a delta to \(revision) after a response with revision \(stated)")
        }
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      for observer in observers { try observer.check(server, "seed \(seed), step \(step): \(log.first ?? .null)") }
    }
  }

  /// Records all messages sent to the client while `body` runs.
  private func recording(_ log: inout [Value], _ server: MemoryServer, _ body: () throws -> Void) throws {
    server.record = []
    defer { server.record = nil }
    try body()
    _ = try server.takeMessages()
    log = server.record ?? []
  }

  @Test(arguments: UInt64(100)..<120)
  func `a client that excludes its own changes receives all others without a gap`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = RandomEdits(server, seed: seed)
    try server.call("clock/set", ["mode": "manual"])
    var observers: [Observer] = []
    for patterns in [["/views"], ["/overlays"], ["/views/*/viewpoint/targetScale"], ["/overlays/*/graphicCount"]] {
      let answer = try server.call(
        "state/observe", ["paths": .array(patterns.map { .string($0) }), "exceptOrigin": "me"])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for step in 0..<60 {
      let isOwn = edits.chance(0.5)
      var log: [Value] = []
      try recording(&log, server) { try edits.step(origin: isOwn ? "me" : nil) }
      for index in observers.indices {
        for message in log { try observers[index].replica.apply(message) }
        // The client knows its own changes.
        if isOwn { try observers[index].replica.assume(observers[index].patterns.map { ($0, try server.state($0)) }) }
        try observers[index].check(server, "seed \(seed), step \(step): \(log.first ?? .null)")
      }
    }
  }

  /// The time of a manual clock, in seconds of the hour.
  private static func seconds(of server: MemoryServer) throws -> Double {
    let parts = try #require(try server.call("clock/get")["now"]?.string).split(separator: ":")
    return try #require(Double(parts[1])) * 60 + #require(Double(parts[2].dropLast()))
  }

  @Test(arguments: UInt64(200)..<230)
  func `a client with a rate limit receives coalesced deltas that lead to the same state`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = RandomEdits(server, seed: seed)
    try server.call("clock/set", ["mode": "manual"])
    try server.call("clock/set", ["now": "2000-01-01T10:00:00Z"])
    var observers: [Observer] = []
    for patterns in observedPatterns {
      let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) }), "maxRate": 1])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for round in 0..<8 {
      var log: [Value] = []
      var elapsed = 0.0
      try recording(&log, server) {
        for _ in 0..<12 { try edits.step() }
        elapsed = try Self.seconds(of: server)
        // The next hour begins, in which nothing has moved yet.
        try server.call("clock/set", ["now": .string("2000-01-01T\(11 + round):00:00Z")])
      }
      for index in observers.indices {
        let before = observers[index].replica.deltas
        for message in log {
          do { try observers[index].replica.apply(message) } catch {
            Issue.record("seed \(seed), round \(round), \(observers[index].patterns): \(error)\n\(message)")
            return
          }
        }
        #expect(Double(observers[index].replica.deltas - before) <= elapsed + 2)
        try observers[index].check(server, "seed \(seed), round \(round)")
      }
    }
  }

  @Test func `a change that is reverted before the rate limit allows a delta is not sent`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m", "title": "A"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    func graphic(_ name: String) -> Value {
      ["id": 1, "geometry": ["type": "Point", "coordinates": [1, 2]], "attributes": ["name": .string(name)]]
    }
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [graphic("a")]])
    try server.call("viewModel/create", ["id": "x", "properties": [["name": "list", "type": "list"]]])
    try server.call("state/observe", ["paths": ["/maps", "/views", "/overlays", "/viewModels"], "maxRate": 1])
    try server.call("view/observeViewpoint", ["view": "v", "maxRate": 1])
    func set(_ name: String, _ list: Value, scale: Value) throws {
      try server.call("map/update", ["map": "m", "title": .string(name)])
      try server.call("overlay/updateGraphics", ["overlay": "o", "graphics": [graphic(name)]])
      try server.call("viewModel/set", ["viewModel": "x", "values": ["list": list]])
      try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale]])
    }
    func deltas() throws -> [Value] {
      server.loop.advance(by: 2_000_000_000)
      return try server.takeMessages().filter { $0["method"]?.string?.hasSuffix("hanged") == true }
    }
    try set("B", ["i", "j"], scale: 1000)
    #expect(try deltas().count > 2)
    for id in ["n", "p"] as [Value] {
      // The first change is sent at once, and later ones wait.
      try server.call(
        "model/apply",
        [
          "commands": [
            ["method": "map/update", "params": ["map": "m", "title": "C"]],
            [
              "method": "view/setViewpoint",
              "params": ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1001]],
            ],
          ]
        ])
      #expect(try server.takeMessages().count == 2)
      try set("D", ["j", "i"], scale: 2000)
      try server.call("map/create", ["id": id])
      try server.call("map/close", ["map": id])
      try set("B", ["i", "j"], scale: 1001)
      try server.call("map/update", ["map": "m", "title": "C"])
      #expect(try deltas() == [])
      try set("B", ["i", "j"], scale: 1000)
      // A reverted change does not use up the rate limit.
      #expect(try server.takeMessages().count > 1)
      _ = try deltas()
      try server.call("edit/undo", ["steps": 2])
      _ = try deltas()
    }
  }

  @Test func `a long snapshot is sent in parts after its response, and long deltas in parts`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o1", "view": "v"])
    try server.call("overlay/create", ["id": "o2", "view": "v"])
    let count = 4_500
    let add: Value = [
      "overlay": "o1", "x": .array((0..<count).map { .integer($0 % 90) }),
      "y": .array((0..<count).map { .integer($0 % 45) }),
      "attributes": [
        "text": .array((0..<count).map { .string("graphic number \($0) " + String(repeating: "x", count: 250)) })
      ],
    ]
    try server.call("overlay/addColumns", add)
    for patterns in [[""], ["/overlays"], ["/overlays/o1/graphics"], ["/overlays/*/graphics/*"], ["/overlays/o1"]] {
      let id = server.request("state/observe", ["paths": .array(patterns.map { .string($0) })])
      var messages = try server.takeMessages()
      let answer = messages.removeFirst()
      #expect(answer["id"] == id)
      #expect(answer["result"]?["snapshot"] == nil)
      var replica = try Replica(try #require(answer["result"]))
      #expect(messages.count > 1)
      for message in messages { try replica.apply(message) }
      #expect(!replica.awaitsParts)
      try Observer(replica: replica, patterns: patterns).check(server, "\(patterns)")
      try server.call("state/unobserve", ["subscription": .string(replica.subscription)])
    }
    var replica = try Replica(try server.call("state/observe", ["paths": ["/overlays/o2"]]))
    server.request("overlay/addColumns", .object((add.object ?? [:]).merging(["overlay": "o2"]) { $1 }))
    let messages = try server.takeMessages()
    let parts = messages.filter { $0["method"] == "state/changed" }
    #expect(parts.count > 1)
    #expect(parts.dropLast().allSatisfy { $0["params"]?["isLast"] == false })
    #expect(parts.last?["params"]?["isLast"] == true)
    #expect(messages.last?["result"]?["count"] == .integer(count))
    for message in messages { try replica.apply(message) }
    try Observer(replica: replica, patterns: ["/overlays/o2"]).check(server, "a delta in parts")
  }
}

/// A replica and the patterns it observes.
struct Observer {
  var replica: Replica
  let patterns: [String]

  func check(_ server: MemoryServer, _ where: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    for pattern in patterns {
      let values = try replica.values(at: pattern)
      let expected = try server.state(pattern)
      for path in Set(values.keys).union(expected.keys).sorted() where values[path] != expected[path] {
        Issue.record(
          """
          \(`where`)
          observing \(patterns), at \(path)
          the replica has \(values[path]?.text.prefix(500) ?? "nothing")
          the model has   \(expected[path]?.text.prefix(500) ?? "nothing")
          """, sourceLocation: sourceLocation)
        return
      }
    }
  }
}
