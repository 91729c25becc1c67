// Tasks: what joins, what replaces, what ends them, and that each request is answered exactly once, at its time.

import Foundation
import Testing

struct TaskTests {
  /// Work waits until ``ManualLoop/runOffloaded()``: between asking and working a test can do what it wants.
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer(.stepped)
    let dem = repository.appending(path: "Tests/Fixtures/jacksboro_dem.tif").path
    server.ask("scene/create", ["id": "s", "elevationSources": [.string(dem)]])
    server.loop.runOffloaded()
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    _ = try server.takeMessages()
  }

  private func elevation(
    at longitude: Double = -84.25, task: Value = [:], id: Value? = nil, more: [String: Value] = [:]
  ) -> Value {
    server.ask(
      "scene/elevation",
      [
        "scene": "s", "points": [["type": "Point", "coordinates": [.real(longitude), 36.6]]],
        "meta": .object(["task": task].merging(more) { $1 }),
      ], id: id)
  }

  private func handles() throws -> [Value] {
    try server.call("task/list")["tasks"]?.array?.compactMap { $0["task"] } ?? []
  }

  // MARK: Scope and key

  @Test func `equal questions of one scope and key are one task that answers all`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let second = elevation(task: ["scope": "v", "key": "k"])
    let tasks = try #require(try server.call("task/list")["tasks"]?.array)
    #expect(tasks.count == 1)
    #expect(tasks.first?["waiting"] == 2)
    #expect(tasks.first?["scope"] == "v")
    #expect(tasks.first?["key"] == "k")
    #expect(server.loop.offloadedCount == 1)
    server.loop.runOffloaded()
    let answers = [try server.answer(to: first), try server.answer(to: second)]
    #expect(answers[0]?["result"] != nil)
    #expect(answers[0]?["result"] == answers[1]?["result"])
    #expect(answers[0]?["result"]?["elevations"]?.array?.first?["type"] == "value")
  }

  @Test func `a different question of one scope and key takes the place of the older`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let joined = elevation(task: ["scope": "v", "key": "k"])
    let newer = elevation(at: -84.3, task: ["scope": "v", "key": "k"], id: "newer")
    for id in [first, joined] {
      let error = try #require(try server.answer(to: id)?["error"])
      #expect(error["code"] == -32802)
      #expect(error["data"]?["kind"] == "superseded")
      #expect(error["data"]?["by"] == "#\"newer\"")
    }
    server.loop.runOffloaded()
    #expect(try server.answer(to: newer)?["result"] != nil)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `a task with another key, another scope or none is let alone`() throws {
    let tasks: [Value] = [
      ["scope": "v", "key": "a"], ["scope": "v", "key": "b"], ["scope": "m", "key": "a"], ["key": "a"], ["scope": "v"],
      [:],
    ]
    let ids = tasks.enumerated().map { elevation(at: -84.2 - Double($0.offset) / 100, task: $0.element) }
    #expect(try handles().count == tasks.count)
    let mine = try server.call("task/list", ["scope": "v"])["tasks"]?.array
    #expect(mine?.count == 3)
    server.loop.runOffloaded()
    for id in ids { #expect(try server.answer(to: id)?["result"] != nil) }
  }

  @Test func `a question that is refused takes no one's place`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let bad = server.ask(
      "scene/elevation",
      [
        "scene": "nobody", "points": [["type": "Point", "coordinates": [1, 2]]],
        "meta": ["task": ["scope": "v", "key": "k"]],
      ])
    #expect(try server.failure(of: bad) == "unknownId")
    let other = elevation(task: ["id": "taken"])
    let taken = elevation(at: -84.3, task: ["scope": "v", "key": "k", "id": "taken"])
    #expect(try server.failure(of: taken) == "idExists")
    server.loop.runOffloaded()
    #expect(try server.answer(to: first)?["result"] != nil)
    #expect(try server.answer(to: other)?["result"] != nil)
  }

  @Test func `a scope that is not there is refused`() throws {
    let id = elevation(task: ["scope": "nobody"])
    #expect(try server.answer(to: id)?["error"]?["data"]?["path"] == "/params/meta/task/scope")
  }

  // MARK: Cancelling

  @Test func `cancelling one who joined leaves the rest, cancelling all stops the work`() throws {
    let first = elevation(task: ["key": "k"])
    let second = elevation(task: ["key": "k"])
    let third = elevation(task: ["key": "k"])
    server.cancel(first)
    #expect(try server.answer(to: first)?["error"]?["code"] == -32800)
    #expect(try server.call("task/list")["tasks"]?.array?.first?["waiting"] == 2)
    server.loop.runOffloaded()
    #expect(try server.answer(to: second)?["result"] != nil)
    #expect(try server.answer(to: third)?["result"] != nil)

    let fourth = elevation(task: ["key": "k"])
    let fifth = elevation(task: ["key": "k"])
    server.cancel(fourth)
    server.cancel(fifth)
    #expect(try server.failure(of: fourth) == "cancelled")
    #expect(try server.failure(of: fifth) == "cancelled")
    #expect(try handles().isEmpty)
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
    #expect(try server.call("session/status")["tasks"]?["working"] == 0)
  }

  @Test func `a cancel before the work starts answers at once, and later ones are silent`() throws {
    let id = elevation()
    server.cancel(id)
    server.cancel(id)
    server.cancel("unknown")
    server.notify("$/cancelRequest", ["id": [1]])
    server.notify("$/cancelRequest", [:])
    let messages = try server.takeMessages()
    #expect(messages.count == 1)
    #expect(messages.first?["error"]?["code"] == -32800)
    #expect(try server.call("session/status")["tasks"]?["working"] == 1)
    server.loop.runOffloaded()
    server.cancel(id)
    #expect(try server.takeMessages().isEmpty)
    #expect(try server.call("session/status")["tasks"]?["working"] == 0)
    // The id is free again.
    _ = elevation(id: id)
    server.loop.runOffloaded()
    #expect(try server.answer(to: id)?["result"] != nil)
  }

  @Test func `a task is cancelled by its handle, twice without harm`() throws {
    let id = elevation(task: ["id": "mine", "key": "k"])
    let joined = elevation(task: ["key": "k"])
    #expect(try handles() == ["mine"])
    #expect(try server.call("task/cancel", ["task": "mine"])["cancelled"] == true)
    #expect(try server.call("task/cancel", ["task": "mine"])["cancelled"] == false)
    #expect(try server.failure(of: id) == "cancelled")
    #expect(try server.failure(of: joined) == "cancelled")
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `a handle is the one given, or made of the request's id, and no two tasks have the same`() throws {
    let number = elevation(id: 700)
    let text = elevation(id: "700")
    let given = elevation(task: ["id": "700"])
    #expect(try handles() == ["#700", "#\"700\"", "700"])
    let again = elevation(task: ["id": "700"])
    #expect(try server.failure(of: again) == "idExists")
    #expect(try server.call("task/cancel", ["task": "#\"700\""])["cancelled"] == true)
    #expect(try server.failure(of: text) == "cancelled")
    #expect(try handles() == ["#700", "700"])
    server.loop.runOffloaded()
    for id in [number, given] { #expect(try server.answer(to: id)?["result"] != nil) }
  }

  @Test func `a handle of a task that others joined is not given again with its request's id`() throws {
    let first = elevation(task: ["key": "k"], id: 700)
    let joined = elevation(task: ["key": "k"], id: 701)
    server.cancel(first)
    #expect(try server.failure(of: first) == "cancelled")
    let second = elevation(id: 700)
    #expect(try handles() == ["#700", "#700.2"])
    #expect(try server.call("task/cancel", ["task": "#700"])["cancelled"] == true)
    #expect(try server.failure(of: joined) == "cancelled")
    server.loop.runOffloaded()
    #expect(try server.answer(to: second)?["result"] != nil)
  }

  @Test func `who supersedes is named by the handle that was given, too`() throws {
    let first = elevation(task: ["key": "k"])
    let newer = elevation(at: -84.3, task: ["key": "k", "id": "mine"])
    #expect(try server.answer(to: first)?["error"]?["data"]?["by"] == "mine")
    server.loop.runOffloaded()
    #expect(try server.answer(to: newer)?["result"] != nil)
  }

  @Test func `the same question joins however it is written`() throws {
    func ask(_ id: Int, _ params: String) {
      server.send(
        text:
          #"{"jsonrpc": "2.0", "id": \#(id), "method": "scene/elevation", "params": {\#(params), "meta": {"task": {"key": "k"}}}}"#
      )
    }
    ask(701, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84, 36.6]}]"#)
    ask(702, #""points": [{"coordinates": [-84.0, 36.60], "type": "Point"}], "scene": "s", "interpolation": null"#)
    #expect(try server.call("task/list")["tasks"]?.array?.compactMap { $0["waiting"] } == [2])
    ask(703, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84, 36.6]}], "interpolation": "nearest""#)
    #expect(try server.failure(of: 701) == "superseded")
    #expect(try server.failure(of: 702) == "superseded")
    ask(704, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84, 36.6, 1]}], "interpolation": "nearest""#)
    #expect(try server.failure(of: 703) == "superseded")
  }

  @Test func `the cleanup of a cancelled task leaves its successor's handle`() throws {
    let first = elevation(task: ["id": "h"])
    server.cancel(first)
    let second = elevation(task: ["id": "h"])
    server.loop.runOffloaded()
    #expect(try server.failure(of: first) == "cancelled")
    #expect(try server.answer(to: second)?["result"] != nil)
    #expect(try handles().isEmpty)
  }

  // MARK: Ends

  @Test func `closing the scope answers its tasks before its own answer`() throws {
    let first = elevation(task: ["scope": "v"])
    let second = elevation(task: ["scope": "v", "key": "k"])
    let other = elevation(task: ["scope": "m"])
    let none = elevation()
    let close = server.ask("view/close", ["view": "v"])
    #expect(try server.takeMessages().compactMap { $0["id"] } == [first, second, close])
    server.loop.runOffloaded()
    #expect(try server.answer(to: other)?["result"] != nil)
    #expect(try server.answer(to: none)?["result"] != nil)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `closing a map ends the tasks of the views and layers that go with it`() throws {
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let view = elevation(task: ["scope": "v"])
    let overlay = elevation(task: ["scope": "o"])
    let source = server.ask("source/openInline", ["id": "src", "data": Self.cities])
    server.loop.runOffloaded()
    #expect(try server.answer(to: source)?["result"] != nil)
    _ = try server.takeMessages()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "l"])
    let load = server.ask("layer/load", ["layer": "l"])
    let late = elevation(task: ["scope": "v"])
    let close = server.ask("map/close", ["map": "m"])
    let ids = try server.takeMessages().compactMap { $0["id"] }
    #expect(Set(ids) == [load, late, close])
    #expect(ids.last == close)
    _ = (view, overlay)
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
    #expect(try handles().isEmpty)
  }

  @Test func `a task that takes too long is timed out`() throws {
    let id = elevation(task: ["timeout": 2])
    let patient = elevation(task: ["timeout": 3])
    server.loop.advance(by: 1_999_000_000)
    #expect(try server.takeMessages().isEmpty)
    server.loop.advance(by: 2_000_000)
    let error = try #require(try server.answer(to: id)?["error"])
    #expect(error["code"] == -32800)
    #expect(error["data"]?["kind"] == "timedOut")
    server.loop.runOffloaded()
    #expect(try server.answer(to: patient)?["result"] != nil)
    server.loop.advance(by: 10_000_000_000)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `at the end of input what runs is answered, and what waits for a manual clock ends`() throws {
    try server.call("clock/set", ["mode": "manual"])
    let task = elevation()
    let flight = server.ask(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 5])
    server.connection.close()
    #expect(try server.answer(to: flight)?["result"]?["arrived"] == false)
    #expect(server.connection.session.ending == nil)
    server.loop.runOffloaded()
    #expect(try server.answer(to: task)?["result"] != nil)
    #expect(server.connection.session.ending?.code == 0)
  }

  @Test func `shutdown cancels and answers what is in flight before its own answer`() throws {
    try server.call("clock/set", ["mode": "manual"])
    let task = elevation()
    let flight = server.ask(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 5])
    let shutdown = server.ask("shutdown")
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["id"] } == [task, flight, shutdown])
    #expect(messages.prefix(2).allSatisfy { $0["error"]?["code"] == -32800 })
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
  }

  // MARK: Progress and loads

  @Test func `progress begins at once, ends before the answer and is silent after it`() throws {
    let id = elevation(more: ["progressToken": "p"])
    var kinds = try server.takeNotifications("$/progress").compactMap { $0["value"]?["kind"] }
    #expect(kinds == ["begin"])
    server.loop.runOffloaded()
    let messages = try server.takeMessages()
    #expect(messages.last?["id"] == id)
    kinds = messages.compactMap { $0["params"]?["value"]?["kind"] }
    #expect(kinds.last == "end")
    let cancelled = elevation(more: ["progressToken": 7])
    server.cancel(cancelled)
    let after = try server.takeMessages()
    #expect(after.compactMap { $0["params"]?["value"]?["kind"] } == ["begin", "end"])
    #expect(after.last?["id"] == cancelled)
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
  }

  private static let cities: Value = [
    "type": "FeatureCollection",
    "features": [
      ["type": "Feature", "properties": ["name": "a"], "geometry": ["type": "Point", "coordinates": [1, 2]]],
      ["type": "Feature", "properties": ["name": "b"], "geometry": ["type": "Point", "coordinates": [3, 4]]],
    ],
  ]

  private func addLayer(data: Value = TaskTests.cities) throws {
    server.ask("source/openInline", ["id": "src", "data": data])
    server.loop.runOffloaded()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "l"])
    _ = try server.takeMessages()
  }

  private var loadStatus: Value? {
    get throws { try server.state("/layers/l/loadStatus/type")["/layers/l/loadStatus/type"] }
  }

  @Test func `concurrent loads of a layer share one attempt, and cancelLoad fails every waiter`() throws {
    try addLayer()
    #expect(try loadStatus == "notLoaded")
    #expect(try server.call("layer/cancelLoad", ["layer": "l"])["revision"] != nil)
    let first = server.ask("layer/load", ["layer": "l"])
    let second = server.ask("layer/load", ["layer": "l"])
    let third = server.ask("layer/retryLoad", ["layer": "l"])
    #expect(server.loop.offloadedCount == 1)
    #expect(try loadStatus == "loading")
    let cancel = server.ask("layer/cancelLoad", ["layer": "l"])
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["id"] } == [first, second, third, cancel])
    #expect(messages.prefix(3).allSatisfy { $0["error"]?["code"] == -32800 })
    #expect(try loadStatus == "notLoaded")
    // The work that was given up does not come back.
    let again = server.ask("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.answer(to: again)?["result"]?["featureCount"] == 2)
    #expect(try loadStatus == "loaded")
    #expect(try server.takeMessages().isEmpty)
    // Loaded is loaded.
    let once = server.ask("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.answer(to: once)?["result"]?["featureCount"] == 2)
  }

  @Test func `cancelling one waiter of a load leaves the others, cancelling all puts it back`() throws {
    try addLayer()
    let first = server.ask("layer/load", ["layer": "l"])
    let second = server.ask("layer/load", ["layer": "l"])
    server.cancel(first)
    #expect(try server.failure(of: first) == "cancelled")
    #expect(try loadStatus == "loading")
    server.cancel(second)
    #expect(try server.failure(of: second) == "cancelled")
    #expect(try loadStatus == "notLoaded")
    server.loop.runOffloaded()
    #expect(try loadStatus == "notLoaded")
  }

  @Test func `after a failure load gives the stored error, and only retryLoad tries again`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "cities.geojson")
    try Data(Self.cities.text.utf8).write(to: file)
    server.ask("source/open", ["id": "src", "path": .string(file.path)])
    server.loop.runOffloaded()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "l"])
    _ = try server.takeMessages()
    try FileManager.default.removeItem(at: file)

    let first = server.ask("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    let error = try #require(try server.answer(to: first)?["error"]?["data"])
    #expect(error["kind"] == "fileNotFound")
    #expect(try loadStatus == "failed")
    #expect(try server.state("/layers/l/loadStatus/error/kind").values.first == "fileNotFound")

    try Data(Self.cities.text.utf8).write(to: file)
    let stored = server.ask("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.answer(to: stored)?["error"]?["data"]?["kind"] == error["kind"])
    let retried = server.ask("layer/retryLoad", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.answer(to: retried)?["result"]?["featureCount"] == 2)
    #expect(try loadStatus == "loaded")
  }

  @Test func `a layer of a closed source keeps what it has loaded, and cannot load what it has not`() throws {
    try addLayer()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "unloaded"])
    server.ask("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    try server.call("source/close", ["source": "src"])
    #expect(try loadStatus == "loaded")
    #expect(try server.refusal("layer/load", ["layer": "unloaded"])["kind"] == "sourceClosed")
  }

  // MARK: ifRevision

  @Test func `ifRevision refuses a command when the object, or one below it, has changed since`() throws {
    let created = try #require(try server.call("view/get", ["view": "v"])["revision"])
    func set(_ scale: Value, if revision: Value) -> Value {
      server.ask(
        "view/setViewpoint",
        ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale], "meta": ["ifRevision": revision]])
    }
    #expect(try server.answer(to: set(1000, if: created))?["result"] != nil)
    let error = try #require(try server.answer(to: set(2000, if: created))?["error"])
    #expect(error["code"] == -32801)
    #expect(error["data"]?["kind"] == "contentModified")
    let current = try #require(try server.call("view/get", ["view": "v"])["revision"])
    #expect(error["data"]?["revision"] == current)
    #expect(try server.call("view/get", ["view": "v"])["viewpoint"]?["targetScale"]?.number == 1000)

    // Another object does not matter; an overlay of the view does.
    try server.call("map/update", ["map": "m", "title": "t"])
    #expect(try server.answer(to: set(3000, if: current))?["result"] != nil)
    let before = try #require(try server.call("view/get", ["view": "v"])["revision"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    #expect(try server.failure(of: set(4000, if: before)) == "contentModified")
    let between = try #require(try server.call("view/get", ["view": "v"])["revision"])
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [["geometry": .null]]])
    #expect(try server.failure(of: set(4000, if: between)) == "contentModified")
  }
}
