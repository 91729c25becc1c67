// Finds features for conditions that compare a column for equality, with an index of its values.

import Expressions
import FeatureStore
import Geometry
import Sorting

extension FeatureStore {
  /// Minimum number of features for an index; smaller stores are scanned.
  private static let indexedCount = 1 << 14
  /// Maximum number of rows that are looked up if no check is given.
  private static let quickCount = 1 << 14

  /// Rows that include all features for which a condition is true, ascending; nil if a scan of the store is about as fast.
  ///
  /// Values of a column that the condition compares for equality, as in `name = 'Berlin'` or `id IN (1, 2)`, are looked up in an
  /// index, which is built by the first such query.
  /// first such question builds.
  ///
  /// - Parameter check: called every few thousand rows. If nil, the call must be fast: it neither builds an index nor looks up
  ///   many rows.
  public func candidates(
    for condition: CompiledExpression, checking check: CancellationCheck?
  ) throws -> [UInt32]? {
    guard count >= Self.indexedCount, let (column, values) = condition.equality else { return nil }
    if let index = valueIndexes.index(of: column) {
      let stale = index.staleSlots(of: self)
      let scanned = stale.count * FeatureChunk.capacity
      if check == nil, index.count(of: values) + scanned > Self.quickCount { return nil }
      if scanned <= count / 16 {
        return index.count(of: values) + scanned <= count / 8 ? rows(of: values, in: index, stale) : nil
      }
      if !valueIndexes.noteScan(of: min(scanned, count), in: count, column: column) { return nil }
    }
    guard let check, isWorthIndexing(column) else { return nil }
    let index = try ValueIndex(self, column: column, checking: check)
    valueIndexes.set(index, of: column)
    return index.count(of: values) <= count / 8 ? rows(of: values, in: index, []) : nil
  }

  private func rows(of values: [AttributeValue], in index: ValueIndex, _ stale: [Int]) -> [UInt32] {
    let found = index.rows(of: values, except: Set(stale.map { slots[$0].base }))
    guard !stale.isEmpty else { return found }
    let others = stale.flatMap { number in (0..<slots[number].chunk.count).map { slots[number].base + UInt32($0) } }
    return (found + others).sorted()
  }

  /// Whether values of a column differ enough that few features share one, judged from a few thousand values.
  private func isWorthIndexing(_ column: Int) -> Bool {
    var hashes: Set<UInt64> = []
    for number in stride(from: 0, to: slots.count, by: max(1, slots.count / 8)) where hashes.count < 64 {
      slots[number].chunk.forEachDistinctHash(of: column) { hashes.insert($0) }
    }
    return hashes.count >= 64
  }
}

extension CompiledExpression {
  /// A column that must have one of a few values for the condition to be true, with these values.
  fileprivate var equality: (column: Int, values: [AttributeValue])? {
    func find(_ plan: FilterPlan) -> (column: Int, values: [AttributeValue])? {
      switch plan {
      case .test(let property, .compare(.equal, let value)): (columns[property], [value])
      case .test(let property, .isIn(let set, true)):
        set.elements.count <= 256 ? (columns[property], set.elements) : nil
      case .all(let parts): parts.lazy.compactMap(find).first
      default: nil
      }
    }
    return find(plan)
  }
}
