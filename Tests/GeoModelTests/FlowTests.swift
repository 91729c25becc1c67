// View models, the environment, and release of what belongs to objects: types, undo, closing.

import Expressions
import GeoModel
import Geometry
import Testing

private func property(
  _ name: String, _ type: PropertyType, isNullable: Bool = false, default value: Value? = nil, derived: String? = nil,
  inputs: [String: String] = [:]
) throws -> PropertyDefinition {
  PropertyDefinition(
    name: name, type: type, isNullable: isNullable, defaultValue: value, doc: nil,
    derivation: try derived.map { try Derivation(expression: try Expression($0), inputs: inputs) })
}

extension World {
  @discardableResult
  fileprivate mutating func makeModel(
    _ id: ViewModelID, _ properties: [PropertyDefinition], owner: ObjectReference? = nil
  ) throws -> ViewModel {
    try command { world throws in
      try world.createViewModel(id: id, type: nil, properties: properties, owner: owner, values: [])
    }
  }

  /// A command and its commit, as in the server.
  @discardableResult
  fileprivate mutating func command<R>(_ body: (inout World) throws -> R) throws -> R {
    begin(origin: .client(nil))
    do {
      let result = try body(&self)
      commit("step")
      return result
    } catch {
      rollBack()
      throw error
    }
  }
}

struct ValueTests {
  @Test func `numbers are equal by value, and objects regardless of member order`() {
    #expect(Value.integer(1) == .number(1))
    #expect(Value.integer(1) != .number(1.5))
    #expect(Value.integer(.max) != .number(0x1p63))
    #expect(Value.object(["a": .integer(1), "b": .null]) == .object(["b": .null, "a": .number(1)]))
    #expect(Value.object(["a": .integer(1)]) != .object(["a": .integer(1), "b": .null]))
    #expect(Value.array([.integer(1), .integer(2)]) != .array([.integer(2), .integer(1)]))
    #expect(Value.string("1") != .integer(1))
  }

  @Test func `parts are set and removed where their path exists`() {
    var value = Value.object(["people": .array([.object(["name": .string("Ann")]), .string("b")])])
    #expect(value.part(at: ["people", "0", "name"]) == .string("Ann"))
    _ = value.setPart(at: ["people", "0", "age"], to: .integer(3))
    #expect(value.part(at: ["people", "0", "age"]) == .integer(3))
    for path: [Text] in [
      ["people", "2"], ["people", "01"], ["people", "-1"], ["nobody", "x"], ["people", "1", "x"],
    ] {
      let before = value
      let isSet = value.setPart(at: path, to: .null)
      #expect(!isSet, "\(path)")
      #expect(value == before)
    }
    _ = value.setPart(at: ["people", "0"], to: nil)
    #expect(value == .object(["people": .array([.string("b")])]))
    let isTaken = value.setPart(at: ["nobody"], to: nil)
    #expect(!isTaken)
  }

  @Test func `paths are JSON Pointers without wildcards`() throws {
    let path = try #require(ModelPath(pointer: "/viewModels/x/a~1b~0c/0"))
    #expect(path.names == ["viewModels", "x", "a/b~c", "0"])
    #expect(path.description == "/viewModels/x/a~1b~0c/0")
    #expect(path.object == ObjectReference(.viewModels, "x"))
    for text in ["", "viewModels", "/views/*/dpi", "/a~2"] { #expect(ModelPath(pointer: text) == nil, "\(text)") }
  }
}

struct ViewModelTests {
  @Test func `undo restores what the step changed and keeps later changes of other origins`() throws {
    var world = World.manual()
    try world.makeModel("x", [property("a", .integer), property("b", .integer)])
    try world.command { try $0.setValues(of: "x", [("a", .integer(1))]) }
    // As when time moves a linked property: not a step.
    world.begin(origin: .animation)
    try world.setValues(of: "x", [("b", .integer(7))])
    _ = world.takeChanges()
    try world.command { try $0.undo() }
    #expect(world.viewModels["x"]?.values == ["a": .integer(0), "b": .integer(7)])
    try world.command { try $0.redo() }
    #expect(world.viewModels["x"]?.values == ["a": .integer(1), "b": .integer(7)])
  }

  @Test func `a command that fails midway leaves values unchanged, without records`() throws {
    var world = World.manual()
    try world.makeModel("x", [property("a", .integer)])
    _ = world.takeChanges()
    let revision = world.revision
    #expect(throws: ModelError.self) {
      try world.command { world in
        try world.setValues(of: "x", [("a", .integer(1))])
        try world.setEnvironment("units", at: nil, to: .string("imperial"))
        try world.close(ViewModelID("x"))
        try world.setEnvironment("units", at: nil, to: .integer(1))
      }
    }
    #expect(world.viewModels["x"]?.values == ["a": .integer(0)])
    #expect(world.environment("units", at: nil) == .string("metric"))
    #expect(world.revision == revision)
    #expect(!world.hasChanges)
  }

  @Test func `a drag over one property keeps only the first value and is one step`() throws {
    var world = World.manual()
    try world.makeModel("x", [property("a", .integer)])
    try world.command { try $0.beginEdit("drag") }
    for value in 1...1000 { try world.command { try $0.setValues(of: "x", [("a", .integer(Int64(value)))]) } }
    #expect(world.history.byteCount < 10_000)
    try world.command { try $0.endEdit() }
    try world.command { try $0.undo() }
    #expect(world.viewModels["x"]?.values["a"] == .integer(0))
  }

  @Test func `dependents of an object close with it, and undo restores what it can`() throws {
    var world = World.manual()
    try world.command { try $0.createMap(id: "m", title: nil, reference: .webMercator) }
    let map = ObjectReference(.maps, "m")
    try world.makeModel("own", [property("n", .integer)], owner: map)
    try world.makeModel("other", [property("map", .reference)])
    try world.command { world in
      try world.setValues(of: "other", [("map", .string("m"))])
      try world.setEnvironment("units", at: map, to: .string("imperial"))
      try world.provide("own", as: "shared", at: map)
    }
    _ = world.takeChanges()
    try world.command { try $0.close(MapID("m")) }
    #expect(world.viewModels["own"] == nil)
    #expect(world.environments["m"] == nil)
    #expect(world.viewModels["other"]?.values["map"] == .null)
    try world.command { try $0.undo() }
    #expect(world.viewModels["own"] != nil)
    #expect(world.viewModels["other"]?.values["map"] == .string("m"))
    #expect(world.environment("units", at: map) == .string("imperial"))
    #expect(try world.resolve("shared", at: map).model.id == "own")
  }

  @Test func `overlays and environment values of a closed view are not restored`() throws {
    var world = World.manual()
    let view = try world.makeView()
    try world.command { try $0.createOverlay(id: "o", on: view, reference: .wgs84) }
    let overlay = ObjectReference(.overlays, "o")
    try world.makeModel("own", [property("n", .integer)], owner: overlay)
    try world.command { try $0.setEnvironment("units", at: overlay, to: .string("imperial")) }
    try world.command { try $0.setValues(of: "own", [("n", .integer(1))]) }
    try world.command { try $0.closeView(view) }
    while world.history.canUndo { try world.command { try $0.undo() } }
    #expect(world.viewModels.count == 0)
    #expect(world.environments.ids == [EnvironmentScope.session])
  }
}

struct EnvironmentTests {
  @Test func `exactly the nodes with another value are notified`() throws {
    var world = World.manual()
    let view = try world.makeView()
    try world.command { try $0.createOverlay(id: "o", on: view, reference: .wgs84) }
    let node = ObjectReference(.views, view.rawValue)
    _ = world.takeChanges()
    func set(_ text: String, at node: ObjectReference?) throws -> [String] {
      try world.command { try $0.setEnvironment("units", at: node, to: .string(text)) }
      return world.takeChangeDescriptions().filter { $0.hasSuffix(".environment") }.sorted()
    }
    #expect(
      try set("imperial", at: nil) == [
        "environments/$session.environment", "maps/m.environment", "overlays/o.environment", "views/v.environment",
      ])
    #expect(try set("imperial", at: node) == [])
    #expect(try set("metric", at: node) == ["overlays/o.environment", "views/v.environment"])
    #expect(try set("metric", at: nil) == ["environments/$session.environment", "maps/m.environment"])
    try world.command { try $0.undo() }
    #expect(
      world.takeChangeDescriptions().filter { $0.hasSuffix(".environment") }.sorted() == [
        "environments/$session.environment", "maps/m.environment",
      ])
  }
}

struct DependentTests {
  @Test(arguments: [false, true]) func `a change reads only the links of its member, or of the part that a link wrote`(
    ofParts: Bool
  ) throws {
    var world = World.manual()
    let count = 400
    let names = (0..<count).map { "p\($0)" }
    var parts = Value.object([:])
    for name in names { _ = parts.setPart(at: [Text(name)], to: .integer(0)) }
    try world.makeModel(
      "m", ofParts ? [try property("v", .json, default: parts)] : names.map { try property($0, .integer) })
    let object = ObjectReference(.viewModels, "m")
    let paths = names.map { ofParts ? ModelPath(object, "v").appending($0) : ModelPath(object, $0) }
    var reads = 0
    func read(_ path: ModelPath, _ world: World) -> Value? {
      reads += 1
      return world.viewModels["m"]?.value(of: path.names[2].string)?.part(at: Array(path.names.dropFirst(3)))
    }
    try world.command { (world) throws in
      for (first, second) in zip(paths, paths.dropFirst()) {
        try world.link(id: nil, first, second, isTwoWay: true, transform: nil, inverse: nil, owner: nil)
      }
      #expect(world.takeDependents(read) { _ in nil }.count == count - 1)
    }
    reads = 0
    try world.command { (world) throws in
      let before = world.recordedCount
      var changed = parts
      _ = changed.setPart(at: [Text(names[7])], to: .integer(1))
      try world.setValues(of: "m", [(name: ofParts ? "v" : names[7], value: ofParts ? changed : .integer(1))])
      let part = ofParts ? paths[7] : nil
      let due = world.takeDependents(read) { index in index < before ? nil : (link: LinkID("nobody"), part: part) }
      #expect(due.count == 2, "the links before and behind it")
    }
    #expect(reads <= 8)
  }
}
