// The order of values of different types, which is that of features by attributes.

import Calendar
import Expressions
import Geometry

/// A value with its place in the order of values: numbers, times, texts, booleans. Null, NaN and JSON have none.
struct RankedValue: Sendable {
  private enum Rank: UInt8, Sendable { case number, time, text, bool }

  let value: AttributeValue
  private let rank: Rank
  private let time: CivilTime?

  /// - Parameter isTime: whether texts are times, if they can be parsed as such.
  init?(_ value: AttributeValue, isTime: Bool) {
    self.value = value
    switch value {
    case .null, .json: return nil
    case .double(let number) where number.isNaN: return nil
    case .integer, .double: (rank, time) = (.number, nil)
    case .bool: (rank, time) = (.bool, nil)
    case .string(let text):
      time = isTime ? CivilTime(text) : nil
      rank = time == nil ? .text : .time
    }
  }

  /// Whether it is after all texts in the order.
  var isAfterTexts: Bool { rank == .bool }

  func precedes(_ other: RankedValue) -> Bool {
    guard rank == other.rank else { return rank.rawValue < other.rank.rawValue }
    if let time, let otherTime = other.time { return time < otherTime }
    return Scalar(value).order(to: Scalar(other.value)) == .less
  }
}
