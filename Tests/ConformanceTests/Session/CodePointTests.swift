// Texts are compared by code points: one in another Unicode normalization is a different value, which is kept, sent, undone and saved.

import Foundation
import TestSupport
import Testing

/// One way to set a client's text, and the member of the schema that contains it.
struct TextSetting: Sendable, CustomTestStringConvertible {
  /// `method.param`, or `Type.member`; elements of lists with `[]`.
  let member: String
  let method: String
  let params: @Sendable (_ text: String) -> Value
  /// Distinguishes several settings of one member.
  let note: String
  var testDescription: String { note.isEmpty ? member : "\(member), \(note)" }

  init(
    _ member: String, _ method: String, _ note: String = "", _ params: @escaping @Sendable (_ text: String) -> Value
  ) {
    (self.member, self.method, self.note, self.params) = (member, method, note, params)
  }
}

struct CodePointTests {
  /// An e with an acute accent in one code point, and in two.
  static let (one, two) = ("\u{E9}", "e\u{301}")

  // MARK: Members with texts

  /// The commands whose params are checked for texts, beside those that the definition says set members of an object.
  private static let setters = ["overlay/updateGraphics", "viewModel/set", "environment/set"]

  /// Members whose strings are not free text.
  private static let others: Set<String> = [
    "viewModel/set.clear[]", "viewModel/set.path",
    // Instants, and definitions that libraries parse.
    "TimeExtent.startTime", "TimeExtent.endTime", "Viewpoint.center", "Viewpoint.geometry",
    "Viewpoint.spatialReference",
  ]

  private static let marker: Value = ["type": "simpleMarker"]

  private static func renderer(_ members: [String: Value]) -> Value {
    .object(["layer": "l", "renderer": .object(members)])
  }
  private static func textSymbol(_ member: String, _ text: String) -> Value {
    .object(["type": "text", "text": "x", "color": "#000000"].merging([member: .string(text)]) { $1 })
  }

  /// Members that are texts and nothing else are set as they are; others, and parts of members, have settings of their own.
  static let settings: [TextSetting] = own + ((try? TextMembers().plain(except: own.map(\.member))) ?? [])

  private static let own: [TextSetting] =
    [
      .init("BasemapUpdate.name", "map/update") { ["map": "m", "basemap": ["name": .string($0)]] },
      .init("NewBookmark.name", "map/update") {
        let viewpoint: Value = [
          "type": "centerAndScale", "center": ["type": "Point", "coordinates": [1, 2]], "targetScale": 1000,
        ]
        return ["map": "m", "bookmarks": [["id": "b", "name": .string($0), "viewpoint": viewpoint]]]
      },
      .init("layer/update.definitionExpression", "layer/update") {
        ["layer": "l", "definitionExpression": .string("name = '\($0)'")]
      },
      .init("LayerTime.startField", "layer/update") { ["layer": "l", "time": ["startField": .string("day \($0)")]] },
      .init("LayerTime.endField", "layer/update") {
        ["layer": "l", "time": ["startField": "start", "endField": .string("day \($0)")]]
      },
    ] + symbology + flow + fencing

  private static let fencing: [TextSetting] = [
    .init("geotrigger/update.whereClause", "geotrigger/update") {
      ["geotrigger": "zoneWatch", "whereClause": .string("name = '\($0)'")]
    },
    .init("geotrigger/update.condition", "geotrigger/update") {
      ["geotrigger": "zoneWatch", "condition": .string("feed.object = '\($0)'")]
    },
    .init("geotrigger/update.message", "geotrigger/update") {
      ["geotrigger": "zoneWatch", "message": .string("concat(type, '\($0)')")]
    },
    .init("geotrigger/update.actions[]", "geotrigger/update") { ["geotrigger": "zoneWatch", "actions": [.string($0)]] },
    .init("FenceSequence.steps[]", "geotrigger/update") {
      ["geotrigger": "zoneWatch", "sequence": ["steps": [.string("name = '\($0)'"), "name = 'b'"], "within": 60]]
    },
  ]

  private static let symbology: [TextSetting] = [
    .init("Renderer.label", "layer/update") {
      renderer(["type": "simple", "symbol": marker, "label": .string($0)])
    },
    .init("Renderer.description", "layer/update") {
      renderer(["type": "simple", "symbol": marker, "description": .string($0)])
    },
    .init("Renderer.fields[]", "layer/update") {
      renderer([
        "type": "uniqueValue", "fields": [.string($0)], "uniqueValues": [["values": [1], "symbol": marker]],
      ])
    },
    .init("UniqueValue.values[]", "layer/update") {
      renderer([
        "type": "uniqueValue", "fields": ["name"], "uniqueValues": [["values": [.string($0)], "symbol": marker]],
      ])
    },
    .init("UniqueValue.label", "layer/update") {
      let entry: Value = ["values": ["a"], "symbol": marker, "label": .string($0)]
      return renderer(["type": "uniqueValue", "fields": ["name"], "uniqueValues": [entry]])
    },
    .init("UniqueValue.description", "layer/update") {
      let entry: Value = ["values": ["a"], "symbol": marker, "description": .string($0)]
      return renderer(["type": "uniqueValue", "fields": ["name"], "uniqueValues": [entry]])
    },
    .init("Renderer.expression", "layer/update") {
      renderer([
        "type": "uniqueValue", "expression": .string("concat(name, '\($0)')"),
        "uniqueValues": [["values": ["a"], "symbol": marker]],
      ])
    },
    .init("Renderer.defaultLabel", "layer/update") {
      renderer([
        "type": "uniqueValue", "fields": ["name"], "uniqueValues": [["values": ["a"], "symbol": marker]],
        "defaultSymbol": marker, "defaultLabel": .string($0),
      ])
    },
    .init("Renderer.field", "layer/update") {
      renderer(["type": "classBreaks", "field": .string($0), "breaks": [["maxValue": 1, "symbol": marker]]])
    },
    .init("Renderer.normalizationField", "layer/update") {
      renderer([
        "type": "classBreaks", "field": "size", "normalizationField": .string($0),
        "breaks": [["maxValue": 1, "symbol": marker]],
      ])
    },
    .init("ClassBreak.label", "layer/update") {
      renderer([
        "type": "classBreaks", "field": "size",
        "breaks": [["maxValue": 1, "symbol": marker, "label": .string($0)]],
      ])
    },
    .init("ClassBreak.description", "layer/update") {
      renderer([
        "type": "classBreaks", "field": "size",
        "breaks": [["maxValue": 1, "symbol": marker, "description": .string($0)]],
      ])
    },
    .init("RasterClass.label", "layer/update") {
      let entry: Value = ["maxValue": 1, "color": "#00FF00", "label": .string($0)]
      return ["layer": "r", "rasterRenderer": ["type": "classified", "classes": [entry]]]
    },
    .init("RasterColor.label", "layer/update") {
      let entry: Value = ["value": 1, "color": "#00FF00", "label": .string($0)]
      return ["layer": "r", "rasterRenderer": ["type": "colormap", "colors": [entry]]]
    },
    .init("VisualVariable.field", "layer/update") {
      let variable: Value = [
        "type": "size", "field": .string($0), "stops": [["value": 1, "size": 4], ["value": 2, "size": 20]],
      ]
      return renderer(["type": "simple", "symbol": marker, "visualVariables": [variable]])
    },
    .init("VisualVariable.expression", "layer/update") {
      let variable: Value = [
        "type": "size", "expression": .string("\"\($0)\" * 2"),
        "stops": [["value": 1, "size": 4], ["value": 2, "size": 20]],
      ]
      return renderer(["type": "simple", "symbol": marker, "visualVariables": [variable]])
    },
    .init("Symbol.text", "layer/update") { renderer(["type": "simple", "symbol": textSymbol("text", $0)]) },
    .init("Symbol.fontFamily", "layer/update") {
      renderer(["type": "simple", "symbol": textSymbol("fontFamily", $0)])
    },
    .init("LabelDefinition.expression", "layer/update") {
      ["layer": "l", "labels": [["expression": .string("concat(name, '\($0)')")]]]
    },
    .init("LabelDefinition.whereClause", "layer/update") {
      ["layer": "l", "labels": [["expression": "name", "whereClause": .string("name = '\($0)'")]]]
    },
    .init("Statistic.name", "layer/update") { aggregated("sum \($0)", by: "size") },
    .init("Statistic.field", "layer/update") { aggregated("sum", by: $0) },
    .init("PopupDefinition.title", "layer/update") { ["layer": "l", "popup": ["title": .string("{name} \($0)")]] },
    .init("PopupElement.field", "layer/update") { ["layer": "l", "popup": ["elements": [["field": .string($0)]]]] },
    .init("PopupElement.label", "layer/update") {
      ["layer": "l", "popup": ["elements": [["field": "name", "label": .string($0)]]]]
    },
    .init("PopupElement.format", "layer/update") {
      ["layer": "l", "popup": ["elements": [["field": "size", "format": .string("%d \($0)")]]]]
    },
    .init("PopupElement.expression", "layer/update") {
      ["layer": "l", "popup": ["elements": [["expression": .string("concat(name, '\($0)')")]]]]
    },
    .init("overlay/updateGraphics.graphics[]", "overlay/updateGraphics", "an attribute") {
      ["overlay": "o", "graphics": [["id": 1, "attributes": ["name": .string($0)]]]]
    },
    .init("overlay/updateGraphics.graphics[]", "overlay/updateGraphics", "JSON in an attribute") {
      ["overlay": "o", "graphics": [["id": 1, "attributes": ["name": [.string($0)]]]]]
    },
    .init("overlay/updateGraphics.graphics[]", "overlay/updateGraphics", "the symbol") {
      ["overlay": "o", "graphics": [["id": 1, "symbol": textSymbol("text", $0)]]]
    },
  ]

  private static let flow: [TextSetting] = [
    .init("viewModel/set.value", "viewModel/set") {
      ["viewModel": "v1", "path": "/dictionary/a", "value": .string($0)]
    },
    .init("viewModel/set.value", "viewModel/set", "a name") {
      ["viewModel": "v1", "path": "/dictionary", "value": .object([$0: 1])]
    },
    values("text") { .string($0) }, values("json") { .string($0) }, values("json") { [.string($0)] },
    values("json") { .object([$0: 1]) }, values("json") { ["a": ["b": [.string($0)]]] },
    values("list") { [.string($0), "z"] }, values("list") { [["id": .string($0), "a": 1]] },
    values("list") { [["id": "x", "a": .string($0)]] }, values("dictionary") { ["a": .string($0)] },
    values("dictionary") { .object([$0: ["a": 1]]) },
    .init("environment/set.value", "environment/set") { ["key": "word", "value": .string($0)] },
    .init("environment/set.value", "environment/set", "at an object") {
      ["key": "words", "node": "l", "value": [.string($0)]]
    },
  ]

  private static func aggregated(_ name: String, by field: String) -> Value {
    let aggregate: Value = ["name": .string(name), "type": "max", "field": .string(field)]
    return ["layer": "l", "featureReduction": ["aggregateFields": [aggregate]]]
  }

  private static func values(_ name: String, _ value: @escaping @Sendable (String) -> Value) -> TextSetting {
    .init("viewModel/set.values", "viewModel/set", "\(name): \(value("e"))") {
      ["viewModel": "v1", "values": .object([name: value($0)])]
    }
  }

  // MARK: The server

  private let folder: TemporaryFolder
  private let server: MemoryServer

  init() throws {
    folder = try TemporaryFolder()
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    try server.call("map/create", ["id": "m"])
    try server.call("scene/create", ["id": "sc"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let point: Value = ["type": "Point", "coordinates": [1, 2]]
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": [["id": 1, "geometry": point]]])
    // The two normalizations of a name are two fields.
    let properties: Value = ["name": "a", "size": 1, "start": "2020-01-01", "other": 3, "day other": "2020-01-04"]
    let feature: Value = ["type": "Feature", "geometry": point, "properties": properties]
    let twins = #""\#(Self.one)":1,"\#(Self.two)":2,"day \#(Self.one)":"2020-01-02","day \#(Self.two)":"2020-01-03","#
    let data = feature.text.replacing(#""properties":{"#, with: #""properties":{\#(twins)"#)
    server.send(
      text: #"{"jsonrpc":"2.0","id":"s","method":"source/openInline","params":{"id":"s","data":\#(data)}}"#)
    #expect(try server.response(to: "s")?["error"] == nil)
    try server.call("layer/add", ["map": "m", "source": "s", "id": "l"])
    try server.call("layer/load", ["layer": "l"])
    try server.call("layer/addRaster", ["map": "m", "path": "/data/r.tif", "id": "r"])
    let types = ["text": "string", "json": "json", "list": "list", "dictionary": "dictionary"]
    try server.call(
      "viewModel/create",
      ["id": "v1", "properties": .array(types.map { ["name": .string($0.key), "type": .string($0.value)] })])
    try server.call("environment/register", ["key": "word", "type": "string"])
    try server.call("environment/register", ["key": "words", "type": "list"])
    // What the examples name.
    try server.call("overlay/create", ["id": "zones", "view": "v"])
    let line: Value = ["type": "LineString", "coordinates": [[0, 0], [1, 0]]]
    try server.call("location/createSimulated", ["id": "drive", "line": line])
    for (method, params) in try TextMembers().examples { try server.call(method, params) }
  }

  /// The number of combining accents in the model.
  private func accents() throws -> Int {
    try server.worldText().unicodeScalars.count { $0 == "\u{301}" }
  }

  private func steps() throws -> Int { try server.call("edit/history")["undo"]?.array?.count ?? -1 }

  @Test(arguments: settings)
  func `a text in another normalization is kept, sent, a step of history, undone and saved`(setting: TextSetting) throws
  {
    func set(_ text: String) throws { try server.call(setting.method, setting.params(text)) }
    var replicas: [(name: String, replica: Replica)] = []
    for (name, more) in [
      ("at once", [:]), ("at a rate", ["maxRate": 1]), ("deferred", ["edits": "deferred"]),
    ] as [(String, [String: Value])] {
      let params = more.merging(["paths": [""]]) { $1 }
      replicas.append((name, try Replica(try server.call("state/observe", .object(params)))))
    }
    func check(_ moment: String) throws {
      // Rate limits run by the manual clock.
      try server.call("clock/advance", ["seconds": 2])
      let messages = try server.takeMessages()
      for index in replicas.indices { for message in messages { try replicas[index].replica.apply(message) } }
      let world = try server.worldText()
      for (name, replica) in replicas {
        #expect(replica.root.text.utf8.elementsEqual(world.utf8), "\(name), \(moment)")
      }
    }
    if setting.note.hasPrefix("dictionary") || setting.member == "viewModel/set.value" { try set("a") }
    try set(Self.one)
    try check("first")
    try server.call("document/saveAs", ["path": .string(folder.path("a.json"))])
    try check("saved")
    let (accents, steps) = (try accents(), try steps())

    try set(Self.two)
    #expect(try self.accents() > accents, "it is not kept")
    #expect(try self.steps() == steps + 1)
    #expect(try server.call("document/get")["isModified"] == true)
    try check("other normalization")
    try set(Self.two)
    #expect(try self.steps() == steps + 1, "an equal text is a step")

    try server.call("edit/undo")
    #expect(try self.accents() == accents)
    #expect(try server.call("document/get")["isModified"] == false)
    try check("undone")
    try server.call("edit/begin")
    try set("other")
    try set(Self.two)
    try server.call("edit/end")
    #expect(try self.steps() == steps + 1)
    try check("in an edit")

    try server.call("document/save")
    let saved = try folder.text("a.json")
    let kept = try server.worldText()
    try server.call("document/open", ["path": .string(folder.path("a.json"))])
    try server.call("layer/load", ["layer": "l"])
    #expect(try self.accents() == kept.unicodeScalars.count { $0 == "\u{301}" })
    try check("opened")
    try server.call("document/save")
    #expect(try folder.text("a.json").utf8.elementsEqual(saved.utf8), "saved again it is another text")
  }

  // MARK: Completeness

  @Test func `settings covers every text that a command can set`() throws {
    let known = Set(Self.settings.map(\.member)).union(Self.others)
    let members = try TextMembers().all(and: Self.setters)
    #expect(members.count > 40)
    for member in members.sorted() where !known.contains(member) {
      Issue.record("\(member) is a text: add a setting for it to CodePointTests")
    }
  }

  @Test func `file names in two normalizations are two files`() throws {
    for name in [Self.one, Self.two] {
      try server.call("map/update", ["map": "m", "title": .string(name)])
      try server.call("document/saveAs", ["path": .string(folder.path(name + ".json"))])
    }
    try server.call("map/update", ["map": "m", "title": "third"])
    let path = try #require(try server.call("document/save")["path"]?.string)
    #expect(path.utf8.elementsEqual(folder.path(Self.two + ".json").utf8))
    #expect(try folder.text(Self.two + ".json").contains(#""third""#))
    #expect(!(try folder.text(Self.one + ".json").contains(#""third""#)))
  }

  @Test func `paths into a value compare names by code points`() throws {
    try server.call("viewModel/set", ["viewModel": "v1", "values": ["json": .object([Self.one: "a"])]])
    let path = "/viewModels/v1/json/" + Self.two
    var replica = try Replica(try server.call("state/observe", ["paths": [.string(path)]]))
    #expect(replica.root == [:])
    server.send(
      text: #"{"jsonrpc":"2.0","id":"x","method":"viewModel/set","params":{"viewModel":"v1","values":"#
        + #"{"json":{"\#(Self.one)":"b","\#(Self.two)":"c"}}}}"#)
    #expect(try server.response(to: "x")?["error"] == nil)
    for message in try server.takeMessages() { try replica.apply(message) }
    #expect(replica.root["viewModels"]?["v1"]?["json"]?[Self.two] == "c")
    #expect(try server.state(path)[path] == "c")
    // A combining mark after a slash does not hide the slash.
    let mark = "\u{301}/~"
    try server.call("viewModel/set", ["viewModel": "v1", "values": ["json": .object([mark: "d"])]])
    #expect(try server.state("/viewModels/v1/json/\u{301}~1~0") == ["/viewModels/v1/json/\u{301}~1~0": "d"])
  }

  @Test func `elements observed one by one are removed from the end`() throws {
    let long: Value = .array((0..<12).map { .integer($0) })
    try server.call("viewModel/set", ["viewModel": "v1", "values": ["json": long]])
    var replica = try Replica(try server.call("state/observe", ["paths": ["/viewModels/v1/json/*"]]))
    try server.call("viewModel/set", ["viewModel": "v1", "values": ["json": [0]]])
    for message in try server.takeMessages() {
      let paths = (message["params"]?["changes"]?.array ?? []).compactMap { $0["path"]?.string }
      #expect(paths == (1..<12).reversed().map { "/viewModels/v1/json/\($0)" })
      try replica.apply(message)
    }
    #expect(replica.deltas == 1)
  }

  @Test func `exceptOrigin compares origins by code points`() throws {
    var replica = try Replica(
      try server.call("state/observe", ["paths": ["/maps/m/title"], "exceptOrigin": .string(Self.one)]))
    try server.call("map/update", ["map": "m", "title": "a", "meta": ["origin": .string(Self.one)]])
    try server.call("map/update", ["map": "m", "title": "b", "meta": ["origin": .string(Self.two)]])
    for message in try server.takeMessages() { try replica.apply(message) }
    #expect(replica.deltas == 1)
  }
}

/// The members of the schema that are strings without a pattern.
struct TextMembers {
  private var types: [String: Value] = [:]
  private var methods: [String: Value] = [:]

  init() throws {
    let folder = repository.appending(path: "Protocol/domains")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".json") {
      let domain = try Value(String(contentsOf: folder.appending(path: name), encoding: .utf8))
      for type in domain["types"]?.array ?? [] { types[type["name"]?.string ?? ""] = type }
      for method in domain["methods"]?.array ?? [] { methods[method["name"]?.string ?? ""] = method }
    }
  }

  /// The commands that set members of objects by name, each with the object in these tests: one of the world above, else that of the
  /// example of its domain's `create`.
  private var updates: [(method: String, noun: String, id: String)] {
    let known = ["map": "m", "scene": "sc", "layer": "l", "overlay": "o", "view": "v"]
    return methods.keys.sorted().filter { $0.hasSuffix("/update") && methods[$0]?["members"] != nil }.compactMap { name in
      let noun = methods[name]?["params"]?.array?.first?["name"]?.string ?? ""
      return (known[noun] ?? example(of: name)?["id"]?.string).map { (name, noun, $0) }
    }
  }

  private func example(of update: String) -> Value? {
    methods[update.replacing("/update", with: "/create")]?["example"]?["params"]
  }

  /// What makes objects that the tests do not.
  var examples: [(method: String, params: Value)] {
    updates.filter { !["map", "scene", "layer", "overlay", "view"].contains($0.noun) }.compactMap { update in
      example(of: update.method).map { (update.method.replacing("/update", with: "/create"), $0) }
    }
  }

  /// Settings of members that are texts.
  func plain(except own: [String]) throws -> [TextSetting] {
    try updates.flatMap { method, noun, id in
      try of([method]).sorted().filter { $0.hasPrefix(method + ".") && !$0.hasSuffix("[]") && !own.contains($0) }
        .map { member in
          let name = String(member.dropFirst(method.count + 1))
          return TextSetting(member, method) { .object([noun: .string(id), name: .string($0)]) }
        }
    }
  }

  /// The members in the params of these methods and of those that set members of objects.
  func all(and names: [String]) throws -> Set<String> {
    try of(names + updates.map(\.method)).filter { !$0.hasSuffix("/update.clear[]") }
  }

  /// The members in the params of methods.
  func of(_ names: [String]) throws -> Set<String> {
    var found: Set<String> = []
    for name in names {
      let method = try #require(methods[name], "there is no \(name)")
      for param in method["params"]?.array ?? [] { collect(param, of: name, [], &found) }
      // The object's settable members are params too; some have another type there.
      for member in method["members"]?.string.flatMap({ types[$0] })?["properties"]?.array ?? [] {
        guard let settable = member["settable"] else { continue }
        let type = settable == true ? member["type"] : settable
        collect(["name": member["name"] ?? .null, "type": type ?? .null], of: name, [], &found)
      }
    }
    return found
  }

  private func collect(_ member: Value, of owner: String, _ above: Set<String>, _ found: inout Set<String>) {
    var type = member["type"] ?? .null
    var path = "\(owner).\(member["name"]?.string ?? "")"
    while let inner = type["array"] ?? type["map"] {
      path += type["array"] == nil ? "{}" : "[]"
      type = inner
    }
    guard let name = type.string else { return }
    if name == "string" || name == "json" {
      if member["pattern"] == nil { found.insert(path) }
      return
    }
    guard let definition = types[name], !above.contains(name) else { return }
    switch definition["kind"]?.string {
    case "string": if definition["pattern"] == nil { found.insert(path) }
    case "opaque": found.insert(path)
    default:
      let parts = [definition] + (definition["variants"]?.array ?? [])
      for member in parts.flatMap({ $0["properties"]?.array ?? [] }) {
        collect(member, of: name, above.union([name]), &found)
      }
    }
  }
}
