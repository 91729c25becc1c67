// From a number to a size, an opacity or a colour: stops with straight lines between them.

/// What can lie between two stops.
public protocol Interpolable: Hashable, Sendable {
  /// What lies at a part of the way to another, 0...1.
  func mixed(with other: Self, part: Double) -> Self
}

extension Double: Interpolable {
  public func mixed(with other: Double, part: Double) -> Double {
    // Exact at both ends, and between equal ones.
    part == 1 ? other : self + (other - self) * part
  }
}
extension Color: Interpolable {}

/// Stops by ascending value. Beyond the ends it stays at the end's.
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

  /// - Parameter stops: at least two, finite, each value greater than the one before.
  /// - Throws: ``SymbologyError`` of reason `stops`, with the place of the bad one.
  public init(_ stops: [Stop]) throws(SymbologyError) {
    guard stops.count >= 2 else {
      throw SymbologyError(.stops, expected: "at least two stops", found: "\(stops.count)")
    }
    for (place, stop) in stops.enumerated() {
      guard stop.value.isFinite, place == 0 || stop.value > stops[place - 1].value else {
        throw SymbologyError(
          .stops, at: [String(place), "value"],
          expected: place == 0 ? "a finite number" : "a number greater than \(shown(stops[place - 1].value))",
          found: shown(stop.value))
      }
    }
    self.stops = stops
  }

  /// What stands for a number. O(log stops).
  public func output(at value: Double) -> Output {
    let above = stops.partitioningPlace { $0.value >= value }
    if above == 0 { return stops[0].output }
    if above == stops.count { return stops[above - 1].output }
    let low = stops[above - 1]
    let high = stops[above]
    // Halves, because the distance of two finite numbers can be infinite.
    let part = (value / 2 - low.value / 2) / (high.value / 2 - low.value / 2)
    return low.output.mixed(with: high.output, part: part)
  }
}

extension Array {
  /// The first place where `isIn` is true, in a list that has all such behind all others; the count without any.
  @inline(__always)
  func partitioningPlace(_ isIn: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isIn(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
