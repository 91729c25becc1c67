// A geometry in GEOS, built from positions in memory without writing and parsing WKB.

import CGEOS
import Geometry

/// One GEOS geometry in its context.
struct GEOSShape: ~Copyable {
  let handle: OpaquePointer
  private let context: GEOSContext

  /// - Throws: for a geometry that is not well formed (``Geometry/fault``).
  init(_ geometry: Geometry, in context: GEOSContext) throws(EngineError) {
    handle = try context.build(geometry)
    self.context = context
  }

  /// Takes ownership of the result of a GEOS operation, which is nil on failure.
  init(of operation: String, in context: GEOSContext, _ body: () -> OpaquePointer?) throws(EngineError) {
    handle = try context.run(operation, body)
    self.context = context
  }

  deinit { context.geos.pointee.GEOSGeom_destroy_r(context.handle, handle) }
}

extension GEOSContext {
  fileprivate func made(_ handle: OpaquePointer?) throws(EngineError) -> OpaquePointer {
    guard let handle else { throw .failed(operation: "build", reason: reason) }
    return handle
  }

  fileprivate func build(_ geometry: Geometry) throws(EngineError) -> OpaquePointer {
    switch geometry {
    case .point(let point?): return try build(point)
    case .point(nil): return try made(geos.pointee.GEOSGeom_createEmptyPoint_r(handle))
    case .lineString(let positions): return try line(positions)
    case .polygon(let rings): return try polygon(rings)
    case .multiPoint(let positions):
      return try collection(GEOS_MULTIPOINT, positions.points) { (point) throws(EngineError) in try build(point) }
    case .multiLineString(let lines):
      return try collection(GEOS_MULTILINESTRING, lines) { (each) throws(EngineError) in try line(each) }
    case .multiPolygon(let polygons):
      return try collection(GEOS_MULTIPOLYGON, polygons) { (each) throws(EngineError) in try polygon(each) }
    case .collection(let parts):
      return try collection(GEOS_GEOMETRYCOLLECTION, parts) { (each) throws(EngineError) in try build(each) }
    }
  }

  private func build(_ point: Point) throws(EngineError) -> OpaquePointer {
    guard point.z != nil else { return try made(geos.pointee.GEOSGeom_createPointFromXY_r(handle, point.x, point.y)) }
    // The point takes ownership of the sequence, even on failure.
    return try made(geos.pointee.GEOSGeom_createPoint_r(handle, try sequence(Positions([point]))))
  }

  private func sequence(_ positions: Positions) throws(EngineError) -> OpaquePointer {
    let sequence = positions.values.withUnsafeBufferPointer { values in
      geos.pointee.GEOSCoordSeq_copyFromBuffer_r(
        handle, values.baseAddress, UInt32(truncatingIfNeeded: positions.count), positions.hasZ ? 1 : 0,
        positions.hasM ? 1 : 0)
    }
    return try made(sequence)
  }

  private func line(_ positions: Positions) throws(EngineError) -> OpaquePointer {
    // The line takes ownership of the sequence, even on failure.
    try made(geos.pointee.GEOSGeom_createLineString_r(handle, try sequence(positions)))
  }

  private func ring(_ positions: Positions) throws(EngineError) -> OpaquePointer {
    try made(geos.pointee.GEOSGeom_createLinearRing_r(handle, try sequence(positions)))
  }

  private func polygon(_ rings: [Positions]) throws(EngineError) -> OpaquePointer {
    guard let outer = rings.first else { return try made(geos.pointee.GEOSGeom_createEmptyPolygon_r(handle)) }
    let shell = try ring(outer)
    var holes: [OpaquePointer?]
    do throws(EngineError) {
      holes = try parts(rings.dropFirst()) { (each) throws(EngineError) in try ring(each) }
    } catch {
      geos.pointee.GEOSGeom_destroy_r(handle, shell)
      throw error
    }
    // The polygon takes ownership of its rings.
    return try made(geos.pointee.GEOSGeom_createPolygon_r(handle, shell, &holes, UInt32(holes.count)))
  }

  /// Builds parts; if one fails, the ones already built are destroyed.
  private func parts<Parts: Collection>(
    _ all: Parts, _ build: (Parts.Element) throws(EngineError) -> OpaquePointer
  ) throws(EngineError) -> [OpaquePointer?] {
    var made: [OpaquePointer?] = []
    made.reserveCapacity(all.count)
    for part in all {
      do throws(EngineError) { made.append(try build(part)) } catch {
        for part in made { geos.pointee.GEOSGeom_destroy_r(handle, part) }
        throw error
      }
    }
    return made
  }

  private func collection<Parts: Collection>(
    _ type: GEOSGeomTypes, _ all: Parts, _ build: (Parts.Element) throws(EngineError) -> OpaquePointer
  ) throws(EngineError) -> OpaquePointer {
    var members = try parts(all, build)
    return try made(
      geos.pointee.GEOSGeom_createCollection_r(
        handle, Int32(truncatingIfNeeded: type.rawValue), &members, UInt32(members.count)))
  }
}
