// Areas between two levels: rings of contour lines, and of the border of the ground.

import Geometry

extension Contours {
  public typealias Ring = [SIMD2<Double>]

  /// A part of a ring: a piece of the lower or the upper line from a side of a square on, or a side of the border from a corner on.
  private struct Part {
    enum Kind: Int { case lower, upper, border }
    let square: Int
    let side: Int
    let kind: Kind
    var bit: UInt32 { 1 << UInt32(kind.rawValue * 4 + side) }
  }

  /// Traces the areas between levels, from below the first to above the last, each as polygons of which the first ring is the outer one.
  ///
  /// - Parameters:
  ///   - check: as for ``trace(checking:_:)``.
  ///   - body: gets the number of levels below, and polygons; only for areas that exist.
  public func bands(checking check: (Double) throws -> Void, _ body: (Int, [[Ring]]) throws -> Void) throws {
    let borders = try borders { try check(0) }
    var marks = [UInt32](repeating: 0, count: heights.count)
    for band in 0...levels.count {
      try check(Double(band) / Double(levels.count + 1))
      var rings: [Ring] = []
      func start(_ part: Part) throws {
        if let ring = try ring(from: part, band, &marks, { try check(Double(band) / Double(levels.count + 1)) }) { rings += simple(ring) }
      }
      if band > 0 {
        for square in squares[offsets[band - 1]..<offsets[band]] {
          for side in 0..<4 { try start(Part(square: Int(square), side: side, kind: .lower)) }
        }
      }
      if band < levels.count {
        for square in squares[offsets[band]..<offsets[band + 1]] {
          for side in 0..<4 { try start(Part(square: Int(square), side: side, kind: .upper)) }
        }
      }
      for border in borders[band] { try start(Part(square: Int(border) / 4, side: Int(border) % 4, kind: .border)) }
      if !rings.isEmpty { try body(band, try Self.polygons(rings) { try check(Double(band) / Double(levels.count + 1)) }) }
    }
  }

  /// The sides of squares that no other square has, by the band of the corner at which they begin, with the square on the left.
  private func borders(_ check: () throws -> Void) rethrows -> [[UInt32]] {
    var result = [[UInt32]](repeating: [], count: levels.count + 1)
    for row in 0..<max(height - 1, 0) {
      try check()
      for square in row * width..<row * width + max(width - 1, 0) where isSquare(square) {
        for side in 0..<4 where beyond(square, side) == nil { result[Int(ranks[corners(square, side).0])].append(UInt32(square * 4 + side)) }
      }
    }
    return result
  }

  private func isSquare(_ square: Int) -> Bool {
    max(max(ranks[square], ranks[square + 1]), max(ranks[square + width], ranks[square + width + 1])) != Self.gap
  }

  private func beyond(_ square: Int, _ side: Int) -> (Int, Int)? { neighbour(square, side).flatMap { isSquare($0.0) ? $0 : nil } }

  /// The corners of a side, in the direction that has the square on the left.
  private func corners(_ square: Int, _ side: Int) -> (Int, Int) {
    switch side {
    case 0: (square + 1, square)
    case 1: (square + width + 1, square + 1)
    case 2: (square + width, square + width + 1)
    default: (square, square + width)
    }
  }

  /// The ring that a part belongs to; nil if it was traced, or does not exist.
  private func ring(from first: Part, _ band: Int, _ marks: inout [UInt32], _ check: () throws -> Void) throws -> Ring? {
    // The line that begins, or for the upper one ends, at a side.
    func other(_ part: Part) -> Int? {
      part.kind == .lower
        ? piece(part.square, from: part.side, band - 1)
        : (0..<4).first { piece(part.square, from: $0, band) == part.side }
    }
    func visit(_ part: Part) -> Bool {
      let stamp = UInt32(band + 1) << 12
      let known = marks[part.square] >> 12 == UInt32(band + 1) ? marks[part.square] : stamp
      marks[part.square] = known | part.bit
      return known & part.bit == 0
    }
    if first.kind != .border, other(first) == nil { return nil }
    var part = first
    var ring: Ring = []
    var steps = 0
    while visit(part) {
      steps += 1
      if steps & 8191 == 0 { try check() }
      var (square, side) = (part.square, part.side)
      if part.kind != .border {
        guard let end = other(part) else { return nil }
        let level = part.kind == .lower ? band - 1 : band
        ring.append(point(square, end, level, margin: margin))
        if let (next, from) = beyond(square, end) {
          part = Part(square: next, side: from, kind: part.kind)
          continue
        }
        side = end
      }
      // Along the border, to a line or a corner.
      let end = corners(square, side).1
      let rank = Int(ranks[end])
      if rank == band {
        ring.append(SIMD2(Double(end % width) + 0.5, Double(end / width) + 0.5))
        // The next side around the corner that is of the border. Sides are numbered against the way around a square.
        side = (side + 3) % 4
        while let (next, from) = beyond(square, side) { (square, side) = (next, (from + 3) % 4) }
        part = Part(square: square, side: side, kind: .border)
      } else {
        ring.append(point(square, side, rank > band ? band : band - 1, margin: margin))
        part = Part(square: square, side: side, kind: rank > band ? .upper : .lower)
      }
    }
    return ring.isEmpty ? nil : ring
  }

  /// Rings without a repeated position but the first, from one that may touch itself; those that only go around heights equal to a level are left out.
  private func simple(_ ring: Ring) -> [Ring] {
    var (result, open, known) = ([Ring](), Ring(), [SIMD2<Double>: Int]())
    for point in ring {
      if let first = known[point] {
        let loop = Array(open[first...]) + [point]
        for point in open[(first + 1)...] { known[point] = nil }
        open.removeSubrange((first + 1)...)
        if isWide(loop) { result.append(loop) }
      } else {
        known[point] = open.count
        open.append(point)
      }
    }
    if let first = open.first, isWide(open + [first]) { result.append(open + [first]) }
    return result
  }

  private func isWide(_ ring: Ring) -> Bool { ring.count > 3 && abs(Self.area(ring)) > 8 * margin * Double(ring.count) }

  /// Twice the area, positive for an outer ring.
  private static func area(_ ring: Ring) -> Double {
    guard let origin = ring.first else { return 0 }
    return zip(ring, ring.dropFirst()).reduce(0) { sum, ends in
      let (a, b) = (ends.0 - origin, ends.1 - origin)
      return sum - (a.x * b.y - b.x * a.y)
    }
  }

  /// Gives holes to the smallest ring around them.
  private static func polygons(_ rings: [Ring], _ check: () throws -> Void) throws -> [[Ring]] {
    struct Outer {
      let ring: Ring
      let area: Double
      let box: Envelope
    }
    func box(_ ring: Ring) -> Envelope {
      var box = Envelope.none
      for point in ring { box.include(x: point.x, y: point.y) }
      return box
    }
    var outers: [Outer] = []
    var holes: [Ring] = []
    for ring in rings {
      let area = area(ring)
      if area > 0 { outers.append(Outer(ring: ring, area: area, box: box(ring))) } else { holes.append(ring) }
    }
    outers.sort { $0.area < $1.area }
    var polygons = outers.map { [$0.ring] }
    for (index, hole) in holes.enumerated() {
      if index & 15 == 0 { try check() }
      let (own, middle) = (box(hole), (hole[0] + hole[1]) / 2)
      let around = outers.indices.filter { outers[$0].box.contains(own) }
      if let outer = around.first(where: { contains(outers[$0].ring, middle) }) ?? around.last { polygons[outer].append(hole) }
    }
    return polygons
  }

  private static func contains(_ ring: Ring, _ point: SIMD2<Double>) -> Bool {
    var isIn = false
    for (a, b) in zip(ring, ring.dropFirst()) where (a.y > point.y) != (b.y > point.y) {
      if point.x < a.x + (b.x - a.x) * (point.y - a.y) / (b.y - a.y) { isIn.toggle() }
    }
    return isIn
  }
}
