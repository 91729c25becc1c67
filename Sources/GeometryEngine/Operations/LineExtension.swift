// Lines that are made longer up to others.

import Geometry

extension Geometry {
  /// Lines made longer, straight on beyond their ends, up to the nearest place on `target`. An end that reaches nothing stays.
  ///
  /// - Parameter check: called for each line; throws to cancel.
  public func extended(to target: Geometry, atStart: Bool, atEnd: Bool, checking check: () throws -> Void) rethrows -> Geometry {
    let targets = Segments(.multiLineString(target.lines))
    func reach(_ end: Point, from inner: Point) -> Point? {
      let (origin, way) = (SIMD2(end.x, end.y), SIMD2(end.x - inner.x, end.y - inner.y))
      var nearest = Double.infinity
      for chain in targets.chains {
        let (low, high) = (SIMD2(chain.xMin, chain.yMin), SIMD2(chain.xMax, chain.yMax))
        let (middle, half) = ((low + high) / 2 - origin, (high - low) / 2)
        let wide = SIMD2(half.y + roundedPart * abs(middle.y), half.x + roundedPart * abs(middle.x))
        // Its box is to one side of the way.
        if abs(cross(way, middle)) > abs(way.x) * wide.x + abs(way.y) * wide.y { continue }
        for index in chain.first..<chain.last {
          let (gap, other) = (targets.points[index] - origin, targets.points[index + 1] - targets.points[index])
          let turn = cross(way, other)
          guard turn != 0 else {
            guard cross(gap, way) == 0 else { continue }
            // On the way, or with the end on it.
            let square = (way * way).sum()
            let parts = ((gap * way).sum() / square, ((gap + other) * way).sum() / square)
            let (near, far) = (min(parts.0, parts.1), max(parts.0, parts.1))
            if far >= 0 { nearest = min(nearest, max(near, 0)) }
            continue
          }
          let (part, otherPart) = (cross(gap, other) / turn, cross(gap, way) / turn)
          if part >= 0, part < nearest, (0...1).contains(otherPart) { nearest = part }
        }
      }
      guard nearest.isFinite, nearest > 0 else { return nil }
      return Point(x: end.x + nearest * way.x, y: end.y + nearest * way.y, z: end.z, m: end.m)
    }
    return try mapLines { line, isRing in
      if isRing { return line }
      try check()
      var points = line.points.withoutRepeats
      guard points.count > 1 else { return line }
      if atStart, let point = reach(points[0], from: points[1]) { points[0] = point }
      if atEnd, let point = reach(points[points.count - 1], from: points[points.count - 2]) { points[points.count - 1] = point }
      return Positions(points)
    }
  }
}
