// Visible features: those that match the layer's definition expression and time filter. Queries and drawing use only
// these.

import FeatureStore
import Filtering

extension LayerFeatures {
  /// Whether no filter applies.
  public var isUnfiltered: Bool { definitionExpression == nil && timeFilter == nil }

  /// Conditions that exactly the visible features meet. Nil if no conditions are exact: with a time filter, or if the definition
  /// expression names a field that does not exist.
  public var conditions: [CompiledExpression]? {
    guard let store, timeFilter == nil else { return nil }
    guard let definitionExpression else { return [] }
    return (try? definitionExpression.compiled(for: store.schema)).map { [$0] }
  }

  /// Filters rows to those with visible features, in the same order. Empty if the expression names a field that does
  /// not exist.
  ///
  /// - Complexity: O(rows); a time filter reads one or two texts per row.
  public func shown(_ rows: [UInt32]) -> [UInt32] {
    guard let store, !isUnfiltered else { return rows }
    var rows = rows
    if let definitionExpression {
      guard let condition = try? definitionExpression.compiled(for: store.schema) else { return [] }
      rows = condition.filter(rows, of: store)
    }
    guard let (time, extent) = timeFilter else { return rows }
    return self.rows(rows, meeting: extent, by: time)
  }

  /// Updates the number of visible selected features.
  ///
  /// - Complexity: O(chunks) without filters, else O(selected features).
  mutating func countSelected() {
    guard let store else {
      selectedCount = 0
      return
    }
    selectedCount = isUnfiltered || store.selectedCount == 0 ? store.selectedCount : shown(store.selectedRows).count
  }

  /// Whether the visible features may differ from those of `other`.
  func filtersDiffer(from other: LayerFeatures) -> Bool {
    definitionExpression != other.definitionExpression || time != other.time
      || isTimeFilterEnabled != other.isTimeFilterEnabled
  }

  private var timeFilter: (LayerTime, TimeExtent)? {
    guard isTimeFilterEnabled, let time, let extent = time.extent else { return nil }
    return (time, extent)
  }
}
