// Documents: any model that is saved and opened again is equal, and a save or open that fails changes nothing.

import Foundation
import JSON
import TestSupport
import Testing

struct DocumentTests {
  private let folder: TemporaryFolder
  private let server: MemoryServer

  init() throws {
    folder = try TemporaryFolder()
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
  }

  private func saveAs(_ name: String) throws {
    try server.call("document/saveAs", ["path": .string(folder.path(name))])
  }
  private func open(_ name: String) throws { try server.call("document/open", ["path": .string(folder.path(name))]) }
  private var isModified: Value? { get throws { try server.call("document/get")["isModified"] } }

  // MARK: Equal models

  @Test(arguments: UInt64(0)..<30)
  func `a model that is saved and opened again is equal, and so is its file`(seed: UInt64) throws {
    var edits = RandomEdits(server, seed: seed)
    edits.hasFlow = true
    for _ in 0..<100 { try edits.step() }
    try saveAs("a.json")
    let before = try server.state("")[""]
    let sources = Set(before?["sources"]?.object?.keys.map { $0 } ?? [])
    let areas = try server.state("/views")["/views"]?.object?.keys.sorted().map {
      try server.call("view/getVisibleArea", ["view": .string($0)])["polygon"]
    }

    try server.call("document/new")
    let empty = try server.state("")[""]
    for name in ["sources", "maps", "layers", "scenes", "views", "overlays", "locationSources", "viewModels"] {
      #expect(empty?[name]?.object?.isEmpty == true)
    }
    #expect(empty?["environments"]?.object?.keys.sorted() == ["$session"])
    #expect(empty?["environments"]?["$session"]?["values"] == [:])
    #expect(empty?["environments"]?["$session"]?["objects"] == [:])
    try open("a.json")
    let after = try server.state("")[""]
    #expect(savedState(before, keeping: sources) == savedState(after, keeping: sources))
    let needed = Set(after?["layers"]?.object?.values.compactMap { $0["source"]?.string } ?? [])
    #expect(Set(after?["sources"]?.object?.keys.map { $0 } ?? []) == sources.union(needed))
    let areasAfter = try server.state("/views")["/views"]?.object?.keys.sorted().map {
      try server.call("view/getVisibleArea", ["view": .string($0)])["polygon"]
    }
    #expect(areas == areasAfter)
    #expect(try isModified == false)
    let layers = after?["layers"]?.object?.filter { $0.value["kind"] != "group" } ?? [:]
    for layer in needed.isEmpty ? [] : layers.keys.sorted() {
      #expect(try server.call("layer/load", ["layer": .string(layer)])["featureCount"] == 1)
    }

    let other = try MemoryServer()
    try other.call("clock/set", ["mode": "manual"])
    try other.call("document/open", ["path": .string(folder.path("a.json"))])
    #expect(
      savedState(try other.state("")[""], keeping: sources) == savedState(before, keeping: sources))
    try other.call("document/saveAs", ["path": .string(folder.path("b.json"))])
    #expect(try folder.text("b.json") == (try folder.text("a.json")))
    #expect(try folder.names == ["a.json", "b.json"])
  }

  @Test(arguments: UInt64(0)..<12)
  func `replicas equal the model after a document is opened`(seed: UInt64) throws {
    var edits = RandomEdits(server, seed: seed)
    edits.hasFlow = true
    for _ in 0..<60 { try edits.step() }
    try saveAs("a.json")
    for _ in 0..<20 { try edits.step() }
    var observers: [Observer] = []
    for patterns in [
      [""], ["/views"], ["/overlays", "/maps"], ["/document", "/edit"], ["/overlays/*/graphicCount"],
      ["/overlays/*/graphics/*"], ["/views/*/viewpoint/targetScale"], ["/layers/*/loadStatus/type"], ["/*/*/name"],
    ] {
      let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    _ = try server.takeMessages()
    for (method, params) in [
      ("document/open", ["path": .string(folder.path("a.json"))] as Value), ("document/revert", [:]),
      ("document/new", [:]),
    ] {
      server.record = []
      try server.call(method, params)
      _ = try server.takeMessages()
      for message in server.record ?? [] {
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      for observer in observers { try observer.check(server, "seed \(seed), \(method), \(observer.patterns)") }
    }
  }

  // MARK: What counts as modified

  @Test func `a document is modified until it is saved, undone back to what was saved, or opened again`() throws {
    #expect(try isModified == false)
    try server.call("map/create", ["id": "m"])
    #expect(try isModified == true)
    try saveAs("a.json")
    #expect(try isModified == false)
    try server.call("map/update", ["map": "m", "title": "t"])
    #expect(try isModified == true)
    try server.call("edit/undo")
    #expect(try isModified == false)
    try server.call("edit/undo")
    #expect(try isModified == true)
    try server.call("edit/redo")
    #expect(try isModified == false)
    try server.call("edit/redo")
    #expect(try server.call("document/save")["isModified"] == false)
    try server.call("edit/undo")
    #expect(try isModified == true)
    try server.call("document/revert")
    #expect(try isModified == false)
    #expect(try server.call("map/get", ["map": "m"])["title"] == "t")
    #expect(try server.refusal("edit/undo")["kind"] == "nothingToUndo")
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("document/save")
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 500]])
    #expect(try isModified == false)
  }

  @Test func `a command during a save leaves the document modified, and a later save wins`() throws {
    let server = try MemoryServer(.stepped)
    func run() { server.loop.runOffloaded() }
    server.request("map/create", ["id": "m", "title": "one"])
    let path: Value = .string(folder.path("a.json"))
    let first = server.request("document/saveAs", ["path": path])
    server.request("map/update", ["map": "m", "title": "two"])
    run()
    #expect(try server.response(to: first)?["result"]?["isModified"] == true)
    #expect(try folder.text("a.json").contains("\"one\""))
    let second = server.request("document/save")
    server.request("map/update", ["map": "m", "title": "three"])
    let third = server.request("document/save")
    run()
    #expect(try server.response(to: second)?["result"] != nil)
    #expect(try server.response(to: third)?["result"]?["isModified"] == false)
    #expect(try folder.text("a.json").contains("\"three\""))
    let late = server.request("document/save")
    server.request("document/new")
    run()
    // The document has been replaced: the result contains the file that was written.
    #expect(try server.response(to: late)?["result"]?["path"] == path)
    #expect(try server.call("document/get")["path"] == nil)
  }

  @Test func `a newer open supersedes one in progress, and document/new cancels it`() throws {
    let server = try MemoryServer(.stepped)
    try folder.write(#"{"format": "geomodel-document", "version": 1, "maps": [{"map": "a"}]}"#, to: "a.json")
    try folder.write(#"{"format": "geomodel-document", "version": 1, "maps": [{"map": "b"}]}"#, to: "b.json")
    func open(_ name: String) -> Value { server.request("document/open", ["path": .string(folder.path(name))]) }
    let first = open("a.json")
    let second = open("b.json")
    #expect(try server.errorKind(of: first) == "superseded")
    let joined = open("b.json")
    server.loop.runOffloaded()
    #expect(try server.response(to: second)?["result"] == (try server.response(to: joined)?["result"]))
    #expect(try server.state("/maps")["/maps"]?.object?.keys.sorted() == ["b"])
    let third = open("a.json")
    try server.call("document/new")
    #expect(try server.errorKind(of: third) == "cancelled")
    server.loop.runOffloaded()
    #expect(try server.state("/maps")["/maps"] == [:])
  }

  @Test func `saving keeps the file's mode, and a symbolic link`() throws {
    try saveAs("a.json")
    let path = folder.path("a.json")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    try FileManager.default.createSymbolicLink(atPath: folder.path("link.json"), withDestinationPath: path)
    try server.call("map/create", ["id": "m"])
    try saveAs("link.json")
    #expect(try folder.text("a.json").contains("\"m\""))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? Int) == 0o640)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.json")) == path)
    #expect(try folder.names == ["a.json", "link.json"])
  }

  @Test func `status and derived properties do not modify the document, other values do`() throws {
    let properties: Value = [
      ["name": "work", "type": "status"], ["name": "a", "type": "integer"],
      ["name": "far", "type": "integer", "derived": ["expression": "n", "inputs": ["n": "/views/v/width"]]],
    ]
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("viewModel/create", ["id": "x", "properties": properties])
    try saveAs("a.json")
    try server.call("viewModel/set", ["viewModel": "x", "values": ["work": ["type": "processing"]]])
    #expect(try isModified == false)
    try server.call("viewModel/set", ["viewModel": "x", "values": ["a": 1]])
    #expect(try isModified == true)
    try server.call("document/revert")
    #expect(
      try server.call("viewModel/get", ["viewModel": "x"])["values"] == ["work": ["type": "empty"], "a": 0, "far": 800])
  }

  @Test func `ids of closed objects can be used again in another document`() throws {
    try server.call("map/create", ["id": "m"])
    try saveAs("a.json")
    try server.call("map/close", ["map": "m"])
    #expect(try server.refusal("source/openInline", ["id": "m", "data": [:]])["kind"] == "idExists")
    try open("a.json")
    #expect(try server.call("map/get", ["map": "m"])["map"] == "m")
    let minted = try #require(try server.call("map/create")["map"]?.string)
    try server.call("document/new")
    #expect(try server.call("map/create")["map"]?.string != minted)
    #expect(try server.call("map/create", ["id": "m", "title": "new"])["title"] == "new")
    try server.call("map/close", ["map": "m"])
    // Undo could restore the object.
    #expect(try server.refusal("source/openInline", ["id": "m", "data": [:]])["kind"] == "idExists")
    try open("a.json")
    #expect(try server.refusal("map/create", ["id": "m"])["kind"] == "idExists")
    #expect(try server.call("map/get", ["map": "m"])["title"] == nil)
    #expect(try server.call("map/create", ["id": .string(minted)])["map"]?.string == minted)
    // A generated id is never one that was used before.
    try server.call("document/new")
    for _ in 0..<3 { #expect(try server.call("map/create")["map"]?.string != minted) }
  }
}

extension Value {
  /// Maps each object of an object of objects.
  func mapped(_ change: ([String: Value]) -> [String: Value]) -> Value {
    .object((object ?? [:]).mapValues { .object(change($0.object ?? [:])) })
  }
}

/// The part of the state tree that documents contain.
func savedState(_ tree: Value?, keeping sources: Set<String>) -> Value {
  guard case .object(var members)? = tree else { return .null }
  for name in ["locationSources", "edit", "document", "bindings", "links"] { members[name] = nil }
  members["viewModels"] = members["viewModels"]?.mapped { model in
    var model = model
    model["work"] = nil
    return model
  }
  members["environments"] = .object(
    (members["environments"]?.object ?? [:]).filter { id, scope in
      id == "$session" || [scope["values"], scope["objects"]] != [[:], [:]]
    })
  members["layers"] = members["layers"]?.mapped { layer in
    var layer = layer
    // A loaded layer keeps the fields that its source had.
    for name in ["loadStatus", "featureCount", "extent", "selectedCount", "fields"] { layer[name] = nil }
    // A closed source has the id NAME-2 in a document in which a later one is NAME.
    if let id = layer["source"]?.string, let number = id.firstRange(of: /-[0-9]+$/) {
      layer["source"] = .string(String(id[..<number.lowerBound]))
    }
    return layer
  }
  members["entitySources"] = members["entitySources"]?.mapped { source in
    var source = source
    for name in ["status", "replayFactor", "entityCount", "observationCount", "extent", "counts"] { source[name] = nil }
    return source
  }
  let ids = Set(["locationSources", "entitySources", "overlays", "layers"].flatMap { tree?[$0]?.object?.keys.map { $0 } ?? [] })
  members["geotriggers"] = members["geotriggers"]?.mapped { monitor in
    var monitor = monitor
    for name in ["status", "warnings", "insideCount", "eventCount", "lateCount", "inaccurateCount"] { monitor[name] = nil }
    for name in ["feed", "fences"] where monitor[name]?.string.map(ids.contains) != true { monitor[name] = .null }
    return monitor
  }
  for name in ["maps", "scenes"] {
    members[name] = members[name]?.mapped { container in
      var container = container
      container["loadStatus"] = nil
      return container
    }
  }
  members["views"] = members["views"]?.mapped { view in
    var view = view
    for name in ["isNavigating", "layerViewStates", "cameraController"] { view[name] = nil }
    if case .object(var display)? = view["locationDisplay"] {
      for name in ["source", "autoPanMode"] { display[name] = nil }
      view["locationDisplay"] = .object(display)
    }
    return view
  }
  // Opening restores closed sources that layers need.
  members["sources"] = .object((members["sources"]?.object ?? [:]).filter { sources.contains($0.key) })
  return .object(members)
}
