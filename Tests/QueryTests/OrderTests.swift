// Orders used by the index: the curve, partitions by key, found rows.

import Geometry
import Testing

@testable import Sorting
@testable import SpatialIndex

@Suite struct OrderTests {
  @Test func `the curve visits every cell once, each adjacent to the previous one`() {
    HilbertCurve.table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return }
      var cells: [(key: UInt64, x: Int, y: Int)] = []
      for x in 0..<64 {
        for y in 0..<64 {
          cells.append((HilbertCurve.key(x: UInt32(x) << 26, y: UInt32(y) << 26, table: table) >> 52, x, y))
        }
      }
      cells.sort { $0.key < $1.key }
      #expect(cells.map(\.key) == Array(0..<4096))
      #expect(zip(cells, cells.dropFirst()).allSatisfy { abs($0.x - $1.x) + abs($0.y - $1.y) == 1 })
    }
  }

  @Test(arguments: [1, 2, 3, 64, 112])
  func `a partition moves the items before the middle ahead of the others`(count: Int) {
    var random = SplitMix(UInt64(count))
    for mask in [UInt64.max, 0xf, 0] {
      for middle in 0..<count {
        var items = (0..<count).map { SortItem(key: random.next() & mask, row: UInt32($0), source: 0) }
        let expected = items.sorted { ($0.key, $0.row) < ($1.key, $1.row) }.prefix(middle).map(\.row).sorted()
        if random.chance(0.5) { items.sort { ($0.key, $0.row) < ($1.key, $1.row) } }
        items.withUnsafeMutableBufferPointer { SortItem.part($0, at: middle) }
        #expect(items.prefix(middle).map(\.row).sorted() == expected)
      }
    }
  }

  @Test func `found rows are ascending, each once, however they are spread`() {
    var random = SplitMix(5)
    for mask in [UInt32.max, 0xffff, 0xff, 1, 0xf000_000f] {
      for count in [0, 1, 2, 24, 25, 26, 100, 5000] {
        var found = FoundRows()
        var rows: [UInt32] = []
        for _ in 0..<count {
          let row = UInt32(truncatingIfNeeded: random.next()) & mask
          rows.append(row)
          found.reserve(1)
          found.rows[found.count] = row
          found.count += 1
        }
        #expect(found.sorted { _ in } == Set(rows).sorted())
      }
    }
  }

  @Test func `every finite number has a cell, and each axis keeps its order`() {
    HilbertCurve.table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return }
      let extremes: [Double] = [
        -.greatestFiniteMagnitude, -1e300, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1e-300, 1, 1e300,
        .greatestFiniteMagnitude,
      ]
      for a in extremes {
        for b in extremes {
          let domain = KeyDomain(around: [SIMD2(a, b), SIMD2(b, a)])
          for c in extremes { _ = domain.key(SIMD2(c, a), table: table) }
        }
      }
    }
  }
}
