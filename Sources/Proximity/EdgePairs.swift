// The least distance of two geometries, found by descending two trees of edges at once.

import Geometry
import SpatialRelations

/// Looks at pairs of edges whose boxes are near enough.
private protocol EdgePairVisitor {
  /// Pairs whose boxes have a greater squared gap are not visited. It may decrease.
  var limit: Double { get }
  var isDone: Bool { get }
  mutating func visit(_ a: EdgeTree, _ i: Int, _ b: EdgeTree, _ j: Int) throws
}

/// Visits pairs of edges, near ones first.
private struct EdgePairs<Visitor: EdgePairVisitor> {
  let a: EdgeTree
  let b: EdgeTree
  let check: () throws -> Void
  var visitor: Visitor
  private var tests = 0

  init(_ a: EdgeTree, _ b: EdgeTree, _ visitor: Visitor, checking check: @escaping () throws -> Void) {
    (self.a, self.b, self.visitor, self.check) = (a, b, visitor, check)
  }

  mutating func run() throws {
    try descend(a.levels.count - 1, 0, b.levels.count - 1, 0)
  }

  private mutating func descend(_ la: Int, _ ia: Int, _ lb: Int, _ ib: Int) throws {
    guard la > 1 || lb > 1 else { return try visitLeaves(la, ia, lb, ib) }
    let isFirst = la >= lb
    let (tree, level, index) = isFirst ? (a, la - 1, ia) : (b, lb - 1, ib)
    let other = isFirst ? b.levels[lb][ib] : a.levels[la][ia]
    let boxes = tree.levels[level]
    let first = index * EdgeTree.fanout
    let count = min(EdgeTree.fanout, boxes.count - first)
    var gaps = SIMD8<Double>(repeating: .infinity)
    for child in 0..<count { gaps[child] = boxes[first + child].squaredGap(to: other) }
    try countTests(count)
    var left = (1 << count) - 1
    for _ in 0..<count {
      var nearest = -1
      for child in 0..<count where left >> child & 1 == 1 && (nearest < 0 || gaps[child] < gaps[nearest]) { nearest = child }
      guard gaps[nearest] <= visitor.limit, !visitor.isDone else { return }
      left &= ~(1 << nearest)
      try isFirst ? descend(level, first + nearest, lb, ib) : descend(la, ia, level, first + nearest)
    }
  }

  private mutating func visitLeaves(_ la: Int, _ ia: Int, _ lb: Int, _ ib: Int) throws {
    let (first, second) = (a.edges(la, ia), b.edges(lb, ib))
    let (boxes, others) = (a.levels[0], b.levels[0])
    for i in first {
      for j in second where boxes[i].squaredGap(to: others[j]) <= visitor.limit {
        try visitor.visit(a, i, b, j)
        if visitor.isDone { return }
      }
    }
    try countTests(first.count * second.count)
  }

  private mutating func countTests(_ count: Int) throws {
    tests += count
    guard tests > 1024 else { return }
    tests = 0
    try check()
  }
}

extension EdgeTree {
  fileprivate func edges(_ level: Int, _ index: Int) -> Range<Int> {
    level == 0 ? index..<index + 1 : index * Self.fanout..<min((index + 1) * Self.fanout, edges.count)
  }

  fileprivate func ends(_ edge: Int) -> (SIMD3<Double>, SIMD3<Double>) {
    (points[Int(edges[edge].first)], points[Int(edges[edge].last)])
  }

  fileprivate func placesOfEnds(_ edge: Int) -> (SIMD2<Double>, SIMD2<Double>) {
    (places[Int(edges[edge].first)], places[Int(edges[edge].last)])
  }

  fileprivate func sag(_ edge: Int) -> Double {
    let ((p, q), (r, s)) = (placesOfEnds(edge), ends(edge))
    return p == q ? 0 : Ellipsoid.sag(p, q, r, s)
  }

  /// Whether a polygon of either holds a part of the other.
  private func overlaps(_ other: EdgeTree, turn: Double) -> Bool {
    holdsPart(of: other, turn: turn) || other.holdsPart(of: self, turn: turn)
  }

  // MARK: Plane

  /// The distance in the plane, in multiplied coordinates; nil beyond the limit. 0 exactly where they meet.
  func planarDistance(
    to other: EdgeTree, limit: Double, checking check: @escaping () throws -> Void
  ) throws -> Double? {
    if overlaps(other, turn: 0) { return 0 }
    let square = limit * limit
    var pairs = EdgePairs(self, other, PlanarPairs(limit: square.isFinite ? square.nextUp : .infinity), checking: check)
    try pairs.run()
    return pairs.visitor.isFound ? pairs.visitor.limit.squareRoot() : nil
  }

  // MARK: Ellipsoid

  /// The distance on the ellipsoid in metres, with the azimuth at this geometry; nil beyond the limit. 0 exactly where they meet.
  ///
  /// A first pass takes edges for their chords, and its nearest pair gives the distance within which the second measures pairs.
  func geodeticDistance(
    to other: EdgeTree, limit: Double, _ geodesy: any Geodesy, checking check: @escaping () throws -> Void
  ) throws -> (distance: Double, azimuth: Double)? {
    if overlaps(other, turn: 360) { return (0, 0) }
    var chords = EdgePairs(self, other, ChordPairs(limit: limit * limit), checking: check)
    try chords.run()
    guard let nearest = chords.visitor.nearest else { return nil }
    var pairs = EdgePairs(
      self, other, EllipsoidPairs(search: EllipsoidSearch(geodesy, limit: limit), check: check), checking: check)
    try pairs.visitor.visit(self, nearest.0, other, nearest.1)
    pairs.visitor.visited = nearest
    if !pairs.visitor.isDone { try pairs.run() }
    let search = pairs.visitor.search
    return search.isFound ? (search.least, search.azimuth) : nil
  }
}

extension EdgeTree {
  /// Bounds of the distance on the ellipsoid in metres, which take no geodesic: they differ by the sag of the edges, and as chord and
  /// arc do.
  func geodeticBounds(to other: EdgeTree) -> (low: Double, high: Double) {
    if overlaps(other, turn: 360) { return (0, 0) }
    var pairs = EdgePairs(self, other, BoundPairs(), checking: {})
    try? pairs.run()
    return (max(pairs.visitor.low, 0), Ellipsoid.greatestArc(over: pairs.visitor.high))
  }
}

/// The least chord between edges, less and more their sags.
private struct BoundPairs: EdgePairVisitor {
  var (low, high) = (Double.infinity, Double.infinity)
  var limit: Double { high * high }
  var isDone: Bool { high == 0 }

  @inline(__always)
  mutating func visit(_ a: EdgeTree, _ i: Int, _ b: EdgeTree, _ j: Int) {
    let ((p, q), (r, s)) = (a.ends(i), b.ends(j))
    let chord = EdgeGap.squaredInSpace(p, q, r, s).squareRoot()
    let sag = a.sag(i) + b.sag(j)
    (low, high) = (min(low, chord - sag), min(high, chord + sag))
  }
}

private struct PlanarPairs: EdgePairVisitor {
  var limit: Double
  var isFound = false
  var isDone: Bool { isFound && limit == 0 }

  @inline(__always)
  mutating func visit(_ a: EdgeTree, _ i: Int, _ b: EdgeTree, _ j: Int) {
    let ((p, q), (r, s)) = (a.ends(i), b.ends(j))
    var square = EdgeGap.squared(p, q, r, s)
    if square > 0, a.levels[0][i].squaredGap(to: b.levels[0][j]) == 0 {
      let ((p, q), (r, s)) = (a.placesOfEnds(i), b.placesOfEnds(j))
      if EdgeGap.meet(p, q, r, s) { square = 0 }
    }
    if square <= limit { (limit, isFound) = (square, true) }
  }
}

/// The pair of edges whose chords are nearest.
private struct ChordPairs: EdgePairVisitor {
  var limit: Double
  var nearest: (Int, Int)?
  private var least = Double.infinity
  var isDone: Bool { least == 0 }

  init(limit: Double) { self.limit = limit }

  @inline(__always)
  mutating func visit(_ a: EdgeTree, _ i: Int, _ b: EdgeTree, _ j: Int) {
    let ((p, q), (r, s)) = (a.ends(i), b.ends(j))
    let square = EdgeGap.squaredInSpace(p, q, r, s)
    guard square < least else { return }
    (least, nearest) = (square, (i, j))
    limit = min(limit, square)
  }
}

private struct EllipsoidPairs: EdgePairVisitor {
  var search: EllipsoidSearch
  let check: () throws -> Void
  /// Not visited again.
  var visited: (Int, Int)?
  var limit: Double { search.least * search.least * (1 + 1e-12) + 1e-12 }
  var isDone: Bool { search.isFound && search.least == 0 }

  init(search: EllipsoidSearch, check: @escaping () throws -> Void) { (self.search, self.check) = (search, check) }

  mutating func visit(_ a: EdgeTree, _ i: Int, _ b: EdgeTree, _ j: Int) throws {
    if let visited, visited == (i, j) { return }
    let ((p, q), (r, s)) = (a.placesOfEnds(i), b.placesOfEnds(j))
    let (first, second) = (a.ends(i), b.ends(j))
    let (one, other) = (EllipsoidEdge(p, q, first.0, first.1), EllipsoidEdge(r, s, second.0, second.1))
    let bound = one.bound(other)
    guard bound <= search.least else { return }
    if bound <= 0, Self.meet(p, q, r, s) {
      search.add(GeodesicLine(distance: 0, startAzimuth: 0, endAzimuth: 0))
    } else {
      try search.search(one, other, checking: check)
    }
  }

  /// Whether two edges share a position, their longitudes taken modulo whole turns.
  private static func meet(_ p: SIMD2<Double>, _ q: SIMD2<Double>, _ r: SIMD2<Double>, _ s: SIMD2<Double>) -> Bool {
    guard max(p.y, q.y) >= min(r.y, s.y), max(r.y, s.y) >= min(p.y, q.y) else { return false }
    return EdgeTree.turns(min(p.x, q.x), max(p.x, q.x), min(r.x, s.x), max(r.x, s.x), 360).contains { turn in
      let shift = SIMD2(turn, 0)
      return EdgeGap.meet(p + shift, q + shift, r, s)
    }
  }
}
