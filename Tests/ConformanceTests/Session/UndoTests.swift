// Undo and redo over the whole server: any commands are undone and redone completely.

import Testing

struct UndoTests {
  /// The part of the state tree that undo restores.
  private static func undone(_ server: MemoryServer) throws -> Value {
    var result: [String: Value] = [:]
    for name in ["maps", "scenes", "layers", "overlays"] {
      result[name] = try server.state("/" + name)["/" + name]?.mapped { object in
        var object = object
        for name in ["loadStatus", "featureCount", "extent", "selectedCount"] { object[name] = nil }
        return object
      }
    }
    return .object(result)
  }

  private static func steps(_ server: MemoryServer) throws -> Int {
    try server.call("edit/history")["undo"]?.array?.count ?? 0
  }

  @Test func `removals among many objects are undone`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m"])
    for number in 0..<130 { try server.call("layer/addGroup", ["map": "m", "id": .string("g\(number)")]) }
    let before = try Self.undone(server)
    for number in [61, 62, 63, 64, 128, 129] {
      try server.call("layer/remove", ["layer": .string("g\(number)")])
    }
    for _ in 0..<6 { try server.call("edit/undo") }
    #expect(try Self.undone(server) == before)
    let refused = try server.refusal(
      "model/apply",
      [
        "commands": [
          ["method": "layer/remove", "params": ["layer": "g62"]],
          ["method": "layer/remove", "params": ["layer": "no"]],
        ]
      ])
    #expect(refused["kind"] == "transactionFailed")
    #expect(try Self.undone(server) == before)
  }

  @Test(arguments: UInt64(0)..<30)
  func `undoing all commands restores the model, and redoing them their result`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = RandomEdits(server, seed: seed)
    try server.call("clock/set", ["mode": "manual"])
    for _ in 0..<40 { try edits.step() }
    if edits.maps.isEmpty {
      try server.call("map/create", ["id": "late"])
      try edits.resync()
    }
    // A change clears the redo list.
    try server.call("map/create", ["id": "last"])
    let first = try Self.steps(server)
    let before = try Self.undone(server)
    for _ in 0..<40 { try edits.partStep(onlyUndoable: true) }
    let count = try Self.steps(server) - first
    guard count > 0 else { return }
    let after = try Self.undone(server)
    try server.call("edit/undo", ["steps": .integer(count)])
    #expect(try Self.undone(server) == before)
    try server.call("edit/redo", ["steps": .integer(count)])
    #expect(try Self.undone(server) == after)
    for _ in 0..<count { try server.call("edit/undo") }
    #expect(try Self.undone(server) == before)
  }

  /// A random command on few objects with values of the environment.
  private static func command(_ random: inout SeededGenerator) -> (method: String, params: Value) {
    func pick(_ names: [String]) -> Value { .string(names.randomElement(using: &random) ?? "") }
    let (map, group, ifExists) = (pick(["m1", "m2"]), pick(["g1", "g2"]), pick(["replace", "reuse"]))
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return ("map/create", ["id": map, "ifExists": ifExists])
    case 2: return ("map/close", ["map": map])
    case 3, 4: return ("layer/addGroup", ["map": map, "id": group, "ifExists": ifExists])
    case 5: return ("layer/remove", ["layer": group])
    case 6: return ("environment/clear", ["node": map, "keys": [pick(["a", "b"])]])
    default:
      let value: Value = .integer(Int.random(in: 1...3, using: &random))
      return ("environment/set", ["node": pick(["m1", "m2", "g1", "g2"]), "key": pick(["a", "b"]), "value": value])
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func `values of the environment come back with their objects`(seed: UInt64) throws {
    let server = try MemoryServer()
    var random = SeededGenerator(seed: seed)
    for key in ["a", "b"] {
      try server.call("environment/register", ["key": .string(key), "type": "integer", "defaultValue": 0])
    }
    func state() throws -> [String: Value] {
      try server.state("/environments/*/values").filter { $0.value != [:] }
        .merging(server.state("/maps/*/operationalLayers")) { $1 }
    }
    var states = [try state()]
    for _ in 0..<40 {
      let commands = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.command(&random) }
      let isEdit = Bool.random(using: &random)
      if isEdit { try server.call("edit/begin") }
      // One that is refused takes the others of its transaction with it.
      let list = commands.map { ["method": .string($0.method), "params": $0.params] as Value }
      let parts = isEdit ? list.map { [$0] } : [list]
      for part in parts {
        #expect(try server.response(to: server.request("model/apply", ["commands": .array(part)])) != nil)
      }
      if isEdit { try server.call("edit/end") }
      if try Self.steps(server) == states.count { states.append(try state()) }
      #expect(try state() == states.last)
    }
    #expect(states.count > 10)
    for expected in states.dropLast().reversed() {
      try server.call("edit/undo")
      #expect(try state() == expected)
    }
    for expected in states.dropFirst() {
      try server.call("edit/redo")
      #expect(try state() == expected)
    }
  }
}
