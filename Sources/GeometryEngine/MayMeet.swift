// A quick proof that geometries are apart, also of what is made of them when they are made valid.

import Geometry

extension Geometry {
  /// Steps of a comparison, some milliseconds: geometries that need more may meet.
  private static let stepLimit = 1 << 20

  /// Whether it may share a position with another; false is certain. Rounding errors and effort are bounded.
  ///
  /// Areas without segments in common are apart or one in the other, and then boxes of their rings are, too.
  public func mayMeet(_ other: Geometry) -> Bool {
    guard let box = envelope, let otherBox = other.envelope, box.intersects(otherBox) else { return false }
    guard !isExtreme, !other.isExtreme, !hasRun(inside: otherBox), !other.hasRun(inside: box) else { return true }
    let (first, second) = (Segments(self, near: otherBox), Segments(other, near: box))
    let steps = first.chains.count * second.points.count + second.chains.count * first.points.count
    guard steps <= Self.stepLimit else { return true }
    var meets = false
    for one in first.chains {
      for two in second.chains where !meets {
        first.meet(one.first..<one.last, second, two.first..<two.last) { meets = meets || first.mayCross($0, second, $1) }
      }
    }
    return meets
  }

  private func hasRun(inside box: Envelope) -> Bool {
    var isInside = false
    forEachPositions { positions in
      if !isInside, let own = Geometry.multiPoint(positions).envelope { isInside = box.contains(own) }
    }
    return isInside
  }
}

extension Segments {
  /// Whether two segments whose boxes meet share a position, or nearly.
  fileprivate func mayCross(_ index: Int, _ other: Segments, _ otherIndex: Int) -> Bool {
    let (a, b, c, d) = (points[index], points[index + 1], other.points[otherIndex], other.points[otherIndex + 1])
    // Source: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997: the bound is 3.4e-16 of the sum.
    func side(_ p: SIMD2<Double>, _ q: SIMD2<Double>, _ r: SIMD2<Double>) -> Double {
      let (left, right) = ((q.x - p.x) * (r.y - p.y), (q.y - p.y) * (r.x - p.x))
      return abs(left - right) <= 1e-15 * (abs(left) + abs(right)) ? 0 : (left - right).sign == .minus ? -1 : 1
    }
    return side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0
  }
}
