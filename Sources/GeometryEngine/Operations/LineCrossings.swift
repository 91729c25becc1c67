// Where lines meet, and what is made of them there: pieces, new outlines, longer lines. Z and M are interpolated.

import Geometry

/// A place of a line: on the segment that begins at `index`, at a fraction of its way.
private struct LinePlace: Comparable {
  let index: Int
  let part: Double
  static func < (left: Self, right: Self) -> Bool { (left.index, left.part) < (right.index, right.part) }
}

/// A common place of two lines.
private struct LineCrossing {
  let own: LinePlace
  let other: LinePlace
}

extension Positions {
  fileprivate func point(at place: LinePlace) -> Point {
    guard place.part > 0, place.index + 1 < count else { return self[place.index] }
    return self[place.index].between(self[place.index + 1], place.part)
  }

  private func xy(_ index: Int) -> SIMD2<Double> { SIMD2(values[index * stride], values[index * stride + 1]) }

  /// The direction of a segment.
  fileprivate func way(_ index: Int) -> SIMD2<Double> { xy(index + 1) - xy(index) }

  /// Where the segments meet those of another line, in the order of this one. Of segments on one another the ends.
  fileprivate func crossings(_ other: Positions) -> [LineCrossing] {
    var found: [LineCrossing] = []
    let (first, second) = (Segments(.lineString(self)), Segments(.lineString(other)))
    first.forEachMeeting(second) { index, otherIndex in
      let (a, d) = (xy(index), way(index))
      let (c, e) = (other.xy(otherIndex), other.way(otherIndex))
      func add(_ part: Double, _ otherPart: Double) {
        guard (0...1).contains(part), (0...1).contains(otherPart) else { return }
        found.append(LineCrossing(own: LinePlace(index: index, part: part), other: LinePlace(index: otherIndex, part: otherPart)))
      }
      let (turn, gap) = (cross(d, e), c - a)
      if turn != 0 { return add(cross(gap, e) / turn, cross(gap, d) / turn) }
      guard cross(gap, d) == 0 else { return }
      let (length, otherLength) = ((d * d).sum(), (e * e).sum())
      guard length > 0, otherLength > 0 else { return }
      for end in [0.0, 1] {
        add(((c + e * end - a) * d).sum() / length, end)
        add(end, ((a + d * end - c) * e).sum() / otherLength)
      }
    }
    found.sort { ($0.own, $0.other) < ($1.own, $1.other) }
    // The end of one segment is the beginning of the next.
    var single: [LineCrossing] = []
    for crossing in found where single.last.map({ point(at: $0.own).isAt(point(at: crossing.own)) }) != true { single.append(crossing) }
    return single
  }

  /// The part of the line between two places.
  fileprivate func between(_ start: LinePlace, _ end: LinePlace) -> [Point] {
    var points = [point(at: start)]
    if start.index < end.index { for index in start.index + 1...end.index { points.append(self[index]) } }
    points.append(point(at: end))
    return points.withoutRepeats
  }

  fileprivate var last: LinePlace { LinePlace(index: count - 1, part: 0) }
}

private func cross(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double { a.x * b.y - a.y * b.x }

extension Point {
  fileprivate func isAt(_ other: Point) -> Bool { x == other.x && y == other.y }

  /// All coordinates are interpolated.
  fileprivate func between(_ other: Point, _ part: Double) -> Point {
    func mix(_ a: Double?, _ b: Double?) -> Double? { a.flatMap { a in b.map { a + part * ($0 - a) } } }
    return part == 1 ? other : Point(x: x + part * (other.x - x), y: y + part * (other.y - y), z: mix(z, other.z), m: mix(m, other.m))
  }
}

extension [Point] {
  fileprivate var withoutRepeats: [Point] {
    reduce(into: []) { points, point in if points.last.map(point.isAt) != true { points.append(point) } }
  }
}

extension Segments {
  /// Calls `body` with each pair of segments whose boxes meet.
  func forEachMeeting(_ other: Segments, _ body: (Int, Int) -> Void) {
    let (own, others) = (chains.sorted { $0.xMin < $1.xMin }, other.chains.sorted { $0.xMin < $1.xMin })
    // The longest extent of a chain tells how far back one that still reaches may begin.
    let reach = others.lazy.map { $0.xMax - $0.xMin }.max() ?? 0
    var start = 0
    for chain in own {
      while start < others.count, others[start].xMin < chain.xMin - reach { start += 1 }
      for index in start..<others.count {
        let candidate = others[index]
        guard candidate.xMin <= chain.xMax else { break }
        guard candidate.xMax >= chain.xMin, candidate.yMin <= chain.yMax, chain.yMin <= candidate.yMax else { continue }
        meet(chain.first..<chain.last, other, candidate.first..<candidate.last, body)
      }
    }
  }
}

// MARK: - Cutting

extension Geometry {
  var lines: [Positions] {
    var lines: [Positions] = []
    if dimension > 0 { forEachPositions { if $0.count > 1 { lines.append($0) } } }
    return lines
  }

  /// The lines in pieces, with the side of each: 1 left of the cutter, -1 right, 0 where it is not cut. Points are not cut.
  func cutLines(by cutter: Geometry) -> GeometryOutcome {
    var outcome = GeometryOutcome()
    for line in lines {
      var cuts: [(place: LinePlace, way: SIMD2<Double>)] = []
      for other in cutter.lines {
        cuts += line.crossings(other).map { ($0.own, other.way(min($0.other.index, other.count - 2))) }
      }
      cuts.sort { $0.place < $1.place }
      var ends = cuts.filter { !line.point(at: $0.place).isAt(line[0]) && !line.point(at: $0.place).isAt(line[line.count - 1]) }
      ends.append((line.last, cuts.last?.way ?? .zero))
      var (start, side) = (LinePlace(index: 0, part: 0), 0.0)
      for (index, end) in ends.enumerated() {
        let piece = line.between(start, end.place)
        defer { start = end.place }
        guard piece.count > 1 else { continue }
        // Before the first crossing the piece lies where it comes from, after it where it goes.
        let way = index == 0 ? ends[0].way : ends[index - 1].way
        let (from, to) = index == 0 ? (piece[piece.count - 1], piece[piece.count - 2]) : (piece[0], piece[1])
        let turn = cross(way, SIMD2(to.x - from.x, to.y - from.y))
        side = ends.count == 1 ? 0 : turn > 0 ? 1 : turn < 0 ? -1 : side
        outcome.geometries.append(.lineString(Positions(piece)))
        outcome.numbers.append(side)
      }
    }
    return outcome
  }

  /// On which side of the cutting lines a polygon lies, by the longest piece of its outline that is on one: 1 left, -1 right, 0 on none.
  func side(of cuts: Segments) -> Double {
    var (longest, side) = (0.0, 0.0)
    for (number, ring) in polygons.joined().enumerated() {
      // The inside is to the left of an outer ring that is counterclockwise.
      let isLeft = (ring.doubledArea > 0) == (number == 0)
      for index in 0..<max(ring.count - 1, 0) {
        let (start, way) = (SIMD2(ring[index].x, ring[index].y), ring.way(index))
        let length = (way * way).sum()
        guard length > longest, let direction = cuts.way(at: start + way / 2, along: way) else { continue }
        longest = length
        side = ((direction * way).sum() > 0) == isLeft ? 1 : -1
      }
    }
    return side
  }

  /// The first place at which lines cross themselves or one another within; nil where there is none.
  var firstCrossing: Point? {
    let all = lines
    for (index, line) in all.enumerated() {
      for other in all[index...] {
        let isSame = other == line
        for crossing in line.crossings(other) {
          let (a, b) = (crossing.own, crossing.other)
          let place = line.point(at: a)
          if isSame {
            let (first, second) = (Double(a.index) + a.part, Double(b.index) + b.part)
            let isClosing = place.isAt(line[0]) && place.isAt(line[line.count - 1])
            if first == second || isClosing { continue }
          } else if [line[0], line[line.count - 1]].contains(where: place.isAt),
            [other[0], other[other.count - 1]].contains(where: place.isAt)
          {
            continue
          }
          return place
        }
      }
    }
    return nil
  }

  /// The middle of the longest line by its length; the first point of points.
  var middle: Point? {
    guard let line = lines.max(by: { $0.length < $1.length }) else {
      var first: Point?
      forEachPositions { if first == nil, !$0.isEmpty { first = $0[0] } }
      return first
    }
    var left = line.length / 2
    for index in 0..<line.count - 1 {
      let way = line.way(index)
      let length = (way * way).sum().squareRoot()
      if left <= length { return length == 0 ? line[index] : line[index].between(line[index + 1], left / length) }
      left -= length
    }
    return line[0]
  }

  // MARK: Reshaping

  /// Replaces a part of the outline or line by the part of `path` between its first and its last place on it. Of the two areas that a ring can
  /// become the larger one stays.
  ///
  /// - Throws: `failed` where the path does not meet the same line or ring twice.
  func reshaped(by path: Geometry) throws(EngineError) -> Geometry {
    guard let path = path.lines.first else { throw .failed(operation: "reshape", reason: "The path is no line.") }
    var isDone = false
    let isRing = dimension == 2
    let made = mapPositions { (line: Positions) -> Positions in
      guard !isDone, line.count > 1 else { return line }
      let meetings = path.crossings(line)
      guard let first = meetings.first, let last = meetings.last, first.own < last.own else { return line }
      isDone = true
      var detour = path.between(first.own, last.own)
      var (start, end) = (first.other, last.other)
      if end < start {
        (start, end) = (end, start)
        detour.reverse()
      }
      let begin = LinePlace(index: 0, part: 0)
      guard isRing else {
        return Positions((line.between(begin, start) + detour + line.between(end, line.last)).withoutRepeats)
      }
      let outer = Positions((line.between(begin, start) + detour + line.between(end, line.last)).withoutRepeats)
      let inner = Positions((line.between(start, end) + detour.reversed()).withoutRepeats)
      return abs(outer.doubledArea) >= abs(inner.doubledArea) ? outer : inner
    }
    guard isDone else { throw .failed(operation: "reshape", reason: "The path does not meet an outline twice.") }
    return made
  }

  // MARK: Extending

  /// Lines made longer, straight on beyond their ends, up to the nearest place on `target`. An end that reaches nothing stays.
  public func extended(to target: Geometry, atStart: Bool, atEnd: Bool) -> Geometry {
    let targets = target.lines
    func reach(_ end: Point, from inner: Point) -> Point? {
      let (origin, way) = (SIMD2(end.x, end.y), SIMD2(end.x - inner.x, end.y - inner.y))
      var nearest = Double.infinity
      for line in targets {
        for index in 0..<line.count - 1 {
          let (gap, other) = (SIMD2(line[index].x, line[index].y) - origin, line.way(index))
          let turn = cross(way, other)
          guard turn != 0 else { continue }
          let (part, otherPart) = (cross(gap, other) / turn, cross(gap, way) / turn)
          if part >= 0, part < nearest, (0...1).contains(otherPart) { nearest = part }
        }
      }
      guard nearest.isFinite, nearest > 0 else { return nil }
      return Point(x: end.x + nearest * way.x, y: end.y + nearest * way.y, z: end.z, m: end.m)
    }
    guard dimension == 1 else { return self }
    return mapPositions { line in
      var points = line.points.withoutRepeats
      guard points.count > 1 else { return line }
      if atStart, let point = reach(points[0], from: points[1]) { points[0] = point }
      if atEnd, let point = reach(points[points.count - 1], from: points[points.count - 2]) { points[points.count - 1] = point }
      return Positions(points)
    }
  }
}

extension Positions {
  /// The first point that is there twice.
  var firstRepeated: Point? {
    var known: Set<SIMD2<Double>> = []
    return points.first { !known.insert(SIMD2($0.x, $0.y)).inserted }
  }
}

extension Segments {
  /// The direction of a segment on which a place lies, nearly parallel to `way`; nil if there is none.
  func way(at place: SIMD2<Double>, along way: SIMD2<Double>) -> SIMD2<Double>? {
    for chain in chains {
      let tolerance = 1e-9 * max(abs(chain.xMin), abs(chain.xMax), abs(chain.yMin), abs(chain.yMax), 1e-300)
      guard place.x >= chain.xMin - tolerance, place.x <= chain.xMax + tolerance, place.y >= chain.yMin - tolerance,
        place.y <= chain.yMax + tolerance
      else { continue }
      for index in chain.first..<chain.last {
        let (start, other) = (points[index], points[index + 1] - points[index])
        let (length, gap) = ((other * other).sum(), place - start)
        guard length > 0 else { continue }
        let part = (gap * other).sum() / length
        guard (-1e-9...1 + 1e-9).contains(part), abs(cross(other, gap)) <= tolerance * length.squareRoot() else { continue }
        if abs(cross(other, way)) <= 1e-6 * (length * (way * way).sum()).squareRoot() { return other }
      }
    }
    return nil
  }
}
