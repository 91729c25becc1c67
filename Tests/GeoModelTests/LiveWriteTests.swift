// Live writes leave no step, and steps before and after them still do what they say: random sequences against plain bookkeeping.

import GeoModel
import Geometry
import Query
import Testing

struct LiveWriteTests {
  @Test(arguments: UInt64(0)..<300)
  func `undo and redo around live edits of graphics do what plain bookkeeping says`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = World.manual()
    _ = try world.makeView()
    try world.run { try $0.createOverlay(id: "o", on: "v", reference: .wgs84) }
    let first = world.history.undoNames.count
    var book = Book()
    for turn in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        guard world.history.undoNames.count > first else { continue }
        try world.run { try $0.undo() }
        book.undo()
      case 2, 3:
        guard world.history.canRedo else { continue }
        try world.run { try $0.redo() }
        book.redo()
      default:
        let isLive = Bool.random(using: &random)
        let edit = book.randomEdit(turn, using: &random)
        try world.run(live: isLive) { try edit.apply(to: &$0) }
        book.apply(edit, isLive: isLive)
      }
      try #require(world.graphics == book.shown, "turn \(turn)")
      try #require(world.history.redoNames.count == book.undone.count)
      world.checkIndexes()
    }
  }

  @Test func `live writes of members and values stay when earlier steps are undone and redone`() throws {
    var world = World.manual()
    _ = try world.makeView()
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.title, "T")]) }
    try world.run(live: true) { try $0.updateContent(of: .map("m"), [MemberChange(.minScale, 5000.0)]) }
    try world.run { try $0.undo() }
    #expect(world.maps["m"]?.content.title == nil)
    #expect(world.maps["m"]?.content.minScale == 5000)
    try world.run(live: true) { try $0.updateContent(of: .map("m"), [MemberChange(.minScale, 7000.0)]) }
    try world.run { try $0.redo() }
    #expect(world.maps["m"]?.content.title == "T")
    #expect(world.maps["m"]?.content.minScale == 7000)
  }

  @Test func `redo keeps what live writes have set since the undo, and brings back what they had set before`() throws {
    var world = World.manual()
    let property = PropertyDefinition(
      name: "x", type: .integer, isNullable: false, defaultValue: nil, doc: nil, derivation: nil)
    try world.run {
      try $0.createViewModel(id: "p", type: nil, properties: [property], owner: nil, values: [])
    }
    func set(_ value: Int64, isLive: Bool) throws {
      try world.run(live: isLive) { try $0.setValues(of: "p", [("x", .integer(value))]) }
    }
    var value: Value? { world.viewModels["p"]?.values["x"] }
    try set(1, isLive: false)
    try set(2, isLive: true)
    try world.run { try $0.undo() }
    #expect(value == .integer(0))
    try world.run { try $0.redo() }
    #expect(value == .integer(2))
    try world.run { try $0.undo() }
    try set(5, isLive: true)
    #expect(world.history.canRedo)
    try world.run { try $0.redo() }
    #expect(value == .integer(5))
  }

  @Test func `live values of the environment stay when the step that set the first one is undone`() throws {
    var world = World.manual()
    _ = try world.makeView()
    let map = ObjectReference(.maps, "m")
    try world.run { try $0.setEnvironment("units", at: map, to: .string("imperial")) }
    try world.run(live: true) { try $0.setEnvironment("symbolScale", at: map, to: .integer(2)) }
    try world.run { try $0.undo() }
    #expect(world.environments["m"]?.values == ["symbolScale": .integer(2)])
    try world.run { try $0.clearEnvironment(nil, at: map) }
    try world.run(live: true) { try $0.setEnvironment("locale", at: map, to: .string("de")) }
    try world.run { try $0.undo() }
    #expect(world.environments["m"]?.values == ["symbolScale": .integer(2), "locale": .string("de")])
  }

  @Test func `an edit that is undone leaves live writes made amid it alone`() throws {
    var world = World.manual()
    _ = try world.makeView()
    try world.run { try $0.beginEdit("drag") }
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.title, "T")]) }
    try world.run(live: true) { try $0.updateContent(of: .map("m"), [MemberChange(.minScale, 5000.0)]) }
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange(.maxScale, 100.0)]) }
    try world.run { try $0.cancelEdit() }
    #expect(world.maps["m"]?.content.title == nil)
    #expect(world.maps["m"]?.content.maxScale == nil)
    #expect(world.maps["m"]?.content.minScale == 5000)
  }

  @Test func `a live write modifies the document and makes no step; one without effect does neither`() throws {
    var world = World.manual()
    _ = try world.makeView()
    world.run { $0.markSaved() }
    let steps = world.history.undoNames
    try world.run(live: true) { try $0.updateContent(of: .map("m"), [MemberChange(.title, nil)]) }
    #expect(!world.history.isModified)
    try world.run(live: true) { try $0.updateContent(of: .map("m"), [MemberChange(.title, "T")]) }
    #expect(world.history.isModified)
    #expect(world.history.undoNames == steps)
  }

  @Test func `what creates, removes or moves objects, or changes history, needs a step`() throws {
    var world = World.manual()
    _ = try world.makeView()
    let commands: [(inout World) throws -> Void] = [
      { try $0.createMap(id: "n", title: nil, reference: .wgs84) }, { try $0.closeMap("m") },
      { try $0.createOverlay(id: "o", on: "v", reference: .wgs84) }, { _ = try $0.undo() },
      { try $0.beginEdit(nil) },
    ]
    for command in commands {
      let revision = world.revision
      #expect(throws: ModelError.undoRequired) { try world.run(live: true, command) }
      #expect(world.revision == revision)
    }
  }
}

// MARK: - Plain bookkeeping

/// What identifies a cell of a graphic: an attribute's name, or `x`.
private typealias Cells = [String: Int]

private enum GraphicEdit {
  case add([(id: Int, cells: Cells)])
  case update([(id: Int, cells: Cells)])
  case remove([Int])
  case removeAll
  case replace([(id: Int, cells: Cells)])

  func apply(to world: inout World) throws {
    switch self {
    case .add(let graphics): _ = try world.addGraphics(Self.batch(graphics), to: "o")
    case .replace(let graphics): _ = try world.replaceGraphics(Self.batch(graphics), of: "o")
    case .remove(let ids): _ = try world.removeGraphics(ids, from: "o")
    case .removeAll: _ = try world.removeGraphics(nil, from: "o")
    case .update(let graphics):
      _ = try world.updateGraphics(
        graphics.map { id, cells in
          var edit = FeatureEdit(id: id)
          if let x = cells["x"] { edit.geometry = .set(.point(Point(x: Double(x), y: 0))) }
          edit.attributes = cells.filter { $0.key != "x" }.map { ($0.key, .integer(Int64($0.value))) }
          return edit
        }, of: "o")
    }
  }

  private static func batch(_ graphics: [(id: Int, cells: Cells)]) -> FeatureBatch {
    var batch = FeatureBatch()
    for (id, cells) in graphics {
      batch.begin(id: id)
      for (name, value) in cells.sorted(by: { $0.key < $1.key }) {
        if name == "x" {
          batch.setPoint(x: Double(value), y: 0)
        } else {
          batch.set(column: batch.column(named: name), .integer(Int64(value)))
        }
      }
    }
    return batch
  }
}

/// Graphics by an identity that is never used twice, unlike ids, and steps as lists of effects.
private struct Book {
  struct Cell: Hashable {
    let graphic: Int
    let name: String
  }
  enum Effect {
    case added([Int])
    case removed([Int])
    case changed([Cell: Int?])
  }

  private var ids: [Int: Int] = [:]
  private var cells: [Int: Cells] = [:]
  private var alive: [Int] = []
  private var done: [[Effect]] = []
  private(set) var undone: [(effects: [Effect], live: Set<Cell>)] = []

  var shown: [Int: Cells] {
    Dictionary(uniqueKeysWithValues: alive.map { (ids[$0] ?? -1, cells[$0] ?? [:]) })
  }

  func randomEdit(_ turn: Int, using random: inout SeededGenerator) -> GraphicEdit {
    let names = ["a", "b", "c", "d", "e", "x"]
    // A value is used once, so that no edit is without effect.
    func cells(_ index: Int) -> Cells {
      var cells: Cells = [:]
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        cells[names.randomElement(using: &random) ?? "a"] = turn * 10 + index % 10 - 300
      }
      return cells
    }
    let taken = alive.compactMap { ids[$0] }.sorted()
    let some = taken.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .removeAll
    case 1: return .replace((0..<3).map { (($0 * 3 + turn) % 9, cells($0)) })
    case 2..<6 where !some.isEmpty: return .update(some.enumerated().map { ($1, cells($0)) })
    case 6..<8 where !some.isEmpty: return .remove(Array(some))
    default:
      let free = (0..<12).filter { !taken.contains($0) }.shuffled(using: &random)
      return .add(free.prefix(Int.random(in: 1...3, using: &random)).enumerated().map { ($1, cells($0)) })
    }
  }

  mutating func apply(_ edit: GraphicEdit, isLive: Bool) {
    var effects: [Effect] = []
    switch edit {
    case .add(let graphics): effects = graphics.isEmpty ? [] : [.added(add(graphics))]
    case .update(let graphics): effects = [.changed(change(graphics))]
    case .remove(let removed):
      let gone = alive.filter { removed.contains(ids[$0] ?? -1) }
      alive.removeAll(where: gone.contains)
      effects = [.removed(gone)]
    case .removeAll:
      effects = alive.isEmpty ? [] : [.removed(alive)]
      alive = []
    case .replace(let graphics):
      let gone = alive
      alive = []
      effects = [.removed(gone), .added(add(graphics))]
    }
    guard isLive else {
      guard !effects.isEmpty else { return }
      done.append(effects)
      undone = []
      return
    }
    for case .changed(let before) in effects where !undone.isEmpty {
      undone[undone.count - 1].live.formUnion(before.keys)
    }
  }

  private mutating func add(_ graphics: [(id: Int, cells: Cells)]) -> [Int] {
    graphics.map { id, given in
      let graphic = ids.count
      ids[graphic] = id
      cells[graphic] = given
      alive.append(graphic)
      return graphic
    }
  }

  private mutating func change(_ graphics: [(id: Int, cells: Cells)]) -> [Cell: Int?] {
    var before: [Cell: Int?] = [:]
    for (id, given) in graphics {
      guard let graphic = alive.first(where: { ids[$0] == id }) else { continue }
      for (name, value) in given {
        before[Cell(graphic: graphic, name: name)] = .some(cells[graphic]?[name])
        cells[graphic]?[name] = value
      }
    }
    return before
  }

  mutating func undo() {
    guard let effects = done.popLast() else { return }
    undone.append((revert(effects, except: []), []))
  }

  mutating func redo() {
    guard let step = undone.popLast() else { return }
    if !undone.isEmpty { undone[undone.count - 1].live.formUnion(step.live) }
    done.append(revert(step.effects, except: step.live))
  }

  private mutating func revert(_ effects: [Effect], except live: Set<Cell>) -> [Effect] {
    effects.reversed().map { effect in
      switch effect {
      case .added(let graphics):
        let gone = graphics.filter(alive.contains)
        alive.removeAll(where: gone.contains)
        return .removed(gone)
      case .removed(let graphics):
        let taken = Set(alive.compactMap { ids[$0] })
        let back = graphics.filter { !taken.contains(ids[$0] ?? -1) }
        alive += back
        return .added(back)
      case .changed(let values):
        var before: [Cell: Int?] = [:]
        for (cell, value) in values where alive.contains(cell.graphic) && !live.contains(cell) {
          before[cell] = .some(cells[cell.graphic]?[cell.name])
          cells[cell.graphic]?[cell.name] = value
        }
        return .changed(before)
      }
    }
  }
}

extension World {
  /// A command, live or not.
  fileprivate mutating func run<R>(live isLive: Bool, _ command: (inout World) throws -> R) throws -> R {
    begin(origin: .client(nil), isLive: isLive)
    do {
      let result = try command(&self)
      try checkLive()
      commit("test")
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  fileprivate var graphics: [Int: Cells] {
    var result: [Int: Cells] = [:]
    guard let store = overlays["o"]?.store else { return [:] }
    store.forEach { row in
      var cells: Cells = [:]
      for (column, field) in store.fields.enumerated() {
        if case .integer(let value) = row.value(column) { cells[field.name.string] = Int(value) }
      }
      if let point = row.point { cells["x"] = Int(point.x) }
      result[row.id] = cells
      return true
    }
    return result
  }

  /// Checks that ids, index and count agree with the graphics.
  fileprivate func checkIndexes() {
    guard let store = overlays["o"]?.store else { return }
    var located = 0
    var count = 0
    store.forEach { row in
      #expect(store.feature(id: row.id)?.row == row.row)
      if row.point != nil { located += 1 }
      count += 1
      return true
    }
    #expect(store.count == count)
    let everywhere = Envelope(xMin: -1e6, yMin: -1e6, xMax: 1e6, yMax: 1e6)
    #expect(store.rows(in: [everywhere]).count == located)
  }
}
