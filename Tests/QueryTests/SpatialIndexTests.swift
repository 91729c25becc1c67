// The index finds the same rows as a scan after any edits.

import Geometry
import TestSupport
import Testing

@testable import SpatialIndex

/// The reference: a dictionary that is scanned.
struct ScannedIndex {
  var envelopes: [UInt32: Envelope] = [:]

  func rows(in box: Envelope) -> [UInt32] {
    envelopes.filter { $0.value.intersects(box) }.keys.sorted()
  }

  var bounds: Envelope? {
    guard !envelopes.isEmpty else { return nil }
    return envelopes.values.reduce(into: Envelope.none) { $0.include($1) }
  }
}

extension SpatialIndex {
  var faults: [String] { points.checkInvariants() + boxes.checkInvariants() }

  func matches(_ oracle: ScannedIndex, in boxes: [Envelope]) -> Bool {
    count == oracle.envelopes.count && bounds == oracle.bounds
      && boxes.allSatisfy {
        let expected = oracle.rows(in: $0)
        return rows(in: $0).sorted() == expected && count(in: $0) == expected.count
          && countAtMost(in: $0) >= expected.count
      }
  }
}

@Suite struct SpatialIndexTests {
  /// Distributions of test data that are hard for spatial indexes.
  enum Spread: String, CaseIterable, Sendable {
    case uniform, clustered, lattice, line, coincident, growing, huge, tiny

    func position(_ random: inout SplitMix, _ step: Int) -> (Double, Double) {
      switch self {
      case .uniform: (random.unit() * 360 - 180, random.unit() * 180 - 90)
      case .clustered:
        (
          Double(random.below(4)) * 50 + random.unit() * random.unit() * 0.01,
          Double(random.below(3)) + random.unit() * 1e-6
        )
      case .lattice: (Double(random.below(30)), Double(random.below(30)))
      case .line: (Double(step), 0)
      case .coincident: (7.25, -3.5)
      case .growing: (random.unit() * Double(step * step), -Double(step * step * step) * random.unit())
      case .huge: ((random.unit() - 0.5) * 1.7e308, random.chance(0.1) ? -1e308 : random.unit())
      case .tiny: (1e-300 * random.unit(), Double.leastNonzeroMagnitude * Double(random.below(9)))
      }
    }
  }

  @Test(.slow, arguments: Spread.allCases, UInt64(0)..<6)
  func `it finds the same rows as a scan after random edits`(spread: Spread, seed: UInt64) {
    var random = SplitMix(seed)
    var index = SpatialIndex()
    var oracle = ScannedIndex()
    var next: UInt32 = 0
    var isPoint: [UInt32: Bool] = [:]

    func remove(_ rows: [UInt32]) {
      let points = rows.filter { isPoint[$0] == true }
      let boxes = rows.filter { isPoint[$0] == false }
      index.remove(
        points: points, x: points.compactMap { oracle.envelopes[$0]?.xMin },
        y: points.compactMap { oracle.envelopes[$0]?.yMin })
      index.remove(boxes: boxes, boxes.compactMap { oracle.envelopes[$0] })
      for row in rows { oracle.envelopes[row] = nil }
    }
    func insert(_ rows: [UInt32], asPoints: Bool, step: Int) {
      for row in rows {
        let (x, y) = spread.position(&random, step)
        let (w, h) = asPoints ? (0, 0) : (random.unit() * 3, random.unit() * 3)
        oracle.envelopes[row] = Envelope(xMin: x, yMin: y, xMax: x + w, yMax: y + h)
        isPoint[row] = asPoints
      }
      let envelopes = rows.compactMap { oracle.envelopes[$0] }
      if asPoints {
        index.insert(points: rows, x: envelopes.map(\.xMin), y: envelopes.map(\.yMin))
      } else {
        index.insert(boxes: rows, envelopes)
      }
    }

    for step in 0..<40 {
      let live = oracle.envelopes.keys.sorted()
      switch random.below(5) {
      case 0, 1, 2:
        let size = random.chance(0.2) ? random.below(1500) : random.below(120)
        insert((0..<UInt32(size)).map { next + $0 }, asPoints: random.chance(0.6), step: step)
        next += UInt32(size)
      case 3:
        let share = random.chance(0.15) ? 0.97 : 0.2
        remove(live.filter { _ in random.chance(share) })
      default:
        let moved = live.filter { _ in random.chance(0.3) }
        remove(moved)
        insert(moved, asPoints: random.chance(0.6), step: step)
      }
      #expect(index.faults.isEmpty)
      let boxes = (0..<6).map { _ in
        let a = spread.position(&random, step)
        let b = spread.position(&random, step)
        return Envelope(xMin: min(a.0, b.0), yMin: min(a.1, b.1), xMax: max(a.0, b.0), yMax: max(a.1, b.1))
      }
      #expect(index.matches(oracle, in: boxes))
    }
    remove(oracle.envelopes.keys.sorted())
    #expect(index.count == 0 && index.bounds == nil)
  }

  /// Whether the rows of an index are points before and after.
  @Test(.slow, arguments: Spread.allCases, [(true, true), (true, false), (false, true), (false, false)])
  func `an index in the order of another finds the same rows as a scan after random edits`(spread: Spread, are: (Bool, Bool)) {
    var random = SplitMix(9)
    var oracle = ScannedIndex()
    func place(_ rows: [UInt32], asPoints: Bool) -> IndexedRows {
      var entries = IndexedRows()
      for row in rows {
        let (x, y) = spread.position(&random, Int(row))
        let box = Envelope(xMin: x, yMin: y, xMax: asPoints ? x : x + random.unit(), yMax: asPoints ? y : y + random.unit())
        entries.add(row, asPoints ? IndexedGeometry(x: x, y: y) : IndexedGeometry(box))
        oracle.envelopes[row] = box
      }
      return entries
    }
    func entries(_ rows: [UInt32]) -> IndexedRows {
      var entries = IndexedRows()
      for row in rows {
        guard let box = oracle.envelopes[row] else { continue }
        entries.add(row, are.1 ? IndexedGeometry(x: box.xMin, y: box.yMin) : IndexedGeometry(box))
      }
      return entries
    }
    let rows = [UInt32](0..<3000)
    let first = SpatialIndex(place(rows, asPoints: are.0))
    var index = SpatialIndex(place(rows, asPoints: are.1), inOrderOf: first)
    #expect(are.1 ? !index.points.isKeyed : !index.boxes.isKeyed)
    // The first edits leave it without keys; the last ones give it keys.
    for step in 0..<24 {
      let (snapshot, before) = (index, oracle)
      let live = oracle.envelopes.keys.sorted()
      let few = live.filter { _ in random.chance(step < 20 ? 0.002 : 0.5) }
      index.remove(entries(few))
      if step.isMultiple(of: 2) {
        for row in few { oracle.envelopes[row] = nil }
        index.insert(place((0..<UInt32(few.count)).map { UInt32(10_000 * (step + 1)) + $0 }, asPoints: are.1))
      } else {
        index.insert(place(few, asPoints: are.1))
      }
      #expect(index.faults.isEmpty && snapshot.faults.isEmpty)
      let boxes = (0..<6).map { _ in
        let (a, b) = (spread.position(&random, random.below(3000)), spread.position(&random, random.below(3000)))
        return Envelope(xMin: min(a.0, b.0), yMin: min(a.1, b.1), xMax: max(a.0, b.0), yMax: max(a.1, b.1))
      }
      #expect(index.matches(oracle, in: boxes) && snapshot.matches(before, in: boxes))
      if step == 5, spread == .uniform { #expect(are.1 ? !index.points.isKeyed : !index.boxes.isKeyed) }
    }
    #expect(index.points.isKeyed && index.boxes.isKeyed)
    index.remove(entries(oracle.envelopes.keys.sorted()))
    #expect(index.count == 0 && index.bounds == nil)
  }

  @Test func `an index in the order of another has boxes as small as one of its own`() {
    var random = SplitMix(4)
    let rows = [UInt32](0..<100_000)
    var (first, moved) = (IndexedRows(), IndexedRows())
    for row in rows {
      let (x, y) = (random.unit() * 360, random.unit() * 180)
      first.add(row, IndexedGeometry(x: x, y: y))
      moved.add(row, IndexedGeometry(x: 500 - y * 0.7 + x * 0.3, y: x + y * y / 900))
    }
    var copy = SpatialIndex(moved, inOrderOf: SpatialIndex(first))
    let own = SpatialIndex(moved)
    func leaves(_ index: SpatialIndex) -> Int {
      (0..<500).reduce(0) { sum, number in
        let (x, y) = (300 + Double(number % 20) * 12, 20 + Double(number / 20) * 14)
        return sum + index.points.leavesTouched(by: Envelope(xMin: x, yMin: y, xMax: x + 5, yMax: y + 5))
      }
    }
    #expect(leaves(copy) * 10 < leaves(own) * 12)
    // Still after edits that leave it without keys.
    var more = IndexedRows()
    for row in 0..<2000 { more.add(100_000 + UInt32(row), IndexedGeometry(x: 400 + random.unit() * 100, y: random.unit() * 300)) }
    copy.insert(more)
    #expect(!copy.points.isKeyed && leaves(copy) * 10 < leaves(own) * 13)
  }

  @Test func `a box's edges belong to it`() {
    var index = SpatialIndex()
    index.insert(points: [1, 2, 3], x: [0, 1, 2], y: [0, 0, 0])
    index.insert(boxes: [4], [Envelope(xMin: 3, yMin: 0, xMax: 4, yMax: 1)])
    #expect(index.rows(in: Envelope(xMin: 1, yMin: -1, xMax: 2, yMax: 0)).sorted() == [2, 3])
    #expect(index.rows(in: Envelope(xMin: 4, yMin: 1, xMax: 9, yMax: 9)) == [4])
    #expect(index.rows(in: Envelope(xMin: 0.1, yMin: 0, xMax: 0.9, yMax: 0)).isEmpty)
    #expect(index.rows(in: Envelope(xMin: 2, yMin: 0, xMax: 1, yMax: 0)).isEmpty)
    #expect(index.rows(in: .none).isEmpty)
  }

  @Test func `a snapshot does not change, and a change copies only the nodes on its path`() {
    var random = SplitMix(1)
    var index = SpatialIndex()
    let rows = [UInt32](0..<50_000)
    let x = rows.map { _ in random.unit() * 360 - 180 }
    let y = rows.map { _ in random.unit() * 180 - 90 }
    index.insert(points: rows, x: x, y: y)
    let snapshot = index
    let everything = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    let before = snapshot.points.nodes
    index.insert(points: [50_000], x: [1], y: [1])
    index.remove(points: [7], x: [x[7]], y: [y[7]])
    #expect(snapshot.count == 50_000 && index.count == 50_000)
    #expect(snapshot.rows(in: everything).sorted() == rows)
    #expect(index.rows(in: everything).sorted() == rows.filter { $0 != 7 } + [50_000])
    #expect(index.points.nodes.subtracting(before).count <= 12)
    #expect(snapshot.points.nodes == before)
    #expect(index.faults.isEmpty && snapshot.faults.isEmpty)
  }

  @Test func `a change without a snapshot copies nothing`() {
    var random = SplitMix(2)
    var index = SpatialIndex()
    let rows = [UInt32](0..<20_000)
    index.insert(points: rows, x: rows.map { _ in random.unit() }, y: rows.map { _ in random.unit() })
    let before = index.points.nodes
    index.insert(points: [20_000], x: [0.5], y: [0.5])
    // The leaf may grow or split; its ancestors stay unless they split too.
    #expect(index.points.nodes.subtracting(before).count <= 2)
  }

  /// The old leaf has no other owner: in a release build it must not be freed before it is copied.
  @Test func `a leaf keeps its entries when copied to a smaller or a larger one`() {
    for kept in [1, 3, 20] as [UInt32] {
      var index = SpatialIndex()
      let rows = [UInt32](0..<60)
      let gone = [UInt32](rows.dropFirst(Int(kept)))
      let box = { (row: UInt32) in Envelope(xMin: Double(row), yMin: 0, xMax: Double(row) + 0.5, yMax: 1) }
      index.insert(points: rows, x: rows.map { Double($0) }, y: rows.map { _ in 0 })
      index.insert(boxes: rows.map { $0 + 100 }, rows.map(box))
      index.remove(points: gone, x: gone.map { Double($0) }, y: gone.map { _ in 0 })
      index.remove(boxes: gone.map { $0 + 100 }, gone.map(box))
      let left = rows.filter { $0 < kept } + rows.filter { $0 < kept }.map { $0 + 100 }
      #expect(index.faults.isEmpty)
      #expect(index.rows(in: Envelope(xMin: 0, yMin: 0, xMax: 99, yMax: 1)).sorted() == left)
      index.insert(points: (0..<15).map { $0 + 200 }, x: (0..<15).map { Double($0) }, y: (0..<15).map { _ in 1 })
      #expect(index.faults.isEmpty)
      #expect(index.rows(in: Envelope(xMin: 0, yMin: 0, xMax: 99, yMax: 1)).sorted() == left + [UInt32](200..<215))
    }
  }

  @Test func `the upper bound of a count is close`() {
    var random = SplitMix(3)
    var index = SpatialIndex()
    let rows = [UInt32](0..<100_000)
    index.insert(points: rows, x: rows.map { _ in random.unit() * 360 }, y: rows.map { _ in random.unit() * 180 })
    for _ in 0..<100 {
      let (x, y) = (random.unit() * 340, random.unit() * 170)
      let box = Envelope(xMin: x, yMin: y, xMax: x + 11, yMax: y + 6)
      #expect(index.countAtMost(in: box) < 20 * index.count(in: box))
    }
    #expect(index.countAtMost(in: Envelope(xMin: 400, yMin: 0, xMax: 401, yMax: 1)) == 0)
    #expect(index.countAtMost(in: Envelope(xMin: -1, yMin: -1, xMax: 361, yMax: 181)) == 100_000)
  }

  @Test func `a hundred thousand equal points can be found and removed`() {
    var index = SpatialIndex()
    let rows = [UInt32](0..<100_000)
    let same = [Double](repeating: 5, count: 100_000)
    index.insert(points: rows, x: same, y: same)
    #expect(index.faults.isEmpty)
    #expect(index.count(in: Envelope(xMin: 5, yMin: 5, xMax: 5, yMax: 5)) == 100_000)
    let even = rows.filter { $0.isMultiple(of: 2) }
    index.remove(points: even, x: even.map { _ in 5 }, y: even.map { _ in 5 })
    #expect(
      index.rows(in: Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9)).sorted() == rows.filter { !$0.isMultiple(of: 2) })
    #expect(index.faults.isEmpty)
  }

  @Test func `non-finite coordinates are ignored on insertion and removal`() {
    var index = SpatialIndex()
    index.insert(points: [1, 2, 3, 4], x: [.nan, 0, .infinity, 1], y: [0, .nan, 0, 1])
    #expect(index.count == 1)
    #expect(index.bounds == Envelope(xMin: 1, yMin: 1, xMax: 1, yMax: 1))
    index.remove(points: [1, 9], x: [.nan, 50], y: [0, 50])
    #expect(index.count == 1 && index.faults.isEmpty)
  }

  @Test func `data far outside the first rectangle is still found quickly`() {
    var index = SpatialIndex()
    var random = SplitMix(3)
    index.insert(points: [0], x: [0], y: [0])
    let rows = [UInt32](1...40_000)
    let x = rows.map { _ in random.unit() * 1e7 }
    let y = rows.map { _ in random.unit() * 1e7 }
    for start in stride(from: 0, to: rows.count, by: 100) {
      index.insert(
        points: [UInt32](rows[start..<start + 100]), x: [Double](x[start..<start + 100]),
        y: [Double](y[start..<start + 100]))
    }
    #expect(index.faults.isEmpty)
    // The number of leaves that a small box touches: large if the order is useless.
    #expect(index.points.leavesTouched(by: Envelope(xMin: 5e6, yMin: 5e6, xMax: 5.2e6, yMax: 5.2e6)) < 30)
  }
}

extension HilbertTree {
  func leavesTouched(by envelope: Envelope) -> Int {
    let box = IndexedBox(envelope)
    func visit(_ node: IndexNode) -> Int {
      guard node.header.level > 0 else { return 1 }
      return node.withInner { inner in
        (0..<inner.count).reduce(0) { $0 + (inner.boxes[$1].touches(box) ? visit(inner.nodes[$1]) : 0) }
      }
    }
    return root.map { visit($0.node) } ?? 0
  }
}
