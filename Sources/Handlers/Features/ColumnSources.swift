// Sources whose features a client sends in columns. They have no file and no reader: the features are kept in a store.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import WireCoding

package enum ColumnSources {
  /// The data of a source.
  ///
  /// - Parameters:
  ///   - fields: declared types; other attributes have the types of their values.
  ///   - path: the pointer to the columns, within the params.
  package static func data(
    _ columns: OverlayProtocol.FeatureColumns, fields: [Field], in reference: SpatialReference?, at path: String
  ) throws -> ColumnData {
    var data = ColumnData(fields: fields, reference: reference ?? .wgs84)
    let (batch, type) = try batch(columns, at: path)
    do throws(StoreFailure) { try data.append(batch, of: type) } catch { throw ModelError(error) }
    return data
  }

  /// The features, and the simple features type of their geometries.
  static func batch(
    _ columns: OverlayProtocol.FeatureColumns, at path: String
  ) throws -> (batch: FeatureBatch, type: String?) {
    let geometry = try ColumnReader.geometry(columns, at: path)
    return (try ColumnReader.batch(columns, geometry, at: path), geometry?.type)
  }

  /// The features of a layer over a source; without geometries for a table.
  ///
  /// - Complexity: O(1) with geometries, since the layer shares the source's features until it changes them.
  static func store(_ data: ColumnData, isTable: Bool, _ worker: Worker) throws -> FeatureStore {
    guard isTable, data.geometryType != nil else { return data.store }
    var table = FeatureStore(fields: data.store.fields)
    let rows = try data.store.rowsAscending(checking: { _ in try worker.checkCancelled() })
    for start in stride(from: 0, to: rows.count, by: 4096) {
      try worker.checkCancelled()
      var batch = FeatureBatch()
      for row in rows[start..<min(start + 4096, rows.count)] {
        guard let feature = data.store[row] else { continue }
        batch.begin(id: feature.id)
        for column in 0..<data.store.schema.count {
          let value = feature.value(column)
          if value != .null { batch.set(column: batch.column(named: data.store.schema.name(of: column)), value) }
        }
      }
      do throws(StoreFailure) { try table.append(batch) } catch { throw ModelError(error) }
    }
    return table
  }
}
