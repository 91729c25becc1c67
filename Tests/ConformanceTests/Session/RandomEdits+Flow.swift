// Random edits of view models, shared objects and the environment.

import Testing

extension RandomEdits {
  private static let properties: Value = [
    ["name": "a", "type": "integer"], ["name": "text", "type": "string", "isNullable": true, "defaultValue": "none"],
    ["name": "any", "type": "json"], ["name": "list", "type": "list", "doc": "some"],
    ["name": "near", "type": "reference"],
    [
      "name": "home", "type": "struct", "isNullable": true,
      "fields": [
        ["name": "lat", "type": "number", "minimum": -90], ["name": "note", "type": "string", "isNullable": true],
        ["name": "tags", "type": "list", "defaultValue": ["t"]],
        ["name": "door", "type": "struct", "fields": [["name": "code", "type": "integer", "defaultValue": 3]], "defaultValue": [:]],
      ],
    ],
    [
      "name": "ages", "type": "dictionary",
      "valueType": [
        "type": "struct", "isNullable": true, "fields": [["name": "age", "type": "integer"], ["name": "xy", "type": "json"]],
      ],
    ],
    ["name": "work", "type": "status"], ["name": "double", "type": "integer", "derived": ["expression": "a * 2"]],
    [
      "name": "scale", "type": "number",
      "derived": ["expression": "s + a", "inputs": ["s": "/views/v1/viewpoint/targetScale"]],
    ],
    [
      "name": "written", "type": "string",
      "derived": ["expression": "concat(formatLength(a * 900.5), formatDate('2026-05-31T23:30:00Z', ' %d. %B %H:%M'))"],
    ],
  ]

  /// Sends one request, which may fail.
  mutating func flowStep() throws {
    let server = server
    func attempt(_ method: String, _ params: [String: Value]) throws { server.request(method, .object(params)) }
    let models = try server.state("/viewModels")["/viewModels"]?.object?.keys.sorted() ?? []
    let nodes = maps + views + overlays.keys.sorted() + layers.keys.sorted()
    func with(_ member: String, _ id: String?, _ params: [String: Value]) -> [String: Value] {
      id.map { params.merging([member: .string($0)]) { $1 } } ?? params
    }
    let type = name("T")
    let key = pick(["k1", "k2", "units", "locale", "timeZone"]) ?? "units"
    let node = chance(0.7) ? pick(nodes) : nil
    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      try attempt("viewModel/define", ["type": .string(type), "doc": "d", "properties": Self.properties])
      try attempt("viewModel/create", ["id": .string(name("w")), "type": .string(type)])
    case 1, 2:
      var params: [String: Value] = ["id": .string(name("w")), "properties": Self.properties]
      if chance(0.3) { params["name"] = "shared" }
      try attempt("viewModel/create", with("owner", chance(0.6) ? pick(nodes + models) : nil, params))
    case 3, 4:
      guard let model = pick(models) else { return }
      let values: Value = [
        "a": .integer(Int.random(in: -9...9, using: &random)), "list": [1, ["id": "p", "x": 1.5], .null],
        "any": chance(0.5) ? ["b": [true], "a": .null] : point(),
        "near": .string(pick(nodes + models) ?? model), "work": ["type": "processing"],
      ]
      try attempt("viewModel/set", ["viewModel": .string(model), "values": values])
      if chance(0.3) { try attempt("viewModel/set", ["viewModel": .string(model), "path": "/text"]) }
      let number = Value.integer(Int.random(in: -99...99, using: &random))
      let key = pick(["ann", "b~0b", "c~1c", "ß"]) ?? "ann"
      let parts: [(path: String, value: Value)] = [
        ("home", ["lat": number, "door": ["code": number], "tags": ["u", ["id": "v", "n": number]]]), ("home/lat", number),
        ("home/door/code", number), ("home/door", [:]), ("home/note", .null), ("home", .null), ("home/tags", ["v", "t"]),
        ("ages", ["ann": ["age": number]]), ("ages/\(key)", ["age": number, "xy": ["a": [number]]]),
        ("ages/\(key)", .null), ("ages/\(key)/age", number),
      ]
      for _ in 0..<3 {
        guard let part = pick(parts) else { continue }
        try attempt("state/set", ["path": .string("/viewModels/\(model)/\(part.path)"), "value": part.value])
      }
      let cleared: Value = [.string("/ages/\(key)"), "/home/tags"]
      if chance(0.3) { try attempt("viewModel/set", ["viewModel": .string(model), "clear": cleared]) }
    case 5:
      try attempt("environment/register", ["key": "k1", "type": "integer", "defaultValue": 5])
      try attempt("environment/register", ["key": "k2", "type": "json", "isNullable": true, "doc": "d"])
    case 6:
      let values: [String: Value] = [
        "units": "imperial", "k1": 7, "k2": ["a": .null], "locale": .string(pick(["de", "fr-CH"]) ?? "de"),
        "timeZone": "Etc/GMT-2",
      ]
      let value = values[key] ?? .null
      try attempt("environment/set", with("node", node, ["key": .string(key), "value": value]))
    case 7:
      if chance(0.4) {
        try attempt("environment/clear", with("node", node, chance(0.5) ? ["keys": [.string(key)]] : [:]))
      } else {
        try attempt("viewModel/withdraw", with("node", node, ["name": "shared"]))
      }
    default:
      guard let model = pick(models) else { return }
      try attempt(
        chance(0.2) ? "viewModel/close" : "viewModel/provide",
        with("node", node, ["viewModel": .string(model), "name": .string(pick(["shared", "other"]) ?? "shared")]))
    }
  }
}
