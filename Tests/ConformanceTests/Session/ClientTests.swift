// Two clients of one world: what belongs to a client, and what ends with it.

import Foundation
import TestSupport
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
      ("edit/cancel", [:]), ("edit/undo", [:]), ("document/new", [:]),
    ]
    for (method, params) in refused { #expect(try other.refusal(method, params)["kind"] == "editInProgress") }
    // What makes no step is no part of it.
    try other.call("map/update", ["map": "m", "minScale": 5000, "meta": ["undo": false]])
    try other.call("view/create", ["id": "v", "map": "m"])
    #expect(try other.call("map/get", ["map": "m"])["title"] == "b")
    // Nor does another document take its place, however far a task was when the edit began.
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "empty.json")
    try #"{"format": "geomodel-document", "version": 1}"#.write(to: file, atomically: true, encoding: .utf8)
    #expect(try other.refusal("document/open", ["path": .string(file.path)])["kind"] == "editInProgress")
    #expect(try other.call("map/get", ["map": "m"])["title"] == "b")
    try one.call("edit/end")
    #expect(try other.call("edit/history")["undo"] == ["Rename", "map/create"])
    #expect(try other.refusal("edit/end")["kind"] == "noEdit")
    try other.call("map/update", ["map": "m", "title": "c"])
    try other.call("edit/begin")
    try other.call("edit/cancel")
  }

  @Test func `an edit is taken back with its client`() throws {
    let other = try MemoryServer(isShared: true)
    let one = try Self.drawing(beside: other)
    #expect(try other.refusal("map/create")["client"] == "c2")
    one.connection.session.close()
    try Self.checkGone(other, "The edit of client c2 is taken back: it has left.")
    #expect(try other.call("client/list")["clients"]?.array?.count == 1)
  }

  @Test func `an edit is taken back a minute after its client's last message`() throws {
    let other = try MemoryServer(isShared: true)
    let one = try Self.drawing(beside: other)
    other.loop.advance(by: 59_000_000_000)
    try one.call("session/echo")
    other.loop.advance(by: 59_000_000_000)
    #expect(try other.call("edit/history")["isEditing"] == true)
    other.loop.advance(by: 2_000_000_000)
    try Self.checkGone(other, "The edit of client c2 is taken back: it has said nothing for 60 s.")
    #expect(try one.refusal("edit/end")["kind"] == "noEdit")
  }

  /// A client amid an edit.
  private static func drawing(beside other: MemoryServer) throws -> MemoryServer {
    let one = try MemoryServer(beside: other)
    try one.call("edit/begin", ["name": "Draw"])
    try one.call("map/create", ["id": "m"])
    #expect(try other.call("edit/history")["isEditing"] == true)
    return one
  }

  private static func checkGone(_ other: MemoryServer, _ message: String) throws {
    #expect(try other.takeNotifications("$/logMessage").last?["message"]?.string == message)
    let history = try other.call("edit/history")
    #expect(history["isEditing"] == false && history["undo"] == [])
    #expect(try other.refusal("map/get", ["map": "m"])["kind"] == "unknownId")
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
