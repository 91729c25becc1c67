// Sums of numbers: exact of integers, compensated of doubles, and of squared deviations, to which parts are added.

/// Count, sum and mean of numbers.
struct NumberTotals: Sendable {
  private(set) var count = 0
  /// The sum of integers, in 128 bits: two's complement, the lower 64 bits first.
  private var low: UInt64 = 0
  private var high: Int64 = 0
  private var hasDoubles = false
  private var doubles = WideSum()

  /// Adds integers by their sum, which has not overflown.
  mutating func add(integers sum: Int64, count added: Int = 1) {
    let (lower, carry) = low.addingReportingOverflow(UInt64(bitPattern: sum))
    low = lower
    high &+= (sum < 0 ? -1 : 0) &+ (carry ? 1 : 0)
    count += added
  }

  /// Adds doubles that are less than ``WideSum/bound`` by their sum.
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

  /// The sum of integers if it has 64 bits.
  var integer: Int64? {
    let value = Int64(bitPattern: low)
    return !hasDoubles && high == (value < 0 ? -1 : 0) ? value : nil
  }

  /// The parts of the sum of integers are doubles without a rounding error; of opposite signs if it is negative.
  private var total: WideSum {
    var total = WideSum()
    total.add(Double(high) * 0x1p64)
    total.add(Double(low >> 32) * 0x1p32)
    total.add(Double(low & 0xffff_ffff))
    total.add(doubles)
    return total
  }

  /// Not finite beyond the range of doubles.
  var sum: Double { total.divided(by: 1) }

  /// Nil without numbers.
  var mean: Double? { count == 0 ? nil : total.divided(by: Double(count)) }
}

/// Some numbers' mean, and the sum of their squared deviations from it: so precise that the order in which parts are added does not show.
struct Deviations: Sendable, BitwiseCopyable {
  private(set) var count: Int
  private var mean: DoubleDouble
  private var squares: DoubleDouble

  init(count: Int = 0, mean: DoubleDouble = .init(), squares: DoubleDouble = .init()) {
    (self.count, self.mean, self.squares) = (count, mean, squares)
  }

  /// T. F. Chan, G. H. Golub, R. J. LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979.
  mutating func add(_ part: Deviations) {
    guard count > 0, part.count > 0 else {
      if count == 0 { self = part }
      return
    }
    let (own, other) = (DoubleDouble(Double(count)), DoubleDouble(Double(part.count)))
    let share = other / (own + other)
    let delta = part.mean - mean
    squares = squares + part.squares + delta * delta * share * own
    mean = mean + delta * share
    count += part.count
  }

  /// Of a sample: nil for fewer than two numbers.
  var variance: Double? { count < 2 ? nil : (squares / DoubleDouble(Double(count - 1))).value }
}

/// A sum of doubles with its rounding errors: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974,
/// by the branchless exact sum of D. E. Knuth, The Art of Computer Programming 2, 4.2.2.
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

  /// Beyond the range of doubles the errors are not numbers.
  var value: Double { sum.isFinite ? sum + lost : sum }
}

/// A sum of doubles that may leave their range on the way, in whatever order they are added: large ones are summed apart, as parts of
/// themselves.
struct WideSum: Sendable, BitwiseCopyable {
  /// So many numbers below it as there may be rows have a sum.
  static let bound = 0x1p960
  private static let scale = 0x1p-128

  private var small = CompensatedSum()
  /// Of what is not below the bound, times ``scale``.
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

  /// The sum, or the mean.
  func divided(by count: Double) -> Double {
    guard large.sum != 0 || large.lost != 0 else { return small.value / count }
    var total = large
    total.add(small.sum * Self.scale, lost: small.lost * Self.scale)
    return total.value / count / Self.scale
  }
}
