// Plain bookkeeping of graphics, steps and live edits, with which the history of an overlay is compared.

import FeatureStore
import GeoModel
import Geometry

/// What identifies a cell of a graphic: an attribute's name, or `x`.
typealias Cells = [String: Int]

enum GraphicEdit {
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

  /// The edit with several graphics for each.
  func scaled(by scale: Int) -> GraphicEdit {
    func more(_ graphics: [(id: Int, cells: Cells)]) -> [(id: Int, cells: Cells)] {
      graphics.flatMap { id, cells in (0..<scale).map { (id * scale + $0, cells) } }
    }
    return switch self {
    case .add(let graphics): .add(more(graphics))
    case .update(let graphics): .update(more(graphics))
    case .remove(let ids): .remove(ids.flatMap { id in (0..<scale).map { id * scale + $0 } })
    case .removeAll: .removeAll
    case .replace(let graphics): .replace(more(graphics))
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
struct Book {
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

  func shown(_ scale: Int) -> [Int: Cells] {
    Dictionary(
      uniqueKeysWithValues: alive.flatMap { graphic in
        (0..<scale).map { ((ids[graphic] ?? -1) * scale + $0, cells[graphic] ?? [:]) }
      })
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
