// The features of a query in another spatial reference, as a store with an index of its own.

import FeatureStore
import GeoModel
import Geometry

extension FeatureQuery {
  /// The geometries of `rows` (all if nil) with the same ids, without those that have no coordinates in `target`.
  func moved(
    _ rows: [UInt32]?, to target: SpatialReference, _ transformer: any CoordinateTransformer, _ share: WorkShare
  ) throws -> FeatureStore {
    let rows = try rows ?? store.rowsAscending { _ in try share.work?.checkCancelled() }
    let projector = try GeometryProjector(from: reference, to: target, transformer)
    var moved = FeatureStore()
    for start in stride(from: 0, to: rows.count, by: 1024) {
      try share.checkpoint(start, of: rows.count)
      var batch = FeatureBatch()
      for row in rows[start..<min(start + 1024, rows.count)] {
        guard let feature = store[row], let geometry = feature.geometry else { continue }
        do {
          let other = try projector.unbroken(geometry) { try share.work?.checkCancelled() }.geometry
          batch.begin(id: feature.id)
          batch.setGeometry(other)
        } catch let error as TransformError {
          guard case .outsideDomain = error else { throw error }
        }
      }
      do throws(StoreFailure) { try moved.append(batch) } catch { throw ModelError(error) }
    }
    return moved
  }
}
