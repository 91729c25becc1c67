// Promise 7: a client that does not read costs memory in proportion to the state, and receives all of it when it reads again.

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

  private func observe(_ patterns: [String]) throws -> Observer {
    let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
    return Observer(replica: try Replica(answer), patterns: patterns)
  }

  /// Causes deltas of more bytes than the server buffers.
  private func flood() {
    let text = String(repeating: "x", count: 1 << 20)
    for round in 0..<20 {
      server.request(
        "overlay/addGraphics",
        ["overlay": "o", "graphics": [["id": .integer(round % 2), "attributes": ["text": .string(text)]]]])
      server.request("overlay/removeGraphics", ["overlay": "o", "ids": [.integer(round % 2)]])
    }
  }

  @Test func `a client that does not read for long receives one new snapshot, and every response`() throws {
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000]])
    var observers = [
      try observe([""]), try observe(["/overlays"]), try observe(["/views/*/viewpoint/targetScale"]),
      try observe(["/overlays/o/graphicCount"]),
    ]
    server.connection.reads = false
    let first = server.request(
      "view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 2000]])
    flood()
    for scale in 1...50 {
      server.request(
        "view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": .integer(scale * 100)]])
    }
    // Deltas have been discarded.
    #expect(server.connection.session.unread < 24 << 20)
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(messages.contains { $0["id"] == first })
    #expect(messages.filter { $0["result"] != nil }.count == 91)
    for index in observers.indices {
      for message in messages { try observers[index].replica.apply(message) }
      #expect(observers[index].replica.resyncs == 1, "\(observers[index].patterns)")
      try observers[index].check(server, "after the flood")
    }
    #expect(try server.call("session/status")["traffic"]?["resyncs"] == 4)

    // Deltas continue, also with a value that was the last one sent before the flood.
    for scale in [1000, 2000] as [Value] {
      try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale]])
      let messages = try server.takeMessages()
      for index in observers.indices {
        for message in messages { try observers[index].replica.apply(message) }
        try observers[index].check(server, "after the resync")
      }
    }
  }

  @Test func `ticks are coalesced while the client does not read, and a response follows the delta of its revision`()
    throws
  {
    var observer = try observe(["/views/v/viewpoint", "/views/v/isNavigating"])
    let viewpoints = try server.call("view/observeViewpoint", ["view": "v"])["subscription"]
    let flight = server.request(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 10])
    server.connection.reads = false
    server.request("session/echo", ["value": .string(String(repeating: "x", count: 1 << 20))])
    let before = server.connection.session.unread
    for _ in 0..<150 { tick() }
    // Five seconds of ticks add no output.
    #expect(server.connection.session.unread == before)
    let get = server.request("view/get", ["view": "v"])
    for _ in 0..<30 { tick() }
    server.connection.reads = true
    let messages = try server.takeMessages()
    var stated = 0
    for message in messages {
      try observer.replica.apply(message)
      if message["id"] == get { stated = try #require(message["result"]?["revision"]?.integer) }
      if message["id"] == get {
        #expect(observer.replica.revision >= stated, "the response precedes the delta of its revision")
      }
    }
    #expect(stated > 100)
    try observer.check(server, "after reading again")
    #expect(messages.filter { $0["method"] == "state/changed" }.count <= 4)
    let viewpointChanges = messages.filter {
      $0["method"] == "view/viewpointChanged" && $0["params"]?["subscription"] == viewpoints
    }
    #expect((1...4).contains(viewpointChanges.count))
    #expect(try server.call("session/status")["traffic"]?["coalesced"]?.integer ?? 0 > 100)
    #expect(try server.call("session/status")["traffic"]?["resyncs"] == 0)
    for _ in 0..<200 { tick() }
    #expect(try server.response(to: flight)?["result"]?["arrived"] == true)
  }

  /// Advances real time by one thirtieth of a second.
  private func tick() {
    server.time.advance(by: 33_400_000)
    server.loop.advance(by: 33_400_000)
  }
}
