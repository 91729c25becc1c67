// Links and derived properties under random commands: values propagate or the command fails, and replicas equal the model.

import JSON
import Testing

/// Random commands on view models, links, values and the environment of a server in memory.
private struct FlowEdits {
  let server: MemoryServer
  var random: SeededGenerator
  /// All two-way links without expressions that were made, by id. The ends of those that exist have to be equal.
  var links: [String: (first: String, second: String)] = [:]
  let models = (0..<6).map { "x\($0)" }
  private var names = 0

  init(_ server: MemoryServer, seed: UInt64) throws {
    self.server = server
    random = SeededGenerator(seed: seed)
    try server.call("clock/set", ["mode": "manual", "tickRate": 10])
    try server.call("map/create", ["id": "m"])
    for view in ["v", "w"] { try server.call("view/create", ["id": .string(view), "map": "m"]) }
    for id in models { try make(id) }
  }

  func make(_ id: String) throws {
    try server.call(
      "viewModel/create",
      [
        "id": .string(id),
        "properties": [
          ["name": "a", "type": "integer"], ["name": "b", "type": "integer"], ["name": "list", "type": "list"],
          ["name": "any", "type": "json"],
          ["name": "sum", "type": "integer", "derived": ["expression": "a + b"]],
          [
            "name": "far", "type": "integer",
            "derived": ["expression": "sum + y", "inputs": ["y": "/viewModels/x0/a"]],
          ],
        ],
      ])
  }

  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
  private mutating func small() -> Value { .integer(Int.random(in: 0..<10, using: &random)) }
  private mutating func path() -> String {
    let id = models.randomElement(using: &random) ?? "x0"
    return "/viewModels/\(id)/" + (chance(0.5) ? "a" : "b")
  }

  /// Sends one request.
  ///
  /// - Parameter onlyModel: whether to exclude commands on time and history.
  /// - Returns: the error, if it fails.
  mutating func step(onlyModel: Bool = false) throws -> Value? {
    let model = Value.string(models.randomElement(using: &random) ?? "x0")
    switch Int.random(in: 0..<(onlyModel ? 8 : 14), using: &random) {
    case 0, 1:
      names += 1
      let id = "l\(names)"
      let (first, second) = (path(), path())
      var params: [String: Value] = ["id": .string(id), "first": .string(first), "second": .string(second)]
      let isPlain = chance(0.7)
      if !isPlain {
        params["direction"] = "firstToSecond"
        params["transform"] = chance(0.5) ? "value + 100" : "(value + 3) % 7 + 200"
      }
      let error = try ask("binding/link", .object(params))
      if error == nil, isPlain { links[id] = (first, second) }
      return error
    case 2:
      guard let id = links.keys.sorted().randomElement(using: &random), chance(0.5) else { return nil }
      return try ask("binding/unlink", ["link": .string(id)])
    case 3, 4, 5: return try ask("viewModel/set", ["viewModel": model, "values": ["a": small(), "b": small()]])
    case 6: return try ask("state/set", ["path": .string(path()), "value": small()])
    case 7:
      let items = (0..<Int.random(in: 0..<6, using: &random)).map { Value.string("i\($0)") }.shuffled(using: &random)
      return try ask(
        "viewModel/set",
        ["viewModel": model, "values": ["list": .array(items), "any": chance(0.5) ? .array(items) : small()]])
    case 8: return try ask(chance(0.7) ? "edit/undo" : "edit/redo", [:])
    case 9:
      let node: Value = chance(0.3) ? .null : chance(0.5) ? "m" : "v"
      return try ask(
        "environment/set", ["key": "units", "value": chance(0.5) ? "metric" : "imperial", "node": node])
    case 10: return try ask("environment/clear", ["node": chance(0.5) ? "m" : "v"])
    case 11:
      let commands: [Value] = (0..<3).map { _ in
        ["method": "state/set", "params": ["path": .string(path()), "value": small()]]
      }
      return try ask("model/apply", ["commands": .array(commands)])
    case 12:
      if chance(0.3) {
        return try ask("binding/link", ["first": "/views/v/viewpoint", "second": "/views/w/viewpoint"])
      }
      server.request(
        "view/animateViewpoint",
        ["view": chance(0.5) ? "v" : "w", "duration": 0.5, "viewpoint": ["type": "scale", "targetScale": 5000]])
      return nil
    default: return try ask("clock/advance", ["seconds": 0.2])
    }
  }

  private func ask(_ method: String, _ params: Value) throws -> Value? {
    try server.response(to: server.request(method, params))?["error"]
  }

  /// Checks what has to hold after any command.
  func check(_ where: String) throws {
    let values = try server.state("/viewModels/*/*")
    func number(_ path: String) -> Int? { values[path]?.integer }
    let existing = try server.call("binding/list")["links"]?.array?.compactMap { $0["link"]?.string } ?? []
    for id in existing {
      guard let ends = links[id], number(ends.first) != number(ends.second) else { continue }
      Issue.record("\(`where`): \(id) \(ends) has \(number(ends.first) ?? -1) and \(number(ends.second) ?? -1)")
    }
    for id in models {
      guard let a = number("/viewModels/\(id)/a"), let b = number("/viewModels/\(id)/b") else { continue }
      #expect(number("/viewModels/\(id)/sum") == a + b, "\(`where`): \(id)")
      guard let other = number("/viewModels/x0/a") else { continue }
      #expect(number("/viewModels/\(id)/far") == a + b + other, "\(`where`): \(id)")
    }
  }
}

struct FlowTests {
  @Test(arguments: UInt64(0)..<20)
  func `links propagate or the command is refused with nothing changed, and replicas equal the model`(seed: UInt64)
    throws
  {
    let server = try MemoryServer()
    var edits = try FlowEdits(server, seed: seed)
    var observers: [Observer] = []
    for patterns in [
      [""], ["/viewModels"], ["/viewModels/*/list"], ["/viewModels/x1/any/0", "/viewModels/x2/far"],
      ["/views/*/environment/units"], ["/environments"], ["/links"],
    ] {
      let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    var refused: Set<String> = []
    for step in 0..<60 {
      _ = try server.takeMessages()
      server.record = []
      let before = try server.worldText()
      let error = try edits.step()
      _ = try server.takeMessages()
      let log = server.record ?? []
      server.record = nil
      for message in log {
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      if let kind = error?["data"]?["kind"]?.string {
        refused.insert(kind)
        #expect(try server.worldText() == before, "seed \(seed), step \(step): \(kind) has changed something")
      }
      try edits.check("seed \(seed), step \(step)")
      for observer in observers { try observer.check(server, "seed \(seed), step \(step)") }
    }
    #expect(
      refused.isSubset(of: [
        "cycle", "nothingToUndo", "nothingToRedo", "linkFailed", "transactionFailed", "unknownId",
      ]))
  }

  @Test(arguments: UInt64(200)..<230)
  func `edits of linked values are undone and redone completely`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = try FlowEdits(server, seed: seed)
    func state() throws -> [String: Value] {
      try server.state("/viewModels/*/*").merging(try server.state("/environments/*/values")) { $1 }
        .merging(try server.state("/links/*")) { $1 }
    }
    func expect(_ wanted: [String: Value], _ what: String, where isIncluded: (String) -> Bool = { _ in true }) throws {
      let found = try state()
      for path in Set(wanted.keys).union(found.keys) where found[path] != wanted[path] && isIncluded(path) {
        Issue.record("seed \(seed), \(what): \(path) is \(found[path] ?? .null), not \(wanted[path] ?? .null)")
      }
    }
    for _ in 0..<10 {
      let start = try state()
      let done = try server.call("edit/history")["undo"]?.array?.count ?? 0
      // One step of history: it includes what links propagate. An edit that only creates links is not a step.
      try server.call("edit/begin")
      for _ in 0..<6 { _ = try edits.step(onlyModel: true) }
      guard edits.chance(0.7) else {
        try server.call("edit/cancel")
        try expect(start, "cancelled")
        continue
      }
      try server.call("edit/end")
      let end = try state()
      guard try server.call("edit/history")["undo"]?.array?.count ?? 0 > done else {
        try expect(start, "nothing") { !$0.hasPrefix("/links") }
        continue
      }
      try server.call("edit/undo")
      try expect(start, "undone")
      try server.call("edit/redo")
      try expect(end, "redone")
    }
  }

  @Test(arguments: UInt64(100)..<120)
  func `values and the environment are undone and redone completely`(seed: UInt64) throws {
    let server = try MemoryServer()
    var edits = try FlowEdits(server, seed: seed)
    func state() throws -> [String: Value] {
      try server.state("/viewModels").merging(try server.state("/environments/*/values")) { $1 }
        .merging(try server.state("/views/*/environment")) { $1 }
    }
    let start = try state()
    let done = try server.call("edit/history")["undo"]?.array?.count ?? 0
    for _ in 0..<40 {
      _ = try server.takeMessages()
      let kind = ["viewModel/set", "environment/set", "state/set", "model/apply"].randomElement(using: &edits.random)
      let id = Value.string(edits.models.randomElement(using: &edits.random) ?? "x0")
      let number = Value.integer(Int.random(in: 0..<9, using: &edits.random))
      let set: Value = ["viewModel": id, "values": ["a": number, "list": [number]]]
      switch kind {
      case "viewModel/set": try server.call("viewModel/set", set)
      case "environment/set":
        try server.call(
          "environment/set", ["key": "symbolScale", "value": .integer(1 + (number.integer ?? 0)), "node": "m"])
      case "state/set": try server.call("state/set", ["path": "/viewModels/x1/any", "value": ["n": number]])
      default:
        try server.call(
          "model/apply", ["commands": [["method": "viewModel/set", "params": set], ["method": "environment/clear"]]])
      }
    }
    let end = try state()
    let steps = (try server.call("edit/history")["undo"]?.array?.count ?? 0) - done
    try server.call("edit/undo", ["steps": .integer(steps)])
    // Undo may remove a scope that the commands created.
    #expect(try state().filter { start[$0.key] != nil } == start)
    try server.call("edit/redo", ["steps": .integer(steps)])
    #expect(try state() == end)
  }

  @Test func `every member that an update takes can be written by its path`() throws {
    let server = try MemoryServer()
    try server.call("source/openInline", ["id": "s", "data": ["type": "FeatureCollection", "features": []]])
    try server.call("map/create", ["id": "m"])
    try server.call("layer/add", ["map": "m", "source": "s", "id": "l"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    try server.call("scene/create", ["id": "sc"])
    let definition = try server.call("rpc.discover")
    for (method, object) in [
      ("map/update", "/maps/m"), ("layer/update", "/layers/l"), ("overlay/update", "/overlays/o"),
      ("scene/update", "/scenes/sc"),
    ] {
      let entry = try #require(definition["methods"]?.array?.first { $0["name"]?.string == method })
      let names = (entry["params"]?.array ?? []).compactMap { $0["name"]?.string }
      #expect(names.count > 2)
      for name in names where !["map", "layer", "scene", "overlay", "clear", "meta"].contains(name) {
        let answer = try server.response(
          to: server.request("state/set", ["path": .string("\(object)/\(name)"), "value": ["no": "value"]]))
        // The value may be invalid for the member, but the member has to be writable.
        #expect(answer?["error"]?["data"]?["kind"]?.string != "notWritable", "\(object)/\(name)")
      }
    }
  }
}
