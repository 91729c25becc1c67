// The side of a line on which a position lies, exactly: rounding would put positions on edges inside or outside by chance.

/// Source: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", Discrete & Computational
/// Geometry 18, 1997: a bound of the rounding error decides nearly always; the rest is computed with expansions, sums of
/// doubles that are exact.
package enum Orientation {
  /// A factor of the sum of the products' magnitudes: the bound for three subtractions and two products.
  private static let errorBound = 3.330_669_073_875_471_6e-16

  /// Positive where `c` lies to the left of the line from `a` to `b`, negative to its right, 0 on it.
  @inline(__always)
  package static func sign(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>) -> Double {
    let left = (a.x - c.x) * (b.y - c.y)
    let right = (a.y - c.y) * (b.x - c.x)
    let difference = left - right
    let bound = errorBound * (abs(left) + abs(right))
    if abs(difference) > bound, difference.isFinite, bound > 1e-290 { return difference }
    return exactSign(a, b, c)
  }

  @inline(never)
  private static func exactSign(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>) -> Double {
    // A power of two: products neither overflow nor lose low bits, and the sign stays.
    let largest = [a.x, a.y, b.x, b.y, c.x, c.y].lazy.map(\.magnitude).max() ?? 0
    guard largest > 0, largest.isFinite else { return 0 }
    let scale = Double(sign: .plus, exponent: min(max(-largest.exponent, -1000), 1000), significand: 1)
    let (a, b, c) = (a * scale, b * scale, c * scale)
    var sum = Expansion()
    sum.addProduct(twoDifference(a.x, c.x), twoDifference(b.y, c.y))
    let (high, low) = twoDifference(a.y, c.y)
    sum.addProduct((-high, -low), twoDifference(b.x, c.x))
    return sum.sign
  }

  /// The difference and its rounding error.
  private static func twoDifference(_ a: Double, _ b: Double) -> (Double, Double) { twoSum(a, -b) }

  /// The sum and its rounding error (Knuth).
  fileprivate static func twoSum(_ a: Double, _ b: Double) -> (Double, Double) {
    let sum = a + b
    let virtual = sum - a
    return (sum, (a - (sum - virtual)) + (b - virtual))
  }
}

/// An exact sum of doubles: parts of ascending magnitude that do not overlap.
private struct Expansion {
  private var parts: [Double] = []

  mutating func addProduct(_ left: (Double, Double), _ right: (Double, Double)) {
    for a in [left.1, left.0] {
      for b in [right.1, right.0] {
        let product = a * b
        add((-product).addingProduct(a, b))
        add(product)
      }
    }
  }

  private mutating func add(_ value: Double) {
    var carry = value
    for index in parts.indices { (carry, parts[index]) = Orientation.twoSum(carry, parts[index]) }
    parts.append(carry)
  }

  /// That of the greatest part that is not 0.
  var sign: Double { parts.last { $0 != 0 } ?? 0 }
}
