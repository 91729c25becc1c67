// Tests of columns sixteen rows at a time, against tests of one value.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct RowMaskTests {
  private static let comparisons: [Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

  /// Expects that the marked rows are those for which the test holds, of chunks of every length about that of a vector.
  private func check(_ values: [AttributeValue], _ test: ColumnTest, isMarked: (Int) -> Bool) throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for value in values {
      batch.begin()
      batch.set(column: batch.column(named: "n"), value)
    }
    try store.append(batch)
    let chunk = try #require(store.slots.first?.chunk)
    RowMask.withRows { mask in
      for row in values.indices where isMarked(row) { mask[row] = 1 }
      #expect(mask.markedCount == values.indices.count(where: isMarked))
      mask.narrow(to: test, 0, chunk)
      let expected = values.indices.filter { isMarked($0) && test.holds(Scalar(values[$0])) }
      #expect(mask.indices.filter { mask[$0] == 1 } == expected, "\(test) of \(values)")
      #expect(mask.markedCount == expected.count)
    }
  }

  @Test(arguments: UInt64(0)..<8) func `integers are compared as one by one`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let bounds: [Int64] = [.min, .min + 1, -1 << 53, -5, -1, 0, 1, 5, 1 << 53, .max - 1, .max]
    for count in [1, 7, 15, 16, 17, 31, 33, 100, 1000, 1024] {
      let isWide = random.chance(0.5)
      let values = (0..<count).map { _ -> AttributeValue in
        if random.chance(0.1) { return .null }
        return .integer(isWide ? bounds[random.below(bounds.count)] : Int64(random.below(11)) - 5)
      }
      let spacing = [1, 3, 50][random.below(3)]
      for bound in bounds {
        for comparison in Self.comparisons {
          try check(values, .compare(comparison, .integer(bound))) { $0.isMultiple(of: spacing) }
        }
      }
      for isWanted in [true, false] {
        let set = ConstantSet(bounds.prefix(random.below(8) + 1).map { .integer($0) })
        try check(values, .isIn(set, isWanted)) { $0.isMultiple(of: spacing) }
      }
    }
  }

  @Test(arguments: UInt64(0)..<8) func `doubles are compared as one by one`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let bounds = [-Double.infinity, -1e300, -1, -0.0, 0, .leastNonzeroMagnitude, 0.1, 1, 1e300, .infinity]
    for count in [1, 7, 15, 16, 17, 31, 33, 100, 1000, 1024] {
      let values = (0..<count).map { _ in
        random.chance(0.1) ? AttributeValue.null : .double(bounds[random.below(bounds.count)])
      }
      let spacing = [1, 3, 50][random.below(3)]
      for bound in bounds {
        for comparison in Self.comparisons {
          try check(values, .compare(comparison, .double(bound))) { $0.isMultiple(of: spacing) }
        }
      }
    }
  }
}
