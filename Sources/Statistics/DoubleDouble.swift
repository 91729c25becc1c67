// Numbers with twice the precision of doubles, so that results, which are rounded once, do not depend on the order of additions.

/// An unevaluated sum of two doubles, the second of at most half a unit in the last place of the first.
///
/// Source: T. J. Dekker, A Floating-Point Technique for Extending the Available Precision, 1971, and Y. Hida, X. S. Li, D. H.
/// Bailey, Algorithms for Quad-Double Precision Floating Point Arithmetic, 2001. Relative errors are a few times 2^-104. Near the
/// limits of the range of doubles, results may be NaN.
struct DoubleDouble: BitwiseCopyable {
  private(set) var high: Double
  private(set) var low: Double

  @inline(__always)
  init(_ number: Double = 0) { (high, low) = (number, 0) }

  /// The exact value of an integer.
  init(_ number: Int64) {
    high = Double(number)
    // Rounding may give 2^63, which is not an `Int64`.
    low = Int64(exactly: high).map { Double(number &- $0) } ?? Double(number &- .max) - 1
  }

  @inline(__always)
  private init(high: Double, low: Double) { (self.high, self.low) = (high, low) }

  /// The sum of two doubles of any size.
  @inline(__always)
  init(sumOf left: Double, _ right: Double) {
    high = left + right
    let part = high - left
    low = (left - (high - part)) + (right - part)
  }

  /// The sum of two doubles, the first of which has the larger magnitude.
  @inline(__always)
  private init(normalizing left: Double, _ right: Double) {
    high = left + right
    low = right - (high - left)
  }

  @inline(__always)
  init(productOf left: Double, _ right: Double) {
    let ((leftHigh, leftLow), (rightHigh, rightLow)) = (Self.halves(left), Self.halves(right))
    high = left * right
    low = ((leftHigh * rightHigh - high) + leftHigh * rightLow + leftLow * rightHigh) + leftLow * rightLow
  }

  /// Splits a double into parts of 26 bits each.
  @inline(__always)
  private static func halves(_ number: Double) -> (Double, Double) {
    let scaled = number * 0x8000001
    let high = scaled - (scaled - number)
    return (high, number - high)
  }

  var value: Double { high + low }

  /// - Parameter factor: a power of two.
  func scaled(by factor: Double) -> DoubleDouble { DoubleDouble(high: high * factor, low: low * factor) }

  static prefix func - (number: DoubleDouble) -> DoubleDouble {
    DoubleDouble(high: -number.high, low: -number.low)
  }

  static func + (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble {
    let (highs, lows) = (DoubleDouble(sumOf: left.high, right.high), DoubleDouble(sumOf: left.low, right.low))
    let sum = DoubleDouble(normalizing: highs.high, highs.low + lows.high)
    return DoubleDouble(normalizing: sum.high, sum.low + lows.low)
  }

  static func - (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble { left + -right }

  static func * (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble {
    let product = DoubleDouble(productOf: left.high, right.high)
    return DoubleDouble(
      normalizing: product.high, product.low + (left.high * right.low + left.low * right.high))
  }

  static func / (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble {
    let first = left.high / right.high
    let rest = left - right * DoubleDouble(first)
    let second = rest.high / right.high
    let third = (rest - right * DoubleDouble(second)).high / right.high
    return DoubleDouble(normalizing: first, second) + DoubleDouble(third)
  }
}
