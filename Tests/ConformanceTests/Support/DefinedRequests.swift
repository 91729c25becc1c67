// A client that sends any request of the protocol's definition that changes the model, with extreme values: new members included.

import Foundation
import JSON

/// Random requests made of `Protocol/openrpc.json`, over the objects that there are.
struct DefinedRequests {
  let server: MemoryServer
  private var values: ExtremeValues
  private let methods: [Value]
  private let statePaths: [Value]
  /// The members of the state tree that hold objects by id.
  private let collections: [String]
  /// The ids that there are, by collection.
  private var ids: [String: [String]] = [:]
  private var names = 0
  private var steps = 0
  /// What was sent, for the messages of tests.
  private(set) var log: [Value] = []

  init(_ server: MemoryServer, seed: UInt64) throws {
    self.server = server
    let definition = try Value([UInt8](Data(contentsOf: repository.appending(path: "Protocol/openrpc.json"))))
    let schemas = definition["components"]?["schemas"]?.object ?? [:]
    values = ExtremeValues(schemas: schemas, random: SeededGenerator(seed: seed))
    // Documents and the real clock are the test's own; queries and sessions change nothing.
    let left: Set<String> = [
      "clock/set", "model/apply", "layer/classBreaks", "layer/legend", "overlay/legend", "scene/elevation",
      // These last until another request ends them, and the work of this server is done within a request.
      "location/record", "entity/record",
    ]
    methods = (definition["methods"]?.array ?? []).filter { method in
      let name = method["name"]?.string ?? ""
      guard !left.contains(name), !name.hasPrefix("document/"), !name.hasPrefix("feature/") else { return false }
      return ["command", "task", "process"].contains(method["x-shape"]?.string)
    }
    statePaths = definition["x-state"]?.array ?? []
    let starred = statePaths.compactMap { $0["path"]?.string?.split(separator: "/") }.filter { $0.dropFirst().first == "*" }
    collections = Set(starred.map { String($0[0]) }).sorted()
    try refresh()
  }

  private mutating func refresh() throws {
    for collection in collections {
      ids[collection] = try server.state("/" + collection)["/" + collection]?.object?.keys.sorted() ?? []
    }
  }

  /// Sends one request, which may be refused, and not as the server's fault.
  ///
  /// - Returns: the request and the kind of its error.
  mutating func step() throws -> (request: Value, error: String?) {
    if values.chance(0.1) {
      let id = server.request("clock/advance", ["seconds": .real(values.pick([0.03, 0.2, 1]))])
      return (["method": "clock/advance"], try server.errorKind(of: id))
    }
    let method = weighted()
    let name = method["name"]?.string ?? ""
    let schema: [String: Value] = [
      "required": .array(
        (method["params"]?.array ?? []).filter { $0["required"] == true }.compactMap { $0["name"] }),
      "properties": .object(
        Dictionary((method["params"]?.array ?? []).map { ($0["name"]?.string ?? "", $0["schema"] ?? [:]) }) { $1 }),
    ]
    var params = values.object(.object(schema), known, 0).object ?? [:]
    finish(&params, of: name)
    let answer = try server.response(to: server.request(name, .object(params)))
    _ = try server.takeMessages()
    let request: Value = ["method": .string(name), "params": .object(params)]
    if answer?["error"] == nil { log.append(request) }
    steps += 1
    if steps.isMultiple(of: 5) { try refresh() }
    return (request, answer?["error"]?["data"]?["kind"]?.string)
  }

  /// A method whose objects there are; creates more than it closes.
  private mutating func weighted() -> Value {
    while true {
      let method = values.pick(methods)
      let needed = (method["params"]?.array ?? []).filter { $0["required"] == true }.compactMap { $0["name"]?.string }
      let lacks = needed.contains { ids[$0 + "s"]?.isEmpty == true }
      if lacks, values.chance(0.97) { continue }
      let verb = method["name"]?.string?.split(separator: "/").last ?? ""
      let isEnd = ["close", "remove", "removeGraphics", "cancelLoad", "clear", "undo"].contains(verb)
      if !isEnd || values.chance(0.2) { return method }
    }
  }

  // MARK: What the schemas do not say

  private mutating func finish(_ params: inout [String: Value], of method: String) {
    params["meta"] = nil
    if let given = params["id"]?.string, values.chance(0.9) || given.isEmpty {
      let isAgain = names > 0 && values.chance(0.2)
      if !isAgain { names += 1 }
      params["id"] = .string("x\(isAgain ? values.integer(1...names) : names)" + values.pick(["", "", ".", "-_."]))
    }
    if params["map"] != nil, params["scene"] != nil { params[values.chance(0.7) ? "scene" : "map"] = nil }
    switch method {
    case "layer/add", "layer/addGroup", "layer/addTable", "view/create", "bookmark/add":
      if params["map"] == nil, params["scene"] == nil { params["map"] = id(of: "maps") }
    case "source/open": (params["driver"], params["xField"], params["yField"]) = (nil, nil, nil)
    case "viewModel/create": params[params["type"] == nil ? "type" : "properties"] = nil
    case "state/set", "viewModel/set": setPath(&params)
    default: break
    }
  }

  /// A path that exists, and a value for it.
  private mutating func setPath(_ params: inout [String: Value]) {
    let property = values.pick(statePaths)
    var names = property["path"]?.string?.split(separator: "/").map { String($0) } ?? []
    guard names.count > 2, names[1] == "*" else { return }
    names[1] = id(of: names[0])?.string ?? ""
    if params["path"] != nil { params["path"] = .string("/" + names.joined(separator: "/")) }
    params["value"] = values.value(of: property["schema"] ?? [:], known)
  }

  private mutating func id(of collection: String) -> Value? {
    (ids[collection] ?? []).isEmpty ? nil : .string(values.pick(ids[collection] ?? []))
  }

  /// The values of schemas and members that their schemas do not state.
  private var known: ExtremeValues.Known {
    let ids = ids
    return { name, values in
      func id(_ collections: String...) -> Value {
        let all = collections.flatMap { ids[$0] ?? [] }
        return .string(all.isEmpty || values.chance(0.02) ? "nobody" : values.pick(all))
      }
      switch name {
      case _ where ids[name + "s"] != nil: return id(name + "s")
      case "group": return id("layers")
      case "owner", "node": return id("maps", "views", "layers", "overlays", "viewModels", "scenes")
      case "before", "bookmark", "elevationSource": return .string("a")
      case "Geometry": return values.geometry()
      case "line":
        return ["type": "LineString", "coordinates": [[1, 2], [3, .real(Double(values.integer(3...80)))]]]
      case "center": return values.chance(0.9) ? values.point() : values.geometry()
      case "Expression", "expression", "definitionExpression", "whereClause", "transform", "inverse":
        return .string(values.pick(Self.expressions))
      case "SpatialReference", "spatialReference": return .string(values.pick(Self.references))
      case "Color": return .string(values.pick(["#000000", "#ffFFff00", "#12345678"]))
      case "FilePath": return .string(values.pick(Self.files))
      case "PropertyName", "key":
        return .string(values.pick(["a", "b", "c", "units", "locale", "timeZone", "_", values.text(0, 12)]))
      case "startTime", "endTime": return .string(values.pick(Self.times))
      case "startField", "endField", "field": return .string(values.pick(["n", "at", "a", values.text(0, 12)]))
      case "first", "second", "path", "inputs": return Self.path(name, ids, &values)
      case "data": return Self.collection(&values)
      case "FeatureId": return .integer(values.integer(0...6))
      case "index": return .integer(values.integer(0...1))
      case "x", "y", "z": return [.real(values.number([:])), .real(values.number([:]))]
      case "Column": return [values.any(depth: 4), values.any(depth: 4)]
      case "values", "PropertyValues":
        return ["a": values.any(), values.pick(["b", "c", values.name()]): values.any(depth: 4)]
      case "attributes": return ["n": values.any(), values.name(): values.any()]
      case "columns" where values.chance(0.7): return Self.columns(&values)
      case "title" where values.chance(0.3): return "{n} of {a}"
      case "meta": return .null
      default: return nil
      }
    }
  }

  private static let expressions = [
    "n", "n > 1", "n IS NULL", "a * 2", "a / 0", "1e308 * 10", "-0.0", "concat(a, 'é\u{1F600}')", "TRUE", "value",
    "value + 1",
    "CASEI(n) LIKE '%'", "a",
  ]
  private static let references = [
    "EPSG:4326", "EPSG:3857", "EPSG:2056", "EPSG:3413", "EPSG:3031", "EPSG:25832", "EPSG:4979", "EPSG:8857",
    "OGC:CRS84",
    "ESRI:54009", "EPSG:3832",
  ]
  private static let files = [
    "Tests/Fixtures/naturalearth_110m.gpkg", "Tests/Fixtures/types.gpkg", "Tests/Fixtures/jacksboro_dem.tif",
    "Tests/Fixtures/cities.fgb",
  ]
  private static let times = [
    "2000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
    "1677-09-21T00:12:43Z", "2262-04-11T23:47:16.854775807Z", "2016-12-31T23:59:60Z",
    "2020-02-29T12:00:00.123456789+14:00",
  ]

  private static func path(_ name: String, _ ids: [String: [String]], _ values: inout ExtremeValues) -> Value {
    func path() -> String {
      let models = (ids["viewModels"] ?? []).map { "/viewModels/\($0)/" + values.pick(["a", "b", "c"]) }
      let views = (ids["views"] ?? []).map {
        "/views/\($0)/" + values.pick(["viewpoint", "viewpoint/targetScale", "viewpoint/rotation", "width", "dpi"])
      }
      let maps = (ids["maps"] ?? []).map {
        "/maps/\($0)/" + values.pick(["title", "minScale", "bookmarks", "initialViewpoint"])
      }
      let layers = (ids["layers"] ?? []).map {
        "/layers/\($0)/" + values.pick(["opacity", "minScale", "name", "renderer"])
      }
      let all = models + views + maps + layers
      return all.isEmpty ? "/a" : values.pick(all)
    }
    return name == "inputs"
      ? ["a": .string(path()), values.pick(["n", values.name()]): .string(path())] : .string(values.chance(0.3) ? "/a" : path())
  }

  /// Two features in columns, with a name of any text.
  private static func columns(_ values: inout ExtremeValues) -> Value {
    ["x": [1, 2], "y": [3, 4], "attributes": ["n": [1, 2], values.name(): [values.any(depth: 5), values.any(depth: 5)]]]
  }

  /// Inline GeoJSON.
  private static func collection(_ values: inout ExtremeValues) -> Value {
    let features: [Value] = (0..<values.integer(0...3)).map { index in
      [
        "type": "Feature", "id": .integer(index), "geometry": values.chance(0.8) ? values.point() : .null,
        "properties": [
          "n": values.any(depth: 5), "at": "2020-01-01T00:00:00Z", "a": values.any(depth: 4),
          values.name(): values.any(depth: 4),
        ],
      ]
    }
    var members: [String: Value] = ["type": "FeatureCollection", "features": .array(features)]
    if values.chance(0.3) { members["name"] = .string(values.text(0, 1024)) }
    if values.chance(0.1) { return values.any() }
    return .object(members)
  }
}
