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
}
