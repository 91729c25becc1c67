// Where lines meet, and what is made of them there: pieces and new outlines. Z and M are interpolated.

import Geometry

/// A place of lines: on the segment that begins at `index` of all their positions, at a fraction of its way below 1.
private struct LinePlace: Comparable {
  let index: Int
  let part: Double

  /// The end of a segment is the beginning of the next.
  init(_ index: Int, _ part: Double) { (self.index, self.part) = part == 1 ? (index + 1, 0) : (index, part) }
  static func < (left: Self, right: Self) -> Bool { (left.index, left.part) < (right.index, right.part) }
}

/// A common place of lines and others.
private struct LineCrossing {
  let own: LinePlace
  let other: LinePlace
}

/// The lines of a geometry, outlines among them, and their segments.
private struct LineSet {
  let lines: [Positions]
  /// The first position of each line among those of all, and the count of all.
  let starts: [Int]
  private let segments: Segments

  init(_ geometry: Geometry) {
    lines = geometry.lines
    starts = lines.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    segments = Segments(.multiLineString(lines))
  }

  /// The line with a position.
  func line(_ index: Int) -> Int {
    var (low, high) = (0, lines.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle } else { high = middle }
    }
    return low
  }

  func point(at place: LinePlace) -> Point {
    let line = line(place.index)
    return lines[line].point(at: LinePlace(place.index - starts[line], place.part))
  }

  /// Whether a direction leads from a place to the left of the line there: 1, to the right: -1, or along it: 0.
  func side(of way: SIMD2<Double>, at place: LinePlace) -> Double {
    let line = line(place.index)
    let isFirst = place.index == starts[line]
    let isLast = place.index == starts[line + 1] - 1
    func segment(_ index: Int) -> SIMD2<Double> { segments.points[index + 1] - segments.points[index] }
    let after = segment(isLast ? place.index - 1 : place.index)
    let before = place.part > 0 || isFirst ? after : segment(place.index - 1)
    // In a bend the smaller angle is on the side to which it turns.
    let sides = (cross(before, way), cross(after, way))
    let turn = cross(before, after)
    let side = turn > 0 ? min(sides.0, sides.1) : turn < 0 ? max(sides.0, sides.1) : sides.1
    return side > 0 ? 1 : side < 0 ? -1 : 0
  }

  /// Where the segments meet those of others, in the order of these. Of segments on one another the ends.
  ///
  /// - Parameter isMet: whether a place counts.
  func crossings(_ others: LineSet, isMet: (LinePlace, LinePlace) -> Bool = { _, _ in true }) -> [LineCrossing] {
    var found: [LineCrossing] = []
    segments.forEachMeeting(others.segments) { index, otherIndex in
      let (a, b) = (segments.points[index], segments.points[index + 1])
      let (c, f) = (others.segments.points[otherIndex], others.segments.points[otherIndex + 1])
      let (d, e) = (b - a, f - c)
      let (gap, length, otherLength) = (c - a, (d * d).sum(), (e * e).sum())
      guard length > 0, otherLength > 0 else { return }
      func add(_ part: Double, _ otherPart: Double) {
        guard (0...1).contains(part), (0...1).contains(otherPart) else { return }
        let (own, other) = (LinePlace(index, part), LinePlace(otherIndex, otherPart))
        if isMet(own, other) { found.append(LineCrossing(own: own, other: other)) }
      }
      func part(of place: SIMD2<Double>) -> Double { (((place - a) * d).sum() / length).atEnds }
      func otherPart(of place: SIMD2<Double>) -> Double { (((place - c) * e).sum() / otherLength).atEnds }
      let turn = cross(d, e)
      if abs(turn) > roundedPart * (length * otherLength).squareRoot() {
        let (own, other) = ((cross(gap, e) / turn).atEnds, (cross(gap, d) / turn).atEnds)
        // Both segments at a position have to give the same place of it, or none of them might reach it.
        if other == 0 || other == 1 { return add(part(of: other == 0 ? c : f), other) }
        if own == 0 || own == 1 { return add(own, otherPart(of: own == 0 ? a : b)) }
        return add(own, other)
      }
      let reach = (gap * gap).sum().squareRoot() + otherLength.squareRoot()
      guard abs(cross(gap, d)) <= roundedPart * length.squareRoot() * reach else { return }
      add(part(of: c), 0)
      add(part(of: f), 1)
      add(0, otherPart(of: a))
      add(1, otherPart(of: b))
    }
    found.sort { ($0.own, $0.other) < ($1.own, $1.other) }
    var single: [LineCrossing] = []
    // A place where several lines end or meet is one of each.
    var last: [SIMD2<Int>: LinePlace] = [:]
    for crossing in found {
      let pair = SIMD2(line(crossing.own.index), others.line(crossing.other.index))
      let before = last.updateValue(crossing.own, forKey: pair)
      if let before, before == crossing.own || point(at: before).isAt(point(at: crossing.own)) { continue }
      single.append(crossing)
    }
    return single
  }
}

/// What rounding changes of a place on a segment, as a part of it.
let roundedPart = 1e-12

extension Double {
  /// A part of a segment, at an end if only rounding keeps it from there.
  fileprivate var atEnds: Double { abs(self) <= roundedPart ? 0 : abs(self - 1) <= roundedPart ? 1 : self }
}

extension Positions {
  fileprivate func point(at place: LinePlace) -> Point {
    guard place.part > 0, place.index + 1 < count else { return self[place.index] }
    return self[place.index].between(self[place.index + 1], place.part)
  }

  private func xy(_ index: Int) -> SIMD2<Double> { SIMD2(values[index * stride], values[index * stride + 1]) }

  /// The direction of a segment.
  fileprivate func way(_ index: Int) -> SIMD2<Double> { xy(index + 1) - xy(index) }

  /// The part of the line between two places.
  fileprivate func between(_ start: LinePlace, _ end: LinePlace) -> [Point] {
    var points = [point(at: start)]
    if start.index < end.index { for index in start.index + 1...end.index { points.append(self[index]) } }
    points.append(point(at: end))
    return points.withoutRepeats
  }

  fileprivate var last: LinePlace { LinePlace(count - 1, 0) }
}

func cross(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double { a.x * b.y - a.y * b.x }

extension Point {
  fileprivate func isAt(_ other: Point) -> Bool { x == other.x && y == other.y }

  /// All coordinates are interpolated.
  fileprivate func between(_ other: Point, _ part: Double) -> Point {
    func mix(_ a: Double?, _ b: Double?) -> Double? { a.flatMap { a in b.map { a + part * ($0 - a) } } }
    return part == 1 ? other : Point(x: x + part * (other.x - x), y: y + part * (other.y - y), z: mix(z, other.z), m: mix(m, other.m))
  }
}

extension [Point] {
  var withoutRepeats: [Point] {
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
  /// Lines and outlines of more than one position.
  var lines: [Positions] {
    var lines: [Positions] = []
    for part in flattened where part.dimension > 0 { part.forEachPositions { if $0.count > 1 { lines.append($0) } } }
    return lines
  }

  /// The lines in pieces, with the side of each: 1 left of the cutter, -1 right, 0 where it is not cut. Points are not cut.
  func cutLines(by cutter: Geometry) -> GeometryOutcome {
    var outcome = GeometryOutcome()
    let (own, cutters) = (LineSet(self), LineSet(cutter))
    var cuts = own.crossings(cutters)[...]
    for (number, line) in own.lines.enumerated() {
      let first = own.starts[number]
      let met = cuts.prefix { $0.own.index < own.starts[number + 1] }
      cuts = cuts.dropFirst(met.count)
      var ends = met.map { (place: LinePlace($0.own.index - first, $0.own.part), other: $0.other) }
      let last = ends.last?.other
      ends.removeAll { [line[0], line[line.count - 1]].contains(where: line.point(at: $0.place).isAt) }
      let isCut = !ends.isEmpty
      if let last { ends.append((line.last, last)) }
      var (start, side) = (LinePlace(0, 0), 0.0)
      for (index, end) in ends.enumerated() {
        let piece = line.between(start, end.place)
        defer { start = end.place }
        guard piece.count > 1 else { continue }
        // Before the first crossing the piece lies where it comes from, after it where it goes.
        let (from, to) = index == 0 ? (piece[piece.count - 1], piece[piece.count - 2]) : (piece[0], piece[1])
        let turn = cutters.side(of: SIMD2(to.x - from.x, to.y - from.y), at: ends[max(index - 1, 0)].other)
        side = !isCut ? 0 : turn == 0 ? side : turn
        outcome.geometries.append(.lineString(Positions(piece)))
        outcome.numbers.append(side)
      }
      guard ends.isEmpty else { continue }
      let whole = line.points.withoutRepeats
      guard whole.count > 1 else { continue }
      outcome.geometries.append(.lineString(Positions(whole)))
      outcome.numbers.append(0)
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
    let all = LineSet(self)
    func ends(_ line: Int) -> [Point] { [all.lines[line][0], all.lines[line][all.lines[line].count - 1]] }
    for crossing in all.crossings(all, isMet: { own, other in
      guard own != other else { return false }
      let (line, otherLine) = (all.line(own.index), all.line(other.index))
      let place = all.point(at: own)
      if line == otherLine { return !ends(line).allSatisfy(place.isAt) }
      return !(ends(line).contains(where: place.isAt) && ends(otherLine).contains(where: place.isAt))
    }) {
      return all.point(at: crossing.own)
    }
    // A segment that is there twice meets itself at its ends alone.
    var known: Set<[SIMD2<Double>]> = []
    let twice = all.lines.first { line in
      let ends = line.points.map { SIMD2($0.x, $0.y) }
      return line.count == 2 && !(known.insert(ends).inserted && known.insert(ends.reversed()).inserted)
    }
    return twice.flatMap { Geometry.lineString($0).middle }
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

  /// With other lines and outlines; points stay.
  func mapLines<E: Error>(_ body: (_ line: Positions, _ isRing: Bool) throws(E) -> Positions) throws(E) -> Geometry {
    switch self {
    case .point, .multiPoint: return self
    case .lineString, .multiLineString: return try mapPositions { (line) throws(E) in try body(line, false) }
    case .polygon, .multiPolygon: return try mapPositions { (ring) throws(E) in try body(ring, true) }
    case .collection(let parts): return .collection(try parts.map { (part) throws(E) in try part.mapLines(body) })
    }
  }

  // MARK: Reshaping

  /// Replaces a part of the outline or line by the part of `path` between its first and its last place on it. Of the two areas that a ring can
  /// become the larger one stays. Polygons may be invalid then.
  ///
  /// - Throws: `failed` where the path does not meet the same line or ring twice.
  func reshaped(by path: Geometry) throws(EngineError) -> Geometry {
    guard let path = path.lines.first else { throw .failed(operation: "reshape", reason: "The path is no line.") }
    let all = LineSet(self)
    let meetings = Dictionary(grouping: LineSet(.lineString(path)).crossings(all)) { all.line($0.other.index) }
    let reshaped = meetings.filter { $1[0].own < $1[$1.count - 1].own }.keys.min()
    guard let reshaped, let met = meetings[reshaped], let first = met.first, let last = met.last else {
      throw .failed(operation: "reshape", reason: "The path does not meet an outline twice.")
    }
    var number = -1
    return mapLines { line, isRing in
      guard line.count > 1 else { return line }
      number += 1
      guard number == reshaped else { return line }
      let ends = [first.other, last.other].map { LinePlace($0.index - all.starts[number], $0.part) }
      var (start, end) = (ends[0], ends[1])
      var detour = path.between(first.own, last.own).withOrdinates(from: line.point(at: start), to: line.point(at: end))
      // The same place on both lines differs by rounding.
      for (index, place) in [(0, start), (detour.count - 1, end)] {
        let place = line.point(at: place)
        detour[index] = Point(x: place.x, y: place.y, z: detour[index].z, m: detour[index].m)
      }
      if end < start {
        (start, end) = (end, start)
        detour.reverse()
      }
      let begin = LinePlace(0, 0)
      let outer = Positions((line.between(begin, start) + detour + line.between(end, line.last)).withoutRepeats)
      guard isRing else { return outer }
      let inner = Positions((line.between(start, end) + detour.reversed()).withoutRepeats)
      return abs(outer.doubledArea) >= abs(inner.doubledArea) ? outer : inner
    }
  }
}

extension [Point] {
  /// With the Z and M of the ends, and what is between them by the way, where the points have none of their own.
  fileprivate func withOrdinates(from start: Point, to end: Point) -> [Point] {
    guard let first, first.z == nil && start.z != nil || first.m == nil && start.m != nil else { return self }
    let whole = Positions(self).length
    var way = 0.0
    return indices.map { index in
      if index > 0 { way += Positions([self[index - 1], self[index]]).length }
      let place = start.between(end, whole > 0 ? way / whole : 0)
      return Point(x: self[index].x, y: self[index].y, z: self[index].z ?? place.z, m: self[index].m ?? place.m)
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
