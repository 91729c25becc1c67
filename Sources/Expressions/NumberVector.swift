// Arithmetic on many rows at once: the values of evaluation row by row, where none is null.

/// Numbers of one type, one a row or the same for all, of which none is null.
package struct NumberVector: Sendable {
  /// The bits of the numbers; of one that all rows have, once.
  package private(set) var words: [UInt64]
  package private(set) var areIntegers: Bool

  package init(words: [UInt64], areIntegers: Bool) { (self.words, self.areIntegers) = (words, areIntegers) }

  /// Replaces the numbers by results as `Scalar` has them; returns false where those are not of one type, or null.
  mutating func apply(_ operation: Arithmetic, _ other: NumberVector) -> Bool {
    if areIntegers, other.areIntegers {
      switch operation {
      case .add: return applyToIntegers(other) { $0.addingReportingOverflow($1) }
      case .subtract: return applyToIntegers(other) { $0.subtractingReportingOverflow($1) }
      case .multiply: return applyToIntegers(other) { $0.multipliedReportingOverflow(by: $1) }
      case .divide: break
      case .remainder, .integerDivide: return false
      }
    }
    switch operation {
    case .add: return applyToDoubles(other, +)
    case .subtract: return applyToDoubles(other, -)
    case .multiply: return applyToDoubles(other, *)
    // Division by zero is not finite.
    case .divide: return applyToDoubles(other, /)
    case .remainder, .integerDivide: return false
    }
  }

  @inline(__always)
  private mutating func applyToIntegers(
    _ other: NumberVector, _ apply: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
  ) -> Bool {
    update(other) { left, right in
      let (value, overflow) = apply(Int64(bitPattern: left), Int64(bitPattern: right))
      return (UInt64(bitPattern: value), overflow)
    }
  }

  @inline(__always)
  private mutating func applyToDoubles(_ other: NumberVector, _ apply: (Double, Double) -> Double) -> Bool {
    let (isLeftInteger, isRightInteger) = (areIntegers, other.areIntegers)
    areIntegers = false
    return update(other) { left, right in
      let value = apply(
        isLeftInteger ? Double(Int64(bitPattern: left)) : Double(bitPattern: left),
        isRightInteger ? Double(Int64(bitPattern: right)) : Double(bitPattern: right))
      return (value.bitPattern, !value.isFinite)
    }
  }

  /// Returns false if any of the results is none.
  @inline(__always)
  private mutating func update(_ other: NumberVector, _ apply: (UInt64, UInt64) -> (value: UInt64, isNone: Bool)) -> Bool {
    if words.count < other.words.count { words = [UInt64](repeating: words[0], count: other.words.count) }
    var missing = 0
    words.withUnsafeMutableBufferPointer { words in
      @inline(__always)
      func set(_ index: Int, _ right: UInt64) {
        let (value, isNone) = apply(words[index], right)
        words[index] = value
        missing &+= isNone ? 1 : 0
      }
      if other.words.count < words.count {
        let right = other.words[0]
        for index in words.indices { set(index, right) }
      } else {
        for (index, right) in other.words.enumerated() { set(index, right) }
      }
    }
    return missing == 0
  }
}

extension ExpressionTree {
  /// The values of sums and products for `count` rows; nil where rows have to be evaluated one by one.
  ///
  /// - Parameter property: the values of a property by its index.
  package func numbers(_ count: Int, _ property: (Int) -> NumberVector?) -> NumberVector? {
    // A property alone may be NaN.
    guard case .chain = nodes[root], let result = vector(root, property), result.words.count == count else { return nil }
    return result
  }

  private func vector(_ node: Int, _ property: (Int) -> NumberVector?) -> NumberVector? {
    switch nodes[node] {
    case .property(let number): return property(number)
    case .literal(let number):
      switch parts.literals[number] {
      case .integer(let value): return NumberVector(words: [UInt64(bitPattern: value)], areIntegers: true)
      case .double(let value): return NumberVector(words: [value.bitPattern], areIntegers: false)
      case .null, .bool, .string, .json: return nil
      }
    case .chain(let first, let range):
      var result = vector(first, property)
      for link in parts.links[range] {
        guard let right = vector(link.operand, property), result?.apply(link.operation, right) == true else { return nil }
      }
      return result
    default: return nil
    }
  }
}
