// Exports of results that are tables without geometries: statistics and joins.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Planning
import WireCoding

/// An export of a table that a worker makes.
struct TableExport: Sendable {
  private let export: FeatureExport

  init(_ params: some FeatureProtocol.ExportFile, _ world: World) throws {
    let format = try ExportFormat(of: params)
    try format.check(hasGeometry: false)
    let params = FeatureExport.Params(
      returnGeometry: false, path: params.path, driver: params.driver, ifExists: params.ifExists,
      layerName: params.layerName)
    let reference = try format.reference(given: nil, own: .unknown)
    var output = try FeatureOutput(
      params, FeatureQuery(table: FeatureStore()), measures: false, in: reference, world)
    output.selection.nulls = true
    export = FeatureExport(
      params: params, output: output, terms: [], format: format, geometryType: "Unknown", revision: world.revision)
  }

  /// - Parameter make: makes the table; also returns whether the result has more rows.
  func run(
    _ worker: Worker, _ make: (WorkShare) throws -> (store: FeatureStore, exceeded: Bool)
  ) throws -> FeatureExport.Result {
    let shares = WorkShare(worker.work).split(by: 3, 1)
    let table = try make(shares[0])
    var export = export
    export.output.features = FeatureQuery(table: table.store)
    var result = try export.run(worker, shares[1])
    result.exceededLimit = table.exceeded
    return result
  }
}

/// The rows of a table, numbered from 1.
struct TableRows {
  private var batch = FeatureBatch()
  private var count = 0
  private let columns: [(String, FieldType?)]

  init(_ columns: [(String, FieldType?)]) {
    self.columns = columns
    for (name, _) in columns { _ = batch.column(named: name) }
  }

  /// Maximum number of rows, which are in memory.
  static let limit = 10_000_000

  mutating func append(_ values: [AttributeValue]) throws {
    guard count < Self.limit else {
      throw QueryError.invalid(
        "The table has more than \(Self.limit) rows.", path: "/limit", expected: "at most \(Self.limit), with `offset`")
    }
    count += 1
    batch.begin(id: count)
    for (column, value) in values.enumerated() { batch.set(column: column, value) }
  }

  consuming func store() throws -> FeatureStore {
    var store = FeatureStore(columns: columns.map { (name: $0, type: $1) })
    try store.append(batch)
    return store
  }
}
