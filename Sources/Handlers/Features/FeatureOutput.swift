// The features on a page of a result: attributes, and geometries in a spatial reference, generalised if requested.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import WireCoding

/// The form in which features of a query are written.
struct FeatureOutput: Sendable {
  var features: FeatureQuery
  var selection: FeatureWriter.Selection
  /// The reference of the geometries.
  let reference: SpatialReference
  private var transformer: any CoordinateTransformer
  private let maxAllowableOffset: Double?
  /// The edge at which geometries are cut.
  private let seam: Seam?
  /// Nil if the reference stays.
  private var projector: GeometryProjector?

  /// A feature whose geometry has no coordinates in ``reference``, with its index on the page.
  struct Failure {
    let index: Int
    let feature: FeatureProtocol.FailedFeature
  }

  /// - Parameters:
  ///   - measures: whether M is written if the result's form has it.
  ///   - reference: the reference of the result.
  ///   - cuts: whether the result's form has no positions beyond the antimeridian.
  /// - Throws: `unknownField` for a property that the features do not have.
  init(
    _ params: some FeatureProtocol.FeatureOutputOptions, _ features: FeatureQuery, measures: Bool,
    in reference: SpatialReference, cuts: Bool = false, _ world: World
  ) throws {
    self.features = features
    self.reference = reference
    self.transformer = world.transformer
    maxAllowableOffset = params.maxAllowableOffset.flatMap { $0 > 0 ? $0 : nil }
    let transformer = world.transformer
    seam = params.cutAtAntimeridian || cuts ? try WorldWrap(transformer.describe(reference), transformer)?.seam : nil
    if params.returnGeometry, reference != features.reference {
      projector = try GeometryProjector(from: features.reference, to: reference, transformer)
    }
    var selection = FeatureWriter.Selection()
    selection.geometry = params.returnGeometry
    selection.measures = measures
    selection.nulls = features.layer != nil
    selection.columns = try params.properties.map { try features.columns($0, at: "properties") }
    self.selection = selection
  }

  /// Whether Esri's dialect of WKT has all of the reference, or there is none.
  var isInEsrisDialect: Bool { (try? transformer.esriWKT(of: reference)).flatMap { $0 }.map { !$0.contains("CRS[") } ?? true }

  /// The output by one transformation everywhere.
  func choosing(_ choice: TransformationChoice) throws -> (output: FeatureOutput, transformation: Transformation) {
    var output = self
    let chosen = try transformer.choosing(choice, from: features.reference, to: reference)
    output.transformer = chosen.transformer
    if projector != nil { output.projector = try GeometryProjector(from: features.reference, to: reference, chosen.transformer) }
    return (output, chosen.transformation)
  }

  /// A page of the features, see ``FeatureQuery/computedPage(_:offset:limit:_:)``, with the output that has their computed attributes.
  func page(
    _ terms: [SortTerm], offset: Int, limit: Int, _ share: WorkShare
  ) throws -> (output: FeatureOutput, page: ArraySlice<UInt32>, exceeded: Bool) {
    let found = try features.computedPage(terms, offset: offset, limit: limit, share)
    var output = self
    output.features = found.features
    return (output, found.page, found.exceeded)
  }

  /// The output with the computed attributes of all features; see ``FeatureQuery/computedWhole(_:)``.
  func whole(_ share: WorkShare) throws -> FeatureOutput? {
    guard let features = try features.computedWhole(share) else { return nil }
    var output = self
    output.features = features
    return output
  }

  /// Whether geometries differ from those in the store.
  var changesGeometries: Bool {
    selection.geometry && (reference != features.reference || maxAllowableOffset != nil || seam != nil)
  }

  /// Whether geometries may be cut, and have several parts then.
  var mayCut: Bool {
    guard selection.geometry, let box = features.store.reach else { return false }
    return projector?.mayCross(box) ?? seam?.exceeds(box) ?? false
  }

  /// The estimated cost of changing the geometry of one feature, in units of `FeatureQuery.effort`.
  var changeCost: Int {
    guard selection.geometry else { return 0 }
    return (reference == features.reference ? 0 : FeatureQuery.transformCost)
      + (maxAllowableOffset == nil && seam == nil ? 0 : FeatureQuery.generalizeCost)
  }

  /// The geometries of a page; nil if they are those of the store. Computed before anything is written, so that `failed` and
  /// errors are known first.
  func shapes(
    of rows: ArraySlice<UInt32>, _ share: WorkShare
  ) throws -> (geometries: [FeatureWriter.Shape], failed: [Failure])? {
    guard changesGeometries else { return nil }
    var failed: [Failure] = []
    let geometries = try rows.enumerated().map { (index, row) throws -> FeatureWriter.Shape in
      try shape(of: row, index, &failed) { try share.checkpoint(index, of: rows.count) }
    }
    return (geometries, failed)
  }

  /// The geometry of one feature.
  func shape(
    of row: UInt32, _ index: Int, _ failed: inout [Failure], checking check: () throws -> Void
  ) throws -> FeatureWriter.Shape {
    guard changesGeometries else { return .own }
    guard let feature = features.store[row], let geometry = feature.geometry else { return .given(nil) }
    do {
      let moved = try projector?.uncut(geometry, checking: check) ?? (geometry: geometry, edge: nil)
      let reduced = try maxAllowableOffset.map { try moved.geometry.generalized($0, checking: check) } ?? moved.geometry
      return .given(try (seam ?? moved.edge).map { try reduced.cut(at: $0) } ?? reduced)
    } catch let error as TransformError {
      failed.append(Failure(index: index, feature: try FeatureProtocol.FailedFeature(feature.id, error)))
      return .given(nil)
    } catch EngineError.failed(_, let reason) {
      failed.append(Failure(index: index, feature: .init(id: feature.id, reason: reason)))
      return .given(nil)
    }
  }

  /// The geometry of one feature; nil if it has none in ``reference``.
  func geometry(of row: UInt32, _ share: WorkShare) throws -> Geometry? {
    var failed: [Failure] = []
    switch try shape(of: row, 0, &failed, checking: { try share.work?.checkCancelled() }) {
    case .own: return features.store[row]?.geometry
    case .given(let geometry): return geometry
    }
  }

  /// The geometries of features that are all points, moved together; nil for others, and if one has no coordinates in ``reference``.
  func points(of rows: ArraySlice<UInt32>) throws -> StoreCopy.Geometries? {
    guard reference != features.reference, maxAllowableOffset == nil, seam == nil else { return nil }
    let whole = features.store.points(ofWhole: rows)
    var (x, y, z) = whole ?? ([], [], [])
    for row in whole == nil ? rows : [] {
      guard let point = features.store[row]?.point else { return nil }
      x.append(point.x)
      y.append(point.y)
      if !point.z.isNaN { z.append(point.z) }
    }
    guard z.isEmpty || z.count == x.count else { return nil }
    do throws(TransformError) { try transformer.transform(x: &x, y: &y, z: &z, from: features.reference, to: reference) } catch {
      guard case .outsideDomain = error else { throw error }
      return nil
    }
    return StoreCopy.Geometries(x: x, y: y, z: z)
  }

  /// The JSON array of the features, written directly: making a wire value for each would dominate the cost. On the loop, the
  /// array is written with the response; on a worker, at once, so that the loop only copies bytes.
  func written(
    _ page: ArraySlice<UInt32>, _ geometries: [FeatureWriter.Shape]?, _ share: WorkShare
  ) throws -> JSONOpaque {
    let (store, selection) = (features.store, selection)
    let schema = store.schema
    guard let work = share.work else {
      return .written { writer in
        writer.beginArray()
        for (index, row) in page.enumerated() {
          guard let feature = store[row] else { continue }
          FeatureWriter.writeFeature(feature, schema, selection, geometries?[index] ?? .own, to: &writer) {}
        }
        writer.endArray()
      }
    }
    return try .made { writer in
      writer.beginArray()
      for (index, row) in page.enumerated() {
        try share.checkpoint(index, of: page.count)
        guard let feature = store[row] else { continue }
        try FeatureWriter.writeFeature(
          feature, schema, selection, geometries?[index] ?? .own, to: &writer, checkpoint: work.checkCancelled)
        // Stops as soon as the result is too large.
        guard writer.count <= work.resultBytes else { throw RPCError.resultTooLarge(limit: work.resultBytes) }
      }
      writer.endArray()
    }
  }

  /// The attributes in the columns, in order.
  var fields: [SourceProtocol.Field] {
    let fields = features.store.schema.fields.map(Wire.field)
    return selection.columns.map { $0.map { fields[$0] } } ?? fields
  }
}

extension FeatureProtocol.FailedFeature {
  /// - Throws: an error that does not concern a position.
  init(_ id: Int, _ error: TransformError) throws {
    guard case .outsideDomain = error else { throw error }
    self.init(id: id, reason: RPCError(error).message)
  }
}
