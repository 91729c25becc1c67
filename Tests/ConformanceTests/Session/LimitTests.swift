// Bounds of what a client can have at once: unanswered requests, tasks and subscriptions.

import JSONRPC
import TestSupport
import Testing

struct LimitTests {
  private func server(_ change: (inout SessionLimits) -> Void) throws -> MemoryServer {
    var limits = SessionLimits()
    change(&limits)
    let server = try MemoryServer(.stepped, limits: limits)
    let dem = repository.appending(path: "Tests/Fixtures/jacksboro_dem.tif").path
    server.request("scene/create", ["id": "s", "elevationSources": [.string(dem)]])
    server.loop.runOffloaded()
    try server.call("map/create", ["id": "m"])
    _ = try server.takeMessages()
    return server
  }

  private func elevation(_ server: MemoryServer, key: String? = nil) -> Value {
    // More points than are answered at once, whatever is kept.
    let points = Array(repeating: ["type": "Point", "coordinates": [-84.25, 36.6]] as Value, count: 17)
    var params: [String: Value] = ["scene": "s", "points": .array(points)]
    if let key { params["meta"] = ["task": ["key": .string(key)]] }
    return server.request("scene/elevation", .object(params))
  }

  private func refusal(of id: Value, by server: MemoryServer) throws -> Value? {
    try server.response(to: id)?["error"]?["data"]
  }

  @Test func `further subscriptions are refused until one ends`() throws {
    let server = try server { $0.subscriptions = 2 }
    let first = try server.call("state/observe", ["paths": ["/clock"]])["subscription"] ?? .null
    try server.call("state/observe", ["paths": ["/maps"]])
    let refused = try server.refusal("state/observe", ["paths": ["/views"]])
    #expect(refused == ["kind": "limitReached", "what": "subscriptions", "limit": 2])
    try server.call("state/unobserve", ["subscription": first])
    try server.call("state/observe", ["paths": ["/views"]])
  }

  @Test func `further tasks are refused until one ends, and nothing has happened`() throws {
    let server = try server { $0.tasks = 2 }
    let first = elevation(server)
    let second = elevation(server)
    #expect(try refusal(of: elevation(server), by: server) == ["kind": "limitReached", "what": "tasks", "limit": 2])
    server.cancel(first)
    #expect(try server.errorKind(of: first) == "cancelled")
    let third = elevation(server)
    server.loop.runOffloaded()
    #expect(try server.response(to: second)?["result"] != nil)
    #expect(try server.response(to: third)?["result"] != nil)
  }

  @Test func `what would wait is refused while too many requests are unanswered, and what is answered at once is not`()
    throws
  {
    let server = try server { $0.requests = 2 }
    let waiting = [elevation(server, key: "k"), elevation(server, key: "k")]
    let refused: Value = ["kind": "limitReached", "what": "requests", "limit": 2]
    #expect(try refusal(of: elevation(server, key: "k"), by: server) == refused)
    #expect(try refusal(of: elevation(server), by: server) == refused)
    let view = server.request("view/create", ["id": "v", "map": "m"])
    #expect(try server.response(to: view)?["result"] != nil)
    #expect(
      try server.refusal("view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 5]])
        == refused)
    server.loop.runOffloaded()
    for id in waiting { #expect(try server.response(to: id)?["result"] != nil) }
  }

  @Test func `owners are nested 64 deep at most`() throws {
    let server = try MemoryServer()
    let properties: Value = [["name": "p", "type": "integer"]]
    try server.call("viewModel/create", ["id": "o0", "properties": properties])
    for depth in 1..<64 {
      let owner = Value.string("o\(depth - 1)")
      try server.call("viewModel/create", ["id": .string("o\(depth)"), "properties": properties, "owner": owner])
    }
    let refused = try server.refusal("binding/create", ["path": "/viewModels/o1/p", "owner": "o63"])
    #expect(refused["kind"] == "invalidParams")
    #expect(refused["path"] == "/params/owner")
  }

  /// Processor time, so that other processes do not count.
  @Test(.enabled(if: isBenchmark)) func `20,000 pending tasks start and end in a fifth of a second`() throws {
    let server = try server { _ in }
    let params = #"{"scene":"s","points":[{"type":"Point","coordinates":[-84.25,36.6]}]}"#
    var fastest = Double.infinity
    for run in 0..<3 {
      let ids = (0..<20_000).map { "\"\(run)-\($0)\"" }
      let starts = ids.map {
        #"{"jsonrpc":"2.0","id":\#($0),"method":"scene/elevation","params":\#(params)}"# + "\n"
      }
      let ends = ids.map { #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#($0)}}"# + "\n" }
      let text = starts.joined() + ends.joined()
      fastest = min(fastest, processorTime { server.connection.send(text) })
      #expect(server.connection.takeOutput().count > 20_000 * 100)
      server.loop.runOffloaded()
    }
    #expect(fastest < 0.2)
  }
}
