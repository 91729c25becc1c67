// Tasks: requests join, supersede and end them, and each request has exactly one response, in the right order.

import Foundation
import TestSupport
import Testing

struct TaskTests {
  /// Workers run in ``ManualLoop/runOffloaded()`` only, so that a test can act between a request and its work.
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer(.stepped)
    let dem = repository.appending(path: "Tests/Fixtures/jacksboro_dem.tif").path
    server.request("scene/create", ["id": "s", "elevationSources": [.string(dem)]])
    server.loop.runOffloaded()
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    _ = try server.takeMessages()
  }

  /// More points than are answered at once, whatever is kept.
  private func elevation(
    at longitude: Double = -84.25, task: Value = [:], id: Value? = nil, more: [String: Value] = [:]
  ) -> Value {
    server.request(
      "scene/elevation",
      [
        "scene": "s", "points": .array(Array(repeating: ["type": "Point", "coordinates": [.real(longitude), 36.6]], count: 17)),
        "meta": .object(["task": task].merging(more) { $1 }),
      ], id: id)
  }

  private func handles() throws -> [Value] {
    try server.call("task/list")["tasks"]?.array?.compactMap { $0["task"] } ?? []
  }

  @Test func `tasks that have ended by the time the loop looks are answered in one write`() throws {
    let requests = (0..<100).map { _ in elevation() }
    #expect(server.connection.writes.isEmpty)
    server.loop.runOffloaded()
    #expect(server.connection.writes.count == 1)
    let answers = try server.takeMessages().map { $0["id"] }
    #expect(answers == requests)
  }

  // MARK: What has taken effect

  @Test(arguments: ["document/saveAs", "feature/export"])
  func `a file that is in place is the result, whoever cancels then`(method: String) throws {
    let folder = try TemporaryFolder()
    try server.call("overlay/create", ["id": "o", "view": "v"])
    func start(_ name: String, _ task: Value = [:]) throws -> Value {
      try folder.write("earlier", to: name)
      var params: [String: Value] = ["path": .string(folder.path(name)), "meta": ["task": task]]
      if method == "feature/export" { params.merge(["overlay": "o", "ifExists": "replace"]) { $1 } }
      return server.request(method, .object(params))
    }
    // Before the work, nothing has happened.
    let early = try start("early.geojson")
    server.cancel(early)
    server.loop.runOffloaded()
    #expect(try server.errorKind(of: early) == "cancelled")
    #expect(try folder.text("early.geojson") == "earlier")
    // The work is done, and the loop does not know it yet.
    let late = try start("late.geojson")
    server.loop.runWork()
    #expect(try folder.text("late.geojson") != "earlier")
    server.cancel(late)
    #expect(try server.response(to: late)?["result"] != nil)
    let ended = try start("ended.geojson", ["id": "t"])
    server.loop.runWork()
    server.request("task/cancel", ["task": "t"])
    #expect(try server.response(to: ended)?["result"] != nil)
    let last = try start("last.geojson")
    server.loop.runWork()
    server.connection.send(
      #"{"jsonrpc":"2.0","id":"end","method":"shutdown"}"# + "\n" + #"{"jsonrpc":"2.0","method":"exit"}"# + "\n")
    #expect(try server.response(to: last)?["result"] != nil)
    #expect(server.connection.session.ending?.code == 0)
  }

  // MARK: Scope and key

  @Test func `equal requests with one scope and key share a task`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let second = elevation(task: ["scope": "v", "key": "k"])
    let tasks = try #require(try server.call("task/list")["tasks"]?.array)
    #expect(tasks.count == 1)
    #expect(tasks.first?["waiting"] == 2)
    #expect(tasks.first?["scope"] == "v")
    #expect(tasks.first?["key"] == "k")
    #expect(server.loop.offloadedCount == 1)
    server.loop.runOffloaded()
    let answers = [try server.response(to: first), try server.response(to: second)]
    #expect(answers[0]?["result"] != nil)
    #expect(answers[0]?["result"] == answers[1]?["result"])
    #expect(answers[0]?["result"]?["elevations"]?.array?.first?["type"] == "value")
  }

  @Test func `a different request with the same scope and key supersedes the older one`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let joined = elevation(task: ["scope": "v", "key": "k"])
    let newer = elevation(at: -84.3, task: ["scope": "v", "key": "k"], id: "newer")
    for id in [first, joined] {
      let error = try #require(try server.response(to: id)?["error"])
      #expect(error["code"] == -32802)
      #expect(error["data"]?["kind"] == "superseded")
      #expect(error["data"]?["by"] == "#\"newer\"")
    }
    server.loop.runOffloaded()
    #expect(try server.response(to: newer)?["result"] != nil)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `tasks with another key or scope, or without, are independent`() throws {
    let tasks: [Value] = [
      ["scope": "v", "key": "a"], ["scope": "v", "key": "b"], ["scope": "m", "key": "a"], ["key": "a"], ["scope": "v"],
      [:],
    ]
    let ids = tasks.enumerated().map { elevation(at: -84.2 - Double($0.offset) / 100, task: $0.element) }
    #expect(try handles().count == tasks.count)
    let mine = try server.call("task/list", ["scope": "v"])["tasks"]?.array
    #expect(mine?.count == 3)
    server.loop.runOffloaded()
    for id in ids { #expect(try server.response(to: id)?["result"] != nil) }
  }

  @Test func `a request that fails supersedes no task`() throws {
    let first = elevation(task: ["scope": "v", "key": "k"])
    let bad = server.request(
      "scene/elevation",
      [
        "scene": "nobody", "points": [["type": "Point", "coordinates": [1, 2]]],
        "meta": ["task": ["scope": "v", "key": "k"]],
      ])
    #expect(try server.errorKind(of: bad) == "unknownId")
    let other = elevation(task: ["id": "taken"])
    let taken = elevation(at: -84.3, task: ["scope": "v", "key": "k", "id": "taken"])
    #expect(try server.errorKind(of: taken) == "idExists")
    server.loop.runOffloaded()
    #expect(try server.response(to: first)?["result"] != nil)
    #expect(try server.response(to: other)?["result"] != nil)
  }

  @Test func `an unknown scope is refused`() throws {
    let id = elevation(task: ["scope": "nobody"])
    #expect(try server.response(to: id)?["error"]?["data"]?["path"] == "/params/meta/task/scope")
  }

  // MARK: Cancelling

  @Test func `cancelling one of several requests leaves the others, cancelling all stops the work`() throws {
    let first = elevation(task: ["key": "k"])
    let second = elevation(task: ["key": "k"])
    let third = elevation(task: ["key": "k"])
    server.cancel(first)
    #expect(try server.response(to: first)?["error"]?["code"] == -32800)
    #expect(try server.call("task/list")["tasks"]?.array?.first?["waiting"] == 2)
    server.loop.runOffloaded()
    #expect(try server.response(to: second)?["result"] != nil)
    #expect(try server.response(to: third)?["result"] != nil)

    let fourth = elevation(task: ["key": "k"])
    let fifth = elevation(task: ["key": "k"])
    server.cancel(fourth)
    server.cancel(fifth)
    #expect(try server.errorKind(of: fourth) == "cancelled")
    #expect(try server.errorKind(of: fifth) == "cancelled")
    #expect(try handles().isEmpty)
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
    #expect(try server.call("session/status")["tasks"]?["working"] == 0)
  }

  @Test func `cancelling before the work starts responds at once, and further cancels have no effect`() throws {
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
    // The id can be used again.
    _ = elevation(id: id)
    server.loop.runOffloaded()
    #expect(try server.response(to: id)?["result"] != nil)
  }

  @Test func `a task is cancelled by its handle, and a second cancel has no effect`() throws {
    let id = elevation(task: ["id": "mine", "key": "k"])
    let joined = elevation(task: ["key": "k"])
    #expect(try handles() == ["mine"])
    #expect(try server.call("task/cancel", ["task": "mine"])["cancelled"] == true)
    #expect(try server.call("task/cancel", ["task": "mine"])["cancelled"] == false)
    #expect(try server.errorKind(of: id) == "cancelled")
    #expect(try server.errorKind(of: joined) == "cancelled")
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `a handle is the one given, or derived from the request's id, and unique`() throws {
    let number = elevation(id: 700)
    let text = elevation(id: "700")
    let given = elevation(task: ["id": "700"])
    #expect(try handles() == ["#700", "#\"700\"", "700"])
    let again = elevation(task: ["id": "700"])
    #expect(try server.errorKind(of: again) == "idExists")
    #expect(try server.call("task/cancel", ["task": "#\"700\""])["cancelled"] == true)
    #expect(try server.errorKind(of: text) == "cancelled")
    #expect(try handles() == ["#700", "700"])
    server.loop.runOffloaded()
    for id in [number, given] { #expect(try server.response(to: id)?["result"] != nil) }
  }

  @Test func `a handle in use is not derived again from a reused request id`() throws {
    let first = elevation(task: ["key": "k"], id: 700)
    let joined = elevation(task: ["key": "k"], id: 701)
    server.cancel(first)
    #expect(try server.errorKind(of: first) == "cancelled")
    let second = elevation(id: 700)
    #expect(try handles() == ["#700", "#700.2"])
    #expect(try server.call("task/cancel", ["task": "#700"])["cancelled"] == true)
    #expect(try server.errorKind(of: joined) == "cancelled")
    server.loop.runOffloaded()
    #expect(try server.response(to: second)?["result"] != nil)
  }

  @Test func `superseded names the given handle`() throws {
    let first = elevation(task: ["key": "k"])
    let newer = elevation(at: -84.3, task: ["key": "k", "id": "mine"])
    #expect(try server.response(to: first)?["error"]?["data"]?["by"] == "mine")
    server.loop.runOffloaded()
    #expect(try server.response(to: newer)?["result"] != nil)
  }

  @Test func `equal params join a task whatever their JSON text`() throws {
    func ask(_ id: Int, _ params: String) {
      server.send(
        text:
          #"{"jsonrpc": "2.0", "id": \#(id), "method": "scene/elevation", "params": {\#(params), "meta": {"task": {"key": "k"}}}}"#
      )
    }
    ask(701, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84.1, 36.6]}]"#)
    ask(702, #""points": [{"coordinates": [-84.10, 36.60], "type": "Point"}], "scene": "s", "interpolation": null"#)
    #expect(try server.call("task/list")["tasks"]?.array?.compactMap { $0["waiting"] } == [2])
    ask(703, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84.1, 36.6]}], "interpolation": "nearest""#)
    #expect(try server.errorKind(of: 701) == "superseded")
    #expect(try server.errorKind(of: 702) == "superseded")
    ask(704, #""scene": "s", "points": [{"type": "Point", "coordinates": [-84.1, 36.6, 1]}], "interpolation": "nearest""#)
    #expect(try server.errorKind(of: 703) == "superseded")
  }

  @Test func `the cleanup of a cancelled task keeps its successor's handle`() throws {
    let first = elevation(task: ["id": "h"])
    server.cancel(first)
    let second = elevation(task: ["id": "h"])
    server.loop.runOffloaded()
    #expect(try server.errorKind(of: first) == "cancelled")
    #expect(try server.response(to: second)?["result"] != nil)
    #expect(try handles().isEmpty)
  }

  // MARK: Ending

  @Test func `closing the scope ends its tasks before it responds`() throws {
    let first = elevation(task: ["scope": "v"])
    let second = elevation(task: ["scope": "v", "key": "k"])
    let other = elevation(task: ["scope": "m"])
    let none = elevation()
    let close = server.request("view/close", ["view": "v"])
    #expect(try server.takeMessages().compactMap { $0["id"] } == [first, second, close])
    server.loop.runOffloaded()
    #expect(try server.response(to: other)?["result"] != nil)
    #expect(try server.response(to: none)?["result"] != nil)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `closing a map ends the tasks of its views and layers`() throws {
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let view = elevation(task: ["scope": "v"])
    let overlay = elevation(task: ["scope": "o"])
    let source = server.request("source/openInline", ["id": "src", "data": Self.cities])
    server.loop.runOffloaded()
    #expect(try server.response(to: source)?["result"] != nil)
    _ = try server.takeMessages()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "l"])
    let load = server.request("layer/load", ["layer": "l"])
    let late = elevation(task: ["scope": "v"])
    let close = server.request("map/close", ["map": "m"])
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
    let error = try #require(try server.response(to: id)?["error"])
    #expect(error["code"] == -31003)
    #expect(error["data"]?["kind"] == "timedOut")
    server.loop.runOffloaded()
    #expect(try server.response(to: patient)?["result"] != nil)
    server.loop.advance(by: 10_000_000_000)
    #expect(try server.takeMessages().isEmpty)
  }

  @Test func `at the end of input running tasks are completed, and animations under a manual clock end`() throws {
    try server.call("clock/set", ["mode": "manual"])
    let task = elevation()
    let flight = server.request(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 5])
    server.connection.close()
    #expect(try server.response(to: flight)?["result"]?["arrived"] == false)
    #expect(server.connection.session.ending == nil)
    server.loop.runOffloaded()
    #expect(try server.response(to: task)?["result"] != nil)
    #expect(server.connection.session.ending?.code == 0)
  }

  @Test func `shutdown cancels the requests in flight before it responds`() throws {
    try server.call("clock/set", ["mode": "manual"])
    let task = elevation()
    let flight = server.request(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000], "duration": 5])
    let shutdown = server.request("shutdown")
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["id"] } == [task, flight, shutdown])
    #expect(messages.prefix(2).allSatisfy { $0["error"]?["code"] == -32800 })
    server.loop.runOffloaded()
    #expect(try server.takeMessages().isEmpty)
  }

  // MARK: Progress and loads

  @Test func `progress begins at once and ends before the response`() throws {
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
    server.request("source/openInline", ["id": "src", "data": data])
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
    let first = server.request("layer/load", ["layer": "l"])
    let second = server.request("layer/load", ["layer": "l"])
    let third = server.request("layer/retryLoad", ["layer": "l"])
    #expect(server.loop.offloadedCount == 1)
    #expect(try loadStatus == "loading")
    let cancel = server.request("layer/cancelLoad", ["layer": "l"])
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["id"] } == [first, second, third, cancel])
    #expect(messages.prefix(3).allSatisfy { $0["error"]?["code"] == -32800 })
    #expect(try loadStatus == "notLoaded")
    // The result of the cancelled work is discarded.
    let again = server.request("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.response(to: again)?["result"]?["featureCount"] == 2)
    #expect(try loadStatus == "loaded")
    #expect(try server.takeMessages().isEmpty)
    // A loaded layer stays loaded.
    let once = server.request("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.response(to: once)?["result"]?["featureCount"] == 2)
  }

  @Test func `cancelling one of several loads leaves the others, cancelling all resets the layer`() throws {
    try addLayer()
    let first = server.request("layer/load", ["layer": "l"])
    let second = server.request("layer/load", ["layer": "l"])
    server.cancel(first)
    #expect(try server.errorKind(of: first) == "cancelled")
    #expect(try loadStatus == "loading")
    server.cancel(second)
    #expect(try server.errorKind(of: second) == "cancelled")
    #expect(try loadStatus == "notLoaded")
    server.loop.runOffloaded()
    #expect(try loadStatus == "notLoaded")
  }

  @Test func `after a failure load returns the stored error, and only retryLoad reads again`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "cities.geojson")
    try Data(Self.cities.text.utf8).write(to: file)
    server.request("source/open", ["id": "src", "path": .string(file.path)])
    server.loop.runOffloaded()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "l"])
    _ = try server.takeMessages()
    try FileManager.default.removeItem(at: file)

    let first = server.request("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    let error = try #require(try server.response(to: first)?["error"]?["data"])
    #expect(error["kind"] == "fileNotFound")
    #expect(try loadStatus == "failed")
    #expect(try server.state("/layers/l/loadStatus/error/kind").values.first == "fileNotFound")

    try Data(Self.cities.text.utf8).write(to: file)
    let stored = server.request("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.response(to: stored)?["error"]?["data"]?["kind"] == error["kind"])
    let retried = server.request("layer/retryLoad", ["layer": "l"])
    server.loop.runOffloaded()
    #expect(try server.response(to: retried)?["result"]?["featureCount"] == 2)
    #expect(try loadStatus == "loaded")
  }

  @Test func `a layer of a closed source keeps its features, and an unloaded one cannot be loaded`() throws {
    try addLayer()
    try server.call("layer/add", ["map": "m", "source": "src", "id": "unloaded"])
    server.request("layer/load", ["layer": "l"])
    server.loop.runOffloaded()
    try server.call("source/close", ["source": "src"])
    #expect(try loadStatus == "loaded")
    #expect(try server.refusal("layer/load", ["layer": "unloaded"])["kind"] == "sourceClosed")
  }

  // MARK: ifRevision

  @Test func `ifRevision refuses a command when the object, or one below it, has changed since`() throws {
    let created = try #require(try server.call("view/get", ["view": "v"])["revision"])
    func set(_ scale: Value, if revision: Value) -> Value {
      server.request(
        "view/setViewpoint",
        ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale], "meta": ["ifRevision": revision]])
    }
    #expect(try server.response(to: set(1000, if: created))?["result"] != nil)
    let error = try #require(try server.response(to: set(2000, if: created))?["error"])
    #expect(error["code"] == -32801)
    #expect(error["data"]?["kind"] == "contentModified")
    let current = try #require(try server.call("view/get", ["view": "v"])["revision"])
    #expect(error["data"]?["revision"] == current)
    #expect(try server.call("view/get", ["view": "v"])["viewpoint"]?["targetScale"]?.number == 1000)

    // Changes of other objects have no effect; those of the view's overlays do.
    try server.call("map/update", ["map": "m", "title": "t"])
    #expect(try server.response(to: set(3000, if: current))?["result"] != nil)
    let before = try #require(try server.call("view/get", ["view": "v"])["revision"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    #expect(try server.errorKind(of: set(4000, if: before)) == "contentModified")
    let between = try #require(try server.call("view/get", ["view": "v"])["revision"])
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [["geometry": .null]]])
    #expect(try server.errorKind(of: set(4000, if: between)) == "contentModified")
  }
}
