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
    let moved = try unbroken(geometry, checking: check)
    return try moved.edge.map { try beforeCut(moved.geometry).cut(at: $0).withRightHandRings } ?? moved.geometry
  }
}
