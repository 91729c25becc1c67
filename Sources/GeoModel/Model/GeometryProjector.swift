// Transforms whole geometries to another reference, unbroken across the edge of the world, for spatial comparisons.

import Geometry

/// Transforms the positions of geometries to a reference in which they are compared with others.
///
/// In a reference that wraps around the world, a line or ring that crosses the edge continues beyond it, so x may exceed the
/// world by a turn or more; a ring around a pole is closed along the pole. Otherwise positions equal the transformer's results:
/// unlike ``ProjectedExtent``, this does not clamp latitudes where poles are at infinity. Do not use it for drawing: see
/// ``MapTransform``.
public struct GeometryProjector: Sendable {
  private let source: SpatialReference
  private let target: SpatialReference
  private let transformer: any CoordinateTransformer
  private let sourceWrap: WorldWrap?
  /// The period of x in the target.
  private let wrap: WorldWrap?
  /// y of the poles in the target.
  private let poles: ClosedRange<Double>
  /// Where the source is to be cut before it is transformed, for a target of the whole world whose edge is no straight line.
  public let curvedEdge: Seam?
  /// For such a target and a source that is no such world: the way by degrees, in which there is a place to cut at.
  public let detour: Detour?

  public init(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    (self.source, self.target, self.transformer) = (source, target, transformer)
    let (from, to) = (try transformer.describe(source), try transformer.describe(target))
    wrap = WorldWrap(to, transformer)
    let own = WorldWrap(from, transformer)
    sourceWrap = wrap.map { own?.hasEdge(of: $0, source, target, transformer) ?? false } ?? true ? own : nil
    poles = Self.poles(of: to, transformer)
    curvedEdge = wrap == nil ? own.flatMap { to.curvedEdge($0, of: source, transformer) } : nil
    detour = wrap == nil && curvedEdge == nil ? try Detour(from: source, to: to, transformer) : nil
  }

  /// The range is unbounded if the poles have no coordinates.
  private static func poles(
    of target: SpatialReferenceInfo, _ transformer: any CoordinateTransformer
  ) -> ClosedRange<Double> {
    func y(_ latitude: Double) -> Double? {
      try? transformer.transform(Point(x: 0, y: latitude), from: .wgs84, to: target.reference).y
    }
    if target.kind == .geographic { return -target.turn / 4...target.turn / 4 }
    guard let south = y(-90), let north = y(90), south < north else { return -1e9...1e9 }
    return south...north
  }

  /// - Parameter check: called at least every few thousand positions.
  /// - Throws: `TransformError` if a position has no coordinates in the target.
  public func project(_ geometry: Geometry, checking check: () throws -> Void) throws -> Geometry {
    let moved = try transformer.transform(geometry, from: source, to: target, checking: check)
    guard let wrap else { return moved }
    // Both references are cylindrical, so x in one is linear in x of the other.
    if let sourceWrap { return wrap.shifted(moved, near: geometry, sourceWrap) }
    return unwrapped(moved, of: geometry, wrap)
  }

  /// The geometry as clients get it: positions are transformed one by one, but nothing that is in one piece becomes a band around the
  /// world. What goes on beyond the edge of the source's world does so in the target; what crosses the edge of the target's world in a
  /// source without an edge is to be cut there.
  ///
  /// - Throws: `TransformError` if a position has no coordinates in the target.
  public func unbroken(_ geometry: Geometry, checking check: () throws -> Void) throws -> (geometry: Geometry, edge: Seam?) {
    let moved = try transformer.transform(geometry, from: source, to: target, checking: check)
    guard let wrap, geometry.dimension > 0 else { return (moved, nil) }
    if let sourceWrap {
      guard let box = geometry.envelope, sourceWrap.seam.exceeds(box) else { return (moved, nil) }
      return (wrap.shifted(moved, near: geometry, sourceWrap), nil)
    }
    guard let box = moved.envelope, box.width > wrap.width / 4 || box.isNear(poles) else { return (moved, nil) }
    return (unwrapped(moved, of: geometry, wrap), wrap.seam)
  }

  /// Whether both worlds have their edge at the same place.
  public var keepsEdge: Bool {
    wrap == nil ? curvedEdge.map { edge in sourceWrap?.seam.isOn(edge.west) ?? false } ?? false : sourceWrap != nil
  }

  /// Whether something in a box of the source may go on beyond the edge of the target's world, or be cut there.
  public func mayCross(_ box: Envelope) -> Bool {
    guard let wrap else {
      guard let detour else { return curvedEdge?.exceeds(box) ?? false }
      return (try? transformer.bounds(of: box, from: source, to: .wgs84)).map { $0.xMin > $0.xMax || detour.edge.exceeds($0) } ?? true
    }
    if let sourceWrap { return sourceWrap.seam.exceeds(box) }
    guard let bounds = try? transformer.bounds(of: box, from: source, to: target) else { return true }
    return bounds.xMin > bounds.xMax || bounds.width > wrap.width / 4
  }

  /// From a reference to degrees, and from there to a world with a curved edge.
  public final class Detour: Sendable {
    public let toDegrees: GeometryProjector
    public let fromDegrees: GeometryProjector
    /// In degrees.
    public let edge: Seam
    /// x in the middle of the world: what lies on one side of it does not cross the edge.
    private let middle: Double

    /// Nil if the target is no world with a curved edge.
    fileprivate init?(from source: SpatialReference, to target: SpatialReferenceInfo, _ transformer: any CoordinateTransformer) throws(TransformError) {
      guard source != .wgs84, target.mayBeWorldProjection else { return nil }
      fromDegrees = try GeometryProjector(from: .wgs84, to: target.reference, transformer)
      guard let edge = fromDegrees.curvedEdge else { return nil }
      self.edge = edge
      toDegrees = try GeometryProjector(from: source, to: .wgs84, transformer)
      middle = try transformer.transform(Point(x: edge.west + edge.width / 2, y: 0), from: .wgs84, to: target.reference).x
    }

    /// Whether a box in the target may be that of something across the edge.
    public func mayCross(_ box: Envelope) -> Bool { box.xMin < middle && box.xMax > middle }
  }

  private func unwrapped(_ moved: Geometry, of geometry: Geometry, _ wrap: WorldWrap) -> Geometry {
    moved.unwrapped(
      of: geometry, poles, wrap, { continued($0, along: $1, wrap) },
      ring: { overPole($0, of: $1, wrap) ?? continued($0, along: $1, wrap) })
  }

  /// A ring through a pole, made continuous: at the pole, which has any x, it goes along it from one meridian to the other.
  ///
  /// - Returns: nil for a ring that meets no pole, or several times.
  private func overPole(_ ring: Positions, of original: Positions, _ wrap: WorldWrap) -> Positions? {
    let count = ring.count - 1
    guard count >= 3 else { return nil }
    func isPole(_ index: Int) -> Bool { ring[index % count].y.isAt(poles) }
    var ends = (0..<count).filter { isPole($0) && !isPole($0 + 1) }
    if ends.isEmpty { ends = (0..<count).filter { leadsOverPole(original[$0], original[$0 + 1], ring[$0 + 1].x - ring[$0].x, wrap) } }
    guard ends.count == 1, let end = ends.first else { return nil }
    let order = (1...count).map { (end + $0) % count }.filter { !isPole($0) }
    func ordered(_ line: Positions) -> Positions { Positions(order.map { line[$0] }) }
    let line = continued(ordered(ring), along: ordered(original), wrap)
    guard let first = line.points.first, let last = line.points.last else { return nil }
    let y = first.y + last.y < poles.lowerBound + poles.upperBound ? poles.lowerBound : poles.upperBound
    return Positions(line.points + [last.x, first.x].map { Point(x: $0, y: y, z: ring[end].z, m: ring[end].m) } + [first])
  }

  /// Whether a pole is on a side, which then takes half of a turn.
  private func leadsOverPole(_ start: Point, _ end: Point, _ turn: Double, _ wrap: WorldWrap) -> Bool {
    guard abs(turn.remainder(dividingBy: wrap.width)) > wrap.width * (0.5 - 1e-9) else { return false }
    let (east, north) = (end.x - start.x, end.y - start.y)
    return [-90.0, 90].contains { latitude in
      guard let pole = try? transformer.transform(Point(x: 0, y: latitude), from: .wgs84, to: source) else { return false }
      let (x, y, square) = (pole.x - start.x, pole.y - start.y, east * east + north * north)
      return abs(east * y - north * x) < square * 1e-9 && (0...square).contains(x * east + y * north)
    }
  }

  /// A line or ring made continuous: each position is shifted by whole turns to where its edge leads. Of a long edge the middle says which
  /// way around the world it takes.
  private func continued(_ line: Positions, along original: Positions, _ wrap: WorldWrap) -> Positions {
    var (index, previous, last) = (0, 0.0, 0.0)
    return line.mapX { x in
      defer { (index, previous) = (index + 1, x) }
      var expected = index == 0 ? x : last
      if index > 0, abs(x - previous) > wrap.width / 4 {
        let (from, to) = (original[index - 1], original[index])
        let middle = Point(x: (from.x + to.x) / 2, y: (from.y + to.y) / 2)
        if let found = try? transformer.transform(middle, from: source, to: target) {
          expected += 2 * (found.x - previous).remainder(dividingBy: wrap.width)
        }
      }
      last = x + wrap.shift(x, nearest: expected)
      return last
    }
  }
}

extension SpatialReferenceInfo {
  /// The edge of a projection of the whole world that is not cylindrical, but begins and ends at a meridian, as a seam of a reference
  /// that goes around the world.
  fileprivate func curvedEdge(_ wrap: WorldWrap, of source: SpatialReference, _ transformer: any CoordinateTransformer) -> Seam? {
    guard mayBeWorldProjection, !wrap.isTilted else { return nil }
    // Not on the equator, where azimuthal projections end there as well.
    func x(_ longitude: Double) -> Double? {
      try? transformer.transform(Point(x: longitude, y: 45), from: .wgs84, to: reference).x
    }
    guard let start = x(-180), let end = x(180), let middle = x(0), let quarter = x(90) else { return nil }
    let width = max(abs(middle - start), abs(quarter - start))
    var edge = -180.0
    if abs(end - start) < width * 1e-9 {
      // x grows with the longitude, but for the edge.
      var before = edge
      edge = 180
      while edge - before > 1e-9 {
        let half = (before + edge) / 2
        guard let found = x(half) else { return nil }
        if found > start { before = half } else { edge = half }
      }
      edge = (edge * 1e8).rounded() / 1e8
      guard let east = x(edge - 1e-7), let west = x(edge + 1e-7), east - west > width else { return nil }
    } else if end < start {
      return nil
    }
    guard let west = try? transformer.transform(Point(x: edge, y: 0), from: .wgs84, to: source).x else { return nil }
    return Seam(west: west, width: wrap.width)
  }
}

extension WorldWrap {
  /// Whether what ends at the edge of this world does so in another: not where meridians are counted from another one, as from Paris.
  fileprivate func hasEdge(
    of other: WorldWrap, _ source: SpatialReference, _ target: SpatialReference, _ transformer: any CoordinateTransformer
  ) -> Bool {
    guard WorldWrap.keepsLines(self, other) else { return false }
    guard let edge = try? transformer.transform(Point(x: xMin, y: 0), from: source, to: target) else { return true }
    // Datums differ by less.
    return abs((edge.x - other.xMin).remainder(dividingBy: other.width)) < other.width * 1e-4
  }

  /// Shifts each x by whole turns to be nearest to x of the same position in another cylindrical reference.
  fileprivate func shifted(_ geometry: Geometry, near original: Geometry, _ other: WorldWrap) -> Geometry {
    var expected: [Double] = []
    original.forEachPositions { expected += $0.points.map { xMin + ($0.x - other.xMin) / other.width * width } }
    var index = 0
    return geometry.mapPositions { run in
      run.mapX { x in
        defer { index += 1 }
        return x + shift(x, nearest: expected[index])
      }
    }
  }
}

extension Geometry {
  /// Makes lines and rings continuous.
  ///
  /// - Parameters:
  ///   - continued: a line made of the one of `original`.
  ///   - ring: a ring made so.
  fileprivate func unwrapped(
    of original: Geometry, _ poles: ClosedRange<Double>, _ wrap: WorldWrap, _ continued: (Positions, Positions) -> Positions,
    ring: (Positions, Positions) -> Positions
  ) -> Geometry {
    func polygon(_ rings: [Positions], _ given: [Positions]) -> [Positions] {
      Self.unwrapped(zip(rings, given).map(ring), wrap, poles)
    }
    switch (self, original) {
    case (.lineString(let line), .lineString(let given)): return .lineString(continued(line, given))
    case (.multiLineString(let lines), .multiLineString(let given)): return .multiLineString(zip(lines, given).map(continued))
    case (.polygon(let rings), .polygon(let given)): return .polygon(polygon(rings, given))
    case (.multiPolygon(let polygons), .multiPolygon(let given)): return .multiPolygon(zip(polygons, given).map(polygon))
    case (.collection(let parts), .collection(let given)):
      return .collection(zip(parts, given).map { $0.unwrapped(of: $1, poles, wrap, continued, ring: ring) })
    default: return self
    }
  }

  /// Rings around poles are closed along them, holes are moved into the turn of the shell.
  private static func unwrapped(_ rings: [Positions], _ wrap: WorldWrap, _ poles: ClosedRange<Double>) -> [Positions] {
    guard let shell = rings.first?.closed(along: poles, wrap), let box = shell.box else { return rings }
    let middle = (box.xMin + box.xMax) / 2
    return [shell]
      + rings.dropFirst().map { ring in
        let hole = ring.closed(along: poles, wrap)
        guard let box = hole.box else { return hole }
        let shift = wrap.shift((box.xMin + box.xMax) / 2, nearest: middle)
        return shift == 0 ? hole : hole.mapX { $0 + shift }
      }
  }
}

extension Envelope {
  /// Whether a box comes within five degrees of a pole: what is straight elsewhere is far from straight in degrees there.
  fileprivate func isNear(_ poles: ClosedRange<Double>) -> Bool {
    let margin = (poles.upperBound - poles.lowerBound) / 36
    return yMin < poles.lowerBound + margin || yMax > poles.upperBound - margin
  }
}

extension Double {
  /// Whether y is that of a pole.
  fileprivate func isAt(_ poles: ClosedRange<Double>) -> Bool {
    min(abs(self - poles.lowerBound), abs(self - poles.upperBound)) <= (poles.upperBound - poles.lowerBound) * 1e-12
  }
}

extension Positions {
  fileprivate var box: Envelope? { Geometry.multiPoint(self).envelope }

  /// Closes a ring around a pole, which ends a turn away from its start, along the nearer pole. Other rings stay.
  fileprivate func closed(along poles: ClosedRange<Double>, _ wrap: WorldWrap) -> Positions {
    guard count >= 4, abs(self[count - 1].x - self[0].x) > wrap.width / 2, let box else { return self }
    let middle = (poles.lowerBound + poles.upperBound) / 2
    let pole = (box.yMin + box.yMax) / 2 < middle ? poles.lowerBound : poles.upperBound
    // Between the pole and the position next to it there is nothing of the ring.
    let start = (0..<count).min { abs(self[$0].y - pole) < abs(self[$1].y - pole) } ?? 0
    let turn = self[count - 1].x - self[0].x
    func moved(_ point: Point, by turn: Double, to y: Double? = nil) -> Point {
      Point(x: point.x + turn, y: y ?? point.y, z: point.z, m: point.m)
    }
    let first = self[start]
    // Copies of what it is compared with are no more than a turn beyond the world: so it begins in the world.
    let home = -((min(first.x, first.x + turn) - wrap.xMin) / wrap.width).rounded(.down) * wrap.width
    return Positions(
      points[start...].map { moved($0, by: home) } + points[..<(start + 1)].dropFirst().map { moved($0, by: turn + home) }
        + [moved(first, by: turn + home, to: pole), moved(first, by: home, to: pole), moved(first, by: home)])
  }
}
