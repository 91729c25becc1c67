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
    guard let start = store.schema.column(named: time.startField) else { return [] }
    let end = time.endField.flatMap { store.schema.column(named: $0) }
    return rows.filter { row in
      guard let feature = store[row], let first = Instant(time: feature.value(start)) else { return false }
      // Without an end of its own a feature goes on as long as is asked for.
      let last = end.map { Instant(time: feature.value($0)) ?? .latest } ?? first
      return extent.meets(from: first, to: last)
    }
  }

  private var timeFilter: (LayerTime, TimeExtent)? {
    guard isTimeFilterEnabled, let time, let extent = time.extent else { return nil }
    return (time, extent)
  }
}

extension Instant {
  /// A date, or a date and time, as a field has it; without a zone it is UTC. Nil for anything else.
  init?(time value: AttributeValue) {
    guard case .string(let text) = value else { return nil }
    guard let instant = Instant(text) ?? Instant(text + "Z") ?? Instant(text + "T00:00:00Z") else { return nil }
    self = instant
  }
}
