// Statistics of the features of a cluster.

import Geometry

public enum AggregateStatistic: String, Hashable, Sendable {
  case count, sum, min, max, mean, variance, standardDeviation
}

/// Statistics of values that come one by one: the mean and variance by Welford (1962).
public struct Aggregator: Sendable {
  /// Of values of any type that are not null.
  private var count = 0
  private var numbers = 0
  private var sum = 0.0
  private var mean = 0.0
  private var squares = 0.0
  private var least = Double.infinity
  private var greatest = -Double.infinity

  public init() {}

  public mutating func add(_ value: FeatureRow.Attribute) {
    switch value {
    case .null: return
    case .integer(let number): add(Double(number))
    case .double(let number) where number.isFinite: add(number)
    default: break
    }
    count += 1
  }

  private mutating func add(_ number: Double) {
    numbers += 1
    sum += number
    let difference = number - mean
    mean += difference / Double(numbers)
    squares += difference * (number - mean)
    least = Swift.min(least, number)
    greatest = Swift.max(greatest, number)
  }

  /// Nil for a statistic that so few values do not have, and beyond the range of doubles.
  public func value(_ statistic: AggregateStatistic) -> Double? {
    let value: Double? =
      switch statistic {
      case .count: Double(count)
      case .sum: numbers > 0 ? sum : nil
      case .min: numbers > 0 ? least : nil
      case .max: numbers > 0 ? greatest : nil
      case .mean: numbers > 0 ? sum / Double(numbers) : nil
      case .variance: numbers > 1 ? squares / Double(numbers - 1) : nil
      case .standardDeviation: numbers > 1 ? (squares / Double(numbers - 1)).squareRoot() : nil
      }
    return value.flatMap { $0.isFinite ? $0 : nil }
  }
}
