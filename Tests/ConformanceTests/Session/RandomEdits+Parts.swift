// Random edits of the parts of maps and scenes: groups, tables, bookmarks, scale ranges; undo, redo and transactions.

import Testing

extension RandomEdits {
  /// Sends one request, which may fail.
  ///
  /// - Parameter onlyUndoable: whether to exclude changes that undo does not restore, and undo and redo.
  mutating func partStep(origin: String? = nil, onlyUndoable: Bool = false) throws {
    let server = server
    @discardableResult
    func attempt(_ method: String, _ params: [String: Value]) throws -> Value? {
      let answer = try server.response(to: server.request(method, Self.with(origin, .object(params))))
      return answer?["result"]
    }
    guard let (noun, container) = try container() else { return }
    let me: [String: Value] = [noun: .string(container)]
    func with(_ params: [String: Value]) -> [String: Value] { me.merging(params) { $1 } }
    let all = try ids("layers")
    switch Int.random(in: 0..<(onlyUndoable ? 10 : 17), using: &random) {
    case 0: try attempt("\(noun)/update", with(contentUpdate()))
    case 1:
      var params: [String: Value] = ["name": .string(name("k")), "viewpoint": viewpoint()]
      if chance(0.3) { params["index"] = 0 }
      try attempt("bookmark/add", with(params))
    case 2:
      let bookmarks = try server.state("/\(noun)s/\(container)/bookmarks").values.first?.array ?? []
      guard let id = pick(bookmarks.compactMap { $0["id"] }) else { return }
      if chance(0.4) {
        try attempt("bookmark/remove", with(["bookmark": id]))
      } else {
        try attempt("bookmark/move", with(["bookmark": id, "index": 0]))
      }
    case 3:
      var params = position(all)
      params["id"] = .string(name("g"))
      params["visibilityMode"] = .string(pick(["independent", "inherited", "exclusive"]) ?? "independent")
      try attempt("layer/addGroup", with(params))
    case 4, 5:
      guard let source = pick(try ids("sources")) else { return }
      let id = name("y")
      let isTable = chance(0.3)
      var params = isTable ? [:] : position(all)
      params["id"] = .string(id)
      params["source"] = .string(source)
      let added = try attempt(isTable ? "layer/addTable" : "layer/add", with(params))
      if added != nil, noun == "map" { layers[id] = container }
    case 6, 7:
      guard let layer = pick(all) else { return }
      var params = position(all)
      params["layer"] = .string(layer)
      if chance(0.5) { params["index"] = .integer(Int.random(in: 0..<3, using: &random)) }
      try attempt("layer/move", params)
    case 8:
      guard let layer = pick(all) else { return }
      var params: [String: Value] = ["layer": .string(layer)]
      switch Int.random(in: 0..<6, using: &random) {
      case 0: params["visibilityMode"] = .string(pick(["independent", "inherited", "exclusive"]) ?? "independent")
      case 1: params["definitionExpression"] = chance(0.5) ? "n > 0" : "n IS NULL"
      case 2: params["minScale"] = number(1e5...1e7)
      case 3: params["time"] = ["startField": "n", "extent": ["startTime": "2020-01-01T00:00:00Z"]]
      case 4: params["clear"] = ["minScale", "definitionExpression"]
      default: params["isVisible"] = .bool(chance(0.5))
      }
      try attempt("layer/update", params)
    case 9:
      guard chance(0.3), let layer = pick(all) else { return }
      if try attempt("layer/remove", ["layer": .string(layer)]) != nil { try resync() }
    case 10:
      guard let layer = pick(all) else { return }
      try attempt("layer/select", ["layer": .string(layer), "whereClause": "n > 0"])
    case 11: try attempt("layer/load", me)
    case 12:
      let id = name("sc")
      try attempt("scene/create", ["id": .string(id)])
      let view = name("v")
      let camera: Value = [
        "type": "camera", "longitude": number(-180...180), "latitude": number(-80...80), "altitude": number(10...1e5),
        "pitch": number(0...180),
      ]
      if try attempt("view/create", ["id": .string(view), "scene": .string(id), "viewpoint": camera]) != nil {
        views.append(view)
      }
    case 13:
      guard let overlay = pick(overlays.keys.sorted()) else { return }
      try attempt("overlay/move", ["overlay": .string(overlay), "index": 0])
    case 14:
      try attempt("edit/undo", ["steps": .integer(Int.random(in: 1...3, using: &random))])
      try resync()
    case 15:
      try attempt("edit/redo", [:])
      try resync()
    default:
      if chance(0.4) { return try replaceInOneStep() }
      let good: Value = ["method": .string("\(noun)/update"), "params": .object(with(["title": .string(name("t"))]))]
      let group: Value = ["method": "layer/addGroup", "params": .object(me)]
      let bad: Value = ["method": "layer/update", "params": ["layer": "nobody"]]
      try attempt("model/apply", ["commands": .array(chance(0.5) ? [good, group] : [group, good, bad])])
    }
  }

  /// Changes an object, closes it and makes another one with its id, in one transaction.
  private mutating func replaceInOneStep() throws {
    let id = Value.string(name("r"))
    var commands: [Value] = []
    func add(_ method: String, _ params: Value) { commands.append(["method": .string(method), "params": params]) }
    if chance(0.5), let map = pick(maps) {
      let group: Value = ["map": .string(map), "id": id, "name": "a"]
      if chance(0.5) {
        try request("layer/addGroup", group)
      } else {
        add("layer/addGroup", group)
      }
      add("layer/update", ["layer": id, "name": "b"])
      add("layer/remove", ["layer": id])
      add("layer/addGroup", ["map": .string(map), "id": id, "name": .string(chance(0.5) ? "a" : "c")])
    } else if let view = pick(views), let map = pick(maps) {
      let overlay: Value = ["view": .string(view), "id": id]
      if chance(0.5) { try request("overlay/create", overlay) } else { add("overlay/create", overlay) }
      add("view/create", ["id": .string(view), "map": .string(map), "ifExists": "replace"])
      if chance(0.5) { add("overlay/create", overlay) }
    }
    try request("model/apply", ["commands": .array(commands)])
    try resync()
  }

  /// Sends a request that may fail.
  private func request(_ method: String, _ params: Value) throws {
    _ = try server.response(to: server.request(method, params))
  }

  // MARK: Choosing

  private mutating func container() throws -> (noun: String, id: String)? {
    let scenes = try ids("scenes")
    if chance(0.25), let scene = pick(scenes) { return ("scene", scene) }
    return pick(maps).map { ("map", $0) }
  }

  private func ids(_ collection: String) throws -> [String] {
    try server.state("/" + collection)["/" + collection]?.object?.keys.sorted() ?? []
  }

  /// A position at the top level, or in a group.
  private mutating func position(_ layers: [String]) -> [String: Value] {
    if chance(0.4), let group = pick(layers.filter { $0.hasPrefix("g") }) { return ["group": .string(group)] }
    return chance(0.3) ? ["role": .string(chance(0.5) ? "base" : "reference")] : [:]
  }

  private mutating func viewpoint() -> Value {
    ["type": "centerAndScale", "center": point(), "targetScale": number(1000...1e7)]
  }

  private mutating func contentUpdate() -> [String: Value] {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: ["minScale": number(1e6...1e8)]
    case 1: ["maxScale": number(1...1e3)]
    case 2: ["backgroundColor": chance(0.5) ? "#102030" : "#10203040"]
    case 3: ["initialViewpoint": viewpoint()]
    case 4: ["referenceScale": number(1000...1e6)]
    case 5:
      ["bookmarks": [["name": "A", "viewpoint": viewpoint()], ["id": "b", "name": "B", "viewpoint": viewpoint()]]]
    case 6: ["basemap": ["name": .string(name("b"))]]
    default: ["clear": ["minScale", "maxScale", "initialViewpoint", chance(0.2) ? "basemap" : "bookmarks"]]
    }
  }

  /// Reads the existing objects from the server, after a change of objects that the edit did not name.
  mutating func resync() throws {
    maps = try ids("maps")
    views = try ids("views")
    locationSources = try ids("locationSources")
    sources = try ids("sources")
    layers = [:]
    for (path, kind) in try server.state("/layers/*/kind") where kind == "feature" {
      let id = String(path.split(separator: "/")[1])
      if let map = try server.state("/layers/\(id)/map").values.first?.string { layers[id] = map }
    }
    overlays = [:]
    for id in try ids("overlays") {
      let graphics = try server.state("/overlays/\(id)/graphics").values.first?.object ?? [:]
      overlays[id] = graphics.keys.compactMap { Int($0) }.sorted()
    }
  }
}
