// Arithmetic on values: integers as long as they fit, then doubles; null if there is no result.

import Platform

extension Scalar {
  /// The result; null if an operand is not a number, for a division by zero, or if the result is not finite.
  func applying(_ operation: Arithmetic, _ other: Scalar, isNegation: Bool = false) -> Scalar {
    if case .integer(let left) = self, case .integer(let right) = other {
      return Self.integers(left, operation, right)
    }
    guard let left = number, let right = other.number else { return .null }
    switch operation {
    case .add: return Scalar(finite: left + right)
    // `0 - 0.0` would lose the sign.
    case .subtract: return Scalar(finite: isNegation ? -right : left - right)
    case .multiply: return Scalar(finite: left * right)
    case .divide: return right == 0 ? .null : Scalar(finite: left / right)
    case .remainder: return right == 0 ? .null : Scalar(finite: fmod(left, right))
    case .integerDivide: return right == 0 ? .null : Scalar(whole: (left / right).rounded(.towardZero))
    }
  }

  private static func integers(_ left: Int64, _ operation: Arithmetic, _ right: Int64) -> Scalar {
    let (result, overflow): (Int64, Bool)
    switch operation {
    case .add: (result, overflow) = left.addingReportingOverflow(right)
    case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
    case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
    case .divide: return right == 0 ? .null : .double(Double(left) / Double(right))
    case .remainder:
      if right == 0 { return .null }
      // The only division that overflows has the remainder 0.
      return .integer(right == -1 ? 0 : left % right)
    case .integerDivide:
      if right == 0 { return .null }
      (result, overflow) = left.dividedReportingOverflow(by: right)
    }
    if !overflow { return .integer(result) }
    switch operation {
    case .add: return .double(Double(left) + Double(right))
    case .subtract: return .double(Double(left) - Double(right))
    case .multiply: return .double(Double(left) * Double(right))
    case .divide, .remainder, .integerDivide: return .double(Double(left) / Double(right))
    }
  }

  /// The power: an integer if both are integers, the exponent is not negative and the result fits; null if it is not a real number.
  func raised(to other: Scalar) -> Scalar {
    if case .integer(let base) = self, case .integer(let exponent) = other, exponent >= 0,
      let power = Self.power(base, exponent)
    {
      return .integer(power)
    }
    guard let base = number, let exponent = other.number else { return .null }
    return Scalar(finite: pow(base, exponent))
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    switch base {
    case 0, 1: return exponent == 0 ? 1 : base
    case -1: return exponent % 2 == 0 ? 1 : -1
    default: break
    }
    var result: Int64 = 1
    // After 63 steps, every base other than 0, 1 and -1 has overflowed.
    for _ in 0..<Swift.min(exponent, 64) {
      let (next, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return nil }
      result = next
    }
    return result
  }

  /// Makes a value from a whole number: an integer if it fits.
  init(whole number: Double) { self = Int64(exactly: number).map { .integer($0) } ?? Scalar(finite: number) }
}
