// Changes of ordered lists are sent as insertions, removals and moves that any JSON Patch library applies.

import GeoModel
import Geometry
import Testing

@testable import Subscriptions

struct ListReplicaTests {
  // MARK: Steps

  @Test(arguments: UInt64(0)..<300)
  func `the steps between any two lists lead from one to the other, removals first`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let names = (0..<Int.random(in: 0...14, using: &random)).map { "e\($0)" }
    func list() -> [ListElement] {
      names.filter { _ in Double.random(in: 0..<1, using: &random) < 0.75 }.shuffled(using: &random).map {
        ListElement(id: $0, text: #"{"id":"\#($0)","n":\#(Int.random(in: 0...2, using: &random))}"#)
      }
    }
    let (old, new) = (list(), list())
    try check(#require(ListDelta.steps(from: old, to: new)), from: old, to: new)
  }

  @Test(arguments: UInt64(0)..<300)
  func `the steps between two lists of ids lead from one to the other`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let old = (0..<Int.random(in: 1...9, using: &random)).map { "e\($0)" }.shuffled(using: &random)
    var new = old
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let id = new.remove(at: Int.random(in: new.indices, using: &random))
      new.insert(id, at: Int.random(in: 0...new.count, using: &random))
    }
    if Bool.random(using: &random) { new.insert("x", at: Int.random(in: 0...new.count, using: &random)) }
    if seed % 3 == 0 { new.remove(at: Int.random(in: new.indices, using: &random)) }
    let steps = try #require(ListDelta.steps(from: TextList(old.map { Text($0) }), to: TextList(new.map { Text($0) })))
    try check(steps, from: old.map { ListElement(id: $0) }, to: new.map { ListElement(id: $0) })
  }

  /// Checks that steps lead from one list to the other.
  ///
  /// - Returns: The number of moves.
  @discardableResult
  private func check(_ steps: [ListDelta.Step], from old: [ListElement], to new: [ListElement]) throws -> Int {
    var now = old
    var moves = 0
    for (index, step) in steps.enumerated() {
      switch step {
      case .remove(let at, let id):
        #expect(now.remove(at: at).id.string == id)
        #expect(steps[..<index].allSatisfy { if case .remove = $0 { true } else { false } })
      case .move(let from, let to, let id):
        moves += 1
        let element = now.remove(at: from)
        #expect(element.id.string == id)
        now.insert(element, at: to)
      case .add(let at, let element): now.insert(element, at: at)
      case .replace(let at, let element):
        #expect(now[at].id == element.id)
        #expect(now[at] != element)
        now[at] = element
      }
    }
    #expect(now == new)
    return moves
  }

  @Test(arguments: UInt64(0)..<100)
  func `one moved element is one move`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let old = (0..<9).map { ListElement(id: "e\($0)") }
    var new = old
    new.insert(new.remove(at: Int.random(in: 0..<9, using: &random)), at: Int.random(in: 0..<9, using: &random))
    #expect(try check(#require(ListDelta.steps(from: old, to: new)), from: old, to: new) == (old == new ? 0 : 1))
  }

  @Test func `a reversed list of 100,000 takes few moves, then removals and insertions`() throws {
    let old = (0..<100_000).map { ListElement(id: "e\($0)") }
    let steps = try #require(ListDelta.steps(from: old, to: old.reversed()))
    var now = old
    var moves = 0
    for step in steps {
      switch step {
      case .remove(let index, _): now.remove(at: index)
      case .move(let from, let to, _):
        moves += 1
        now.insert(now.remove(at: from), at: to)
      case .add(let index, let element): now.insert(element, at: index)
      case .replace: Issue.record("no value changed")
      }
    }
    #expect(now == old.reversed())
    #expect(moves <= ListDelta.moveLimit)
  }

  @Test(arguments: [#"["a","a"]"#, "[1,2]", #"[{"name":"a"}]"#, #"{"a":1}"#, "null", #"[["a"]]"#])
  func `a list with missing or repeated ids is sent whole`(text: String) {
    #expect(ListElement.elements(of: text) == nil)
  }

  // MARK: On the server

  @Test(arguments: UInt64(0)..<15)
  func `added, removed and moved layers are sent by id: at once, coalesced and at the end of an edit`(seed: UInt64)
    throws
  {
    let server = try MemoryServer()
    var random = SeededGenerator(seed: seed)
    try server.call("map/create", ["id": "m"])
    let point: Value = ["type": "Feature", "properties": [:], "geometry": ["type": "Point", "coordinates": [1, 2]]]
    try server.call("source/openInline", ["id": "s", "data": point])
    var layers: [String] = []
    var created = 0
    var observers: [Observer] = []
    for (patterns, more) in [
      (["/maps/m/operationalLayers"], [:]), (["/maps"], [:]), ([""], ["edits": "deferred"]),
      (["/maps/*/operationalLayers"], ["maxRate": 1]), (["/maps/m"], ["edits": "deferred"]),
      (["/maps/m/operationalLayers/1", "/maps/*/operationalLayers/*"], [:]),
    ] as [([String], [String: Value])] {
      let paths: Value = ["paths": .array(patterns.map { .string($0) })]
      let answer = try server.call("state/observe", .object((paths.object ?? [:]).merging(more) { $1 }))
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for round in 0..<12 {
      let isEdit = Bool.random(using: &random)
      if isEdit { try server.call("edit/begin") }
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
          created += 1
          let index = Int.random(in: 0...layers.count, using: &random)
          try server.call(
            "layer/add", ["map": "m", "source": "s", "id": .string("y\(created)"), "index": .integer(index)])
          layers.insert("y\(created)", at: index)
        case 2:
          guard let layer = layers.randomElement(using: &random) else { continue }
          try server.call("layer/remove", ["layer": .string(layer)])
          layers.removeAll { $0 == layer }
        default:
          guard let layer = layers.randomElement(using: &random) else { continue }
          let index = Int.random(in: 0..<layers.count, using: &random)
          try server.call("layer/move", ["layer": .string(layer), "index": .integer(index)])
          layers.removeAll { $0 == layer }
          layers.insert(layer, at: index)
        }
      }
      if isEdit { try server.call("edit/end") }
      server.loop.advance(by: 2_000_000_000)
      let messages = try server.takeMessages()
      for message in messages {
        for entry in message["params"]?["changes"]?.array ?? [] where entry["path"] == "/maps/m/operationalLayers" {
          Issue.record("sent whole: \(message)")
        }
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      for observer in observers { try observer.check(server, "seed \(seed), round \(round)") }
      #expect(
        try server.state("/maps/m/operationalLayers")["/maps/m/operationalLayers"]
          == .array(layers.map { .string($0) }))
    }
  }
}
