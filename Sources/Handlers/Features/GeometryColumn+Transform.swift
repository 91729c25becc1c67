// Transforms the geometries of a bulk request to the spatial reference of their overlay or source.

import GeoModel
import Geometry
import JSONRPC
import WireCoding

extension GeometryColumn {
  /// - Throws: an error with the indexes of the first 100 rows that cannot be transformed; other errors, such as missing
  ///   libraries, unchanged.
  func transformed(
    by transformer: any CoordinateTransformer, from source: SpatialReference, to target: SpatialReference
  ) throws -> GeometryColumn {
    switch self {
    case .points(let x, let y, let z):
      var moved = (x: x, y: y, z: z ?? [])
      do throws(TransformError) { try transformer.transform(x: &moved.x, y: &moved.y, z: &moved.z, from: source, to: target) } catch {
        // Transforms points individually to find all that fail.
        let points = x.indices.map { Geometry.point(Point(x: x[$0], y: y[$0], z: z?[$0])) }
        return try GeometryColumn.any(points).transformed(by: transformer, from: source, to: target)
      }
      return .points(x: moved.x, y: moved.y, z: z == nil ? nil : moved.z)
    case .any(let geometries):
      var failures: [ItemError] = []
      var failureCount = 0
      let moved = try geometries.enumerated().map { (row, geometry) throws -> Geometry? in
        do throws(TransformError) { return try geometry?.moved(by: transformer, source, target) } catch {
          guard case .outsideDomain = error else { throw error }
          failureCount += 1
          if failures.count < 100 { failures.append(ItemError(index: row, .failure(RPCError(error).failure))) }
          return nil
        }
      }
      guard failureCount == 0 else { throw ModelError.items(failures, count: failureCount) }
      return .any(moved)
    }
  }
}

extension Geometry {
  fileprivate func moved(
    by transformer: any CoordinateTransformer, _ source: SpatialReference, _ target: SpatialReference
  ) throws(TransformError) -> Geometry { try transformer.transform(self, from: source, to: target) }
}
