// Few ids, used again and again: objects that were closed, replaced and restored under one id, some of them for good.

import Testing

struct ReusedIDTests {
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer()
    try server.call("map/create", ["id": "m"])
    for view in ["v1", "v2"] { try server.call("view/create", ["id": .string(view), "map": "m"]) }
  }

  /// Overlays by view, as the views and as the overlays name them.
  private func overlays() throws -> (listed: [String: [String]], known: [String: [String]]) {
    var (listed, known): ([String: [String]], [String: [String]]) = ([:], [:])
    for (path, list) in try server.state("/views/*/overlays") {
      listed[String(path.split(separator: "/")[1])] = list.array?.compactMap(\.string).sorted()
    }
    for view in listed.keys { known[view] = [] }
    for (path, view) in try server.state("/overlays/*/view") {
      known[view.string ?? "", default: []].append(String(path.split(separator: "/")[1]))
    }
    return (listed, known.mapValues { $0.sorted() })
  }

  private func check(_ what: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws {
    let (listed, known) = try overlays()
    #expect(listed == known, "\(what)", sourceLocation: sourceLocation)
    let layers = try server.state("/maps/*/operationalLayers").values.flatMap { $0.array?.compactMap(\.string) ?? [] }
    let groups = try server.state("/layers")["/layers"]?.object?.keys.map { $0 } ?? []
    #expect(layers.sorted() == groups.sorted(), "\(what)", sourceLocation: sourceLocation)
  }

  @Test(arguments: [false, true])
  func `an object comes back though a later one of its id is gone for good`(isTransaction: Bool) throws {
    try server.call("overlay/create", ["id": "o1", "view": "v1", "name": "first"])
    try server.call("overlay/create", ["id": "o2", "view": "v1"])
    let commands: [(method: String, params: Value)] = [
      ("overlay/create", ["id": "o1", "view": "v2", "ifExists": "replace"]), ("view/close", ["view": "v2"]),
    ]
    if isTransaction {
      let list = commands.map { ["method": .string($0.method), "params": $0.params] as Value }
      try server.call("model/apply", ["commands": .array(list)])
    } else {
      for command in commands { try server.call(command.method, command.params) }
    }
    #expect(try overlays().listed == ["v1": ["o2"]])
    try server.call("edit/undo")
    #expect(try server.state("/views/v1/overlays")["/views/v1/overlays"] == ["o1", "o2"])
    #expect(try server.state("/overlays/o1/name")["/overlays/o1/name"] == "first")
    try server.call("edit/redo")
    #expect(try overlays().listed == ["v1": ["o2"]])
    try check()
  }

  @Test func `history keeps the steps of an object whose id another one had that is gone for good`() throws {
    let properties: Value = [["name": "n", "type": "integer"]]
    try server.call("viewModel/create", ["id": "k", "owner": "v1", "properties": properties])
    try server.call("state/set", ["path": "/viewModels/k/n", "value": 7])
    try server.call(
      "viewModel/create", ["id": "k", "owner": "v2", "properties": properties, "ifExists": "replace"])
    try server.call("view/close", ["view": "v2"])
    #expect(try server.call("edit/history")["undo"]?.array?.count == 4)
    try server.call("edit/undo")
    #expect(try server.state("/viewModels/k/n")["/viewModels/k/n"] == 7)
  }

  @Test func `what was undone and is gone for good is not redone`() throws {
    try server.call("overlay/create", ["id": "o1", "view": "v1"])
    try server.call("overlay/create", ["id": "o1", "view": "v2", "ifExists": "replace"])
    try server.call("edit/undo")
    try server.call("view/close", ["view": "v2"])
    try attempt("edit/redo")
    try check()
    #expect(try overlays().known["v2"] == nil)
  }

  /// Sends a request that may be refused.
  private func attempt(_ method: String, _ params: Value = [:]) throws {
    #expect(try server.response(to: server.request(method, params)) != nil)
  }

  /// A random command on few ids.
  private func command(_ random: inout SeededGenerator) -> (method: String, params: Value) {
    func pick(_ names: [String]) -> Value { .string(names.randomElement(using: &random) ?? "") }
    let ifExists = pick(["replace", "replace", "reuse", "error"])
    let (view, overlay, group, model) = (
      pick(["v1", "v2", "v3"]), pick(["o1", "o2", "o3"]), pick(["g1", "g2"]), pick(["k1", "k2"])
    )
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1: return ("view/create", ["id": view, "map": "m", "ifExists": ifExists])
    case 2: return ("view/close", ["view": view])
    case 3, 4, 5: return ("overlay/create", ["id": overlay, "view": view, "ifExists": ifExists])
    case 6: return ("overlay/close", ["overlay": overlay])
    case 7: return ("overlay/update", ["overlay": overlay, "name": pick(["a", "b", "c"])])
    case 8: return ("overlay/move", ["overlay": overlay, "index": 0])
    case 9:
      let point: Value = ["type": "Point", "coordinates": [1, 2]]
      return ("overlay/addGraphics", ["overlay": overlay, "graphics": [["geometry": point]]])
    case 10: return ("layer/addGroup", ["id": group, "map": "m", "ifExists": ifExists])
    case 11: return ("layer/remove", ["layer": group])
    case 12, 13:
      let properties: Value = [["name": "p", "type": "reference"]]
      return ("viewModel/create", ["id": model, "owner": view, "properties": properties, "ifExists": ifExists])
    case 14: return ("viewModel/set", ["viewModel": model, "values": ["p": overlay]])
    default: return ("viewModel/close", ["viewModel": model])
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func `lists name the objects that are there, each once, whatever is undone`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let answer = try server.call("state/observe", ["paths": [""]])
    server.record = []
    var observer = Observer(replica: try Replica(answer), patterns: [""])
    for step in 0..<120 {
      let what: String
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<12:
        let (method, params) = command(&random)
        what = "\(method) \(params)"
        try attempt(method, params)
      case 12, 13:
        let commands = (0..<Int.random(in: 2...5, using: &random)).map { _ in command(&random) }
        what = "\(commands)"
        let list = commands.map { ["method": .string($0.method), "params": $0.params] as Value }
        try attempt("model/apply", ["commands": .array(list)])
      case 14, 15, 16:
        what = "undo"
        try attempt("edit/undo", ["steps": .integer(Int.random(in: 1...4, using: &random))])
      case 17:
        what = "redo"
        try attempt("edit/redo", ["steps": .integer(Int.random(in: 1...4, using: &random))])
      case 18:
        what = "begin"
        try attempt("edit/begin", ["name": "e"])
      default:
        what = Bool.random(using: &random) ? "edit/end" : "edit/cancel"
        try attempt(what)
      }
      try check("seed \(seed), step \(step): \(what)")
      _ = try server.takeMessages()
      for message in server.record ?? [] { try observer.replica.apply(message) }
      server.record = []
      try observer.check(server, "seed \(seed), step \(step): \(what)")
    }
  }
}
