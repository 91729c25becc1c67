// Geometries cut at the edge of a map that goes around the world, as RFC 7946, section 3.1.9, has them.

import CGEOS
import Geometry

extension Geometry {
  /// The geometry in pieces, none of which goes on beyond the edge; itself if it does not. M of polygons is lost. Pieces of what goes around
  /// the world are united where they meet elsewhere, as they began or ended there.
  ///
  /// - Throws: ``EngineError`` where polygons cross themselves too often, or GEOS refuses them.
  /// - Complexity: O(n log n) in positions, for each turn of the world in which it lies.
  public func cut(at seam: Seam) throws(EngineError) -> Geometry {
    if case .collection(let parts) = self {
      return .collection(try parts.map { part throws(EngineError) in try part.cut(at: seam) })
    }
    guard let box = envelope, seam.exceeds(box) || hasHolesBeyond(seam) else { return self }
    var found: [Geometry] = []
    for piece in pieces {
      let (piece, holes) = piece.parted(seam)
      guard holes.isEmpty else {
        let holes = Geometry.multiPolygon(holes.map { [$0] })
        try holes.charge()
        found += try GeometryEngine.difference(of: piece.cut(at: seam), less: holes.cut(at: seam)).flattened.flatMap(\.pieces)
        continue
      }
      guard let box = piece.envelope, seam.exceeds(box) else {
        found.append(piece)
        continue
      }
      let first = ((box.xMin - seam.west) / seam.width).rounded(.down)
      let last = max(((box.xMax - seam.west) / seam.width).rounded(.up) - 1, first)
      guard last - first <= 16 else { throw .failed(operation: "cut", reason: "It goes around the world too often to be cut.") }
      for turn in stride(from: first, through: last, by: 1) {
        let shift = turn * seam.width
        let window = Envelope(xMin: seam.west + shift, yMin: box.yMin, xMax: seam.east + shift, yMax: box.yMax)
        let parts = first == last ? [piece] : try piece.clipped(to: window).pieces
        found += parts.map { part in part.mapX { min(max($0 - shift, seam.west), seam.east) } }
      }
    }
    guard !found.isEmpty else { throw .failed(operation: "cut", reason: "It has no area.") }
    if dimension == 2, seam.isGirdled(by: box) { found = try GeometryEngine.union(of: .multiPolygon(found.flatMap(\.polygons))).pieces }
    switch self {
    case .point, .lineString, .polygon: return found.count == 1 ? found[0] : Geometry.collection(found).uniform ?? self
    case .multiPoint, .multiLineString, .multiPolygon, .collection: return Geometry.collection(found).uniform ?? self
    }
  }

  /// Whether holes of a polygon around the world go on beyond its shell, which begins and ends elsewhere: then it is no valid polygon
  /// until it is cut.
  package func hasHolesBeyond(_ seam: Seam) -> Bool {
    guard dimension == 2, let box = envelope, seam.isGirdled(by: box) else { return false }
    return pieces.contains { !$0.parted(seam).holes.isEmpty }
  }

  /// A polygon around the world apart from its holes that reach the sides of its shell.
  private func parted(_ seam: Seam) -> (Geometry, holes: [Positions]) {
    guard case .polygon(let rings) = self, rings.count > 1, let box = Geometry.polygon([rings[0]]).envelope, seam.isGirdled(by: box)
    else { return (self, []) }
    // Those sides go to a pole; the shell may go on beyond them elsewhere.
    let shell = rings[0]
    let sides = (1..<max(shell.count, 1)).compactMap { index -> Double? in
      let (start, end) = (shell[index - 1], shell[index])
      return start.x == end.x && [start.y, end.y].contains { $0 == box.yMin || $0 == box.yMax } ? start.x : nil
    }
    func reaches(_ hole: Positions) -> Bool {
      guard let own = Geometry.polygon([hole]).envelope else { return false }
      return own.xMin <= box.xMin || own.xMax >= box.xMax || sides.contains { own.xMin <= $0 && own.xMax >= $0 }
    }
    return (.polygon([rings[0]] + rings.dropFirst().filter { !reaches($0) }), rings.dropFirst().filter(reaches))
  }

  private func charge() throws(EngineError) {
    let cost = RelationCost.alone(self, limit: RelationAllowance.current?.countLimit ?? RelationAllowance.most)
    try RelationAllowance.charge(cost)
    guard cost < RelationAllowance.most else { throw .failed(operation: "cut", reason: "It crosses itself too often to be cut.") }
  }

  private func clipped(to window: Envelope) throws(EngineError) -> Geometry {
    switch self {
    case .lineString(let line): return .multiLineString(line.clipped(fromX: window.xMin, toX: window.xMax))
    case .polygon: break
    case .point, .multiPoint, .multiLineString, .multiPolygon, .collection: return self
    }
    try charge()
    let found = try GeometryEngine.intersection(of: self, with: Geometry(window))
    // Lines and points where it touches the edge are no area.
    return .multiPolygon(found.flattened.flatMap(\.polygons))
  }
}

extension Positions {
  /// The parts of the line within a range of x. All coordinates are interpolated.
  fileprivate func clipped(fromX low: Double, toX high: Double) -> [Positions] {
    var parts: [Positions] = []
    var current = Positions(hasZ: hasZ, hasM: hasM)
    func between(_ a: Point, _ b: Point, at x: Double) -> Point {
      let part = (x - a.x) / (b.x - a.x)
      func mix(_ a: Double?, _ b: Double?) -> Double? { a.flatMap { a in b.map { a + part * ($0 - a) } } }
      return Point(x: x, y: a.y + part * (b.y - a.y), z: mix(a.z, b.z), m: mix(a.m, b.m))
    }
    func end() {
      if current.count > 1 { parts.append(current) }
      current = Positions(hasZ: hasZ, hasM: hasM)
    }
    for index in 0..<max(count - 1, 0) {
      let (start, finish) = (self[index], self[index + 1])
      guard max(start.x, finish.x) > low || start.x == finish.x && start.x >= low,
        min(start.x, finish.x) < high
      else {
        end()
        continue
      }
      func inside(_ point: Point, _ other: Point) -> Point {
        point.x < low ? between(point, other, at: low) : point.x > high ? between(point, other, at: high) : point
      }
      if current.isEmpty { current.append(inside(start, finish)) }
      current.append(inside(finish, start))
      if finish.x < low || finish.x > high { end() }
    }
    end()
    return parts
  }
}

extension GeometryEngine {
  /// Polygons without others. Z is kept and interpolated.
  fileprivate static func difference(of first: Geometry, less second: Geometry) throws(EngineError) -> Geometry {
    try made(of: first) { (context, first) throws(EngineError) in
      let other = try GEOSShape(second, in: context)
      let (left, right) = (first.handle, other.handle)
      return try GEOSShape(of: "cut", in: context) { context.geos.pointee.GEOSDifference_r(context.handle, left, right) }
    }
  }

  /// What two polygons have in common. Z is kept and interpolated.
  fileprivate static func intersection(of first: Geometry, with second: Geometry) throws(EngineError) -> Geometry {
    try made(of: first) { (context, first) throws(EngineError) in
      let other = try GEOSShape(second, in: context)
      let (left, right) = (first.handle, other.handle)
      return try GEOSShape(of: "cut", in: context) { context.geos.pointee.GEOSIntersection_r(context.handle, left, right) }
    }
  }
}
