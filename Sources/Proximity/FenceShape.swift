// One fence: whether a position is in it, and how far away it is, with what makes many such tests quick.

import Geometry
import SpatialRelations
import Synchronization

/// A geometry to which many positions are compared: in its own plane, and by geodesic distance.
public final class FenceShape: Sendable {
  private let parts: [Part]
  /// On the ellipsoid; made when a distance is first needed.
  private let trees: Mutex<[PartTrees]?>

  fileprivate struct Part: Sendable {
    let geometry: Geometry
    let box: Envelope
    /// For areas with many edges.
    let index: EdgeIndex?
    /// In longitude and latitude on WGS 84; nil if distances are not asked for.
    let onEllipsoid: Geometry?
  }

  fileprivate struct PartTrees {
    let whole: EdgeTree
    /// The rings of areas.
    let rings: EdgeTree?

    func distance(to point: EdgeTree, within limit: Double, _ geodesy: any Geodesy) -> Double? {
      guard let found = try? whole.geodeticDistance(to: point, limit: limit, geodesy, checking: {})?.distance else { return nil }
      guard found == 0, let rings else { return found }
      let edge = try? rings.geodeticDistance(to: point, limit: .infinity, geodesy, checking: {})?.distance
      return edge.map { -$0 } ?? 0
    }

    func bounds(to point: EdgeTree) -> (low: Double, high: Double) {
      let bounds = whole.geodeticBounds(to: point)
      guard bounds == (0, 0), let rings else { return bounds }
      let inner = rings.geodeticBounds(to: point)
      return (-inner.high, -inner.low)
    }
  }

  /// - Parameter place: gives a part in longitude and latitude on WGS 84; nil if only ``holds(_:strictly:)`` is asked. Parts for which it
  ///   throws are left out.
  /// - Complexity: O(n) in positions.
  public init(_ geometry: Geometry, _ place: ((Geometry) throws -> Geometry)?) {
    parts = Self.parts(of: geometry).compactMap { part in
      guard let box = part.envelope else { return nil }
      var count = 0
      part.forEachPositions { count += $0.count }
      let placed = place.map { place in try? place(part) }
      if case .some(nil) = placed { return nil }
      return Part(geometry: part, box: box, index: count > 64 ? EdgeIndex(part) : nil, onEllipsoid: placed ?? nil)
    }
    trees = Mutex(nil)
  }

  private static func parts(of geometry: Geometry) -> [Geometry] {
    guard case .collection(let parts) = geometry else { return [geometry] }
    return parts.flatMap(Self.parts)
  }

  /// Whether a position, in the coordinates of the geometry, is in it: also on its edge, unless `strictly`.
  public func holds(_ position: SIMD2<Double>, strictly: Bool) -> Bool {
    parts.contains { $0.box.contains(x: position.x, y: position.y) && $0.holds(position, strictly: strictly) }
  }

  /// Metres from a place on WGS 84; within an area the distance to its edge, negated. Nil beyond the limit, and where it is not known.
  public func distance(to place: Point, within limit: Double, _ geodesy: any Geodesy) -> Double? {
    measure(place) { trees, point in trees.compactMap { $0.distance(to: point, within: limit, geodesy) }.min() }
  }

  /// Whether that distance is at most as many metres. A geodesic is asked for only where bounds do not tell.
  public func isWithin(_ metres: Double, of place: Point, _ geodesy: any Geodesy) -> Bool {
    guard let bounds = bounds(to: place), bounds.low <= metres else { return false }
    return bounds.high <= metres || distance(to: place, within: max(metres, 0), geodesy).map { $0 <= metres } ?? false
  }

  private func bounds(to place: Point) -> (low: Double, high: Double)? {
    measure(place) { trees, point in
      let all = trees.map { $0.bounds(to: point) }
      return all.isEmpty ? nil : (all.reduce(.infinity) { min($0, $1.low) }, all.reduce(.infinity) { min($0, $1.high) })
    }
  }

  private func measure<R: Sendable>(_ place: Point, _ body: @Sendable ([PartTrees], EdgeTree) -> R?) -> R? {
    trees.withLock { trees in
      let made = trees ?? parts.compactMap { $0.trees() }
      trees = made
      return EdgeTree(.point(place), on: .ellipsoid, checking: {}).flatMap { body(made, $0) }
    }
  }

  /// Whether two places are that many metres apart at most.
  public static func isWithin(_ metres: Double, _ one: Point, _ other: Point, _ geodesy: any Geodesy) -> Bool {
    let (from, to) = (Ellipsoid.position(SIMD2(one.x, one.y)), Ellipsoid.position(SIMD2(other.x, other.y)))
    let chord = ((from - to) * (from - to)).sum().squareRoot()
    if chord > metres + 1e-6 { return false }
    return Ellipsoid.greatestArc(over: chord) <= metres
      || (try? geodesy.inverse(from: one, to: other)).map { $0.distance <= metres } ?? false
  }

  /// The box in longitude and latitude, longitudes perhaps beyond 180 degrees, that holds all within a distance from a place.
  public static func box(around place: Point, within metres: Double) -> Envelope {
    box(around: Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y), within: metres)
  }

  /// The same for a box.
  public static func box(around box: Envelope, within metres: Double) -> Envelope {
    guard metres > 0 else { return box }
    let degree = Ellipsoid.leastDegree(around: max(abs(box.yMin), abs(box.yMax)), within: metres)
    let (up, across) = (metres / degree.y, degree.x > 0 ? metres / degree.x : .infinity)
    let isAll = across >= 180
    return Envelope(
      xMin: isAll ? -180 : box.xMin - across, yMin: max(box.yMin - up, -90), xMax: isAll ? 180 : box.xMax + across,
      yMax: min(box.yMax + up, 90))
  }
}

fileprivate extension FenceShape.Part {
  func holds(_ position: SIMD2<Double>, strictly: Bool) -> Bool {
    switch geometry {
    case .polygon, .multiPolygon:
      switch index?.location(of: position) ?? geometry.location(of: position) {
      case .interior: return true
      case .boundary: return !strictly
      case .exterior: return false
      }
    case .point, .multiPoint: return isVertex(position)
    case .lineString(let line): return Self.holds([line], position, strictly)
    case .multiLineString(let lines): return Self.holds(lines, position, strictly)
    case .collection: return false
    }
  }

  private func isVertex(_ position: SIMD2<Double>) -> Bool {
    var isVertex = false
    geometry.forEachPositions { positions in
      isVertex = isVertex || positions.points.contains { $0.x == position.x && $0.y == position.y }
    }
    return isVertex
  }

  /// A line contains its positions but the ends, which are its boundary.
  private static func holds(_ lines: [Positions], _ position: SIMD2<Double>, _ strictly: Bool) -> Bool {
    var (edges, ends) = ([Edge](), 0)
    for line in lines where line.count > 1 {
      line.forEachEdge { edges.append(Edge(start: $0, end: $1)) }
      for end in [line[0], line[line.count - 1]] where end.x == position.x && end.y == position.y { ends += 1 }
    }
    guard RingCrossings.location(of: position, edges) == .boundary else { return false }
    return !strictly || ends % 2 == 0
  }

  func trees() -> FenceShape.PartTrees? {
    guard let onEllipsoid, let whole = EdgeTree(onEllipsoid, on: .ellipsoid, checking: {}) else { return nil }
    let rings: [Positions]
    switch onEllipsoid {
    case .polygon(let own): rings = own
    case .multiPolygon(let polygons): rings = polygons.flatMap { $0 }
    case .point, .multiPoint, .lineString, .multiLineString, .collection: rings = []
    }
    let lines = Self.edges(of: rings)
    return FenceShape.PartTrees(
      whole: whole, rings: lines.isEmpty ? nil : EdgeTree(.multiLineString(lines), on: .ellipsoid, checking: {}))
  }

  /// The edges of an area on the ellipsoid: without those along a pole, and those at which it was cut at the antimeridian.
  private static func edges(of rings: [Positions]) -> [Positions] {
    func seam(_ start: SIMD2<Double>, _ end: SIMD2<Double>) -> Double? {
      start.x == end.x && abs(start.x) == 180 ? start.x : nil
    }
    var seams: Set<Double> = []
    for ring in rings { ring.forEachEdge { if let seam = seam($0, $1) { seams.insert(seam) } } }
    return rings.flatMap { ring in
      var lines = [Positions()]
      ring.forEachEdge { start, end in
        let isPole = start.y == end.y && abs(start.y) == 90
        if isPole || seams.count == 2 && seam(start, end) != nil { return lines.append(Positions()) }
        if lines[lines.count - 1].isEmpty { lines[lines.count - 1].append(Point(x: start.x, y: start.y)) }
        lines[lines.count - 1].append(Point(x: end.x, y: end.y))
      }
      return lines.filter { !$0.isEmpty }
    }
  }
}
