// Lines and rings on the screen, as far as labels need them.

import Platform
import Sorting

extension [SIMD2<Float>] {
  var length: Float { zip(self, dropFirst()).reduce(0) { $0 + ($1.1 - $1.0).norm } }

  /// The part of a line of a length around a place on it; the place alone for length 0. Nil if the line is too short.
  ///
  /// - Parameter middle: distance from the start.
  func part(at middle: Float, _ length: Float) -> [SIMD2<Float>]? {
    let (start, end) = (middle - length / 2, middle + length / 2)
    guard start >= -0.01, var last = first else { return nil }
    var (done, part): (Float, [SIMD2<Float>]) = (0, [])
    for next in dropFirst() {
      let edge = (next - last).norm
      if part.isEmpty, done + edge >= start {
        part.append(edge > 0 ? last + (next - last) * (Swift.max(start - done, 0) / edge) : last)
        if length == 0 { return part }
      }
      if !part.isEmpty {
        if done + edge >= end {
          part.append(edge > 0 ? last + (next - last) * ((end - done) / edge) : next)
          return part
        }
        if let end = part.last, (next - end).norm > 0.01 { part.append(next) }
      }
      (done, last) = (done + edge, next)
    }
    // Rounding may leave the end a little short.
    return part.isEmpty ? (length == 0 ? [last] : nil) : (end - done < 0.5 ? part : nil)
  }

  /// The largest turn at a vertex, in degrees.
  var bend: Float {
    var largest: Float = 0
    for index in indices.dropFirst().dropLast() {
      let (one, other) = (self[index] - self[index - 1], self[index + 1] - self[index])
      let norms = one.norm * other.norm
      guard norms > 0 else { continue }
      let cosine = Swift.max(-1, Swift.min(1, (one * other).sum() / norms))
      largest = Swift.max(largest, Float(acos(Double(cosine)) * 180 / .pi))
    }
    return largest
  }

  /// The largest distance of a vertex from the line between the ends.
  var deviation: Float {
    guard let first, let last else { return 0 }
    let chord = last - first
    let norm = chord.norm
    guard norm > 0 else { return 0 }
    return reduce(0) { largest, place in
      let vector = place - first
      return Swift.max(largest, abs(vector.x * chord.y - vector.y * chord.x) / norm)
    }
  }

  /// The line moved to its right (down, for one that goes right).
  func moved(by distance: Float) -> [SIMD2<Float>] {
    guard distance != 0, count > 1 else { return self }
    return indices.map { index in
      let direction = self[Swift.min(index + 1, count - 1)] - self[Swift.max(index - 1, 0)]
      let norm = direction.norm
      return norm > 0 ? self[index] + SIMD2(-direction.y, direction.x) * (distance / norm) : self[index]
    }
  }
}

/// A line that may have very many vertices, with the way to each.
struct MeasuredLine {
  private let line: [SIMD2<Float>]
  private let ways: [Double]

  init(_ line: [SIMD2<Float>]) {
    self.line = line
    var way = 0.0
    ways = line.indices.map { index in
      if index > 0 { way += Double((line[index] - line[index - 1]).norm) }
      return way
    }
  }

  var length: Float { Float(ways.last ?? 0) }

  /// The part of a length around a place on it; the place alone for length 0. Nil if the line is too short.
  ///
  /// - Complexity: O(log n) and the vertices of the part.
  func part(at middle: Float, _ length: Float) -> [SIMD2<Float>]? {
    let (start, end) = (Double(middle - length / 2), Double(middle + length / 2))
    let first = max(ways.partitioningIndex { $0 > start } - 1, 0)
    let last = min(ways.partitioningIndex { $0 >= end }, line.count - 1)
    guard first <= last else { return nil }
    return Array(line[first...last]).part(at: Float(Double(middle) - ways[first]), length)
  }
}

extension [[SIMD2<Float>]] {
  /// Size of a polygon's outer ring, for comparison.
  var extent: Float {
    guard let ring = first, let last = ring.last else { return 0 }
    var (sum, from): (Float, SIMD2<Float>) = (0, last)
    for place in ring {
      sum += from.x * place.y - place.x * from.y
      from = place
    }
    return abs(sum)
  }

  /// A point inside of a polygon, in the widest part of one of several rows across it, the middle one preferred.
  var insidePoint: SIMD2<Float>? {
    let places = joined()
    guard let low = places.map(\.y).min(), let high = places.map(\.y).max() else { return nil }
    var best: (width: Float, point: SIMD2<Float>)?
    for (step, weight) in [(8, 1.0), (7, 0.9), (9, 0.9), (6, 0.8), (10, 0.8), (4, 0.7), (12, 0.7), (2, 0.5), (14, 0.5)] as [(Float, Float)] {
      // Not through vertices of regular shapes.
      let y = low + (high - low) * (step + 0.013) / 16
      var crossings: [Float] = []
      for ring in self {
        guard var from = ring.last else { continue }
        for to in ring {
          if (from.y > y) != (to.y > y) { crossings.append(from.x + (to.x - from.x) * ((y - from.y) / (to.y - from.y))) }
          from = to
        }
      }
      crossings.sort()
      for index in Swift.stride(from: 0, to: crossings.count - 1, by: 2) {
        let width = (crossings[index + 1] - crossings[index]) * weight
        if width > best?.width ?? 0 { best = (width, SIMD2((crossings[index] + crossings[index + 1]) / 2, y)) }
      }
    }
    return best?.point
  }
}

extension SIMD2<Float> {
  var norm: Float { (self * self).sum().squareRoot() }
}
