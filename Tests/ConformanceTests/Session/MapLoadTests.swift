// Loading a map: all requests share one attempt for each layer, and an attempt ends when no request waits for it.

import TestSupport
import Testing

struct MapLoadTests {
  /// Workers run in ``ManualLoop/runOffloaded()`` only.
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer(.stepped)
    let data: Value = [
      "type": "FeatureCollection",
      "features": [["type": "Feature", "properties": [:], "geometry": ["type": "Point", "coordinates": [1, 2]]]],
    ]
    server.request("source/openInline", ["id": "s", "data": data])
    run()
    try server.call("map/create", ["id": "m"])
    for layer in ["a", "b"] { try server.call("layer/add", ["map": "m", "source": "s", "id": .string(layer)]) }
    _ = try server.takeMessages()
  }

  /// Runs all work, and the work that its completion starts.
  private func run() {
    while server.loop.offloadedCount > 0 { server.loop.runOffloaded() }
  }

  private func status(_ layer: String) throws -> Value? {
    try server.call("layer/get", ["layer": .string(layer)])["loadStatus"]?["type"]
  }

  @Test func `a map's load and a layer's share one attempt, and each has its response`() throws {
    let single = server.request("layer/load", ["layer": "a"])
    let whole = server.request("layer/load", ["map": "m"])
    let late = server.request("layer/load", ["layer": "b"])
    let again = server.request("layer/load", ["map": "m"])
    #expect(try status("a") == "loading" && status("b") == "loading")
    #expect(server.loop.offloadedCount == 2)
    run()
    #expect(try server.response(to: single)?["result"]?["featureCount"] == 1)
    #expect(try server.response(to: late)?["result"]?["featureCount"] == 1)
    for id in [whole, again] { #expect(try server.response(to: id)?["result"]?["count"] == 2) }
    #expect(try status("a") == "loaded" && status("b") == "loaded")
    #expect(try server.call("task/list")["tasks"] == [])
  }

  @Test func `cancelling a map's load stops the attempts that no other request waits for`() throws {
    let single = server.request("layer/load", ["layer": "a"])
    let whole = server.request("layer/load", ["map": "m"])
    server.cancel(whole)
    #expect(try server.errorKind(of: whole) == "cancelled")
    #expect(try status("a") == "loading")
    #expect(try status("b") == "notLoaded")
    run()
    #expect(try server.response(to: single)?["result"] != nil)
    #expect(try status("a") == "loaded" && status("b") == "notLoaded")
    let second = server.request("layer/load", ["map": "m"])
    run()
    #expect(try server.response(to: second)?["result"]?["count"] == 2)
  }

  @Test func `cancelling a layer's request does not end the attempt while its map is being loaded`() throws {
    let whole = server.request("layer/load", ["map": "m"])
    let single = server.request("layer/load", ["layer": "a"])
    server.cancel(single)
    #expect(try server.errorKind(of: single) == "cancelled")
    #expect(try status("a") == "loading")
    run()
    #expect(try server.response(to: whole)?["result"]?["count"] == 2)
  }

  @Test func `cancelLoad of a layer or of the map ends the map's load too`() throws {
    for params in [["layer": "a"], ["map": "m"]] as [Value] {
      let whole = server.request("layer/load", ["map": "m"])
      try server.call("layer/cancelLoad", params)
      run()
      #expect(try server.errorKind(of: whole) == "cancelled")
      #expect(try status("a") == "notLoaded")
      try server.call("layer/cancelLoad", ["map": "m"])
    }
  }

  @Test func `closing the map while it loads responds to the load request`() throws {
    let whole = server.request("layer/load", ["map": "m"])
    try server.call("map/close", ["map": "m"])
    run()
    // Without layers the load may succeed.
    #expect(try server.response(to: whole) != nil)
    #expect(try server.call("task/list")["tasks"] == [])
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `progress counts the layers that have finished`() throws {
    let whole = server.request("layer/load", ["map": "m", "meta": ["progressToken": "p"]])
    run()
    let values = try server.takeNotifications("$/progress").compactMap { $0["value"] }
    #expect(values.first?["kind"] == "begin")
    #expect(values.last?["kind"] == "end")
    #expect(try server.response(to: whole)?["result"]?["count"] == 2)
  }
}
