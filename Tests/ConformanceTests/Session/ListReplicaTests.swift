// Changes of ordered lists are sent as insertions, removals and moves that any JSON Patch library applies, with the fewest moves.

import Testing

@testable import GeoServices

struct ListReplicaTests {
  // MARK: Steps

  @Test(arguments: UInt64(0)..<300)
  func `the steps between any two lists lead from one to the other, deletions first, by the fewest moves`(
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
    try check(ListDelta.steps(from: old, to: new), from: old, to: new)
  }

  @Test(arguments: UInt64(0)..<300)
  func `the steps between two lists of ids use the fewest moves`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let old = (0..<Int.random(in: 1...9, using: &random)).map { "e\($0)" }.shuffled(using: &random)
    var new = old
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let id = new.remove(at: Int.random(in: new.indices, using: &random))
      new.insert(id, at: Int.random(in: 0...new.count, using: &random))
    }
    if Bool.random(using: &random) { new.insert("x", at: Int.random(in: 0...new.count, using: &random)) }
    if seed % 3 == 0 { new.remove(at: Int.random(in: new.indices, using: &random)) }
    let steps = ListDelta.steps(from: old, to: new)
    try check(steps, from: old.map { ListElement(id: $0) }, to: new.map { ListElement(id: $0) })
  }

  /// Checks that steps lead from one list to the other.
  private func check(_ steps: [ListDelta.Step], from old: [ListElement], to new: [ListElement]) throws {
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
    let kept = old.compactMap { element in new.firstIndex { $0.id == element.id } }
    #expect(moves == kept.count - longestAscending(kept))
  }

  /// The length of the longest ascending subsequence, by the quadratic algorithm.
  private func longestAscending(_ numbers: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, number) in numbers.enumerated() {
      lengths.append(1 + ((0..<index).filter { numbers[$0] < number }.map { lengths[$0] }.max() ?? 0))
    }
    return lengths.max() ?? 0
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
