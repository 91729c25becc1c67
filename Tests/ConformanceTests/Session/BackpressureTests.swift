// Promise 7: a client that does not read costs memory in proportion to the state, and is told all of it when it reads again.

import JSONRPC
import Testing

struct BackpressureTests {
  private let server: MemoryServer

  init() throws {
    var limits = SessionLimits()
    limits.congestionBytes = 64 << 10
    server = try MemoryServer(limits: limits)
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
  }

  private func observe(_ patterns: [String]) throws -> Follower {
    let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
    return Follower(replica: try Replica(answer), patterns: patterns)
  }

  /// Deltas of more bytes than the server is willing to keep.
  private func flood() {
    let text = String(repeating: "x", count: 1 << 20)
    for round in 0..<20 {
      server.ask(
        "overlay/addGraphics",
        ["overlay": "o", "graphics": [["id": .integer(round % 2), "attributes": ["text": .string(text)]]]])
      server.ask("overlay/removeGraphics", ["overlay": "o", "ids": [.integer(round % 2)]])
    }
  }

  @Test func `a client that does not read for long gets one fresh snapshot, and every answer`() throws {
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000]])
    var followers = [
      try observe([""]), try observe(["/overlays"]), try observe(["/views/*/viewpoint/targetScale"]),
      try observe(["/overlays/o/graphicCount"]),
    ]
    server.connection.reads = false
    let first = server.ask("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 2000]])
    flood()
    for scale in 1...50 {
      server.ask(
        "view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": .integer(scale * 100)]])
    }
    // More was given up than is held.
    #expect(server.connection.session.unread < 24 << 20)
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(messages.contains { $0["id"] == first })
    #expect(messages.filter { $0["result"] != nil }.count == 91)
    for index in followers.indices {
      for message in messages { try followers[index].replica.apply(message) }
      #expect(followers[index].replica.resyncs == 1, "\(followers[index].patterns)")
      try followers[index].check(server, "after the flood")
    }
    #expect(try server.call("session/status")["traffic"]?["resyncs"] == 4)

    // From then on deltas as ever, also back to what was last told before the flood.
    for scale in [1000, 2000] as [Value] {
      try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale]])
      let messages = try server.takeMessages()
      for index in followers.indices {
        for message in messages { try followers[index].replica.apply(message) }
        try followers[index].check(server, "after the resync")
      }
    }
  }

  @Test func `ticks fold while the client does not read, and an answer is preceded by what they changed`() throws {
    var follower = try observe(["/views/v/viewpoint", "/views/v/isNavigating"])
    let viewpoints = try server.call("view/observeViewpoint", ["view": "v"])["subscription"]
    let flight = server.ask(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 10])
    server.connection.reads = false
    server.ask("session/echo", ["value": .string(String(repeating: "x", count: 1 << 20))])
    let before = server.connection.session.unread
    for _ in 0..<150 { tick() }
    // Five seconds of ticks have added nothing.
    #expect(server.connection.session.unread == before)
    let asked = server.ask("view/get", ["view": "v"])
    for _ in 0..<30 { tick() }
    server.connection.reads = true
    let messages = try server.takeMessages()
    var stated = 0
    for message in messages {
      try follower.replica.apply(message)
      if message["id"] == asked { stated = try #require(message["result"]?["revision"]?.integer) }
      if message["id"] == asked { #expect(follower.replica.revision >= stated, "the answer states more than was told") }
    }
    #expect(stated > 100)
    try follower.check(server, "after reading again")
    #expect(messages.filter { $0["method"] == "state/changed" }.count <= 4)
    let told = messages.filter {
      $0["method"] == "view/viewpointChanged" && $0["params"]?["subscription"] == viewpoints
    }
    #expect((1...4).contains(told.count))
    #expect(try server.call("session/status")["traffic"]?["coalesced"]?.integer ?? 0 > 100)
    #expect(try server.call("session/status")["traffic"]?["resyncs"] == 0)
    for _ in 0..<200 { tick() }
    #expect(try server.answer(to: flight)?["result"]?["arrived"] == true)
  }

  /// One thirtieth of a second of real time.
  private func tick() {
    server.time.advance(by: 33_400_000)
    server.loop.advance(by: 33_400_000)
  }
}
