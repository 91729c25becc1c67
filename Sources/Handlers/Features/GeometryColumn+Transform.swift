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
      let stride = z == nil ? 2 : 3
      var numbers = [Double](repeating: 0, count: x.count * stride)
      for row in x.indices {
        numbers[row * stride] = x[row]
        numbers[row * stride + 1] = y[row]
        if let z { numbers[row * stride + 2] = z[row] }
      }
      do throws(TransformError) {
        try numbers.withUnsafeMutableBufferPointer { buffer in
          Result { () throws(TransformError) in
            try transformer.transform(buffer, stride: stride, hasZ: z != nil, from: source, to: target)
          }
        }.get()
      } catch {
        // Transforms points individually to find all that fail.
        let points = x.indices.map { Geometry.point(Point(x: x[$0], y: y[$0], z: z?[$0])) }
        return try GeometryColumn.any(points).transformed(by: transformer, from: source, to: target)
      }
      func ordinate(_ number: Int) -> [Double] { x.indices.map { numbers[$0 * stride + number] } }
      return .points(x: ordinate(0), y: ordinate(1), z: z == nil ? nil : ordinate(2))
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
