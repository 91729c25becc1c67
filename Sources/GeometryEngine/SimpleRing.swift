// Proofs that small polygons are valid, in a tenth of the time that GEOS takes to look for faults.

import Geometry

extension Geometry {
  /// Whether it is a polygon of one small ring that neither crosses nor touches itself, beyond doubt by rounding; GEOS then calls it valid.
  ///
  /// False says nothing. O(n²) in positions, of which there are few.
  package var isSurelyValid: Bool {
    guard case .polygon(let rings) = self, rings.count == 1, case let ring = rings[0], (4...Self.mostOfSimpleRing).contains(ring.count)
    else { return false }
    return ring.values.withUnsafeBufferPointer { RingProof(values: $0, stride: ring.stride, count: ring.count - 1).isSimple }
  }

  private static let mostOfSimpleRing = 32
}

private struct RingProof {
  let values: UnsafeBufferPointer<Double>
  let stride: Int
  /// Of segments, and of positions but for the last, which is the first again.
  let count: Int

  @inline(__always) private func place(_ index: Int) -> SIMD2<Double> { SIMD2(values[index &* stride], values[index &* stride &+ 1]) }

  var isSimple: Bool {
    guard place(0) == place(count) else { return false }
    var before = place(0) - place(count - 1)
    for index in 0..<count {
      let (start, end) = (place(index), place(index + 1))
      let way = end - start
      // Also false for what is not finite.
      guard way.x.magnitude + way.y.magnitude > 0, (start.x - start.x) + (start.y - start.y) == 0 else { return false }
      // Neighbours have their common position alone: they go on within a quadrant, or turn.
      guard before.x * way.x >= 0 && before.y * way.y >= 0 || side(place(index == 0 ? count - 1 : index - 1), start, end) != 0
      else { return false }
      before = way
      let (low, high) = (pointwiseMin(start, end), pointwiseMax(start, end))
      for other in Swift.stride(from: index + 2, to: index == 0 ? count - 1 : count, by: 1) {
        let (first, last) = (place(other), place(other + 1))
        if max(first.x, last.x) < low.x || min(first.x, last.x) > high.x || max(first.y, last.y) < low.y || min(first.y, last.y) > high.y {
          continue
        }
        guard side(start, end, first) * side(start, end, last) > 0 || side(first, last, start) * side(first, last, end) > 0 else { return false }
      }
    }
    return true
  }

  /// 1 for a place to the left, -1 to the right, 0 where rounding leaves it open.
  ///
  /// Source of the bound: Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates, 1997, section 4.2.
  @inline(__always) private func side(_ start: SIMD2<Double>, _ end: SIMD2<Double>, _ place: SIMD2<Double>) -> Double {
    let (left, right) = ((start.x - place.x) * (end.y - place.y), (start.y - place.y) * (end.x - place.x))
    // Beside it what very small products lose.
    let bound = 3.3306690738754716e-16 * (left.magnitude + right.magnitude) + 1e-300
    let area = left - right
    return area > bound ? 1 : area < -bound ? -1 : 0
  }
}
