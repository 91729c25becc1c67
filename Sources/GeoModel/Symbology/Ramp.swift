// Ramps: linear interpolation of sizes, opacities and colors between stops.

import Sorting

/// A value that can be interpolated.
public protocol Interpolable: Hashable, Sendable {
  /// The value at a fraction in 0...1 of the way to another.
  func mixed(with other: Self, fraction: Double) -> Self
}

extension Double: Interpolable {
  public func mixed(with other: Double, fraction: Double) -> Double {
    // This form is exact at 1 and between equal values.
    fraction == 1 ? other : self + (other - self) * fraction
  }
}
extension Color: Interpolable {}

/// Stops in ascending order, with linear interpolation between them. Constant beyond the ends.
///
/// ```swift
/// let sizes = try Ramp([.init(value: 0, output: 4.0), .init(value: 1000, output: 40)])
/// sizes.output(at: 500)  // 22
/// ```
public struct Ramp<Output: Interpolable>: Hashable, Sendable {
  public struct Stop: Hashable, Sendable {
    public let value: Double
    public let output: Output
    public init(value: Double, output: Output) {
      self.value = value
      self.output = output
    }
  }
  public let stops: [Stop]

  /// - Parameter stops: at least two, with finite, ascending values.
  /// - Throws: ``SymbologyError`` of reason `stops`, with the index of the invalid one.
  public init(_ stops: [Stop]) throws(SymbologyError) {
    guard stops.count >= 2 else {
      throw SymbologyError(.stops, expected: "at least two stops", found: "\(stops.count)")
    }
    for (index, stop) in stops.enumerated() {
      guard stop.value.isFinite, index == 0 || stop.value > stops[index - 1].value else {
        throw SymbologyError(
          .stops, at: [String(index), "value"],
          expected: index == 0 ? "a finite number" : "a number greater than \(shown(stops[index - 1].value))",
          found: shown(stop.value))
      }
    }
    self.stops = stops
  }

  /// The interpolated output. O(log stops).
  public func output(at value: Double) -> Output {
    let above = stops.partitioningIndex { $0.value >= value }
    if above == 0 { return stops[0].output }
    if above == stops.count { return stops[above - 1].output }
    let low = stops[above - 1]
    let high = stops[above]
    // Halved first, as the difference of two finite numbers may overflow.
    let fraction = (value / 2 - low.value / 2) / (high.value / 2 - low.value / 2)
    return low.output.mixed(with: high.output, fraction: fraction)
  }
}
