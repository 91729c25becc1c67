// The narrowest box around boxes on a map that goes around the world.

/// Collects boxes. O(n log n), and 16 bytes for each.
package struct NarrowestExtent {
  private let seam: Seam
  /// Ranges of x within the world.
  private var ranges: [SIMD2<Double>] = []
  private var all = Envelope.none

  package init(_ seam: Seam) { self.seam = seam }

  package mutating func include(_ box: Envelope) {
    all.include(box)
    let turns = seam.exceeds(box) ? ((box.xMin - seam.west) / seam.width).rounded(.down) : 0
    let low = box.xMin - turns * seam.width
    let high = low + box.width
    if seam.isGirdled(by: box) { return ranges.append(SIMD2(seam.west, seam.east)) }
    ranges.append(SIMD2(low, min(high, seam.east)))
    if high > seam.east { ranges.append(SIMD2(seam.west, high - seam.width)) }
  }

  /// Its xMin is greater than xMax where it crosses the edge; nil without boxes.
  package var box: Envelope? {
    let ranges = ranges.sorted { $0.x < $1.x }
    guard let first = ranges.first else { return nil }
    var (reach, widest) = (first.y, 0.0)
    var gap: (from: Double, to: Double)?
    for range in ranges.dropFirst() {
      if range.x - reach > widest { (widest, gap) = (range.x - reach, (reach, range.x)) }
      reach = max(reach, range.y)
    }
    // The gap around the edge is that of a box that does not cross it.
    guard let gap, widest > first.x + seam.width - reach else {
      return Envelope(xMin: first.x, yMin: all.yMin, xMax: reach, yMax: all.yMax)
    }
    return Envelope(xMin: gap.to, yMin: all.yMin, xMax: gap.from, yMax: all.yMax)
  }
}
