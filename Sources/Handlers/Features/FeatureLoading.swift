// Reads features from a file or inline data into a store. Runs on workers.

import FeatureStore
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Readers
import Reading
import WireCoding

/// A geometry that the model cannot hold.
private struct GeometryFailure: Error {
  /// Index of the row in the block.
  let row: Int
  let error: WKBError
}

extension FileOrigin {
  /// - Parameter name: an absolute path, or an address with its secrets.
  package init(opening name: String) { self.init(path: Address(name).shown, opened: name) }
}

extension SourceOrigin {
  /// Whether it is an address without its secret.
  var lacksSecret: Bool { if case .file(let file) = self { Address(file.opened).lacksSecret } else { false } }

  /// The same with other credentials.
  func with(_ credentials: SourceProtocol.Credentials) throws(RPCError) -> SourceOrigin {
    guard case .file(var file) = self, FilePolicy.isAddress(file.opened) else {
      throw RPCError(
        .invalidParams, "The layer's source has no address.", path: "/params/credentials", expected: "the layer of an address")
    }
    file.opened = Address(file.opened).with(Credentials(credentials))
    file.path = Address(file.opened).shown
    return .file(file)
  }
}

extension Credentials {
  init(_ wire: SourceProtocol.Credentials) { self.init(user: wire.user, password: wire.password) }
}

enum FeatureLoading {
  static func source(_ origin: SourceOrigin) -> (FeatureSource, OpenOptions) {
    switch origin {
    case .inline(let bytes, _): (.geoJSON(bytes), OpenOptions())
    case .columns: (.geoJSON([]), OpenOptions())
    case .file(let file):
      (
        .file(file.opened),
        OpenOptions(
          driver: file.driver.flatMap { FeatureDriver(rawValue: $0) },
          points: file.xField.flatMap { x in file.yField.map { OpenOptions.PointFields(x: x, y: $0, z: file.zField) } },
          encoding: file.encoding)
      )
    }
  }

  /// Parses a value of JSON text. If a property has values of several types in a GeoJSON file, GDAL converts each to text and
  /// strings lose their quotes. So text that is not JSON is taken for a string.
  private static func parsed(_ value: AttributeValue) -> AttributeValue {
    guard case .json(let text) = value else { return value }
    guard let document = try? JSONDocument(text) else { return .string(text) }
    return document.read { GraphicReader.attribute($0) }
  }

  /// Reads all features of a layer into a new store.
  ///
  /// - Returns: the store, and the schema as read, since the file may have changed after the layer was added.
  static func store(
    of layer: LayerFeatures, _ worker: Worker
  ) throws -> (store: FeatureStore, schema: SourceLayer) {
    if case .columns(let data) = layer.origin {
      return (try ColumnSources.store(data, isTable: layer.isTable, worker), data.layer)
    }
    let (source, options) = source(layer.origin)
    var schema = layer.schema
    var store = FeatureStore()
    var failure: (any Error)?
    // The ids in the file are used until a feature has no usable id.
    var usesOwnIDs = true

    _ = try worker.readers.read(
      source, layer: layer.schema.name.string, options: options, policy: worker.files.policy,
      isCancelled: { worker.isCancelled },
      progress: { worker.work.report($0) },
      begin: { description in
        schema = SourceService.layer(description, of: layer.origin)
        store = FeatureStore(fields: schema.fields, geometryName: schema.geometryName)
      }
    ) { block throws(ReadError) in
      guard failure == nil else { return }
      do {
        let hadOwnIDs = usesOwnIDs
        let batch = try batch(block, schema, isTable: layer.isTable, &usesOwnIDs)
        do { try store.append(batch) } catch let error as StoreFailure {
          // An id that occurs twice is not usable.
          guard hadOwnIDs else { throw error }
          usesOwnIDs = false
          try store.append(try Self.batch(block, schema, isTable: layer.isTable, &usesOwnIDs))
        }
      } catch let error as GeometryFailure {
        throw ReadError.readFailed(
          driver: nil, path: source.name, layer: schema.name.string,
          reason: "the geometry of feature \(store.count + error.row + 1) cannot be held: expected \(error.error)")
      } catch let error as StoreFailure {
        failure = ModelError(error)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    try worker.checkCancelled()
    return (store, schema)
  }

  static func batch(
    _ block: borrowing FeatureBlock, _ schema: SourceLayer, isTable: Bool, _ usesOwnIDs: inout Bool
  ) throws -> FeatureBatch {
    var batch = FeatureBatch()
    if usesOwnIDs { try batch.setIDs(ids(block, &usesOwnIDs)) }
    if !isTable { try setGeometries(block, in: &batch) }
    var names: Set<Text> = []
    for (column, field) in schema.fields.enumerated() {
      try set(column, of: block, named: field.name.string, isFirst: names.insert(field.name).inserted, in: &batch)
    }
    return batch
  }

  /// The ids of the rows; nil from the first row without a usable id on.
  private static func ids(_ block: borrowing FeatureBlock, _ usesOwnIDs: inout Bool) -> [Int?] {
    let range = 0..<Int64(FeatureStore.idLimit)
    var ids = [Int?](repeating: nil, count: block.count)
    for row in 0..<block.count {
      guard let id = block.ids?[row], range.contains(id) else {
        usesOwnIDs = false
        break
      }
      ids[row] = Int(id)
    }
    return ids
  }

  private static func setGeometries(_ block: borrowing FeatureBlock, in batch: inout FeatureBatch) throws {
    switch block.geometries {
    case .none: return
    case .points(let values, let stride) where values.allSatisfy(\.isFinite):
      func ordinate(_ number: Int) -> [Double] { (0..<block.count).map { values[$0 * stride + number] } }
      try batch.setPoints(x: ordinate(0), y: ordinate(1), z: stride == 3 ? ordinate(2) : nil)
    case .points, .wkb:
      var geometries: [Geometry?] = []
      geometries.reserveCapacity(block.count)
      for row in 0..<block.count {
        do { geometries.append(try block.geometries.geometry(row)) } catch {
          throw GeometryFailure(row: row, error: error)
        }
      }
      try batch.setGeometries(geometries)
    }
  }

  private static func set(
    _ column: Int, of block: borrowing FeatureBlock, named name: String, isFirst: Bool, in batch: inout FeatureBatch
  ) throws {
    let rows = 0..<block.count
    let nulls = block.hasNulls(column: column) ? rows.map { block.isNull(column: column, row: $0) } : []
    switch block.columns[column] {
    case .none: break
    case .integers(let values) where isFirst: try batch.setColumn(name, integers: Array(values), nulls: nulls)
    case .doubles(let values) where isFirst && values.allSatisfy(\.isFinite):
      try batch.setColumn(name, doubles: Array(values), nulls: nulls)
    case .texts(let texts) where isFirst && nulls.isEmpty: try batch.setColumn(name, texts: rows.map { texts[$0] })
    default:
      let number = isFirst ? try batch.beginColumn(name, rows: block.count) : batch.column(named: name)
      for row in rows where nulls.isEmpty || !nulls[row] {
        batch.set(column: number, row: row, parsed(block.value(column: column, row: row)))
      }
    }
  }
}
