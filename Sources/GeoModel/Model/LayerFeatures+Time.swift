// When a layer's features are: which fields can say it, and which features a span of time lets through.

import Geometry
import Query

extension LayerFeatures {
  /// Refuses fields that are not there or hold no dates: by their type, and for texts, which may be dates, by their values once
  /// they are loaded.
  ///
  /// - Parameter path: where the definition stands, for errors.
  /// - Complexity: O(1) where the first value is a date, O(n) at worst.
  func check(_ time: LayerTime, at path: String) throws(ModelError) {
    let members = [(time.startField, "startField")] + (time.endField.map { [($0, "endField")] } ?? [])
    for (name, member) in members {
      guard let field = schema.fields.first(where: { $0.name == name }) else {
        throw .unknownField(name.string, available: schema.fields.map(\.name.string), path: "\(path)/\(member)")
      }
      let canHoldDates =
        switch field.type {
        case .date, .dateTime: true
        case .string, .json: store.map { !$0.hasOtherThanTimes(in: name.string) } ?? true
        case .boolean, .integer, .double, .time, .binary: false
        }
      guard canHoldDates else {
        throw .wrongFieldType(name.string, found: field.type, expected: "a field of dates", path: "\(path)/\(member)")
      }
    }
  }

  /// Those of the rows whose features meet a span, in the same order.
  ///
  /// - Complexity: O(rows); a text or two are read for each.
  public func rows(_ rows: [UInt32], meeting extent: TimeExtent, by time: LayerTime) -> [UInt32] {
    guard let store, let start = store.schema.column(named: time.startField.string) else { return [] }
    let end = time.endField.flatMap { store.schema.column(named: $0.string) }
    return rows.filter { row in
      guard let feature = store[row], let first = Instant(time: feature.value(start)) else { return false }
      // Without an end of its own a feature goes on as long as is asked for.
      let last = end.map { Instant(time: feature.value($0)) ?? .latest } ?? first
      return extent.meets(from: first, to: last)
    }
  }
}

extension FeatureStore {
  /// Whether a column has values and none of them is a time.
  fileprivate func hasOtherThanTimes(in name: String) -> Bool {
    guard let column = schema.column(named: name) else { return false }
    var (hasValues, hasTimes) = (false, false)
    forEach { row in
      let value = row.value(column)
      if value != .null { hasValues = true }
      hasTimes = Instant(time: value) != nil
      return !hasTimes
    }
    return hasValues && !hasTimes
  }
}

extension Instant {
  /// A date, or a date and time, as a field has it; without a zone it is UTC. Nil for anything else.
  init?(time value: AttributeValue) {
    guard case .string(let text) = value, let first = text.utf8.first, (0x30...0x39).contains(first) else { return nil }
    guard let instant = Instant(text) ?? Instant(text + "Z") ?? Instant(text + "T00:00:00Z") else { return nil }
    self = instant
  }
}
