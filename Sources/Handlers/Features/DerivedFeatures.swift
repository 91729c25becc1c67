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
import Synchronization
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
    case file(FeatureProtocol.DerivedFile, ExportFormat, SpatialReference)
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
    let given = try world.canonical(params.outSpatialReference)
    reference = given ?? features.reference
    let options = FeatureExport.Params(properties: params.properties, path: "")
    output = try FeatureOutput(options, features, measures: true, in: reference, world)
    mends = params.mend
    self.world = world
    func refuse(_ name: String, _ isGiven: Bool, _ target: FeatureProtocol.DerivedTarget) throws {
      guard isGiven, params.output != target else { return }
      throw RPCError(
        .invalidParams, "`\(name)` is for the output \"\(target.rawValue)\".", path: "/params/\(name)",
        expected: "absent, or output: \"\(target.rawValue)\"")
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
      let format: ExportFormat
      do { format = try ExportFormat(of: file.params) } catch { throw NestedError(error, in: "file") }
      target = .file(file, format, try format.reference(given: given, own: reference))
    }
  }

  /// The plan of a task that makes features.
  func plan(_ make: @escaping @Sendable (Worker) throws -> any DerivedContent) -> Plan<Result> {
    TaskPlan { worker in
      do { return try finish(make(worker), worker) } catch QueryError.resultTooLarge(let limit) {
        throw RPCError.resultTooLarge(limit: limit, advice)
      }
    }
  }

  /// What helps where the features are too large.
  private var advice: String {
    if case .features = target { "ask for less, or for the `output` \"source\" or \"file\"" } else { "ask for less" }
  }

  private func finish(_ rows: any DerivedContent, _ worker: Worker) throws -> Plan<Result>.Finish {
    let data = try rows.data(in: reference)
    var result = Result(
      revision: world.revision, spatialReference: reference.definition, count: data.store.count, fields: data.store.fields.map(Wire.field))
    result.transformation = rows.transformation.map { .init($0) }
    if !rows.failed.isEmpty { (result.failed, result.failedCount) = (Array(rows.failed.prefix(100)), rows.failed.count) }
    switch target {
    case .features(let format): return try answer(data, format, result, worker)
    case .source(let id, let layer): return edit(data, id, layer, result)
    case .file(let file, let format, let reference): return try write(data, file, format, reference, result, worker)
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
        try share.checkSize(writer.count)
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
      try share.checkSize(writer.byteCount)
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
    _ data: ColumnData, _ file: FeatureProtocol.DerivedFile, _ format: ExportFormat, _ fileReference: SpatialReference, _ given: Result,
    _ worker: Worker
  ) throws -> Plan<Result>.Finish {
    let params = file.params
    var written = try FeatureOutput(
      params, FeatureQuery(table: data.store, in: reference), measures: false, in: fileReference, cuts: format.record.isText, world)
    if data.geometryType == nil { written.selection.geometry = false }
    written.selection.nulls = true
    let made: FeatureExport.Result
    do {
      try format.check(hasGeometry: written.selection.geometry)
      let export = FeatureExport(
        params: params, output: written, terms: [], format: format, geometryType: data.geometryType ?? "Unknown", revision: given.revision)
      made = try export.run(worker, WorkShare(worker.work))
    } catch let error as RPCError { throw NestedError(error, in: "file") }
    var result = given
    (result.path, result.driver, result.layerName, result.bytes) = (made.path, made.driver, made.layerName, made.bytes)
    (result.count, result.differences) = (made.count, made.differences)
    if let reference = made.spatialReference { result.spatialReference = reference }
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
  /// - Parameters:
  ///   - isUnited: whether the result is their union, which may be much smaller.
  ///   - tools: makes what a thread needs for a run of features.
  func mapped<Tools: ~Copyable>(
    _ worker: Worker, isUnited: Bool = false, tools: @Sendable () throws -> Tools,
    _ body: @Sendable (FeatureRow, Geometry, borrowing GeometryCalculator, borrowing Tools) throws -> Geometry?
  ) throws -> DerivedParts {
    let size = size(worker, isUnited: isUnited)
    return try parts(of: output, by: nil, worker) { rows, output in
      do {
        let calculator = try GeometryCalculator()
        let tools = try tools()
        var (part, made) = (DerivedParts.Part(), [Geometry]())
        for (index, row) in rows.enumerated() {
          try worker.checkCancelled()
          guard let feature = output.features.store[row], let own = try output.geometry(of: feature, index, &part, worker) else { continue }
          let geometry: Geometry?
          do { geometry = try body(feature, own, calculator, tools) } catch {
            switch error as? EngineError {
            case .unavailable?, .interrupted?: throw error
            case .failed?, .tooExpensive?, .tooManyPositions?, .engineFailed?, .invalid?, nil: break
            }
            if error is CancellationError { throw error }
            part.failed.append(.init(id: feature.id, reason: GeometryBatch.failure(error).message))
            continue
          }
          guard let geometry else { continue }
          try size.add(geometry)
          part.rows.append(row)
          made.append(geometry)
        }
        part.geometry = .init(made)
        return part
      } catch let error as EngineError { throw SpatialError(error) }
    }
  }

  /// What geometries of a source or a file may take at most: as much as a process that reads a file has by default.
  private static let mostBytes = 4 << 30

  /// The size of the geometries that are made, of which an answer has four characters of each number at least.
  ///
  /// - Parameter isUnited: whether the result is their union, which may be much smaller.
  func size(_ worker: Worker, isUnited: Bool = false) -> DerivedSize {
    if case .features = target, !isUnited { return DerivedSize(limit: worker.work.resultBytes, ofNumber: 4) }
    return DerivedSize(limit: Self.mostBytes, ofNumber: 8)
  }

  /// Features as they are, in the reference of the result; those without a geometry, too.
  ///
  /// - Parameter choice: the transformation; nil for the best at each place.
  func copied(_ worker: Worker, by choice: TransformationChoice? = nil) throws -> DerivedParts {
    let chosen = try choice.map { try output.choosing($0) }
    if chosen == nil, !output.changesGeometries {
      let shares = WorkShare(worker.work).split(by: 4, 1)
      if let whole = try output.whole(shares[0]) { return DerivedParts(nil, whole, columns(whole.features), shares[1]) }
    }
    var copied = try parts(of: chosen?.output ?? output, by: StoreCopy.size, worker) { rows, output in
      try worker.checkCancelled()
      var part = DerivedParts.Part()
      if !output.changesGeometries {
        part.rows = Array(rows)
      } else if let points = try output.points(of: rows) {
        (part.rows, part.geometry) = (Array(rows), points)
      } else {
        var made: [Geometry?] = []
        for (index, row) in rows.enumerated() {
          try worker.checkCancelled()
          guard let feature = output.features.store[row] else { continue }
          let geometry = try output.geometry(of: feature, index, &part, worker)
          if geometry == nil, feature.geometry != nil { continue }
          part.rows.append(row)
          made.append(geometry)
        }
        part.geometry = .init(made)
      }
      return part
    }
    copied.transformation = chosen?.transformation
    return copied
  }

  /// - Parameter size: of each part; nil for one that keeps all threads at work, of whole chunks where there are many.
  private func parts(
    of output: FeatureOutput, by size: Int?, _ worker: Worker,
    _ make: @Sendable (ArraySlice<UInt32>, FeatureOutput) throws -> DerivedParts.Part
  ) throws -> DerivedParts {
    let shares = WorkShare(worker.work).split(by: 1, 4, 1)
    let (output, rows, _) = try output.page([], offset: 0, limit: .max, shares[0])
    let size = size ?? min(StoreCopy.size, max(32, rows.count / 64))
    let parts = try shares[1].concurrently((rows.count + size - 1) / size) { number in
      try make(rows.dropFirst(number * size).prefix(size), output)
    }
    return DerivedParts(parts, output, columns(output.features), shares[2])
  }

  /// The attributes that are kept.
  func fields(_ query: FeatureQuery) -> [(String, FieldType?)] {
    columns(query).map { (query.store.schema.name(of: $0), query.store.schema.declaredType(of: $0)) }
  }

  func values(of row: FeatureRow, _ query: FeatureQuery) -> [AttributeValue] { columns(query).map { row.value($0) } }

  private func columns(_ query: FeatureQuery) -> [Int] { output.selection.columns ?? Array(0..<query.store.schema.count) }
}

/// The size of geometries that several threads make, which memory has to hold.
final class DerivedSize: Sendable {
  private let limit: Int
  private let ofNumber: Int
  private let bytes = Atomic(0)

  init(limit: Int, ofNumber: Int) { (self.limit, self.ofNumber) = (limit, ofNumber) }

  /// Throws when there are too many bytes.
  func add(_ geometry: Geometry) throws {
    var count = 0
    geometry.forEachPositions { count += $0.values.count * ofNumber }
    guard bytes.wrappingAdd(count, ordering: .relaxed).newValue <= limit else { throw QueryError.resultTooLarge(limit: limit) }
  }
}

extension FeatureOutput {
  /// The geometry of a feature in the reference of the result; nil if it has none there.
  fileprivate func geometry(
    of feature: FeatureRow, _ index: Int, _ part: inout DerivedParts.Part, _ worker: Worker
  ) throws -> Geometry? {
    var failures: [Failure] = []
    defer { part.lost += failures.map(\.feature) }
    switch try shape(of: feature.row, index, &failures, checking: worker.checkCancelled) {
    case .own: return feature.geometry
    case .given(let geometry): return geometry
    }
  }
}

extension FeatureProtocol.DerivedFile {
  fileprivate var params: FeatureExport.Params {
    .init(path: path, driver: driver, ifExists: ifExists, layerName: layerName)
  }
}
