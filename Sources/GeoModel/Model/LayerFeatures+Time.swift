// The time of features: the fields that hold it, and the features that match a time extent.

import FeatureStore
import Geometry

extension LayerFeatures {
  /// Throws unless the fields exist and their type can hold dates. Text fields may hold dates; their values are checked once they
  /// are loaded.
  ///
  /// - Parameter path: JSON Pointer of the definition from the layer, for errors.
  /// - Complexity: O(1) if the first value is a date; O(n) at worst.
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

  /// Filters rows to features whose time intersects an extent, in the same order.
  ///
  /// - Complexity: O(rows), with one or two texts read per row.
  public func rows(_ rows: [UInt32], meeting extent: TimeExtent, by time: LayerTime) -> [UInt32] {
    guard let store, let start = store.schema.column(named: time.startField.string) else { return [] }
    let end = time.endField.flatMap { store.schema.column(named: $0.string) }
    return rows.filter { row in
      guard let feature = store[row], let first = Instant(time: feature.value(start)) else { return false }
      // A feature without an end time has no end.
      let last = end.map { Instant(time: feature.value($0)) ?? .latest } ?? first
      return extent.meets(from: first, to: last)
    }
  }
}

extension FeatureStore {
  /// Whether the column has values, but no times.
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
  /// The instant of a field's value: a date, or a date and time, in UTC unless it has a zone. Nil for other values.
  init?(time value: AttributeValue) {
    guard case .string(let text) = value, let first = text.utf8.first, (0x30...0x39).contains(first) else { return nil }
    guard let instant = Instant(text) ?? Instant(text + "Z") ?? Instant(text + "T00:00:00Z") else { return nil }
    self = instant
  }
}
