// Operations on the faces between lines: polygons that are cut, reshaped, completed, snapped to a grid.

import CGEOS
import Geometry

extension GEOSContext {
  /// The faces between lines that are noded.
  private func faces(of lines: consuming GEOSShape) throws(EngineError) -> [Geometry] {
    let given: OpaquePointer? = lines.handle
    let found = try GEOSShape(of: "polygonize", in: self) {
      withUnsafePointer(to: given) { geos.pointee.GEOSPolygonize_r(handle, $0, 1) }
    }
    return try geometry(of: found).flattened.filter { $0.dimension == 2 }
  }

  /// Areas as their rings enclose them when these are noded on a grid. Much quicker than to make them valid, where many segments meet.
  func snapped(_ operand: Geometry, to size: Double) throws(EngineError) -> GeometryOutcome {
    let rings = operand.flattened.flatMap(\.polygons).flatMap { $0 }
    let lines = try GEOSShape(.multiLineString(rings), in: self)
    let given = lines.handle
    let noded = try GEOSShape(of: "snap", in: self) { geos.pointee.GEOSUnaryUnionPrec_r(handle, given, size) }
    var areas = try faces(of: noded, inAnOddNumberOf: rings)
    // Areas have an edge in common where rings lie on one another: it is within the whole. The others touch at positions.
    var edges: Set<SIMD4<Double>> = []
    var count = 0
    for ring in areas.joined() {
      let points = ring.points
      for (a, b) in zip(points, points.dropFirst()) {
        let edge = (a.x, a.y) < (b.x, b.y) ? SIMD4(a.x, a.y, b.x, b.y) : SIMD4(b.x, b.y, a.x, a.y)
        if edges.remove(edge) == nil { edges.insert(edge) }
        count += 1
      }
    }
    if edges.count < count {
      let left = edges.map { Positions(values: [$0.x, $0.y, $0.z, $0.w]) }
      areas = try faces(of: GEOSShape(.multiLineString(left), in: self), inAnOddNumberOf: rings)
    }
    return GeometryOutcome([.multiPolygon(areas)])
  }

  private func faces(of lines: consuming GEOSShape, inAnOddNumberOf rings: [Positions]) throws(EngineError) -> [[Positions]] {
    var found: [[Positions]] = []
    for face in try faces(of: lines) {
      guard case .point(let place?) = try one(face, "snap", { geos.pointee.GEOSPointOnSurface_r(handle, $0) }).geometries[0] else { continue }
      if rings.count(where: { $0.encloses(place) }) % 2 == 1 { found += face.polygons }
    }
    return found
  }

  /// Faces of which an inner point is in one of the areas, or in none.
  private func faces(_ faces: [Geometry], inside areas: Geometry, _ isWanted: Bool) throws(EngineError) -> [Geometry] {
    let prepared = try PreparedGeometry(areas)
    var found: [Geometry] = []
    for face in faces {
      let point = try one(face, "pointOnSurface") { geos.pointee.GEOSPointOnSurface_r(handle, $0) }.geometries[0]
      if try prepared.relates(.intersects, point) == isWanted { found.append(face) }
    }
    return found
  }

  /// Pieces, with their sides of the line as numbers: 1 left, -1 right, 0 where the line does not cut.
  func cut(_ operand: Geometry, by cutter: Geometry) throws(EngineError) -> GeometryOutcome {
    if case .collection = operand {
      var outcome = GeometryOutcome()
      for part in operand.flattened {
        let made = try cut(part, by: cutter)
        outcome.geometries += made.geometries
        outcome.numbers += made.numbers
      }
      return outcome
    }
    guard operand.dimension == 2 else { return operand.cutLines(by: cutter) }
    let area = try GEOSShape(operand, in: self)
    let line = try GEOSShape(cutter, in: self)
    let (whole, cutting) = (area.handle, line.handle)
    let edge = try GEOSShape(of: "boundary", in: self) { geos.pointee.GEOSBoundary_r(handle, whole) }
    let outline = edge.handle
    let noded = try GEOSShape(of: "cut", in: self) { geos.pointee.GEOSUnion_r(handle, outline, cutting) }
    let pieces = try faces(faces(of: noded), inside: operand, true)
    let cuts = Segments(cutter)
    return GeometryOutcome(pieces, numbers: pieces.map { $0.side(of: cuts) })
  }

  /// - Throws: `failed` as well where an outline would cross itself, or polygons one another.
  func reshaped(_ operand: Geometry, by path: Geometry) throws(EngineError) -> Geometry {
    let made = try operand.reshaped(by: path)
    func isValid(_ geometry: Geometry) throws(EngineError) -> Bool {
      if case .invalid = try validity(of: GEOSShape(geometry, in: self)) { return false }
      return true
    }
    if made.dimension < 2 { return made }
    if try isValid(made) { return made }
    // The new outline may run through holes, or leave them outside.
    let mended = try made.mapPolygons { (rings) throws(EngineError) in
      let outer = Geometry.polygon([rings[0]])
      guard rings.count > 1, try isValid(outer) else { return outer }
      let holes = try simplified(.multiPolygon(rings.dropFirst().map { [$0] }), byStructure: true).geometries
      return try two([outer] + holes, "difference") { geos.pointee.GEOSDifference_r(handle, $0, $1) }.geometries[0]
    }
    guard try isValid(mended) else { throw .failed(operation: "reshape", reason: "The outline would cross itself.") }
    return mended
  }

  /// The new polygons that close gaps between polygons and lines. The first `existing` operands are the polygons.
  func completed(_ operands: [Geometry], existing: Int) throws(EngineError) -> GeometryOutcome {
    let areas = Geometry.multiPolygon(operands[..<existing].flatMap { $0.flattened.flatMap(\.polygons) })
    let lines = Geometry.collection(areas.flattened.flatMap { $0.polygons.flatMap { $0 } }.map(Geometry.lineString) + operands[existing...])
    let all = try GEOSShape(lines, in: self)
    let given = all.handle
    let noded = try GEOSShape(of: "autoComplete", in: self) { geos.pointee.GEOSUnaryUnion_r(handle, given) }
    return GeometryOutcome(try faces(faces(of: noded), inside: areas, false))
  }
}

extension Geometry {
  /// With other polygons. One that becomes several is among those of a MultiPolygon.
  fileprivate func mapPolygons<E: Error>(_ body: ([Positions]) throws(E) -> Geometry) throws(E) -> Geometry {
    switch self {
    case .polygon(let rings): return rings.isEmpty ? self : try body(rings)
    case .multiPolygon(let polygons):
      var made: [[Positions]] = []
      for polygon in polygons where !polygon.isEmpty { made += try body(polygon).polygons }
      return .multiPolygon(made)
    case .collection(let parts): return .collection(try parts.map { (part) throws(E) in try part.mapPolygons(body) })
    case .point, .multiPoint, .lineString, .multiLineString: return self
    }
  }
}
