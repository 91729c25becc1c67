// Live writes leave no step, and steps before and after them still do what they say: random sequences against plain bookkeeping.

import FeatureStore
import GeoModel
import Geometry
import TestSupport
import Testing

struct LiveWriteTests {
  @Test(arguments: UInt64(0)..<300)
  func `undo and redo around live edits of graphics do what plain bookkeeping says`(seed: UInt64) throws {
    try check(seed, scale: 1)
  }

  @Test(.slow, arguments: UInt64(1000)..<1005)
  func `they do so with graphics in several chunks`(seed: UInt64) throws { try check(seed, scale: 400) }

  /// - Parameter scale: number of graphics in the world for each of the book.
  private func check(_ seed: UInt64, scale: Int) throws {
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
        try world.run(live: isLive) { try edit.scaled(by: scale).apply(to: &$0) }
        book.apply(edit, isLive: isLive)
      }
      try #require(world.graphics == book.shown(scale), "turn \(turn)")
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
      { try $0.createMap(id: "n", title: nil, reference: .wgs84) }, { try $0.close(MapID("m")) },
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
