// Arithmetic on many rows at once: the values of evaluation row by row, where none is null.

/// Numbers of one type, one a row, of which none is null.
package enum NumberVector: Sendable {
  case integers([Int64])
  case doubles([Double])

  private var asDoubles: [Double] {
    switch self {
    case .integers(let values): values.map { Double($0) }
    case .doubles(let values): values
    }
  }

  /// The result as `Scalar` has it; nil where results are not of one type, or null.
  func applying(_ operation: Arithmetic, _ other: NumberVector) -> NumberVector? {
    if case .integers(let left) = self, case .integers(let right) = other {
      switch operation {
      case .add: return Self.integers(left, right) { $0.addingReportingOverflow($1) }
      case .subtract: return Self.integers(left, right) { $0.subtractingReportingOverflow($1) }
      case .multiply: return Self.integers(left, right) { $0.multipliedReportingOverflow(by: $1) }
      case .divide: break
      case .remainder, .integerDivide: return nil
      }
    }
    switch operation {
    case .add: return Self.doubles(asDoubles, other.asDoubles, +)
    case .subtract: return Self.doubles(asDoubles, other.asDoubles, -)
    case .multiply: return Self.doubles(asDoubles, other.asDoubles, *)
    // Division by zero is not finite.
    case .divide: return Self.doubles(asDoubles, other.asDoubles, /)
    case .remainder, .integerDivide: return nil
    }
  }

  @inline(__always)
  private static func integers(
    _ left: [Int64], _ right: [Int64], _ apply: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
  ) -> NumberVector? {
    var overflows = false
    let values = zip(left, right).map { left, right in
      let (value, overflow) = apply(left, right)
      overflows = overflows || overflow
      return value
    }
    return overflows ? nil : .integers(values)
  }

  @inline(__always)
  private static func doubles(_ left: [Double], _ right: [Double], _ apply: (Double, Double) -> Double) -> NumberVector? {
    let values = zip(left, right).map { apply($0, $1) }
    return values.allSatisfy(\.isFinite) ? .doubles(values) : nil
  }
}

extension ExpressionTree {
  /// The values of sums and products for `count` rows; nil where rows have to be evaluated one by one.
  ///
  /// - Parameter property: the values of a property by its index.
  package func numbers(_ count: Int, _ property: (Int) -> NumberVector?) -> NumberVector? {
    // A property alone may be NaN.
    guard case .chain = nodes[root] else { return nil }
    return numbers(root, count, property)
  }

  private func numbers(_ node: Int, _ count: Int, _ property: (Int) -> NumberVector?) -> NumberVector? {
    switch nodes[node] {
    case .property(let number): return property(number)
    case .literal(let number):
      switch parts.literals[number] {
      case .integer(let value): return .integers([Int64](repeating: value, count: count))
      case .double(let value): return .doubles([Double](repeating: value, count: count))
      case .null, .bool, .string, .json: return nil
      }
    case .chain(let first, let range):
      var result = numbers(first, count, property)
      for link in parts.links[range] {
        guard let left = result, let right = numbers(link.operand, count, property) else { return nil }
        result = left.applying(link.operation, right)
      }
      return result
    default: return nil
    }
  }
}
