// The distance of two edges: of straight ones in closed form, of edges on the ellipsoid to within a tolerance.

import Geometry
import Platform
import SpatialRelations

/// Straight edges.
enum EdgeGap {
  /// Where two edges in the plane are nearest, as parts of each. Ends count: unless the edges cross, one of four ends is nearest.
  static func nearest(
    _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>, _ d: SIMD2<Double>
  ) -> (first: Double, second: Double) {
    let (u, v, w) = (b - a, d - c, c - a)
    let cross = u.x * v.y - u.y * v.x
    if cross != 0 {
      let (s, t) = ((w.x * v.y - w.y * v.x) / cross, (w.x * u.y - w.y * u.x) / cross)
      if s >= 0, s <= 1, t >= 0, t <= 1 { return (s, t) }
    }
    var best = (gap: Double.infinity, s: 0.0, t: 0.0)
    func add(_ s: Double, _ t: Double) {
      let way = w + v * t - u * s
      let gap = (way * way).sum()
      if gap < best.gap { best = (gap, s, t) }
    }
    add(0, part(of: a, c, v))
    add(1, part(of: b, c, v))
    add(part(of: c, a, u), 0)
    add(part(of: d, a, u), 1)
    return (best.s, best.t)
  }

  private static func part(of place: SIMD2<Double>, _ start: SIMD2<Double>, _ along: SIMD2<Double>) -> Double {
    let length = (along * along).sum()
    return length > 0 ? min(max(((place - start) * along).sum() / length, 0), 1) : 0
  }

  /// The squared distance of a position from an edge.
  @inline(__always)
  static func squared(_ place: SIMD3<Double>, _ start: SIMD3<Double>, _ along: SIMD3<Double>, _ length: Double) -> Double {
    let part = length > 0 ? min(max(dot(along, place - start) / length, 0), 1) : 0
    let way = start + along * part - place
    return dot(way, way)
  }

  @inline(__always)
  static func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { a.x * b.x + a.y * b.y + a.z * b.z }

  /// The squared distance of two edges that do not cross in one plane.
  @inline(__always)
  static func squared(_ a: SIMD3<Double>, _ b: SIMD3<Double>, _ c: SIMD3<Double>, _ d: SIMD3<Double>) -> Double {
    let (u, v) = (b - a, d - c)
    let (first, second) = (dot(u, u), dot(v, v))
    return min(
      min(squared(a, c, v, second), squared(b, c, v, second)), min(squared(c, a, u, first), squared(d, a, u, first)))
  }

  /// The squared distance of two edges in space.
  @inline(__always)
  static func squaredInSpace(_ a: SIMD3<Double>, _ b: SIMD3<Double>, _ c: SIMD3<Double>, _ d: SIMD3<Double>) -> Double {
    let least = squared(a, b, c, d)
    // The distance of the lines, if it is between inner positions of the edges.
    let (u, v, w) = (b - a, d - c, a - c)
    let (uu, uv, vv, uw, vw) = (dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w))
    let area = uu * vv - uv * uv
    guard area > 0 else { return least }
    let (s, t) = ((uv * vw - vv * uw) / area, (uu * vw - uv * uw) / area)
    guard s > 0, s < 1, t > 0, t < 1 else { return least }
    let way = w + u * s - v * t
    return min(least, dot(way, way))
  }

  /// Whether two edges in the plane whose boxes meet share a position, exactly.
  static func meet(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>, _ d: SIMD2<Double>) -> Bool {
    let (p, q) = (Orientation.sign(a, b, c), Orientation.sign(a, b, d))
    if p > 0 && q > 0 || p < 0 && q < 0 { return false }
    let (r, s) = (Orientation.sign(c, d, a), Orientation.sign(c, d, b))
    return !(r > 0 && s > 0 || r < 0 && s < 0)
  }
}

/// An edge on the ellipsoid, or a piece of one: straight in longitude and latitude.
struct EllipsoidEdge {
  let start: SIMD2<Double>
  let end: SIMD2<Double>
  let first: SIMD3<Double>
  let last: SIMD3<Double>
  /// The greatest distance from the chord.
  let sag: Double

  init(_ start: SIMD2<Double>, _ end: SIMD2<Double>, _ first: SIMD3<Double>, _ last: SIMD3<Double>) {
    (self.start, self.end, self.first, self.last) = (start, end, first, last)
    sag = Ellipsoid.sag(start, end, first, last)
  }

  /// The greater of its spans, in degrees.
  var span: Double { max(abs(end.x - start.x), abs(end.y - start.y)) }

  func place(_ part: Double) -> SIMD2<Double> {
    part <= 0 ? start : part >= 1 ? end : start + (end - start) * part
  }

  var halves: (EllipsoidEdge, EllipsoidEdge) {
    let place = start + (end - start) / 2
    let middle = Ellipsoid.position(place)
    return (EllipsoidEdge(start, place, first, middle), EllipsoidEdge(place, end, middle, last))
  }

  /// East and north, in metres for the whole edge, by the direction at a place.
  func tangent(at place: SIMD2<Double>) -> SIMD2<Double> { (end - start) * Ellipsoid.degree(at: place.y) }

  /// A lower bound of the distance to another, in metres.
  func bound(_ other: EllipsoidEdge) -> Double {
    EdgeGap.squaredInSpace(first, last, other.first, other.last).squareRoot() - sag - other.sag
  }
}

/// Finds the least distance of edges on the ellipsoid that do not cross.
///
/// Pieces of at most a degree that may be nearer than what was found are searched from where their chords are nearest: the geodesic's azimuths
/// at both ends give the direction in which its length decreases, and a step leads to where tangents, as straight lines in a plane, are nearest
/// (Gauss and Newton). Steps end below 0.1 mm; so distances are at most 1 mm too great.
struct EllipsoidSearch {
  let geodesy: any Geodesy
  private(set) var least: Double
  /// The azimuth at the first edge, of the least distance.
  private(set) var azimuth = 0.0
  private(set) var isFound = false

  private static let longestPiece = 1.0
  private static let finestStep = 1e-4

  init(_ geodesy: any Geodesy, limit: Double) { (self.geodesy, least) = (geodesy, limit) }

  mutating func add(_ line: GeodesicLine) {
    guard line.distance <= least else { return }
    (least, azimuth, isFound) = (line.distance, line.startAzimuth, true)
  }

  mutating func search(_ a: EllipsoidEdge, _ b: EllipsoidEdge, checking check: () throws -> Void) throws {
    guard a.bound(b) <= least else { return }
    guard max(a.span, b.span) > Self.longestPiece else {
      try check()
      return descend(a, b)
    }
    let isFirst = a.span >= b.span
    let (left, right) = isFirst ? a.halves : b.halves
    let isLeftFirst = (isFirst ? left.bound(b) : left.bound(a)) <= (isFirst ? right.bound(b) : right.bound(a))
    for half in isLeftFirst ? [left, right] : [right, left] {
      try search(isFirst ? half : a, isFirst ? b : half, checking: check)
    }
  }

  private mutating func descend(_ a: EllipsoidEdge, _ b: EllipsoidEdge) {
    // In the plane of the middle latitude.
    let middle = (a.start.y + a.end.y + b.start.y + b.end.y) / 4
    let degree = Ellipsoid.degree(at: middle)
    let turn = ((a.start.x - b.start.x) / 360).rounded() * 360
    let shift = SIMD2(turn, 0)
    var (s, t) = EdgeGap.nearest(
      a.start * degree, a.end * degree, (b.start + shift) * degree, (b.end + shift) * degree)
    guard var line = measure(a, s, b, t) else { return }
    add(line)
    for _ in 0..<64 {
      guard line.distance > 0 else { return }
      let (u, w) = (a.tangent(at: a.place(s)), b.tangent(at: b.place(t)))
      let angle = line.startAzimuth * Ellipsoid.radian
      let way = SIMD2(sin(angle), cos(angle)) * line.distance
      // Directions at the second place, turned as the geodesic turns.
      let v = w.turned(by: (line.startAzimuth - line.endAzimuth) * Ellipsoid.radian)
      let next = EdgeGap.nearest(u * -s, u * (1 - s), way - v * t, way + v * (1 - t))
      var step = (next.first - s, next.second - t)
      var found: GeodesicLine?
      for _ in 0..<12 {
        guard abs(step.0) * u.length + abs(step.1) * v.length > Self.finestStep else { break }
        if let line = measure(a, s + step.0, b, t + step.1) {
          add(line)
          found = line
        }
        if let found, found.distance < line.distance { break }
        (step, found) = ((step.0 / 2, step.1 / 2), nil)
      }
      guard let found, found.distance < line.distance else { return }
      (s, t, line) = (s + step.0, t + step.1, found)
    }
  }

  private func measure(_ a: EllipsoidEdge, _ s: Double, _ b: EllipsoidEdge, _ t: Double) -> GeodesicLine? {
    let (from, to) = (a.place(s), b.place(t))
    return try? geodesy.inverse(from: Point(x: from.x, y: from.y), to: Point(x: to.x, y: to.y))
  }
}

extension SIMD2<Double> {
  /// Turned clockwise, with x east and y north.
  fileprivate func turned(by angle: Double) -> SIMD2<Double> {
    let (sine, cosine) = (sin(angle), cos(angle))
    return SIMD2(x * cosine + y * sine, y * cosine - x * sine)
  }
}
