// The rectangle of the smallest area around a convex hull: GEOS before 3.12 makes the one of the smallest width.

import Geometry

extension Geometry {
  /// Of a convex polygon the smallest rectangle around it, which has a side on one of its sides; lines and points stay.
  ///
  /// - Complexity: O(n): the farthest positions go around with the side (G. Toussaint, "Solving geometric problems with the rotating
  ///   calipers", 1983).
  var smallestRectangle: Geometry {
    guard case .polygon(let rings) = self, let ring = rings.first, ring.count > 3 else { return self }
    var hull = ring.points.dropLast().map { SIMD2($0.x, $0.y) }
    if ring.doubledArea < 0 { hull.reverse() }
    let count = hull.count
    func side(_ index: Int) -> SIMD2<Double> { hull[(index + 1) % count] - hull[index % count] }
    func along(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double { (a * b).sum() }
    func across(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double { a.x * b.y - a.y * b.x }
    var (ahead, top, behind) = (1, 1, 1)
    var (smallest, corners) = (Double.infinity, [SIMD2<Double>]())
    for index in 0..<count {
      let way = side(index)
      let square = along(way, way)
      guard square > 0 else { continue }
      // No farther than once around, whatever rounding does.
      let end = index + count
      ahead = max(ahead, index + 1)
      while ahead < end, along(way, side(ahead)) > 0 { ahead += 1 }
      top = max(top, ahead)
      while top < end, across(way, side(top)) > 0 { top += 1 }
      behind = max(behind, top)
      while behind < end, along(way, side(behind)) < 0 { behind += 1 }
      let start = hull[index]
      // In lengths of the side, so that whole numbers stay whole.
      let (least, most) = (along(way, hull[behind % count] - start) / square, along(way, hull[ahead % count] - start) / square)
      let height = across(way, hull[top % count] - start) / square
      let area = (most - least) * height * square
      // Of equal ones the first.
      guard area < smallest * (1 - 1e-12) else { continue }
      smallest = area
      let up = SIMD2(-way.y, way.x) * height
      corners = [start + way * least, start + way * most, start + way * most + up, start + way * least + up]
    }
    guard let first = corners.first else { return self }
    return .polygon([Positions(values: (corners + [first]).flatMap { [$0.x, $0.y] })])
  }

  /// Lines of which one that ends where it begins, at another line, is two: the end of a closed line is within it, where no other may end.
  var withLoopsDivided: Geometry {
    guard case .multiLineString(let lines) = self else { return self }
    func place(_ line: Positions, _ index: Int) -> SIMD2<Double> { SIMD2(line[index].x, line[index].y) }
    var ends: [SIMD2<Double>: Int] = [:]
    for line in lines where line.count > 0 {
      ends[place(line, 0), default: 0] += 1
      ends[place(line, line.count - 1), default: 0] += 1
    }
    return .multiLineString(lines.flatMap { line -> [Positions] in
      guard line.count > 3, place(line, 0) == place(line, line.count - 1), ends[place(line, 0), default: 0] > 2 else { return [line] }
      let (points, middle) = (line.points, line.count / 2)
      return [Positions(Array(points[...middle])), Positions(Array(points[middle...]))]
    })
  }
}
