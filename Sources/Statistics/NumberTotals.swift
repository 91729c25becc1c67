// Sums of numbers to which partial sums are added: exact for integers, compensated for doubles, and of squared deviations.

/// Count, sum and mean of numbers.
struct NumberTotals: Sendable {
  private(set) var count = 0
  /// The sum of integers in 128 bits, in two's complement, lower half first.
  private var low: UInt64 = 0
  private var high: Int64 = 0
  private var hasDoubles = false
  private var doubles = WideSum()

  /// Adds integers given as their sum, which must not have overflowed.
  mutating func add(integers sum: Int64, count added: Int = 1) {
    let (lower, carry) = low.addingReportingOverflow(UInt64(bitPattern: sum))
    low = lower
    high &+= (sum < 0 ? -1 : 0) &+ (carry ? 1 : 0)
    count += added
  }

  /// Adds doubles below ``WideSum/bound``, given as their sum.
  mutating func add(doubles sum: CompensatedSum, count added: Int) {
    hasDoubles = true
    doubles.add(sum)
    count += added
  }

  mutating func add(double number: Double) {
    hasDoubles = true
    doubles.add(number)
    count += 1
  }

  /// The sum of integers if it fits in 64 bits.
  var integer: Int64? {
    let value = Int64(bitPattern: low)
    return !hasDoubles && high == (value < 0 ? -1 : 0) ? value : nil
  }

  /// The total sum. The halves of the integers' sum are converted to doubles exactly; their signs differ if it is negative.
  private var total: WideSum {
    var total = WideSum()
    total.add(Double(high) * 0x1p64)
    total.add(Double(low >> 32) * 0x1p32)
    total.add(Double(low & 0xffff_ffff))
    total.add(doubles)
    return total
  }

  /// The sum; not finite if it exceeds the range of doubles.
  var sum: Double { total.divided(by: 1) }

  /// The mean; nil without numbers.
  var mean: Double? { count == 0 ? nil : total.divided(by: Double(count)) }
}

/// The mean of numbers and the sum of their squared deviations from it, so precise that the order of adding parts does not affect
/// results.
struct Deviations: Sendable, BitwiseCopyable {
  private(set) var count: Int
  private var mean: DoubleDouble
  private var squares: DoubleDouble
  /// The factor of numbers, so that the squares of large ones stay finite.
  private var scale = 1.0

  /// Numbers not below are scaled: as many squares of deviations below as there can be rows have a finite sum.
  static let bound = 0x1p480
  private static let small = 0x1p-600

  init(_ number: Double) {
    self.init(count: 1, mean: DoubleDouble(number))
    if number.magnitude >= Self.bound { shrink() }
  }

  /// Deviations that underflow by this are negligible beside that of a number not below ``bound``.
  private mutating func shrink() {
    mean = mean.scaled(by: Self.small)
    squares = squares.scaled(by: Self.small).scaled(by: Self.small)
    scale = Self.small
  }

  init(count: Int = 0, mean: DoubleDouble = .init(), squares: DoubleDouble = .init()) {
    (self.count, self.mean, self.squares) = (count, mean, squares)
  }

  /// Source: T. F. Chan, G. H. Golub, R. J. LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979.
  mutating func add(_ part: Deviations) {
    guard count > 0, part.count > 0 else {
      if count == 0 { self = part }
      return
    }
    var part = part
    if part.scale < scale { shrink() } else if scale < part.scale { part.shrink() }
    let (own, other) = (DoubleDouble(Double(count)), DoubleDouble(Double(part.count)))
    let share = other / (own + other)
    let delta = part.mean - mean
    squares = squares + part.squares + delta * delta * share * own
    mean = mean + delta * share
    count += part.count
  }

  /// The sample variance; nil for fewer than two numbers.
  var variance: Double? { scaledVariance.map { $0 / scale / scale } }

  /// Its square root, finite where the variance itself is beyond the range of doubles.
  var standardDeviation: Double? { scaledVariance.map { $0.squareRoot() / scale } }

  private var scaledVariance: Double? { count < 2 ? nil : (squares / DoubleDouble(Double(count - 1))).value }
}

/// A sum of doubles with its rounding error. Source: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen, 1974, with the branchless exact sum of D. E. Knuth, The Art of Computer Programming 2, 4.2.2.
struct CompensatedSum: BitwiseCopyable {
  private(set) var sum: Double
  private(set) var lost = 0.0

  init(_ number: Double = 0) { sum = number }

  @inline(__always)
  mutating func add(_ number: Double, lost error: Double = 0) {
    let total = sum + number
    let part = total - sum
    lost += (sum - (total - part)) + (number - part) + error
    sum = total
  }

  mutating func add(_ other: CompensatedSum) { add(other.sum, lost: other.lost) }

  /// Beyond the range of doubles, the error is NaN.
  var value: Double { sum.isFinite ? sum + lost : sum }
}

/// A sum of doubles whose intermediate sums may exceed their range, in any order: large numbers are scaled and summed separately.
struct WideSum: Sendable, BitwiseCopyable {
  /// As many numbers below the bound as there can be rows have a finite sum.
  static let bound = 0x1p960
  private static let scale = 0x1p-128

  private var small = CompensatedSum()
  /// The sum of numbers not below the bound, times ``scale``.
  private var large = CompensatedSum()

  mutating func add(_ number: Double) {
    if abs(number) < Self.bound { small.add(number) } else { large.add(number * Self.scale) }
  }

  /// Adds a sum of numbers below the bound.
  mutating func add(_ sum: CompensatedSum) { small.add(sum) }

  mutating func add(_ other: WideSum) {
    small.add(other.small)
    large.add(other.large)
  }

  /// The sum divided by a count: 1 for the sum itself, the number of values for the mean.
  func divided(by count: Double) -> Double {
    guard large.sum != 0 || large.lost != 0 else { return small.value / count }
    var total = large
    total.add(small.sum * Self.scale, lost: small.lost * Self.scale)
    return total.value / count / Self.scale
  }
}
