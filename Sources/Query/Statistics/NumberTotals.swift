// Sums of numbers: exact of integers, compensated of doubles, and of squared deviations, to which parts are added.

/// Count, sum, mean and squared deviations of numbers.
struct NumberTotals: Sendable {
  private(set) var count = 0
  /// The sum of integers, in 128 bits: two's complement, the lower 64 bits first.
  private var low: UInt64 = 0
  private var high: Int64 = 0
  private var hasDoubles = false
  private var doubles = CompensatedSum()
  /// The mean of the parts, for ``squares``.
  private var running = 0.0
  /// The squared deviations from the mean.
  private var squares = 0.0

  /// Adds integers by their sum, which has not overflown.
  mutating func add(integers sum: Int64, _ part: Deviations) {
    let (lower, carry) = low.addingReportingOverflow(UInt64(bitPattern: sum))
    low = lower
    high &+= (sum < 0 ? -1 : 0) &+ (carry ? 1 : 0)
    merge(part)
  }

  mutating func add(doubles sum: CompensatedSum, _ part: Deviations) {
    hasDoubles = true
    doubles.add(sum)
    merge(part)
  }

  /// T. F. Chan, G. H. Golub, R. J. LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979.
  private mutating func merge(_ part: Deviations) {
    let total = Double(count + part.count)
    let delta = part.mean - running
    squares += part.squares + delta * delta * Double(count) * Double(part.count) / total
    running += delta * Double(part.count) / total
    count += part.count
  }

  /// The sum of integers if it has 64 bits.
  var integer: Int64? {
    let value = Int64(bitPattern: low)
    return !hasDoubles && high == (value < 0 ? -1 : 0) ? value : nil
  }

  /// The parts of the sum of integers are doubles without a rounding error; of opposite signs if it is negative.
  var sum: Double {
    var sum = CompensatedSum(Double(high) * 0x1p64)
    sum.add(Double(low >> 32) * 0x1p32)
    sum.add(Double(low & 0xffff_ffff))
    sum.add(doubles)
    return sum.value
  }

  /// Nil without numbers.
  var mean: Double? { count == 0 ? nil : sum / Double(count) }

  /// Of a sample: nil for fewer than two numbers.
  var variance: Double? { count < 2 ? nil : squares / Double(count - 1) }
}

/// Some numbers' mean, and the sum of their squared deviations from it.
struct Deviations: BitwiseCopyable {
  var count = 0
  var mean = 0.0
  var squares = 0.0
}

/// A sum of doubles with its rounding errors: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974,
/// by the branchless exact sum of D. E. Knuth, The Art of Computer Programming 2, 4.2.2.
struct CompensatedSum: BitwiseCopyable {
  private var sum: Double
  private var lost = 0.0

  init(_ number: Double = 0) { sum = number }

  @inline(__always)
  mutating func add(_ number: Double) {
    let total = sum + number
    let part = total - sum
    lost += (sum - (total - part)) + (number - part)
    sum = total
  }

  mutating func add(_ other: CompensatedSum) {
    add(other.sum)
    lost += other.lost
  }

  /// Beyond the range of doubles the errors are not numbers.
  var value: Double { sum.isFinite ? sum + lost : sum }
}
