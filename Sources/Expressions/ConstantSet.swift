// The literals of an IN list, searched by bisection, without creating values.

import Geometry
import Sorting

/// Literals sorted by type. An integer and a double with the same value are the same number.
package struct ConstantSet: Sendable {
  package private(set) var integers: [Int64] = []
  /// Numbers that are not 64-bit integers.
  private var doubles: [Double] = []
  private var texts: [[UInt8]] = []
  private var hasTrue = false
  private var hasFalse = false

  init(_ values: [AttributeValue]) {
    for value in values {
      switch value {
      case .integer(let value): integers.append(value)
      case .double(let value):
        if let whole = Int64(exactly: value) { integers.append(whole) } else { doubles.append(value) }
      case .string(let text): texts.append(Array(text.utf8))
      case .bool(let value): if value { hasTrue = true } else { hasFalse = true }
      case .null, .json: break
      }
    }
    integers.sort()
    doubles.sort()
    texts.sort { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether membership is known for every number, which means that all elements are numbers.
  package var isOfNumbers: Bool { !hasBools && texts.isEmpty }
  /// All elements.
  package var elements: [AttributeValue] {
    integers.map(AttributeValue.integer) + doubles.map(AttributeValue.double)
      + texts.map { .string(String(decoding: $0, as: UTF8.self)) } + (hasTrue ? [.bool(true)] : [])
      + (hasFalse ? [.bool(false)] : [])
  }
  private var hasNumbers: Bool { !integers.isEmpty || !doubles.isEmpty }
  private var hasBools: Bool { hasTrue || hasFalse }

  /// Whether `value` is an element. Nil if unknown: it is null, or is not found while some element has another type.
  func contains(_ value: Scalar) -> Bool? {
    switch value {
    case .null, .json, .instant: return nil
    case .bool(let value):
      return (value ? hasTrue : hasFalse) ? true : hasNumbers || !texts.isEmpty ? nil : false
    case .integer(let value):
      return integers.has { Order($0, value) } ? true : hasBools || !texts.isEmpty ? nil : false
    case .double(let value):
      let isIn =
        if let whole = Int64(exactly: value) { integers.has { Order($0, whole) } } else {
          doubles.has { Order($0, value) }
        }
      return isIn ? true : hasBools || !texts.isEmpty ? nil : false
    case .bytes, .text:
      let isIn = value.withText { text in
        texts.has { element in element.withUnsafeBytes { Order($0, text) } }
      }
      return isIn == true ? true : hasBools || hasNumbers ? nil : false
    }
  }
}

extension Array {
  /// Searches by bisection.
  fileprivate func has(_ order: (Element) -> Order) -> Bool {
    let index = partitioningIndex { order($0) != .less }
    return index < count && order(self[index]) == .same
  }
}
