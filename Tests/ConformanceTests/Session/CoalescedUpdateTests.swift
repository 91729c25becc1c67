// Consecutive updates of graphics in a transaction run as one edit, with the same results, deltas and undo as separate ones.

import Testing

struct CoalescedUpdateTests {
  private let server: MemoryServer

  init() throws { server = try Self.prepared() }

  private static func prepared() throws -> MemoryServer {
    let server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    try server.call("map/create", ["id": "m", "title": "t"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let graphics = (0..<20).map { index -> Value in
      [
        "id": .integer(index), "geometry": ["type": "Point", "coordinates": [.integer(index), 0]],
        "attributes": ["n": .integer(index % 3)],
      ]
    }
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": .array(graphics)])
    return server
  }

  private static func update(_ graphics: [Value], meta: Value? = nil) -> Value {
    var params: [String: Value] = ["overlay": "o", "graphics": .array(graphics)]
    params["meta"] = meta
    return ["method": "overlay/updateGraphics", "params": .object(params)]
  }

  /// A command without effect that separates consecutive updates.
  private static let nothing: Value = ["method": "map/update", "params": ["map": "m", "title": "t"]]

  private static func graphic(_ random: inout SeededGenerator, isSafe: Bool) -> Value {
    let count = isSafe ? 20 : 23
    var graphic: [String: Value] = ["id": .integer(Int.random(in: 0..<count, using: &random))]
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      graphic["geometry"] = ["type": "Point", "coordinates": [.integer(Int.random(in: 0..<20, using: &random)), 0]]
    case 1: graphic["isSelected"] = true
    case 2: graphic["zIndex"] = .integer(Int.random(in: 0..<2, using: &random))
    case 3: graphic["clear"] = ["attributes.n"]
    case 4: graphic["attributes"] = ["new": "text"]
    default: graphic["attributes"] = ["n": .integer(Int.random(in: 0..<3, using: &random))]
    }
    return .object(graphic)
  }

  @Test(arguments: UInt64(0)..<60)
  func `coalesced updates have the results, deltas and undo of separate ones`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let isSafe = seed % 3 != 0
    let commands = (0..<Int.random(in: 2..<12, using: &random)).map { _ in
      Self.update(
        (0..<Int.random(in: 0..<3, using: &random)).map { _ in Self.graphic(&random, isSafe: isSafe) },
        meta: isSafe || Bool.random(using: &random) ? nil : ["ifRevision": 4])
    }
    let apart = try Self.prepared()
    let observed = try [server, apart].map { try Replica(try $0.call("state/observe", ["paths": ["/overlays/o"]])) }
    var replicas = observed
    let coalesced = server.request("model/apply", ["commands": .array(commands)])
    let single = apart.request("model/apply", ["commands": .array(commands.flatMap { [$0, Self.nothing] })])
    let messages = try [server.takeMessages(), apart.takeMessages()]
    let answers = zip(messages, [coalesced, single]).map { messages, id in messages.first { $0["id"] == id } }
    #expect(answers[0]?["result"]?["revision"] == answers[1]?["result"]?["revision"])
    #expect(answers[0]?["error"]?["data"]?["error"] == answers[1]?["error"]?["data"]?["error"])
    if let results = answers[0]?["result"]?["results"]?.array, let others = answers[1]?["result"]?["results"]?.array {
      #expect(results == others.indices.filter { $0 % 2 == 0 }.map { others[$0] })
    } else {
      #expect(answers[0]?["error"] != nil && answers[1]?["error"] != nil)
    }
    for index in 0..<2 { for message in messages[index] { try replicas[index].apply(message) } }
    #expect(try server.worldText() == apart.worldText())
    #expect(try replicas[0].values(at: "/overlays/o") == server.state("/overlays/o"))
    #expect(try server.call("edit/history")["undo"] == apart.call("edit/history")["undo"])
    if try server.call("edit/history")["canUndo"] == true {
      try server.call("edit/undo")
      try apart.call("edit/undo")
      #expect(try server.worldText() == apart.worldText())
    }
  }

  @Test func `the error names the update that fails, and the others are rolled back`() throws {
    let before = try server.worldText()
    let id = server.request(
      "model/apply",
      ["commands": .array((0..<5).map { Self.update([["id": .integer($0 == 3 ? 99 : $0), "zIndex": 1]]) })])
    let error = try server.response(to: id)?["error"]?["data"]
    #expect(error?["kind"] == "transactionFailed")
    #expect(error?["index"] == 3)
    #expect(error?["path"] == "/params/commands/3")
    #expect(try server.worldText() == before)
  }

  @Test func `a link from an overlay runs after the updates`() throws {
    try server.call(
      "viewModel/create",
      ["id": "w", "properties": [["name": "selected", "type": "integer"]]])
    try server.call(
      "binding/link",
      ["first": "/overlays/o/selectedCount", "second": "/viewModels/w/selected", "direction": "firstToSecond"])
    try server.call(
      "model/apply", ["commands": .array((0..<3).map { Self.update([["id": .integer($0), "isSelected": true]]) })])
    #expect(try server.state("/viewModels/w/selected").values.first == 3)
  }
}
