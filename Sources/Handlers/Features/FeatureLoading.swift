// Reads features from a file or inline data into a store. Runs on workers.

import FeatureFormats
import GeoModel
import Geometry
import JSON
import Query
import StateTree
import WireCoding

enum FeatureLoading {
  /// Rows handed to the store at a time.
  private static let batchRows = 4096

  static func source(_ origin: SourceOrigin) -> (FeatureSource, OpenOptions) {
    switch origin {
    case .inline(let bytes, _): (.geoJSON(bytes), OpenOptions())
    case .file(let path, let driver, let xField, let yField, _):
      (
        .file(path),
        OpenOptions(
          driver: driver.flatMap { FeatureDriver(rawValue: $0) },
          points: xField.flatMap { x in yField.map { OpenOptions.PointFields(x: x, y: $0) } })
      )
    }
  }

  /// The value in JSON text. Where the features of a GeoJSON file have values of several types under one name, GDAL makes text of
  /// each, and strings lose their quotes: text that is not JSON is a string.
  private static func parsed(_ value: AttributeValue) -> AttributeValue {
    guard case .json(let text) = value else { return value }
    guard let document = try? JSONDocument(text) else { return .string(text) }
    return document.read { GraphicReader.attribute($0) }
  }

  /// Reads all features of a layer into a new store.
  ///
  /// - Returns: the store and the schema as read: the file may have changed since the layer was added.
  static func store(
    of layer: LayerFeatures, _ worker: Worker
  ) throws -> (store: FeatureStore, schema: SourceLayer) {
    let (source, options) = source(layer.origin)
    var schema = layer.schema
    var store = FeatureStore()
    var batch = FeatureBatch()
    var columns: [Int] = []
    var failure: StoreFailure?
    // The format's ids are used until a feature has none that is usable.
    var usesOwnIDs = true

    func prepare() {
      batch = FeatureBatch()
      batch.reserveCapacity(batchRows)
      columns = schema.fields.map { batch.column(named: $0.name.string) }
    }
    func append() {
      guard failure == nil, batch.count > 0 else { return }
      do throws(StoreFailure) { try store.append(batch) } catch { failure = error }
      prepare()
    }

    _ = try FeatureFormats.read(
      source, layer: layer.schema.name.string, options: options, policy: worker.files.policy,
      isCancelled: { worker.isCancelled },
      progress: { worker.report($0) },
      begin: { description in
        schema = SourceService.layer(description, of: layer.origin)
        store = FeatureStore(fields: schema.fields)
        prepare()
      }
    ) { feature in
      var id = feature.fid.map { Int($0) }
      if let own = id, !(0..<FeatureStore.idLimit).contains(own) { id = nil }
      if id == nil { usesOwnIDs = false }
      batch.begin(id: usesOwnIDs ? id : nil)
      switch layer.isTable ? nil : feature.geometry {
      case .point(let point?)? where point.m == nil: batch.setPoint(x: point.x, y: point.y, z: point.z)
      case let geometry?: batch.setGeometry(geometry)
      case nil: break
      }
      for (column, value) in zip(columns, feature.attributes) where value != .null {
        batch.set(column: column, parsed(value))
      }
      if batch.count >= batchRows { append() }
    }
    append()
    if let failure { throw ModelError(failure) }
    try worker.checkCancelled()
    return (store, schema)
  }
}
