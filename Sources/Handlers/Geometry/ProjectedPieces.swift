// Geometries transformed in one piece, then cut where they cross the edge of the target's world.

import GeoModel
import Geometry
import GeometryEngine

extension GeometryProjector {
  /// The geometry as clients get it, in pieces if it crosses the edge of the target's world.
  ///
  /// - Parameter beforeCut: what is made of a geometry that is cut, while it is in one piece.
  /// - Throws: `TransformError` if a position has no coordinates in the target; ``EngineError`` where it cannot be cut.
  func pieces(
    _ geometry: Geometry, checking check: () throws -> Void = {}, beforeCut: (Geometry) throws -> Geometry = { $0 }
  ) throws -> Geometry {
    let moved = try uncut(geometry, checking: check)
    return try moved.edge.map { try beforeCut(moved.geometry).cut(at: $0).withRightHandRings } ?? moved.geometry
  }

  /// The geometry with the edge at which it is still to be cut, if it crosses that of the target's world; cut already where that is curved.
  func uncut(_ geometry: Geometry, checking check: () throws -> Void = {}) throws -> (geometry: Geometry, edge: Seam?) {
    let moved = try unbroken(cutAtCurvedEdge(geometry), checking: check)
    guard let detour, geometry.dimension > 0, let box = moved.geometry.envelope, detour.mayCross(box) else { return moved }
    let inDegrees = try detour.toDegrees.unbroken(geometry, checking: check).geometry
    guard let box = inDegrees.envelope, detour.edge.exceeds(box) else { return moved }
    return (try detour.fromDegrees.pieces(inDegrees, checking: check), nil)
  }

  /// Cut in the source where the target's world has an edge that is no straight line; unchanged for other targets. What ends at
  /// the edge does so a hundredth of a millimetre before it, as PROJ takes what is on it for either side.
  func cutAtCurvedEdge(_ geometry: Geometry) throws(EngineError) -> Geometry {
    guard let curvedEdge, geometry.dimension > 0, let box = geometry.envelope, curvedEdge.reaches(box) else { return geometry }
    let margin = curvedEdge.width * 3e-13
    var pieces = geometry
    if curvedEdge.exceeds(box) {
      pieces = try geometry.cut(at: curvedEdge).withRightHandRings
      if curvedEdge.crosses(box) { pieces = pieces.following(curvedEdge) }
    }
    return pieces.mapX { min(max($0, curvedEdge.west + margin), curvedEdge.east - margin) }
  }
}

extension Geometry {
  /// With positions along sides on an edge, a quarter of a degree or less apart: where the edge is curved, it is within 20 metres of them.
  fileprivate func following(_ edge: Seam) -> Geometry {
    guard dimension == 2 else { return self }
    return mapPositions { ring in
      var values: [Double] = []
      let points = ring.values
      for base in stride(from: 0, to: points.count, by: ring.stride) {
        values += points[base..<base + ring.stride]
        guard base + ring.stride < points.count, points[base] == points[base + ring.stride], edge.isOn(points[base]) else { continue }
        let steps = (abs(points[base + ring.stride + 1] - points[base + 1]) / edge.width * 1440).rounded(.up)
        for step in stride(from: 1, to: steps, by: 1) {
          values += (base..<base + ring.stride).map { points[$0] + (points[$0 + ring.stride] - points[$0]) * step / steps }
        }
      }
      return Positions(values: values, hasZ: ring.hasZ, hasM: ring.hasM)
    }
  }
}
