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
    let moved = try unbroken(cutAtCurvedEdge(geometry), checking: check)
    return try moved.edge.map { try beforeCut(moved.geometry).cut(at: $0).withRightHandRings } ?? moved.geometry
  }

  /// Cut in the source where the target's world has an edge that is no straight line; unchanged for other targets. What ends at
  /// the edge does so a hundredth of a millimetre before it, as PROJ takes what is on it for either side.
  func cutAtCurvedEdge(_ geometry: Geometry) throws(EngineError) -> Geometry {
    guard let curvedEdge, geometry.dimension > 0, let box = geometry.envelope, curvedEdge.reaches(box) else { return geometry }
    let margin = curvedEdge.width * 3e-13
    let pieces = curvedEdge.exceeds(box) ? try geometry.cut(at: curvedEdge).withRightHandRings : geometry
    return pieces.mapX { min(max($0, curvedEdge.west + margin), curvedEdge.east - margin) }
  }
}
