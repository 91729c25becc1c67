// Relations on a map that goes around the world, where a geometry may be cut at its edge.

import CGEOS
import Geometry

/// A geometry once, and three times side by side: what lies in the first meets in the second all that it meets in the world.
struct WorldGeometry {
  let once: Geometry
  let around: Geometry
  var dimension: Int { once.dimension }

  /// The pieces all around that another geometry may meet.
  func near(_ other: Geometry) -> Geometry {
    guard let box = other.envelope else { return around }
    return Geometry.collection(around.pieces.filter { $0.envelope.map(box.intersects) == true }).uniform ?? around
  }

  /// - Throws: ``EngineError`` where pieces cannot be united.
  init(_ geometry: Geometry, _ seam: Seam) throws(EngineError) {
    guard let unrolled = UnrolledGeometry(geometry, seam) else {
      throw .failed(operation: "unroll", reason: "a collection of several dimensions")
    }
    var turns: [Geometry] = []
    for turn in [0.0, -1, 1] {
      let (cut, others) = unrolled.pieces(at: turn)
      var parts: [Geometry] = []
      if let cut { parts.append(cut.dimension == 2 ? try GeometryEngine.union(of: cut) : cut) }
      if let others { parts.append(others) }
      turns.append(Geometry.collection(parts).uniform ?? .collection(parts))
    }
    once = turns[0]
    let all = Geometry.collection(turns).uniform ?? .collection(turns)
    // What goes around the world continues from turn to turn.
    let isGirdle = once.dimension == 2 && once.polygonBoxes.contains(where: seam.isGirdled)
    around = isGirdle ? try GeometryEngine.union(of: all) : all
  }
}

extension Geometry {
  fileprivate var polygonBoxes: [Envelope] {
    switch self {
    case .polygon: [envelope].compactMap { $0 }
    case .multiPolygon(let polygons): polygons.compactMap { Geometry.polygon($0).envelope }
    case .collection(let parts): parts.flatMap(\.polygonBoxes)
    case .point, .lineString, .multiPoint, .multiLineString: []
    }
  }
}

/// Relations to one geometry of the world.
struct SeamRelations: ~Copyable {
  private let seam: Seam
  private let world: WorldGeometry
  private let prepared: PreparedGeometry

  init(_ geometry: Geometry, _ seam: Seam, isMadeValid: Bool) throws(EngineError) {
    let whole = try WorldGeometry(geometry, seam)
    prepared = try PreparedGeometry(whole.around, isMadeValid: isMadeValid)
    (self.seam, world) = (seam, whole)
  }

  /// Whether `other` has the relation to the geometry.
  ///
  /// Of the intersection matrix, what lies in `other` is right when `other` is taken once and this geometry all around; what lies outside of
  /// `other` is right the other way round.
  func relates(_ relation: SpatialRelation, _ other: Geometry) throws(EngineError) -> Bool {
    let other = try WorldGeometry(other, seam)
    func forth(_ relation: SpatialRelation?) throws(EngineError) -> Bool {
      guard let relation else { return false }
      if case .relate = relation { return try PreparedGeometry(world.near(other.once), isMadeValid: true).relates(relation, other.once) }
      return try prepared.relates(relation, other.once)
    }
    func back(_ relation: SpatialRelation?) throws(EngineError) -> Bool {
      guard let relation else { return false }
      return try PreparedGeometry(other.near(world.once), isMadeValid: true).relates(relation, world.once)
    }
    func both(_ first: SpatialRelation?, _ second: SpatialRelation?) throws(EngineError) -> Bool {
      guard try forth(first) else { return false }
      return try back(second)
    }
    func matches(_ pattern: String) -> SpatialRelation? { IntersectionPattern(pattern).map { .relate($0) } }
    switch relation {
    case .intersects, .envelopeIntersects, .within: return try forth(relation)
    case .disjoint: return try !forth(.intersects)
    case .contains: return try back(.within)
    case .equals: return try both(.within, .within)
    case .touches: return try both(.touches, .touches)
    case .overlaps:
      guard other.dimension == world.dimension else { return false }
      let pattern = matches(world.dimension == 1 ? "1*T******" : "T*T******")
      return try both(pattern, pattern)
    case .crosses:
      if other.dimension < world.dimension { return try forth(matches("T*T******")) }
      if other.dimension > world.dimension { return try back(matches("T*T******")) }
      return world.dimension == 1 ? try forth(matches("0********")) : false
    case .relate(let pattern):
      let marks = pattern.text.map(String.init)
      // Two geometries never cover the whole plane.
      guard ["T", "*", "2"].contains(marks[8]) else { return false }
      return try both(matches(marks[..<6].joined() + "***"), matches("**\(marks[6])**\(marks[7])***"))
    }
  }
}

extension GeometryEngine {
  /// The union of polygons; those that are invalid are made valid first.
  static func union(of geometry: Geometry) throws(EngineError) -> Geometry {
    try made(of: geometry) { (context, shape) throws(EngineError) in try context.union(of: shape) }
  }

  /// A geometry made of another one, which is made valid if GEOS refuses it.
  static func made(
    of geometry: Geometry, _ make: (GEOSContext, borrowing GEOSShape) throws(EngineError) -> GEOSShape
  ) throws(EngineError) -> Geometry {
    let context = try GEOSContext()
    let shape = try GEOSShape(geometry, in: context)
    do throws(EngineError) { return try context.geometry(of: make(context, shape)) } catch {
      guard case .failed = error else { throw error }
      return try context.geometry(of: make(context, context.madeValid(shape)))
    }
  }
}

extension GEOSContext {
  /// The value of a shape, without m.
  func geometry(of shape: consuming GEOSShape) throws(EngineError) -> Geometry {
    if let polygon = polygon(of: shape) { return polygon }
    if let points = try points(of: shape) { return points }
    let writer = try run("write") { geos.pointee.GEOSWKBWriter_create_r(handle) }
    defer { geos.pointee.GEOSWKBWriter_destroy_r(handle, writer) }
    geos.pointee.GEOSWKBWriter_setOutputDimension_r(handle, writer, 3)
    var size = 0
    let given = shape.handle
    let bytes = try run("write") { geos.pointee.GEOSWKBWriter_write_r(handle, writer, given, &size) }
    defer { geos.pointee.GEOSFree_r(handle, bytes) }
    do throws(WKBError) { return try Geometry(wkb: UnsafeRawBufferPointer(start: bytes, count: size)) } catch {
      throw .failed(operation: "write", reason: error.description)
    }
  }

  /// The value of points of which some have no Z: it is unknown. GEOS writes each in a layout of its own. Nil for others.
  private func points(of shape: borrowing GEOSShape) throws(EngineError) -> Geometry? {
    let given = shape.handle
    guard geos.pointee.GEOSGeomTypeId_r(handle, given) == Int32(GEOS_MULTIPOINT.rawValue), geos.pointee.GEOSHasZ_r(handle, given) == 1
    else { return nil }
    var points = Positions(hasZ: true)
    for index in 0..<max(0, geos.pointee.GEOSGetNumGeometries_r(handle, given)) {
      var (x, y, z) = (0.0, 0.0, Double.nan)
      guard let part = geos.pointee.GEOSGetGeometryN_r(handle, given, index), geos.pointee.GEOSisEmpty_r(handle, part) == 0 else { continue }
      _ = geos.pointee.GEOSGeomGetX_r(handle, part, &x)
      _ = geos.pointee.GEOSGeomGetY_r(handle, part, &y)
      if geos.pointee.GEOSHasZ_r(handle, part) == 1 { _ = geos.pointee.GEOSGeomGetZ_r(handle, part, &z) }
      points.append(Point(x: x, y: y, z: z))
    }
    return .multiPoint(points)
  }

  /// The value of a polygon, which most results are, without WKB in between; nil for others.
  private func polygon(of shape: borrowing GEOSShape) -> Geometry? {
    let given = shape.handle
    guard geos.pointee.GEOSGeomTypeId_r(handle, given) == Int32(GEOS_POLYGON.rawValue), geos.pointee.GEOSisEmpty_r(handle, given) == 0
    else { return nil }
    let hasZ = geos.pointee.GEOSHasZ_r(handle, given) == 1
    var rings: [Positions] = []
    for number in -1..<max(0, geos.pointee.GEOSGetNumInteriorRings_r(handle, given)) {
      let ring = number < 0 ? geos.pointee.GEOSGetExteriorRing_r(handle, given) : geos.pointee.GEOSGetInteriorRingN_r(handle, given, number)
      var size: UInt32 = 0
      guard let ring, let sequence = geos.pointee.GEOSGeom_getCoordSeq_r(handle, ring), geos.pointee.GEOSCoordSeq_getSize_r(handle, sequence, &size) == 1
      else { return nil }
      var isCopied = false
      let count = Int(size) * (hasZ ? 3 : 2)
      let values = [Double](unsafeUninitializedCapacity: count) { buffer, filled in
        isCopied = geos.pointee.GEOSCoordSeq_copyToBuffer_r(handle, sequence, buffer.baseAddress, hasZ ? 1 : 0, 0) == 1
        filled = isCopied ? count : 0
      }
      guard isCopied else { return nil }
      rings.append(Positions(values: values, hasZ: hasZ))
    }
    return .polygon(rings)
  }
}
