// Lines beside lines. The offset curve of GEOS 3.11 has at most one part, and goes nearer than the distance in a fifth of bent lines; so
// parts of the outline of the buffer are taken instead.

import CGEOS
import Geometry

extension GEOSContext {
  /// What of the outline of the buffer is on one side of each line; of polygons the whole outline.
  func beside(_ operand: Geometry, _ numbers: [Double]) throws(EngineError) -> Geometry {
    var made: [Positions] = []
    for part in operand.flattened where part.dimension > 0 {
      for polygon in part.polygons { made += try outlines(.polygon(polygon), numbers, numbers[0]).map { Positions($0) } }
      guard part.dimension == 1 else { continue }
      for line in part.lines {
        let points = line.points.map { Point(x: $0.x, y: $0.y) }.apart(by: abs(numbers[0]) * 1e-6)
        guard points.count > 1 else { continue }
        guard numbers[0] != 0 else {
          made.append(Positions(points))
          continue
        }
        let side = LineSide(points, numbers)
        var pieces: [LineSide.Piece] = []
        for outline in try outlines(.lineString(Positions(points)), numbers, abs(numbers[0])) {
          // GEOS has the buffer to the right of its outline.
          pieces += try side.pieces(numbers[0] > 0 ? outline : outline.reversed())
        }
        made += pieces.sorted { $0.place < $1.place }.map { Positions($0.points) }
      }
    }
    return made.count > 1 ? .multiLineString(made) : .lineString(made.first ?? Positions())
  }

  private func outlines(_ part: Geometry, _ numbers: [Double], _ distance: Double) throws(EngineError) -> [[Point]] {
    let round = Double(GeometryOperation.Cap.round.rawValue)
    let buffer = try within(part, [distance, numbers[1], round, numbers[2], numbers[3], 0])
    return buffer.polygons.joined().map { $0.points.map { Point(x: $0.x, y: $0.y) } }
  }
}

extension [Point] {
  /// The positions of a line without those that are as near to the one before as rounding is, but the ends.
  fileprivate func apart(by gap: Double) -> [Point] {
    let whole = withoutRepeats
    guard let last = whole.last else { return whole }
    func isApart(_ one: Point, _ other: Point) -> Bool { Swift.max(abs(one.x - other.x), abs(one.y - other.y)) > gap }
    var apart: [Point] = []
    for point in whole where apart.last.map({ isApart($0, point) }) ?? true { apart.append(point) }
    if let end = apart.last, end != last {
      if apart.count > 1 { apart.removeLast() }
      apart.append(last)
    }
    return apart
  }
}

/// A line without repeated positions, and a side of it.
private struct LineSide {
  /// A part of an outline, and where on the line it begins: the number of a segment and a part of that.
  typealias Piece = (place: Double, points: [Point])

  private let points: [SIMD2<Double>]
  private let ways: [SIMD2<Double>]
  private let distance: Double
  private let join: GeometryOperation.Join?
  private let mitreLimit: Double
  /// A line to and fro is none.
  private let isClosed: Bool
  /// Lowest x and y, and highest ones negated. Node n is above 2n and 2n + 1; the last half are the segments.
  private var boxes: [SIMD4<Double>]

  init(_ line: [Point], _ numbers: [Double]) {
    let points = line.map { SIMD2($0.x, $0.y) }
    ways = zip(points, points.dropFirst()).map { $1 - $0 }
    let leaves = zip(points, points.dropFirst()).map { SIMD4(lowHalf: pointwiseMin($0, $1), highHalf: -pointwiseMax($0, $1)) }
    boxes = leaves + leaves
    for node in (1..<max(leaves.count, 1)).reversed() { boxes[node] = pointwiseMin(boxes[2 * node], boxes[2 * node + 1]) }
    (distance, join, mitreLimit) = (numbers[0], .init(rawValue: Int(numbers[2])), numbers[3])
    isClosed = points.count > 3 && points.first == points.last
    self.points = points
  }

  /// The parts of an outline that are on the side. One that is wholly there begins where the line does.
  func pieces(_ outline: [Point]) throws(EngineError) -> [Piece] {
    let count = outline.count - 1
    var places: [Double?] = []
    for index in 0..<max(count, 0) {
      if index & 255 == 0, cgeos_is_interruption_requested() { throw .interrupted }
      let (start, end) = (outline[index], outline[index + 1])
      places.append(place(SIMD2(start.x, start.y), SIMD2(end.x, end.y)))
    }
    let gap = places.firstIndex(of: nil)
    guard let start = gap ?? places.indices.min(by: { (places[$0] ?? 0) < (places[$1] ?? 0) }) else { return [] }
    var (pieces, isOpen): ([Piece], Bool) = ([], false)
    for index in (start..<start + count).map({ $0 % count }) {
      if let place = places[index] {
        if !isOpen { pieces.append((place, [outline[index]])) }
        pieces[pieces.count - 1].points.append(outline[index + 1])
      }
      isOpen = places[index] != nil
    }
    return pieces
  }

  /// The place on the line that is nearest to the middle of a segment of the outline; nil if that is not on the side.
  private func place(_ start: SIMD2<Double>, _ end: SIMD2<Double>) -> Double? {
    let middle = (start + end) / 2
    var (place, nearest, reach, isBeside) = (0.0, Double.infinity, Double.infinity, false)
    visit(1, middle, &reach) { index, reach in
      let (part, square) = Self.gap(middle, points[index], ways[index])
      guard square <= reach else { return }
      let isHere = self.isBeside(middle, index, part)
      // A line to and fro has places on both sides.
      isBeside = isHere || isBeside && square >= nearest * (1 - 1e-7)
      if square < nearest { (place, nearest, reach) = (Double(index) + part, square, square * (1 + 1e-7)) }
    }
    let part = nearest.squareRoot() / abs(distance)
    // Corners that reach beyond the distance may be nearer to another part of the line, and so may what is behind a corner cut off.
    if part > 1 + 1e-6 || join == .bevel && part < 0.985 { isBeside = source(start, end) ?? isBeside }
    return isBeside ? place : nil
  }

  /// Whether the segment of a line next to a place on a side of it is there: a sharp bend is
  /// where it does not turn to, an end is on no side.
  private func isBeside(_ place: SIMD2<Double>, _ index: Int, _ part: Double) -> Bool {
    guard let before = part > 0 ? index : self.index(index - 1), let after = part < 1 ? index : self.index(index + 1) else { return false }
    let (one, other) = (ways[before], ways[after])
    let (turn, along) = (cross(one, other), (one * other).sum())
    if along > 0 { return cross(ways[index], place - points[index]) * distance > 0 }
    // Where it goes back, both sides are one.
    return turn * distance < 0 || abs(turn) <= roundedPart * -along
  }

  private func index(_ index: Int) -> Int? {
    ways.indices.contains(index) ? index : isClosed ? (index + ways.count) % ways.count : nil
  }

  /// Whether a segment of the outline is a part of what was drawn on the side: of a segment beside the line, up to its corners, or of one
  /// that cuts a corner off. Nil if it was drawn on neither.
  private func source(_ start: SIMD2<Double>, _ end: SIMD2<Double>) -> Bool? {
    let (size, middle) = (abs(distance), (start + end) / 2)
    var (least, isBeside): (Double, Bool?) = (1e-4 * size * size, nil)
    func compare(_ from: SIMD2<Double>, _ to: SIMD2<Double>, _ side: Double) {
      let miss = max(Self.gap(start, from, to - from).square, Self.gap(end, from, to - from).square)
      if miss < least { (least, isBeside) = (miss, side == distance) }
    }
    let longest = join == .mitre ? mitreLimit * size : 0
    var reach = max(longest, size) * max(longest, size) * (1 + 1e-6)
    visit(1, middle, &reach) { index, _ in
      func unit(_ index: Int) -> SIMD2<Double> { ways[index] / (ways[index] * ways[index]).sum().squareRoot() }
      let along = unit(index)
      let next = self.index(index + 1).map(unit)
      for side in [-size, size] {
        let out = side * SIMD2(-along.y, along.x)
        compare(points[index] + out - longest * along, points[index + 1] + out + longest * along, side)
        guard let next else { continue }
        let cosine = (along * next).sum()
        // From the end of a segment to where a corner is cut off at the limit.
        let more = join == .mitre ? size * (mitreLimit - ((1 + cosine) / 2).squareRoot()) / ((1 - cosine) / 2).squareRoot() : 0
        compare(points[index + 1] + out + more * along, points[index + 1] + side * SIMD2(-next.y, next.x) - more * next, side)
      }
    }
    // A cap is chords of a circle.
    for cap in isClosed ? [] : [points[0], points[points.count - 1]] where Self.gap(cap, middle, .zero).square < size * size {
      for place in [start, end] {
        let miss = Self.gap(place, cap, .zero).square.squareRoot() - size
        if miss * miss < least { (least, isBeside) = (miss * miss, false) }
      }
    }
    return isBeside
  }

  /// Where on a segment it is nearest to a place, and the square of the distance.
  private static func gap(_ place: SIMD2<Double>, _ start: SIMD2<Double>, _ way: SIMD2<Double>) -> (part: Double, square: Double) {
    let (gap, length) = (place - start, (way * way).sum())
    let part = length > 0 ? min(max((gap * way).sum() / length, 0), 1) : 0
    let rest = gap - part * way
    return (part, (rest * rest).sum())
  }

  /// Calls `body` with the segments whose boxes are within a distance of a place, the square of which it may make smaller.
  private func visit(_ node: Int, _ place: SIMD2<Double>, _ reach: inout Double, _ body: (Int, inout Double) -> Void) {
    if node >= ways.count { return body(node - ways.count, &reach) }
    func square(_ node: Int) -> Double {
      let outside = pointwiseMax(pointwiseMax(boxes[node].lowHalf - place, place + boxes[node].highHalf), .zero)
      return (outside * outside).sum()
    }
    let squares = (square(2 * node), square(2 * node + 1))
    let isFirst = squares.0 <= squares.1
    if min(squares.0, squares.1) <= reach { visit(isFirst ? 2 * node : 2 * node + 1, place, &reach, body) }
    if max(squares.0, squares.1) <= reach { visit(isFirst ? 2 * node + 1 : 2 * node, place, &reach, body) }
  }
}
