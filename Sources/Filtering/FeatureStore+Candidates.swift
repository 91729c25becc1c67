// Conditions that compare a column for equality, answered by an index of its values.

import Expressions
import FeatureStore
import Geometry
import Sorting

extension FeatureStore {
  /// Stores with fewer features are scanned.
  private static let indexedCount = 1 << 14
  /// The most rows that are looked up where it must not take long.
  private static let quickCount = 1 << 14

  /// Rows among which are all features for which a condition is true, ascending; nil where a scan of the store finds them as quickly.
  ///
  /// Values of a column that the condition compares for equality, as `name = 'Berlin'` or `id IN (1, 2)`, are looked up in an index, which the
  /// first such question builds.
  ///
  /// - Parameter check: called every few thousand rows, where an index may be built; nil where that, and many rows, would take too long.
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

  /// Whether the values of a column differ so much that few features have the same: judged by a few thousand of them.
  private func isWorthIndexing(_ column: Int) -> Bool {
    var hashes: Set<UInt64> = []
    for number in stride(from: 0, to: slots.count, by: max(1, slots.count / 8)) where hashes.count < 64 {
      slots[number].chunk.forEachDistinctHash(of: column) { hashes.insert($0) }
    }
    return hashes.count >= 64
  }
}

extension CompiledExpression {
  /// The column that has to have one of a few values where the condition is true, and these.
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
