// Promise 4 for long deltas: responses with a revision wait for the last part, in order; others are sent at once.

import JSONRPC
import Testing

struct HeldResponseTests {
  private let server: MemoryServer
  private let count = 2_500

  init() throws {
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    try server.call("overlay/addColumns", columns("addColumns"))
  }

  private func columns(_ method: String) -> Value {
    let numbers = Value.array((0..<count).map { .integer($0 % 45) })
    if method == "addColumns" {
      let text = Value.array((0..<count).map { .string("\($0) " + String(repeating: "x", count: 1000)) })
      return ["overlay": "o", "x": numbers, "y": numbers, "attributes": ["text": text]]
    }
    return [
      "overlay": "o", "ids": .array((0..<count).map { .integer($0) }),
      "x": .array((0..<count).map { .integer(1 + $0 % 7) }), "y": numbers,
    ]
  }

  private func observe(_ path: String) throws -> Replica {
    let id = server.request("state/observe", ["paths": [.string(path)]])
    var messages = try server.takeMessages()
    let index = try #require(messages.firstIndex { $0["id"] == id })
    var replica = try Replica(try #require(messages.remove(at: index)["result"]))
    for message in messages { try replica.apply(message) }
    return replica
  }

  @Test func `responses follow the last part, in order; echoes and cancelled requests do not wait`() throws {
    var replica = try observe("/overlays/o")
    let flight = server.request(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 10])
    _ = try server.takeMessages()
    server.connection.reads = false
    let update = server.request("overlay/updateColumns", columns("updateColumns"))
    let query = server.request("feature/queryCount", ["overlay": "o"])
    let refused = server.request("map/get", ["map": "nobody"])
    let second = server.request("overlay/update", ["overlay": "o", "name": "later"])
    let echo = server.request("session/echo", ["value": 1])
    server.cancel(flight)
    let unknown = server.request("no/method")
    #expect(server.connection.session.unread < 8 << 20)
    server.connection.reads = true
    let messages = try server.takeMessages()
    let answers = messages.compactMap { $0["method"] == nil ? $0["id"] : nil }
    #expect(answers == [echo, flight, unknown, update, query, refused, second])
    let parts = messages.indices.filter { messages[$0]["method"] == "state/changed" }
    let lastPart = try #require(parts.first { messages[$0]["params"]?["isLast"] == true })
    #expect(parts.count > 2)
    for message in messages {
      try replica.apply(message)
      if let revision = message["result"]?["revision"]?.integer { #expect(replica.revision >= revision) }
    }
    #expect(try #require(messages.firstIndex { $0["id"] == echo }) < lastPart)
    #expect(try #require(messages.firstIndex { $0["id"] == flight }) < lastPart)
    #expect(try #require(messages.firstIndex { $0["id"] == update }) > lastPart)
    try Observer(replica: replica, patterns: ["/overlays/o"]).check(server, "at the end")
  }

  @Test func `a subscription made meanwhile, also in a batch, sends nothing before its response`() throws {
    var replica = try observe("/overlays/o/graphics")
    server.connection.reads = false
    let update = server.request("overlay/updateColumns", columns("updateColumns"))
    let made = server.request("state/observe", ["paths": ["/overlays/o/name"]])
    server.send([
      ["jsonrpc": "2.0", "id": "b1", "method": "state/observe", "params": ["paths": ["/maps"]]],
      ["jsonrpc": "2.0", "id": "b2", "method": "map/update", "params": ["map": "m", "title": "T"]],
    ])
    let renamed = server.request("overlay/update", ["overlay": "o", "name": "later"])
    server.connection.reads = true
    let messages = try server.takeMessages()
    for message in messages { try replica.apply(message) }
    func index(_ matches: (Value) -> Bool) throws -> Int {
      for (index, message) in messages.enumerated() where matches(message) { return index }
      throw Replica.Fault("it did not come")
    }
    let lastPart = try index { $0["params"]?["isLast"] == true }
    let known = try index { $0["id"] == made }
    let batch = try index { $0.array != nil }
    let name = try index { $0["params"]?["changes"]?.array?.first?["path"] == "/overlays/o/name" }
    let title = try index { $0["params"]?["changes"]?.array?.first?["path"] == "/maps/m/title" }
    let last = try index { $0["id"] == renamed }
    #expect([lastPart, try index { $0["id"] == update }, known, batch, last].isAscending)
    #expect([known, name, last].isAscending)
    #expect([batch, title].isAscending)
  }

  @Test func `held responses are sent when their subscription or the session ends`() throws {
    _ = try observe("/overlays/o/graphics")
    server.connection.reads = false
    let update = server.request("overlay/updateColumns", columns("updateColumns"))
    let ended = server.request("state/unobserve", ["subscription": "sub1"])
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["method"] == nil ? $0["id"] : nil } == [update, ended])

    _ = try observe("/overlays/o/graphics")
    server.connection.reads = false
    let again = server.request("overlay/updateColumns", ["overlay": "o", "ids": [.integer(1)], "x": [50], "y": [50]])
    let whole = server.request("overlay/select", ["overlay": "o", "ids": .array((0..<count).map { .integer($0) })])
    server.notify("exit", [:])
    server.connection.reads = true
    let last = try server.takeMessages()
    #expect(last.compactMap { $0["method"] == nil ? $0["id"] : nil } == [again, whole])
  }

  @Test func `the end of input waits for the delivery and the responses`() throws {
    var replica = try observe("/overlays/o/graphics")
    server.connection.reads = false
    let update = server.request("overlay/updateColumns", columns("updateColumns"))
    server.connection.close()
    #expect(server.connection.session.ending == nil)
    server.connection.reads = true
    let messages = try server.takeMessages()
    for message in messages { try replica.apply(message) }
    #expect(messages.last?["id"] == update)
    #expect(server.connection.session.ending == .afterWriting(code: 0, grace: nil))
  }
}

extension [Int] {
  fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
