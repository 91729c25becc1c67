// Loading a map: one attempt a layer, whoever asked for it, and nothing goes on that nobody wants.

import Testing

struct MapLoadTests {
  /// Work waits until ``ManualLoop/runOffloaded()``.
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer(.stepped)
    let data: Value = [
      "type": "FeatureCollection",
      "features": [["type": "Feature", "properties": [:], "geometry": ["type": "Point", "coordinates": [1, 2]]]],
    ]
    server.ask("source/openInline", ["id": "s", "data": data])
    run()
    try server.call("map/create", ["id": "m"])
    for layer in ["a", "b"] { try server.call("layer/add", ["map": "m", "source": "s", "id": .string(layer)]) }
    _ = try server.takeMessages()
  }

  /// All work, and what begins when it is done.
  private func run() {
    while server.loop.offloadedCount > 0 { server.loop.runOffloaded() }
  }

  private func status(_ layer: String) throws -> Value? {
    try server.call("layer/get", ["layer": .string(layer)])["loadStatus"]?["type"]
  }

  @Test func `a map's load and a layer's share one attempt, and each has its answer`() throws {
    let single = server.ask("layer/load", ["layer": "a"])
    let whole = server.ask("layer/load", ["map": "m"])
    let late = server.ask("layer/load", ["layer": "b"])
    let again = server.ask("layer/load", ["map": "m"])
    #expect(try status("a") == "loading" && status("b") == "loading")
    #expect(server.loop.offloadedCount == 2)
    run()
    #expect(try server.answer(to: single)?["result"]?["featureCount"] == 1)
    #expect(try server.answer(to: late)?["result"]?["featureCount"] == 1)
    for id in [whole, again] { #expect(try server.answer(to: id)?["result"]?["count"] == 2) }
    #expect(try status("a") == "loaded" && status("b") == "loaded")
    #expect(try server.call("task/list")["tasks"] == [])
  }

  @Test func `a cancelled load of a map stops what nobody else waits for, and leaves the rest`() throws {
    let single = server.ask("layer/load", ["layer": "a"])
    let whole = server.ask("layer/load", ["map": "m"])
    server.cancel(whole)
    #expect(try server.failure(of: whole) == "cancelled")
    #expect(try status("a") == "loading")
    #expect(try status("b") == "notLoaded")
    run()
    #expect(try server.answer(to: single)?["result"] != nil)
    #expect(try status("a") == "loaded" && status("b") == "notLoaded")
    let second = server.ask("layer/load", ["map": "m"])
    run()
    #expect(try server.answer(to: second)?["result"]?["count"] == 2)
  }

  @Test func `cancelling a layer's request does not end it while its map is being loaded`() throws {
    let whole = server.ask("layer/load", ["map": "m"])
    let single = server.ask("layer/load", ["layer": "a"])
    server.cancel(single)
    #expect(try server.failure(of: single) == "cancelled")
    #expect(try status("a") == "loading")
    run()
    #expect(try server.answer(to: whole)?["result"]?["count"] == 2)
  }

  @Test func `cancelLoad of a layer or of the map ends the map's load too`() throws {
    for params in [["layer": "a"], ["map": "m"]] as [Value] {
      let whole = server.ask("layer/load", ["map": "m"])
      try server.call("layer/cancelLoad", params)
      run()
      #expect(try server.failure(of: whole) == "cancelled")
      #expect(try status("a") == "notLoaded")
      try server.call("layer/cancelLoad", ["map": "m"])
    }
  }

  @Test func `closing the map while it loads answers its load`() throws {
    let whole = server.ask("layer/load", ["map": "m"])
    try server.call("map/close", ["map": "m"])
    run()
    // Nothing is left that could fail.
    #expect(try server.answer(to: whole) != nil)
    #expect(try server.call("task/list")["tasks"] == [])
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `progress counts the layers that are done`() throws {
    let whole = server.ask("layer/load", ["map": "m", "meta": ["progressToken": "p"]])
    run()
    let values = try server.takeNotifications("$/progress").compactMap { $0["value"] }
    #expect(values.first?["kind"] == "begin")
    #expect(values.last?["kind"] == "end")
    #expect(try server.answer(to: whole)?["result"]?["count"] == 2)
  }
}
