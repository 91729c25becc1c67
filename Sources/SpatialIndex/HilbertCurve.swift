// Maps positions to keys along a Hilbert curve, the order of the spatial index: near positions get near keys.

/// The Hilbert curve over a grid of 2^32 x 2^32 cells.
///
/// Source: D. Hilbert, "Ueber die stetige Abbildung einer Linie auf ein Flaechenstueck", 1891. A quadrant of the curve
/// is the curve itself, transposed or rotated by 180 degrees, so four states suffice. The table processes four bits per
/// axis in a step, and is generated from the rule for one bit.
enum HilbertCurve {
  /// By state (2 bits), x nibble, y nibble: eight bits of the key, then the next state.
  static let table: [UInt16] = (0..<1024).map { entry in
    var isTurned = entry >> 9 & 1
    var isTransposed = entry >> 8 & 1
    var digits = 0
    for bit in [3, 2, 1, 0] {
      let a = (entry >> (4 + bit) & 1) ^ isTurned
      let b = (entry >> bit & 1) ^ isTurned
      let (x, y) = isTransposed == 1 ? (b, a) : (a, b)
      digits = digits << 2 | (3 * x) ^ y
      if y == 0 {
        isTurned ^= x
        isTransposed ^= 1
      }
    }
    return UInt16(digits << 2 | isTurned << 1 | isTransposed)
  }

  /// The key of a cell.
  @inline(__always)
  static func key(x: UInt32, y: UInt32, table: UnsafePointer<UInt16>) -> UInt64 {
    var key: UInt64 = 0
    var state = 0
    var shift: UInt32 = 28
    while true {
      let step = Int(table[state << 8 | Int(x &>> shift & 15) << 4 | Int(y &>> shift & 15)])
      key = key << 8 | UInt64(truncatingIfNeeded: step >> 2)
      state = step & 3
      if shift == 0 { return key }
      shift &-= 4
    }
  }
}

/// The rectangle covered by the curve's grid.
///
/// Data outside get the key of the nearest edge: they are still found, but the order is worse. The index counts such data and
/// chooses a new rectangle when there are too many.
struct KeyDomain: Sendable {
  /// Halved, so that no difference of finite numbers overflows.
  private var halfLower: SIMD2<Double>
  private var halfUpper: SIMD2<Double>
  private var scale: SIMD2<Double>

  private static let cells = 4_294_967_295.0
  /// Factor by which it is wider than the data: 2^4 of the 2^32 cells per axis are reserved for growth.
  private static let widening = 8.0

  /// A rectangle around 90% of `centers`, extended on each side by eight times their extent, so that a few outliers do not
  /// coarsen the grid for all.
  init(around centers: some RandomAccessCollection<SIMD2<Double>>) {
    halfLower = .zero
    halfUpper = .zero
    scale = .zero
    let step = max(1, centers.count / 1024)
    for axis in 0..<2 {
      let sample = stride(from: 0, to: centers.count, by: step).map { centers[centers.index(centers.startIndex, offsetBy: $0)][axis] * 0.5 }.sorted()
      guard let first = sample.first, let last = sample.last else { continue }
      let margin = sample.count / 20
      let low = sample[margin]
      let high = sample[sample.count - 1 - margin]
      var span = high - low > 0 ? high - low : last - first
      // All centers are equal: any width will do, since the index detects an unsuitable one.
      if !(span > 0) { span = max(abs(first) * 1e-3, 1e-3) }
      span = max(span, 1e-280)
      let limit = Double.greatestFiniteMagnitude * 0.5
      halfLower[axis] = max(low - span * Self.widening, -limit)
      halfUpper[axis] = min(high + span * Self.widening, limit)
      scale[axis] = Self.cells / (halfUpper[axis] - halfLower[axis])
    }
  }

  @inline(__always)
  func contains(_ center: SIMD2<Double>) -> Bool {
    let half = center * 0.5
    return half.x >= halfLower.x && half.x <= halfUpper.x && half.y >= halfLower.y && half.y <= halfUpper.y
  }

  @inline(__always)
  func key(_ center: SIMD2<Double>, table: UnsafePointer<UInt16>) -> UInt64 {
    let cell = (center * 0.5 - halfLower) * scale
    return HilbertCurve.key(x: Self.index(cell.x), y: Self.index(cell.y), table: table)
  }

  /// The nearest cell. Adding 2^52 leaves the integer part in a double's low bits, without a conversion that could
  /// trap.
  @inline(__always)
  private static func index(_ cell: Double) -> UInt32 {
    let bounded = cell > 0 ? (cell < cells ? cell : cells) : 0
    return UInt32(truncatingIfNeeded: (bounded + 4_503_599_627_370_496).bitPattern)
  }
}
