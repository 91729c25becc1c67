// Which of a layer's features count for questions and drawing: those that its definition expression and time filter let through.

import Geometry
import Query

extension LayerFeatures {
  /// Whether all features count.
  public var showsAll: Bool { definitionExpression == nil && timeFilter == nil }

  /// Those of the rows whose features count, in the same order; none when the expression names a field that is not there.
  ///
  /// - Complexity: O(rows); a time filter reads a text or two each.
  public func shown(_ rows: [UInt32]) -> [UInt32] {
    guard let store, !showsAll else { return rows }
    var rows = rows
    if let definitionExpression {
      guard let condition = try? definitionExpression.compiled(for: store.schema) else { return [] }
      rows = condition.filter(rows, of: store)
    }
    guard let (time, extent) = timeFilter else { return rows }
    return self.rows(rows, meeting: extent, by: time)
  }

  /// Counts anew how many of the features that count are selected.
  ///
  /// - Complexity: O(chunks) without filters, else O(features) at worst.
  mutating func countSelected() {
    guard let store else {
      selectedCount = 0
      return
    }
    selectedCount = showsAll || store.selectedCount == 0 ? store.selectedCount : shown(store.selectedRows).count
  }

  /// Those of the ids whose features count.
  func shown(_ ids: [Int]) -> Set<Int> {
    guard let store, !showsAll else { return Set(ids) }
    let rows = Set(ids.compactMap { store.row(of: $0) }).sorted()
    return Set(shown(rows).compactMap { store[$0]?.id })
  }

  /// Whether other features may count than by `other`.
  func filtersDiffer(from other: LayerFeatures) -> Bool {
    definitionExpression != other.definitionExpression || time != other.time
      || isTimeFilterEnabled != other.isTimeFilterEnabled
  }

  private var timeFilter: (LayerTime, TimeExtent)? {
    guard isTimeFilterEnabled, let time, let extent = time.extent else { return nil }
    return (time, extent)
  }
}
