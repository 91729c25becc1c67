// Links into parts of values, against a plain fixpoint of them.

import Testing

/// Two-level values under links, without paths of the server, revisions or events.
private struct PlainLinks {
  typealias Path = [String]
  struct Link { let first, second: Path, isTwoWay: Bool }

  var values: [Path: Int] = [:]
  var links: [Link] = []

  /// Leaves at or below a path, by the rest of their path.
  private func value(_ path: Path) -> [Path: Int] {
    var result: [Path: Int] = [:]
    for (leaf, value) in values where leaf.starts(with: path) { result[Array(leaf.dropFirst(path.count))] = value }
    return result
  }

  /// Sets leaves, then carries values over links until none is due.
  ///
  /// - Returns: whether the values became equal within a number of runs.
  mutating func set(_ new: [Path: Int]) -> Bool {
    var due: [(link: Int, fromFirst: Bool)] = []
    write(new, by: nil, &due)
    for _ in 0..<1000 {
      guard !due.isEmpty else { return true }
      let (index, fromFirst) = due.removeFirst()
      let link = links[index]
      let (source, target) = fromFirst ? (link.first, link.second) : (link.second, link.first)
      let carried = value(source)
      write(Dictionary(uniqueKeysWithValues: carried.map { (target + $0.key, $0.value) }), by: index, &due)
    }
    return false
  }

  private mutating func write(_ new: [Path: Int], by author: Int?, _ due: inout [(link: Int, fromFirst: Bool)]) {
    let before = self
    values.merge(new) { $1 }
    for (index, link) in links.enumerated() where index != author {
      for (end, fromFirst) in [(link.first, true), (link.second, false)] where fromFirst || link.isTwoWay {
        guard before.value(end) != value(end) else { continue }
        due.removeAll { $0.link == index }
        due.append((index, fromFirst))
      }
    }
  }
}

struct LinkTests {
  private static let parts = ["x", "y", "z"]

  @Test(arguments: UInt64(0)..<60)
  func `links into parts of values reach what a plain fixpoint reaches`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let server = try MemoryServer()
    var plain = PlainLinks()
    let models = ["a", "b", "c"]
    for model in models {
      try server.call(
        "viewModel/create",
        [
          "id": .string(model),
          "properties": [["name": "p", "type": "json", "defaultValue": ["x": 0, "y": 0, "z": 0]]],
        ])
      for part in Self.parts { plain.values[[model, "p", part]] = 0 }
    }
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let isWhole = Int.random(in: 0..<4, using: &random) == 0
      func end() -> [String] {
        [models[Int.random(in: 0..<3, using: &random)], "p"]
          + (isWhole ? [] : [Self.parts[Int.random(in: 0..<3, using: &random)]])
      }
      let link = PlainLinks.Link(first: end(), second: end(), isTwoWay: Bool.random(using: &random))
      guard link.first != link.second else { continue }
      plain.links.append(link)
      try server.call(
        "binding/link",
        [
          "first": .string("/viewModels/" + link.first.joined(separator: "/")),
          "second": .string("/viewModels/" + link.second.joined(separator: "/")),
          "direction": link.isTwoWay ? "twoWay" : "firstToSecond",
        ])
    }
    for step in 0..<20 {
      var next = plain
      let model = models[Int.random(in: 0..<3, using: &random)]
      let isWhole = Bool.random(using: &random)
      let parts = isWhole ? Self.parts : [Self.parts[Int.random(in: 0..<3, using: &random)]]
      let new = parts.map { ($0, Int.random(in: 0..<5, using: &random)) }
      let settles = next.set(Dictionary(uniqueKeysWithValues: new.map { ([model, "p", $0.0], $0.1) }))
      let value: Value =
        isWhole
        ? .object(Dictionary(uniqueKeysWithValues: new.map { ($0.0, Value.integer($0.1)) })) : .integer(new[0].1)
      let path = "/viewModels/\(model)/p" + (isWhole ? "" : "/" + parts[0])
      let answer = try server.response(to: server.request("state/set", ["path": .string(path), "value": value]))
      #expect((answer?["error"] == nil) == settles, "seed \(seed), step \(step)")
      if settles {
        plain = next
        let read = try server.call("state/get", ["path": .string(path)])["values"]?.array?.first?["value"]
        #expect(answer?["result"]?["value"] == read, "seed \(seed), step \(step): the reply is not the model's value")
      }
      for (leaf, value) in plain.values {
        let found = try server.state("/viewModels/" + leaf.joined(separator: "/")).values.first
        #expect(found == .integer(value), "seed \(seed), step \(step): \(leaf) after \(path)")
      }
    }
  }

  @Test func `two links into one viewpoint carry center and scale`() throws {
    let server = try MemoryServer()
    try server.call("map/create", ["id": "m"])
    for view in ["a", "b"] { try server.call("view/create", ["id": .string(view), "map": "m"]) }
    for part in ["center", "targetScale"] {
      try server.call(
        "binding/link",
        ["first": .string("/views/a/viewpoint/\(part)"), "second": .string("/views/b/viewpoint/\(part)")])
    }
    let paris: Value = ["type": "Point", "coordinates": [2.35, 48.86]]
    let answer = try server.call(
      "view/setViewpoint",
      ["view": "a", "viewpoint": ["type": "centerAndScale", "center": paris, "targetScale": 1000]])
    #expect(answer["viewpoint"]?["targetScale"]?.number == 1000)
    for view in ["a", "b"] {
      let viewpoint = try server.call("view/getViewpoint", ["view": .string(view)])["viewpoint"]
      #expect(viewpoint?["targetScale"]?.number == 1000)
      #expect(viewpoint?["center"] == paris)
    }
  }

  @Test func `any number of links lead to what a derived property depends on`() throws {
    let server = try MemoryServer()
    let names = (0..<150).map { "p\($0)" }
    let inputs = names.map { name -> Value in ["name": .string(name), "type": "integer"] }
    let sum: Value = [
      "name": "sum", "type": "integer", "derived": ["expression": .string(names.joined(separator: " + "))],
    ]
    try server.call("viewModel/create", ["id": "a", "properties": .array(inputs)])
    try server.call("viewModel/create", ["id": "b", "properties": .array(inputs + [sum])])
    try server.call("viewModel/create", ["id": "c", "properties": [["name": "x", "type": "integer"]]])
    for name in names {
      try server.call(
        "binding/link", ["first": .string("/viewModels/a/\(name)"), "second": .string("/viewModels/b/\(name)")])
    }
    try server.call(
      "binding/link",
      ["first": "/viewModels/b/sum", "second": "/viewModels/c/x", "direction": "firstToSecond"])
    let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.integer(2)) })
    try server.call("viewModel/set", ["viewModel": "a", "values": .object(values)])
    #expect(try server.state("/viewModels/b/sum").values.first == 300)
    #expect(try server.state("/viewModels/c/x").values.first == 300)
  }

  @Test(arguments: [false, true])
  func `a loop of hundreds of links that never agrees is refused with its paths, and changes nothing`(inOne: Bool)
    throws
  {
    let server = try MemoryServer()
    let count = 300
    let paths = (0..<count).map { inOne ? "/viewModels/m/p\($0)" : "/viewModels/m\($0)/p" }
    func create(_ id: String, _ names: [String]) throws {
      let properties = names.map { name -> Value in ["name": .string(name), "type": "integer"] }
      try server.call("viewModel/create", ["id": .string(id), "properties": .array(properties)])
    }
    if inOne {
      try create("m", (0..<count).map { "p\($0)" })
    } else {
      for number in 0..<count { try create("m\(number)", ["p"]) }
    }
    func link(_ first: String, _ second: String) -> Value {
      [
        "first": .string(first), "second": .string(second), "direction": "firstToSecond", "transform": "value + 1",
      ]
    }
    for (first, second) in zip(paths, paths.dropFirst()) { try server.call("binding/link", link(first, second)) }
    let answer = try server.response(to: server.request("binding/link", link(paths[count - 1], paths[0])))
    #expect(answer?["error"]?["data"]?["kind"] == "cycle")
    #expect(answer?["error"]?["data"]?["paths"]?.array?.count == count)
    for number in [0, count - 1] {
      #expect(try server.state(paths[number]).values.first == .integer(number))
    }
    // A loop of as many that agree ends after a round.
    try server.call(
      "binding/link",
      [
        "first": .string(paths[count - 1]), "second": .string(paths[0]), "direction": "firstToSecond",
        "transform": .string("value - \(count - 1)"),
      ])
    try server.call("state/set", ["path": .string(paths[5]), "value": 1005])
    #expect(try server.state(paths[4]).values.first == .integer(1004))
  }
}
