// Long work over stores can be cancelled, and reports progress.

import Geometry
import Testing

@testable import FeatureStore
@testable import Sorting

@Suite struct CancellationCheckTests {
  private struct Enough: Error {}

  /// Throws at the check of that number; returns the number of checks.
  private func looks(until last: Int, _ body: (CancellationCheck) throws -> Void) throws -> Int {
    var count = 0
    var latest = 0.0
    do {
      try body { fraction in
        #expect((latest...1).contains(fraction))
        latest = fraction
        count += 1
        if count == last { throw Enough() }
      }
    } catch is Enough {}
    return count
  }

  @Test func `long work calls its check again and again with rising progress, and ends when the check throws`() throws {
    let count = 100_000
    var store = FeatureStore()
    var batch = FeatureBatch()
    var random = SplitMix(3)
    for index in 0..<count {
      batch.begin(id: index)
      batch.setPoint(x: random.unit(), y: random.unit())
      batch.set(column: batch.column(named: "n"), .double(random.unit()))
    }
    try store.append(batch)
    var raised = store
    try raised.update(
      [FeatureEdit(id: 5)].map { edit in
        var edit = edit
        edit.zIndex = -1
        return edit
      })
    let (all, ids) = (store.rowsInDrawingOrder(), Array((0..<count).reversed()))
    let box = [Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 0.9)]
    let works: [(CancellationCheck) throws -> Void] = [
      { _ = try store.rowsAscending(checking: $0) },
      { _ = try store.rows(of: ids, checking: $0) },
      { _ = try store.rows(in: box, checking: $0) },
      { _ = try store.ids(of: all, checking: $0) },
      { _ = try raised.rowsInDrawingOrder(checking: $0) },
      { _ = try store.ordered(all, by: [SortTerm(column: 0, isDescending: false)], first: count, checking: $0) },
      { _ = try store.ordered(all, by: [SortTerm(column: 0, isDescending: false)], first: 10, checking: $0) },
    ]
    for work in works {
      let most = try looks(until: .max, work)
      #expect(most >= count / SortItem.block)
      for last in [1, most / 2, most] { #expect(try looks(until: last, work) == last) }
    }
    #expect(store.rows(of: ids) { _ in } == all)
    #expect(store.ids(of: all) { _ in } == Array(0..<count))
    #expect(raised.rowsInDrawingOrder() == [5] + all.filter { $0 != 5 })
  }

  @Test(arguments: [0, 1, 40_000, 65_536, 100_001])
  func `a sort that can be cancelled sorts by key, then row`(count: Int) {
    var random = SplitMix(UInt64(count))
    for mask in [UInt64.max, 0xff, 0] {
      var items = (0..<count).map { SortItem(key: random.next() & mask, row: UInt32($0), source: 0) }
      var expected = items
      expected.sort { $0.isBefore($1.key, $1.row) }
      SortItem.sort(&items) { _ in }
      #expect(items.map(\.key) == expected.map(\.key) && items.map(\.row) == expected.map(\.row))
    }
  }
}
