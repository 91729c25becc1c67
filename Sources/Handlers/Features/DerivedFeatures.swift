// Features made of those of a query, and where they go: into the answer, a new source, or a file.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import SpatialRelations
import WireCoding

/// The features of a query with their geometries in the reference of a result, and what is done with features made of them.
///
/// Checked on the loop, run by a worker.
struct DerivedFeatures: Sendable {
  typealias Params = FeatureProtocol.FeatureFilter & FeatureProtocol.ComputedFields & FeatureProtocol.DerivedOutput
  typealias Result = FeatureProtocol.DerivedFeatures

  private enum Target: Sendable {
    case features(FeatureProtocol.FeatureFormat)
    case source(SourceID?, layer: NewLayer?)
    case file(FeatureProtocol.DerivedFile, ExportFormat)
  }

  private struct NewLayer: Sendable {
    let content: ViewContent
    let id: LayerID?
    let name: String?
  }

  let features: FeatureQuery
  /// The features as the result has them.
  let output: FeatureOutput
  let reference: SpatialReference
  let mends: Bool
  private let target: Target
  private let world: World

  init(_ params: some Params, in world: inout World) throws {
    features = try FeatureQuery(params, in: world)
    reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let options = FeatureExport.Params(properties: params.properties, path: "")
    output = try FeatureOutput(options, features, measures: true, in: reference, world)
    mends = params.mend
    self.world = world
    func refuse(_ name: String, _ isGiven: Bool, _ target: FeatureProtocol.DerivedTarget) throws {
      guard isGiven, params.output != target else { return }
      throw RPCError(
        .invalidParams, "\(name) belongs to the output \(target.rawValue).", path: "/params/\(name)",
        expected: "absent, or the output \(target.rawValue)")
    }
    try refuse("source", params.source != nil, .source)
    try refuse("map", params.map != nil, .source)
    try refuse("scene", params.scene != nil, .source)
    guard params.map == nil || params.scene == nil else { throw ModelError.oneOf(["map", "scene"]) }
    try refuse("file", params.file != nil, .file)
    for (name, isGiven) in [("layerId", params.layerId != nil), ("layerName", params.layerName != nil)]
    where isGiven && params.map == nil && params.scene == nil {
      throw RPCError(.invalidParams, "\(name) belongs to a new layer.", path: "/params/\(name)", expected: "absent, or `map` or `scene`")
    }
    switch params.output {
    case .features: target = .features(params.format)
    case .source:
      let id = params.source.map { SourceID($0) }
      try world.checkFree(id)
      let content = params.map.map { ViewContent.map(ID($0)) } ?? params.scene.map { ViewContent.scene(ID($0)) }
      if let content { _ = try world.content(of: content) }
      let layer = content.map { NewLayer(content: $0, id: params.layerId.map { LayerID($0) }, name: params.layerName) }
      try world.checkFree(layer?.id)
      target = .source(id, layer: layer)
    case .file:
      guard let file = params.file else {
        throw RPCError(.invalidParams, "The output file needs `file`.", path: "/params/file", expected: "an object with `path`")
      }
      do { target = .file(file, try ExportFormat(of: file.params)) } catch { throw NestedError(error, in: "file") }
    }
  }

  /// The plan of a task that makes features.
  func plan(_ make: @escaping @Sendable (Worker) throws -> DerivedRows) -> Plan<Result> {
    TaskPlan { worker in
      let rows = try make(worker)
      let data = try rows.data(in: reference)
      var result = Result(
        revision: world.revision, spatialReference: reference.definition, count: data.store.count, fields: data.store.fields.map(Wire.field))
      if !rows.failed.isEmpty { (result.failed, result.failedCount) = (Array(rows.failed.prefix(100)), rows.failed.count) }
      switch target {
      case .features(let format): return try answer(data, format, result, worker)
      case .source(let id, let layer): return edit(data, id, layer, result)
      case .file(let file, let format): return try write(data, file, format, result, worker)
      }
    }
  }

  // MARK: Targets

  private func answer(
    _ data: ColumnData, _ format: FeatureProtocol.FeatureFormat, _ given: Result, _ worker: Worker
  ) throws -> Plan<Result>.Finish {
    let (store, share) = (data.store, WorkShare(worker.work))
    var result = given
    var selection = FeatureWriter.Selection()
    (selection.measures, selection.nulls) = (true, true)
    let rows = try store.rowsAscending { _ in try worker.checkCancelled() }
    switch format {
    case .geojson:
      result.features = try .made { writer in
        writer.beginArray()
        for (index, row) in rows.enumerated() {
          if index & 255 == 0 {
            try worker.checkCancelled()
            try share.checkSize(writer.count)
          }
          if let feature = store[row] { FeatureWriter.writeFeature(feature, store.schema, selection, .own, to: &writer) {} }
        }
        writer.endArray()
      }
    case .columns:
      var writer = FeatureColumnsWriter(store.schema, selection)
      for (index, row) in rows.enumerated() {
        if index & 255 == 0 {
          try worker.checkCancelled()
          try share.checkSize(writer.byteCount)
        }
        if let feature = store[row] { writer.append(feature) }
      }
      result.columns = writer.columns()
    }
    return { [result] _ in result }
  }

  private func edit(_ data: ColumnData, _ id: SourceID?, _ layer: NewLayer?, _ result: Result) -> Plan<Result>.Finish {
    { world in
      var result = result
      try world.checkFree(id)
      let source = try world.addSource(id: id, driver: "inline", origin: .columns(data), layers: [data.layer])
      result.source = source.id.rawValue
      if let layer {
        let added = try world.addLayer(
          id: layer.id, to: layer.content, over: source.id, sourceLayer: nil, name: layer.name ?? source.id.rawValue,
          asTable: data.geometryType == nil)
        _ = try world.finishLoad(added.id, store: data.store)
        result.layer = added.id.rawValue
      }
      result.revision = world.revision
      return result
    }
  }

  private func write(
    _ data: ColumnData, _ file: FeatureProtocol.DerivedFile, _ format: ExportFormat, _ given: Result, _ worker: Worker
  ) throws -> Plan<Result>.Finish {
    let params = file.params
    let fileReference = try format.reference(given: nil, own: reference)
    var written = try FeatureOutput(
      params, FeatureQuery(table: data.store, in: reference), measures: false, in: fileReference, cuts: format.record.isText, world)
    if data.geometryType == nil { written.selection.geometry = false }
    written.selection.nulls = true
    try format.check(hasGeometry: written.selection.geometry)
    let export = FeatureExport(
      params: params, output: written, terms: [], format: format, geometryType: data.geometryType ?? "Unknown", revision: given.revision)
    let made = try export.run(worker, WorkShare(worker.work))
    var result = given
    (result.path, result.driver, result.layerName, result.bytes) = (made.path, made.driver, made.layerName, made.bytes)
    result.differences = made.differences
    if let failed = made.failed { result.failed = (result.failed ?? []) + failed }
    result.failedCount = (result.failedCount ?? 0) + (made.failedCount ?? 0)
    if result.failedCount == 0 { result.failedCount = nil }
    return { [result] _ in result }
  }

  // MARK: Making

  /// The features, each with its geometry in the reference of the result.
  struct Input: Sendable {
    let query: FeatureQuery
    let rows: [UInt32]
    let geometries: [Geometry?]
    var failed: [FeatureProtocol.FailedFeature]
  }

  /// - Parameter isWhole: whether attributes are computed.
  func input(_ worker: Worker) throws -> Input { try Self.input(output, worker) }

  static func input(_ output: FeatureOutput, _ worker: Worker) throws -> Input {
    let found = try output.page([], offset: 0, limit: .max, WorkShare(worker.work))
    let (rows, output) = (Array(found.page), found.output)
    return try input(rows, of: output, worker)
  }

  /// Rows of one query by their numbers.
  static func input(_ rows: [UInt32], of output: FeatureOutput, _ worker: Worker) throws -> Input {
    let chunk = 1024
    let parts = try WorkShare(worker.work).concurrently((rows.count + chunk - 1) / chunk) { number in
      var (geometries, failed): ([Geometry?], [FeatureOutput.Failure]) = ([], [])
      for (index, row) in rows[number * chunk..<min((number + 1) * chunk, rows.count)].enumerated() {
        try worker.checkCancelled()
        switch try output.shape(of: row, index, &failed, checking: worker.checkCancelled) {
        case .own: geometries.append(output.features.store[row]?.geometry)
        case .given(let geometry): geometries.append(geometry)
        }
      }
      return (geometries, failed.map(\.feature))
    }
    return Input(query: output.features, rows: rows, geometries: parts.flatMap(\.0), failed: parts.flatMap(\.1))
  }

  /// Features with another geometry each; without one where `body` gives none.
  ///
  /// - Parameter tools: makes what a thread needs for a run of features.
  func mapped<Tools: ~Copyable>(
    _ worker: Worker, tools: @Sendable () throws -> Tools,
    _ body: @Sendable (FeatureRow, Geometry, borrowing GeometryCalculator, borrowing Tools) throws -> Geometry?
  ) throws -> DerivedRows {
    let input = try input(worker)
    let chunk = 256
    let parts = try WorkShare(worker.work).concurrently((input.rows.count + chunk - 1) / chunk) { number in
      do {
        let calculator = try GeometryCalculator()
        let tools = try tools()
        var made: [Swift.Result<Geometry?, RPCError>] = []
        for index in number * chunk..<min((number + 1) * chunk, input.rows.count) {
          try worker.checkCancelled()
          guard let row = input.query.store[input.rows[index]], let geometry = input.geometries[index] else {
            made.append(.success(nil))
            continue
          }
          do { made.append(.success(try body(row, geometry, calculator, tools))) } catch {
            switch error as? EngineError {
            case .unavailable?, .interrupted?: throw error
            case .failed?, .tooExpensive?, .engineFailed?, .invalid?, nil: break
            }
            if error is CancellationError { throw error }
            made.append(.failure(GeometryBatch.failure(error)))
          }
        }
        return made
      } catch let error as EngineError { throw SpatialError(error) }
    }
    var rows = DerivedRows(fields(input.query), failed: input.failed)
    for (index, result) in parts.joined().enumerated() {
      guard let row = input.query.store[input.rows[index]] else { continue }
      switch result {
      case .success(nil): continue
      case .success(let geometry): rows.append(id: row.id, geometry, values(of: row, input.query))
      case .failure(let error): rows.failed.append(.init(id: row.id, reason: error.message))
      }
    }
    return rows
  }

  /// The attributes that are kept.
  func fields(_ query: FeatureQuery) -> [(String, FieldType?)] {
    columns(query).map { (query.store.schema.name(of: $0), query.store.schema.declaredType(of: $0)) }
  }

  func values(of row: FeatureRow, _ query: FeatureQuery) -> [AttributeValue] { columns(query).map { row.value($0) } }

  private func columns(_ query: FeatureQuery) -> [Int] { output.selection.columns ?? Array(0..<query.store.schema.count) }
}

extension FeatureProtocol.DerivedFile {
  fileprivate var params: FeatureExport.Params {
    .init(path: path, driver: driver, ifExists: ifExists, layerName: layerName)
  }
}

/// Features that are made one after the other.
struct DerivedRows {
  var failed: [FeatureProtocol.FailedFeature]
  private var batch = FeatureBatch()
  private var count = 0
  private var type: String?
  private(set) var geometries: [Geometry] = []
  private let fields: [(String, FieldType?)]

  init(_ fields: [(String, FieldType?)], failed: [FeatureProtocol.FailedFeature] = []) {
    (self.fields, self.failed) = (fields, failed)
    for (name, _) in fields { _ = batch.column(named: name) }
  }

  /// - Parameter id: numbered from 1 if nil.
  mutating func append(id: Int? = nil, _ geometry: Geometry?, _ values: [AttributeValue]) {
    count += 1
    batch.begin(id: id ?? count)
    batch.setGeometry(geometry)
    if let geometry { geometries.append(geometry) }
    if let name = geometry?.typeName { type = type == nil || type == name ? name : "Unknown" }
    for (column, value) in values.enumerated() where value != .null { batch.set(column: column, value) }
  }

  /// All attributes of features.
  static func fields(of query: FeatureQuery) -> [(String, FieldType?)] {
    (0..<query.store.schema.count).map { (query.store.schema.name(of: $0), query.store.schema.declaredType(of: $0)) }
  }

  /// All geometries as one feature without attributes.
  func united(_ worker: Worker, mends: Bool) throws -> DerivedRows {
    var rows = DerivedRows([], failed: failed)
    if !geometries.isEmpty { rows.append(try GeometryUnion(mends: mends)(geometries, worker), []) }
    return rows
  }

  func data(in reference: SpatialReference) throws -> ColumnData {
    var data = ColumnData(columns: fields.map { (name: $0, type: $1) }, reference: reference)
    do throws(StoreFailure) { try data.append(batch, of: type ?? "Unknown") } catch { throw ModelError(error) }
    return data
  }
}
