// A value during evaluation, and comparison of two values.

import Calendar
import Geometry
import Sorting

/// One value. Texts of columns are referenced in place, so they are only valid while their source is held.
package enum Scalar {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Never NaN, which becomes null.
  case double(Double)
  case bytes(UnsafeRawBufferPointer)
  case text(String)
  case instant(InstantLiteral)
  /// Nested JSON: text for functions and `LIKE`, but not comparable, since the same value has many notations.
  case json(String)

  /// The double, or null for NaN.
  @inline(__always)
  package init(number: Double) { self = number.isNaN ? .null : .double(number) }

  /// The result of arithmetic: null if not finite.
  @inline(__always)
  init(finite number: Double) { self = number.isFinite ? .double(number) : .null }

  package init(_ value: AttributeValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = Scalar(number: value)
    case .string(let text): self = .text(text)
    case .json(let text): self = .json(text)
    }
  }

  init(_ truth: Bool?) { self = truth.map { .bool($0) } ?? .null }

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }

  /// The value as an independent copy.
  package var attribute: AttributeValue {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .bytes(let text): .string(String(decoding: text, as: UTF8.self))
    case .text(let text): .string(text)
    case .instant(let instant): .string(instant.text)
    case .json(let text): .json(text)
    }
  }

  package var isNull: Bool { if case .null = self { true } else { false } }
  /// The truth value; nil if unknown or not a truth value.
  @inline(__always)
  var truth: Bool? { if case .bool(let value) = self { value } else { nil } }

  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .bytes, .text, .instant, .json: nil
    }
  }

  /// The text, or the text of JSON, as an independent string.
  var string: String? {
    switch self {
    case .bytes(let text): String(decoding: text, as: UTF8.self)
    case .text(let text), .json(let text): text
    case .null, .bool, .integer, .double, .instant: nil
    }
  }

  /// Passes the bytes of a text or of JSON to `body`; nil for other values.
  @inline(__always)
  func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    switch self {
    case .bytes(let text): return body(text)
    case .text(var text), .json(var text): return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    case .null, .bool, .integer, .double, .instant: return nil
    }
  }
}

/// The order of two values.
package enum Order: Int8, BitwiseCopyable, Sendable {
  case less = -1
  case same = 0
  case greater = 1

  @inline(__always)
  package init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .less : left == right ? .same : .greater
  }

  /// Compares texts by bytes, which gives the order of code points.
  @inline(__always)
  package init(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
    let order = left.order(to: right)
    self = order < 0 ? .less : order == 0 ? .same : .greater
  }

  /// Compares an integer with a double that is not NaN, exactly: converting large integers to doubles would round them.
  package init(_ left: Int64, exactly right: Double) {
    guard right < 0x1p63 else {
      self = .less
      return
    }
    guard right >= -0x1p63 else {
      self = .greater
      return
    }
    let whole = right.rounded(.down)
    let order = Order(left, Int64(whole))
    self = order == .same && whole < right ? .less : order
  }

  var reversed: Order { self == .less ? .greater : self == .greater ? .less : .same }
}

extension Scalar {
  /// Nil if unknown: one value is null, or the types differ.
  @inline(__always)
  package func order(to other: Scalar) -> Order? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): Order(left, right)
    case (.double(let left), .double(let right)): Order(left, right)
    case (.integer(let left), .double(let right)): Order(left, exactly: right)
    case (.double(let left), .integer(let right)): Order(right, exactly: left).reversed
    case (.bytes(let left), .bytes(let right)): Order(left, right)
    default: orderOfOthers(other)
    }
  }

  private func orderOfOthers(_ other: Scalar) -> Order? {
    switch (self, other) {
    case (.json, _), (_, .json): return nil
    case (.bool(let left), .bool(let right)): return Order(left ? 1 : 0, right ? 1 : 0)
    case (.instant(let left), .instant(let right)): return Order(left.time, right.time)
    case (.instant(let left), _):
      return other.withText { CivilTime(utf8: $0) }.flatMap { $0 }.map { Order(left.time, $0) }
    case (_, .instant): return other.orderOfOthers(self)?.reversed
    default: return withText { left in other.withText { Order(left, $0) } }.flatMap { $0 }
    }
  }
}

extension Comparison {
  @inline(__always)
  package func holds(_ order: Order) -> Bool {
    switch self {
    case .equal: order == .same
    case .notEqual: order != .same
    case .less: order == .less
    case .greater: order == .greater
    case .lessOrEqual: order != .greater
    case .greaterOrEqual: order != .less
    }
  }
}
