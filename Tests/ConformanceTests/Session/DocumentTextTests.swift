// The text of documents: valid by the schema, stable, with unknown members kept, and robust against invalid text.

import Foundation
import JSON
import TestSupport
import Testing

struct DocumentTextTests {
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

  @Test(.enabled(if: hasJSONSchema), arguments: UInt64(0)..<4)
  func `saved documents are valid by the schema`(seed: UInt64) throws {
    var edits = RandomEdits(server, seed: seed)
    edits.hasFlow = true
    for _ in 0..<80 { try edits.step() }
    try server.call("source/open", ["path": "Tests/Fixtures/naturalearth_110m.gpkg", "id": "world"])
    try server.call("map/create", ["id": "shown"])
    try server.call("layer/add", ["map": "shown", "source": "world", "sourceLayer": "countries"])
    try server.call("scene/create", ["elevationSources": ["Tests/Fixtures/jacksboro_dem.tif"], "id": "hills"])
    try server.call("view/create", ["scene": "hills"])
    try saveAs("a.json")
    let script = """
      import json, jsonschema, sys
      schema = json.load(open("Protocol/document.schema.json"))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      document = json.load(open(sys.argv[1]))
      validator.validate(document)
      document["maps"][0]["map"] = 5
      sys.exit(0 if list(validator.iter_errors(document)) else 3)
      """
    #expect(try python(["-c", script, folder.path("a.json")]) == 0)
  }

  // MARK: Unknown members

  private static let newer = """
    {
      "format": "geomodel-document", "version": 1, "mood": {"is": ["good"]},
      "sources": [{"source": "s", "data": {"type": "Point", "coordinates": [1, 2]}, "cache": null, "trust": 3}],
      "maps": [{
        "map": "m", "title": "t", "spatialReference": "EPSG:3857", "fog": {"density": 0.5},
        "operationalLayers": [{"layer": "l", "source": "s", "glow": [1, {"a": 2}]}]
      }],
      "views": [{
        "view": "v", "map": "m", "lens": "fish",
        "viewpoint": {
          "type": "centerAndScale", "center": {"type": "Point", "coordinates": [2, 48], "certainty": 0.9},
          "targetScale": 1000, "rotation": 0, "spatialReference": "EPSG:4326", "tilt": 30
        },
        "overlays": [{
          "overlay": "o", "sound": "on",
          "graphics": [{"id": 3, "attributes": {"a": 1}, "halo": {"width": 2}}, {"attributes": {}, "spin": 1}, {"id": 9}]
        }]
      }],
      "viewModelTypes": [{"type": "Quiz", "properties": [{"name": "right", "type": "integer", "color": "red"}], "icon": "q"}],
      "viewModels": [{"viewModel": "quiz", "type": "Quiz", "values": {"right": 3}, "pace": 2}],
      "environmentKeys": [{"key": "k", "type": "integer", "unit": "s"}],
      "environments": [{"node": "m", "values": {"k": 3}, "since": 1}, {"objects": {"q": "quiz"}, "wind": [2]}]
    }
    """

  @Test func `members of newer versions are kept and written back at every level`() throws {
    try folder.write(Self.newer, to: "a.json")
    try open("a.json")
    try server.call("map/update", ["map": "m", "title": "other"])
    try server.call("layer/update", ["layer": "l", "opacity": 0.25])
    try server.call("overlay/updateGraphics", ["overlay": "o", "graphics": [["id": 3, "zIndex": 4]]])
    try server.call("viewModel/set", ["viewModel": "quiz", "values": ["right": 4]])
    try server.call("environment/set", ["key": "k", "value": 9, "node": "m"])
    try saveAs("b.json")
    let saved = try Value(try folder.text("b.json"))
    #expect(saved["mood"] == ["is": ["good"]])
    #expect(saved["sources"]?.array?[0]["trust"] == 3)
    let map = try #require(saved["maps"]?.array?[0])
    #expect(map["title"] == "other")
    #expect(map["fog"] == ["density": 0.5])
    let layer = try #require(map["operationalLayers"]?.array?[0])
    #expect(layer["opacity"] == 0.25)
    #expect(layer["glow"] == [1, ["a": 2]])
    let view = try #require(saved["views"]?.array?[0])
    #expect(view["lens"] == "fish")
    #expect(view["viewpoint"]?["tilt"] == 30)
    #expect(view["viewpoint"]?["center"]?["certainty"] == 0.9)
    #expect(view["position"] == nil)
    let overlay = try #require(view["overlays"]?.array?[0])
    #expect(overlay["sound"] == "on")
    let graphics = try #require(overlay["graphics"]?.array)
    #expect(graphics[0]["halo"] == ["width": 2])
    #expect(graphics[0]["zIndex"] == 4)
    #expect(graphics[1]["spin"] == 1)
    #expect(graphics[2].object?.keys.sorted() == ["attributes", "geometry", "id"])
    let type = try #require(saved["viewModelTypes"]?.array?[0])
    #expect(type["icon"] == "q")
    #expect(type["properties"]?.array?[0]["color"] == "red")
    let model = try #require(saved["viewModels"]?.array?[0])
    #expect(model["pace"] == 2)
    #expect(model["values"] == ["right": 4])
    #expect(saved["environmentKeys"]?.array?[0]["unit"] == "s")
    let scopes = try #require(saved["environments"]?.array)
    #expect(scopes.first { $0["node"] == "m" }?["since"] == 1)
    #expect(scopes.first { $0["node"] == nil }?["wind"] == [2])

    // Once more from the saved file; a changed value keeps its unknown members.
    try open("b.json")
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 500]])
    try saveAs("c.json")
    let viewpoint = try Value(try folder.text("c.json"))["views"]?.array?[0]["viewpoint"]
    #expect(viewpoint?["targetScale"] == 500.0)
    #expect(viewpoint?["tilt"] == 30)
    #expect(
      try Value(try folder.text("c.json"))["views"]?.array?[0]["overlays"] == saved["views"]?.array?[0]["overlays"])

    // Closed objects and other documents have none of them.
    try server.call("document/revert")
    try server.call("overlay/close", ["overlay": "o"])
    try saveAs("d.json")
    #expect(!(try folder.text("d.json").contains("sound")))
    try server.call("document/new")
    try saveAs("e.json")
    let schema = try Value([UInt8](Data(contentsOf: repository.appending(path: "Protocol/document.schema.json"))))
    let known = schema["$defs"]?["Document"]?["properties"] ?? schema["properties"]
    #expect(known?.object?["viewModels"] != nil)
    #expect(try Value(try folder.text("e.json")).object?.keys.sorted() == known?.object?.keys.sorted())
  }

  private static let newerParts = """
    {
      "format": "geomodel-document", "version": 1,
      "sources": [{
        "source": "w", "path": "\(repository.path)/Tests/Fixtures/naturalearth_110m.gpkg",
        "layers": [
          {"name": "cities", "geometryType": "Point", "fields": [{"name": "name", "type": "string", "case": 1}], "age": 2},
          {"name": "gone", "geometryType": "Point", "fields": [], "age": 3}
        ]
      }],
      "maps": [{"map": "m", "operationalLayers": [{"layer": "l", "source": "w", "sourceLayer": "cities"}]}],
      "views": [{
        "view": "v", "map": "m", "position": {"x": 1, "y": 2, "scale": 1000, "rotation": 3, "tilt": 30},
        "overlays": [{
          "overlay": "o",
          "graphics": [
            {
              "id": 1, "geometry": {"type": "Point", "coordinates": [1, 2], "certainty": 0.9},
              "symbol": {"type": "simpleMarker", "glow": 1, "outline": {"width": 2, "glow": 2}}
            },
            {
              "id": 2, "geometry": {
                "type": "GeometryCollection",
                "geometries": [{"type": "Point", "coordinates": [3, 4], "certainty": 0.5}]
              },
              "symbol": {"type": "composite", "symbols": [{"type": "simpleMarker"}, {"type": "simpleMarker", "glow": 3}]}
            },
            {"id": 3, "geometry": {"type": "Point", "coordinates": [5, 6], "certainty": 0.1}, "symbol": {"type": "simpleMarker"}}
          ]
        }]
      }]
    }
    """

  @Test func `members of newer versions are kept in geometries, symbols, positions and schemas of data`() throws {
    try folder.write(Self.newerParts, to: "a.json")
    try open("a.json")
    try saveAs("b.json")
    let saved = try Value(try folder.text("b.json"))
    let layers = try #require(saved["sources"]?.array?[0]["layers"]?.array)
    // Schemas that no layer uses are not saved.
    #expect(layers.map { $0["name"] } == ["cities"])
    #expect(layers[0]["age"] == 2)
    #expect(layers[0]["fields"]?.array?[0]["case"] == 1)
    #expect(layers[0]["featureCount"] == 243)
    let position = saved["views"]?.array?[0]["position"]
    #expect(position?["tilt"] == 30)
    #expect(position?["scale"] == 1000.0)
    let graphics = try #require(saved["views"]?.array?[0]["overlays"]?.array?[0]["graphics"]?.array)
    #expect(graphics[0]["geometry"] == ["type": "Point", "coordinates": [1.0, 2.0], "certainty": 0.9])
    #expect(graphics[0]["symbol"]?["glow"] == 1)
    #expect(graphics[0]["symbol"]?["outline"]?["glow"] == 2)
    #expect(graphics[1]["geometry"]?["geometries"]?.array?[0]["certainty"] == 0.5)
    #expect(graphics[1]["symbol"]?["symbols"]?.array?[1]["glow"] == 3)
    #expect(graphics[2]["geometry"]?["certainty"] == 0.1)

    // A changed value keeps them unless its type changes.
    try server.call("layer/add", ["map": "m", "source": "w", "sourceLayer": "countries"])
    try server.call(
      "overlay/updateGraphics",
      [
        "overlay": "o",
        "graphics": [
          ["id": 1, "geometry": ["type": "Point", "coordinates": [7, 8]], "clear": ["symbol"]],
          ["id": 3, "geometry": ["type": "LineString", "coordinates": [[7, 8], [9, 8]]]],
        ],
      ])
    try server.call(
      "view/setViewpoint",
      [
        "view": "v",
        "viewpoint": [
          "type": "centerAndScale", "center": ["type": "Point", "coordinates": [2, 48]], "targetScale": 500,
          "rotation": 0,
        ],
      ])
    try saveAs("c.json")
    let changed = try Value(try folder.text("c.json"))
    let schemas = try #require(changed["sources"]?.array?[0]["layers"]?.array)
    #expect(schemas.map { $0["name"] } == ["cities", "countries"])
    #expect(schemas[0]["age"] == 2)
    #expect(changed["views"]?.array?[0]["position"] == nil)
    let moved = try #require(changed["views"]?.array?[0]["overlays"]?.array?[0]["graphics"]?.array)
    #expect(moved[0]["geometry"] == ["type": "Point", "coordinates": [7.0, 8.0], "certainty": 0.9])
    #expect(moved[0]["symbol"] == nil)
    #expect(moved[2]["geometry"] == ["type": "LineString", "coordinates": [[7.0, 8.0], [9.0, 8.0]]])
  }

  @Test func `the schemas of a source's layers are in the order of the document, whenever the layers were added`()
    throws
  {
    try server.call("map/create", ["id": "m1"])
    try server.call("map/create", ["id": "m2"])
    try server.call("source/open", ["path": "Tests/Fixtures/naturalearth_110m.gpkg", "id": "s"])
    try server.call("layer/add", ["map": "m2", "source": "s", "sourceLayer": "cities"])
    try server.call("layer/add", ["map": "m1", "source": "s", "sourceLayer": "countries"])
    try server.call("scene/create", ["id": "c"])
    try saveAs("a.json")
    let text = try folder.text("a.json")
    #expect(
      try Value(text)["sources"]?.array?[0]["layers"]?.array?.map { $0["name"] } == ["countries", "cities"])
    try open("a.json")
    try server.call("document/save")
    #expect(try folder.text("a.json") == text)
  }

  @Test func `the environments are in the order of the document, whichever nodes they belong to`() throws {
    for id in ["a", "b", "c"] { try server.call("map/create", ["id": .string(id)]) }
    try server.call("view/create", ["id": "v", "map": "b"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let nodes: [Value] = ["o", "c", "a", "v", "b"]
    for node in nodes { try server.call("environment/set", ["node": node, "key": "locale", "value": "de"]) }
    try server.call("environment/set", ["key": "locale", "value": "fr"])
    let order: [Value?] = [nil] + nodes.map { Optional($0) }
    func saved(_ name: String) throws -> [Value?]? {
      try saveAs(name)
      return try Value(try folder.text(name))["environments"]?.array?.map { $0["node"] }
    }
    #expect(try saved("a.json") == order)
    for _ in 0..<2 {
      try open("a.json")
      #expect(try saved("b.json") == order)
      // In another session as well, whose own environment has a value.
      try server.call("document/new")
      try server.call("environment/set", ["key": "units", "value": "imperial"])
    }
  }

  @Test func `the order of attributes and the format are the same when the document is opened and saved again`() throws
  {
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    // The overlay's columns are `b`, `a`, because of a graphic that is removed.
    let graphics: Value = [
      ["id": 0, "attributes": ["b": 1]], ["id": 1, "attributes": ["a": 1]], ["id": 2, "attributes": ["a": 1, "b": 2]],
    ]
    try server.call("overlay/addGraphics", ["overlay": "o", "graphics": graphics])
    try server.call("overlay/removeGraphics", ["overlay": "o", "ids": [0]])
    // The format is detected, not given, and the source is closed when the document is saved.
    try server.call("source/open", ["id": "s", "path": "Tests/Fixtures/naturalearth_110m.gpkg"])
    try server.call("layer/add", ["map": "m", "source": "s", "sourceLayer": "cities"])
    try server.call("source/close", ["source": "s"])
    try saveAs("a.json")
    let first = try folder.text("a.json")
    #expect(first.contains(#""driver": "GPKG""#))
    #expect(first.contains(#""attributes":{"a":1,"b":2}"#))
    try open("a.json")
    try server.call("document/save")
    #expect(try folder.text("a.json") == first)
  }

  @Test(arguments: UInt64(0)..<20)
  func `opening and saving a saved document gives the same text`(seed: UInt64) throws {
    var edits = RandomEdits(server, seed: seed)
    edits.hasFlow = true
    for _ in 0..<60 { try edits.step() }
    try saveAs("a.json")
    // Unknown members anywhere, and members in another order.
    var random = SeededGenerator(seed: seed &+ 1)
    try folder.write(Self.withUnknownMembers(try Value(try folder.text("a.json")), &random).text, to: "newer.json")
    try open("newer.json")
    var names = 0
    func isStable() throws {
      names += 1
      try saveAs("b.json")
      let text = try folder.text("b.json")
      try open("b.json")
      try saveAs("c.json")
      #expect(try folder.text("c.json") == text, "seed \(seed), \(names)")
    }
    try isStable()
    for _ in 0..<4 {
      try edits.resync()
      for _ in 0..<8 { try edits.step() }
      try isStable()
    }
  }

  /// Adds unknown members to some objects.
  private static func withUnknownMembers(_ value: Value, _ random: inout SeededGenerator, isData: Bool = false) -> Value
  {
    switch value {
    case .object(let members):
      var result: [String: Value] = [:]
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        // Clients choose the names in these objects, so no member is unknown.
        let isOpen = ["values", "objects", "attributes", "data", "defaultValue", "inputs"].contains(name)
        result[name] = isOpen ? member : withUnknownMembers(member, &random)
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        result["newer"] = ["text": .string(String(repeating: "x", count: Int.random(in: 0..<90, using: &random)))]
      }
      return .object(result)
    case .array(let elements): return .array(elements.map { withUnknownMembers($0, &random) })
    default: return value
    }
  }

  // MARK: Bad texts

  @Test func `opening a truncated document fails and changes nothing`() throws {
    var edits = RandomEdits(server, seed: 7)
    for _ in 0..<60 { try edits.step() }
    try saveAs("a.json")
    let text = Array(try folder.text("a.json").utf8)
    let before = try server.worldText()
    for length in stride(from: 0, to: text.count - 2, by: max(1, text.count / 80)) {
      try folder.write(String(decoding: text[..<length], as: UTF8.self), to: "cut.json")
      let refusal = try server.refusal("document/open", ["path": .string(folder.path("cut.json"))])
      #expect(refusal["kind"] == "invalidDocument")
    }
    #expect(try server.worldText() == before)
  }

  @Test(arguments: UInt64(0)..<200)
  func `a corrupted document opens without what is not valid in it, and refused is only what is no document`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var edits = RandomEdits(server, seed: seed % 4)
    for _ in 0..<40 { try edits.step() }
    try saveAs("a.json")
    let tree = try Value(try folder.text("a.json"))
    let before = try server.worldText()
    try folder.write(tree.corrupted(using: &random).text, to: "bad.json")
    let id = server.request("document/open", ["path": .string(folder.path("bad.json"))])
    let answer = try #require(try server.response(to: id))
    guard answer["result"] == nil else {
      // What was left out may be written back as it was read; the rest is equal.
      try saveAs("b.json")
      let text = try folder.text("b.json")
      try open("b.json")
      try saveAs("c.json")
      #expect(try folder.text("c.json") == text)
      return
    }
    // Only what says that the file is a document has to be right.
    #expect(["invalidDocument", "documentTooNew"].contains(answer["error"]?["data"]?["kind"]?.string), "\(answer)")
    #expect(["/format", "/version", ""].contains(answer["error"]?["data"]?["path"]?.string), "\(answer)")
    #expect(try server.worldText() == before)
  }
}

extension Value {
  private static let intruders: [Value] = [
    .null, true, -1, 1e300, "", "nobody", [], [:], [[]], ["type": "Point"], "\u{0}", 1, "m1",
  ]

  /// Replaces, removes or duplicates one value anywhere.
  fileprivate func corrupted(using random: inout SeededGenerator) -> Value {
    switch self {
    case .object(var members) where !members.isEmpty:
      guard let name = members.keys.sorted().randomElement(using: &random) else { return self }
      switch Int.random(in: 0..<8, using: &random) {
      case 0: members[name] = nil
      case 1: members[name] = Self.intruders.randomElement(using: &random)
      default: members[name] = members[name]?.corrupted(using: &random)
      }
      return .object(members)
    case .array(var elements) where !elements.isEmpty:
      let index = Int.random(in: 0..<elements.count, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: elements.append(elements[index])
      case 1: elements[index] = Self.intruders.randomElement(using: &random) ?? .null
      default: elements[index] = elements[index].corrupted(using: &random)
      }
      return .array(elements)
    default: return Self.intruders.randomElement(using: &random) ?? .null
    }
  }
}

/// Whether Python has the package `jsonschema`.
private let hasJSONSchema = (try? python(["-c", "import jsonschema"])) == 0

/// Runs Python.
///
/// - Returns: the exit code.
private func python(_ arguments: [String]) throws -> Int32 {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["python3"] + arguments
  process.currentDirectoryURL = repository
  process.standardError = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  return process.terminationStatus
}
