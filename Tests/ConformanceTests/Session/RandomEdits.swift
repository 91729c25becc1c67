// A client that sends any valid command, in an order that a seed determines.

import Testing

/// Random requests to a server in memory, and the objects they have created.
struct RandomEdits {
  let server: MemoryServer
  var random: SeededGenerator
  var maps: [String] = []
  var views: [String] = []
  var overlays: [String: [Int]] = [:]
  var locationSources: [String] = []
  var sources: [String] = []
  /// Feature layers of maps, with their maps.
  var layers: [String: String] = [:]
  /// Whether to edit view models and the environment as well.
  var hasFlow = false
  private var names = 0
  private var animations: [Value] = []

  init(_ server: MemoryServer, seed: UInt64) {
    self.server = server
    random = SeededGenerator(seed: seed)
  }

  // MARK: Choosing

  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
  mutating func pick<T>(_ elements: [T]) -> T? { elements.randomElement(using: &random) }
  mutating func number(_ range: ClosedRange<Double>) -> Value {
    .real((Double.random(in: range, using: &random) * 1000).rounded() / 1000)
  }
  /// A new id or text; at times the id of an object that was closed.
  mutating func name(_ prefix: String) -> String {
    if names > 0, chance(0.3) {
      let earlier = prefix + String(Int.random(in: 1...names, using: &random))
      if (try? server.state("/*/" + earlier))?.isEmpty == true { return earlier }
    }
    names += 1
    return prefix + String(names)
  }
  private mutating func position() -> Value { [number(-170...170), number(-80...80)] }
  mutating func point() -> Value { ["type": "Point", "coordinates": position()] }

  private mutating func geometry() -> Value {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return ["type": "LineString", "coordinates": [position(), position(), position()]]
    case 1: return ["type": "Polygon", "coordinates": [[[0, 0], [number(1...9), 0], [0, number(1...9)], [0, 0]]]]
    case 2: return .null
    default: return point()
    }
  }

  private mutating func target() -> Value {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: ["type": "center", "center": point()]
    case 1: ["type": "scale", "targetScale": number(1000...1e7)]
    case 2: ["type": "rotation", "rotation": number(-400...400)]
    case 3, 4:
      [
        "type": "boundingGeometry",
        "geometry": [
          "type": "Envelope", "xMin": number(-80...0), "yMin": number(-40...0), "xMax": number(1...80),
          "yMax": number(1...40),
        ],
        "spatialReference": "EPSG:4326",
      ]
    default: ["type": "centerAndScale", "center": point(), "targetScale": number(1000...1e7)]
    }
  }

  private mutating func graphic() -> Value {
    var members: [String: Value] = ["geometry": geometry()]
    if chance(0.5) { members["attributes"] = ["name": .string(name("g")), "size": number(0...9)] }
    if chance(0.2) { members["zIndex"] = .integer(Int.random(in: -3...3, using: &random)) }
    if chance(0.2) { members["isVisible"] = false }
    if chance(0.2) { members["isSelected"] = true }
    if chance(0.2) { members["symbol"] = symbol() }
    return .object(members)
  }

  private mutating func overlay() -> String? { pick(overlays.keys.sorted()) }

  private mutating func some(of ids: [Int]) -> [Int] { ids.filter { _ in chance(0.4) } }

  // MARK: Editing

  /// Sends one request, or a few that belong together.
  ///
  /// - Parameter origin: the `meta.origin` of the requests.
  mutating func step(origin: String? = nil) throws {
    func call(_ method: String, _ params: Value) throws -> Value {
      try server.call(method, Self.with(origin, params))
    }
    if hasFlow, chance(0.3) { return try flowStep() }
    if chance(0.3) { return try partStep(origin: origin) }
    switch Int.random(in: 0..<30, using: &random) {
    case 0:
      let id = name("m")
      _ = try call("map/create", ["id": .string(id), "title": .string(id)])
      maps.append(id)
    case 1:
      guard let map = pick(maps) else { return }
      _ = try call(
        "map/update",
        chance(0.3)
          ? ["map": .string(map), "clear": ["title"]]
          : ["map": .string(map), "title": .string(chance(0.3) ? "same" : name("t"))])
    case 2:
      guard let map = pick(maps), chance(0.3) else { return }
      let shown = try server.state("/views/*/map").filter { $0.value == .string(map) }.keys.map {
        String($0.split(separator: "/")[1])
      }
      _ = try call("map/close", ["map": .string(map)])
      maps.removeAll { $0 == map }
      layers = layers.filter { $0.value != map }
      for view in shown { try forget(view: view) }
    case 3, 4:
      guard let map = pick(maps) else { return }
      let id = name("v")
      var params: [String: Value] = ["id": .string(id), "map": .string(map)]
      if chance(0.5) {
        params["viewpoint"] = ["type": "centerAndScale", "center": point(), "targetScale": number(1000...1e7)]
      }
      _ = try call("view/create", .object(params))
      views.append(id)
    case 5:
      guard let view = pick(views), chance(0.4) else { return }
      _ = try call("view/close", ["view": .string(view)])
      try forget(view: view)
    case 6:
      guard let view = pick(views) else { return }
      if chance(0.4), let map = pick(maps) {
        _ = try call("view/setContent", ["view": .string(view), "map": .string(map)])
        return
      }
      _ = try call("view/resize", ["view": .string(view), "width": chance(0.5) ? 800 : 640])
    case 7, 8, 9:
      guard let view = pick(views) else { return }
      _ = try call("view/setViewpoint", ["view": .string(view), "viewpoint": target()])
    case 10, 11:
      guard let view = pick(views) else { return }
      let params: Value = ["view": .string(view), "viewpoint": target(), "duration": number(0...1)]
      animations.append(server.request("view/animateViewpoint", Self.with(origin, params)))
    case 12:
      if let id = animations.popLast() { server.cancel(id) }
    case 13, 14: _ = try server.call("clock/advance", ["seconds": number(0...0.5)])
    case 15:
      guard let view = pick(views) else { return }
      let id = name("o")
      _ = try call("overlay/create", ["id": .string(id), "view": .string(view), "name": .string(id)])
      overlays[id] = []
    case 16:
      guard let id = overlay(), chance(0.3) else { return }
      _ = try call("overlay/close", ["overlay": .string(id)])
      overlays[id] = nil
    case 17:
      guard let id = overlay() else { return }
      let symbology = portrayal()
      let plain: [String: Value] = [
        "overlay": .string(id), "opacity": chance(0.5) ? 0.5 : 1, "isVisible": .bool(chance(0.5)),
        "clear": chance(0.2) ? ["name"] : [],
      ]
      _ = try call("overlay/update", .object(plain.merging(symbology) { $1 }))
    case 18, 19:
      guard let id = overlay() else { return }
      let graphics = (0..<Int.random(in: 0...4, using: &random)).map { _ in graphic() }
      let added = try call("overlay/addGraphics", ["overlay": .string(id), "graphics": .array(graphics)])
      recordAdded(added, id)
    case 20:
      guard let id = overlay() else { return }
      let added = try call(
        "overlay/addColumns",
        ["overlay": .string(id), "x": [number(0...9), number(0...9)], "y": [1, 2], "attributes": ["n": [1, .null]]])
      recordAdded(added, id)
    case 21:
      guard let id = overlay(), let ids = overlays[id] else { return }
      let edits: [Value] = some(of: ids).map { graphic in
        var edit: [String: Value] = ["id": .integer(graphic)]
        if chance(0.5) { edit["geometry"] = point() }
        if chance(0.5) { edit["attributes"] = ["size": number(0...9)] }
        if chance(0.3) { edit["isVisible"] = .bool(chance(0.5)) }
        if chance(0.3) { edit["symbol"] = symbol() } else if chance(0.2) { edit["clear"] = ["symbol"] }
        return .object(edit)
      }
      _ = try call("overlay/updateGraphics", ["overlay": .string(id), "graphics": .array(edits)])
    case 22:
      guard let id = overlay(), let ids = overlays[id] else { return }
      let moved = some(of: ids)
      _ = try call(
        "overlay/updateColumns",
        [
          "overlay": .string(id), "ids": .array(moved.map { .integer($0) }),
          "x": .array(moved.map { _ in number(0...9) }), "y": .array(moved.map { _ in 1 }),
        ])
    case 23:
      guard let id = overlay(), let ids = overlays[id] else { return }
      if chance(0.15) {
        _ = try call("overlay/removeGraphics", ["overlay": .string(id), "all": true])
        overlays[id] = []
      } else {
        let gone = some(of: ids)
        _ = try call("overlay/removeGraphics", ["overlay": .string(id), "ids": .array(gone.map { .integer($0) })])
        overlays[id]?.removeAll { gone.contains($0) }
      }
    case 24:
      guard let id = overlay(), let ids = overlays[id], let mode = pick(["new", "add", "subtract"]) else { return }
      _ = try call(
        "overlay/select",
        ["overlay": .string(id), "ids": .array(some(of: ids).map { .integer($0) }), "mode": .string(mode)])
    case 25:
      let id = name("l")
      _ = try call(
        "location/createSimulated",
        [
          "id": .string(id), "line": ["type": "LineString", "coordinates": [position(), position()]],
          "velocity": 100_000, "interval": 0.1, "loops": .bool(chance(0.5)),
        ])
      locationSources.append(id)
    case 26:
      guard let id = pick(locationSources) else { return }
      if chance(0.2) {
        _ = try call("location/close", ["locationSource": .string(id)])
        locationSources.removeAll { $0 == id }
      } else {
        _ = try call(chance(0.7) ? "location/start" : "location/stop", ["locationSource": .string(id)])
      }
    case 27:
      guard let view = pick(views), let source = pick(locationSources) else { return }
      _ = try call(
        "view/setLocationDisplay",
        [
          "view": .string(view), "source": .string(source), "autoPanMode": chance(0.7) ? "recenter" : "off",
          "wanderExtentFactor": number(0...1),
        ])
    case 28:
      guard let map = pick(maps) else { return }
      let source = name("s")
      let layer = name("y")
      let data: Value = [
        "type": "FeatureCollection",
        "features": [["type": "Feature", "properties": ["n": 1], "geometry": point()]],
      ]
      _ = try call("source/openInline", ["id": .string(source), "data": data])
      _ = try call("layer/add", ["map": .string(map), "source": .string(source), "id": .string(layer), "index": 0])
      sources.append(source)
      layers[layer] = map
      if chance(0.7) { _ = try call("layer/load", ["layer": .string(layer)]) }
      if chance(0.3) { _ = try call("source/close", ["source": .string(source)]) }
    default:
      guard let layer = pick(layers.keys.sorted()) else { return }
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let plain: [String: Value] = ["layer": .string(layer), "name": .string(name("n")), "opacity": number(0...1)]
        _ = try call("layer/update", .object(plain.merging(portrayal()) { $1 }))
      case 1: _ = try call("layer/move", ["layer": .string(layer), "index": 0])
      default:
        _ = try call("layer/remove", ["layer": .string(layer)])
        layers[layer] = nil
      }
    }
  }

  static func with(_ origin: String?, _ params: Value) -> Value {
    guard let origin, case .object(var members) = params else { return params }
    members["meta"] = ["origin": .string(origin)]
    return .object(members)
  }

  private mutating func recordAdded(_ added: Value, _ overlay: String) {
    guard let first = added["firstId"]?.integer, let count = added["count"]?.integer else { return }
    overlays[overlay, default: []] += first..<first + count
  }

  private mutating func forget(view: String) throws {
    views.removeAll { $0 == view }
    let left = Set(try server.state("/overlays")["/overlays"]?.object?.keys.map { $0 } ?? [])
    overlays = overlays.filter { left.contains($0.key) }
  }
}
