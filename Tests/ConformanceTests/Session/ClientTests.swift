// Two clients of one world: what belongs to a client, and what ends with it.

import Testing

@Suite struct ClientTests {
  @Test func `an edit belongs to the client that began it`() throws {
    let one = try MemoryServer()
    let other = try MemoryServer(beside: one)
    try one.call("map/create", ["id": "m", "title": "a"])
    try one.call("edit/begin", ["name": "Rename"])
    try one.call("map/update", ["map": "m", "title": "b"])
    let refused: [(String, Value)] = [
      ("map/update", ["map": "m", "title": "c"]), ("map/create", [:]), ("edit/begin", [:]), ("edit/end", [:]),
      ("edit/cancel", [:]), ("edit/undo", [:]),
    ]
    for (method, params) in refused { #expect(try other.refusal(method, params)["kind"] == "editInProgress") }
    // What makes no step is no part of it.
    try other.call("map/update", ["map": "m", "minScale": 5000, "meta": ["undo": false]])
    try other.call("view/create", ["id": "v", "map": "m"])
    #expect(try other.call("map/get", ["map": "m"])["title"] == "b")
    try one.call("edit/end")
    #expect(try other.call("edit/history")["undo"] == ["Rename", "map/create"])
    #expect(try other.refusal("edit/end")["kind"] == "noEdit")
    try other.call("map/update", ["map": "m", "title": "c"])
    try other.call("edit/begin")
    try other.call("edit/cancel")
  }

  @Test func `an edit ends with its client, as a step`() throws {
    let other = try MemoryServer()
    try Self.draw(beside: other)
    #expect(try other.call("edit/history")["undo"] == ["Draw"])
    try other.call("edit/undo")
    #expect(try other.refusal("map/get", ["map": "m"])["kind"] == "unknownId")
  }

  /// A client that is gone before its edit has ended.
  private static func draw(beside other: MemoryServer) throws {
    let one = try MemoryServer(beside: other)
    try one.call("edit/begin", ["name": "Draw"])
    try one.call("map/create", ["id": "m"])
    #expect(try other.call("edit/history")["isEditing"] == true)
  }

  @Test func `an edit is gone with the document that it is of`() throws {
    let one = try MemoryServer()
    let other = try MemoryServer(beside: one)
    try one.call("edit/begin")
    try one.call("document/new")
    #expect(try one.refusal("edit/end")["kind"] == "noEdit")
    try other.call("map/create", ["id": "m"])
  }
}
