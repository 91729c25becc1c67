// Features that were made, as the data of a source: with the ids and attributes of others, or one after the other.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Planning
import WireCoding

/// Features that were made.
protocol DerivedContent {
  var failed: [FeatureProtocol.FailedFeature] { get }
  /// What moved them, if one was chosen.
  var transformation: Transformation? { get }

  func data(in reference: SpatialReference) throws -> ColumnData
}

extension DerivedContent {
  var transformation: Transformation? { nil }
}

/// Features with the ids and attributes of others, made in parts.
struct DerivedParts: DerivedContent {
  struct Part: Sendable {
    var rows: [UInt32] = []
    /// The geometries of the rows; nil for their own.
    var geometry: StoreCopy.Geometries?
    /// Features without coordinates in the reference of the result.
    var lost: [FeatureProtocol.FailedFeature] = []
    var failed: [FeatureProtocol.FailedFeature] = []
  }

  var transformation: Transformation?
  /// Nil for all features of a dense store, as they are.
  private let parts: [Part]?
  private let query: FeatureQuery
  private let columns: [Int]
  private let share: WorkShare
  /// Features that are in no part.
  private var others: [FeatureProtocol.FailedFeature] = []

  init(_ parts: [Part]?, _ output: FeatureOutput, _ columns: [Int], _ share: WorkShare) {
    (self.parts, query, self.columns, self.share) = (parts, output.features, columns, share)
  }

  var failed: [FeatureProtocol.FailedFeature] { (parts.map { $0.flatMap(\.lost) + $0.flatMap(\.failed) } ?? []) + others }

  func failing(also others: [FeatureProtocol.FailedFeature]) -> DerivedParts {
    var result = self
    result.others += others
    return result
  }

  /// All geometries as one feature without attributes.
  func united(_ worker: Worker, mends: Bool) throws -> DerivedRows {
    var rows = DerivedRows([], failed: failed)
    let geometries = (parts ?? []).flatMap { part in part.rows.indices.compactMap { part.geometry?[$0] } }
    if !geometries.isEmpty { rows.append(try GeometryUnion(mends: mends)(geometries, worker), []) }
    return rows
  }

  func data(in reference: SpatialReference) throws -> ColumnData {
    let isWhole = query.store.isDense && parts?.reduce(0) { $0 + $1.rows.count } ?? 0 == query.store.count
    let copy = StoreCopy(of: query.store, rows: isWhole ? nil : parts?.flatMap(\.rows), columns: columns)
    let geometries = try geometries()
    let chunks = try share.concurrently(copy.chunkCount) { copy.chunk($0, geometries?[$0]) }
    let (store, type) = copy.store(chunks)
    // Of features without geometries is made a table.
    return ColumnData(store, of: store.count > 0 ? type : type ?? "Unknown", reference: reference)
  }

  /// The geometries of each chunk; nil if all are those of the features.
  private func geometries() throws -> [StoreCopy.Geometries]? {
    guard let parts, parts.contains(where: { $0.geometry != nil }) else { return nil }
    if parts.dropLast().allSatisfy({ $0.rows.count == StoreCopy.size }) { return parts.map { $0.geometry ?? .init() } }
    var chunks: [StoreCopy.Geometries] = []
    for part in parts {
      try share.work?.checkCancelled()
      guard let geometry = part.geometry else { continue }
      for row in part.rows.indices {
        if chunks.last.map({ $0.count == StoreCopy.size }) ?? true { chunks.append(.init()) }
        chunks[chunks.count - 1].append(geometry, row)
      }
    }
    return chunks
  }
}

/// Features that are made one after the other.
struct DerivedRows: DerivedContent {
  var failed: [FeatureProtocol.FailedFeature]
  private var batch = FeatureBatch()
  private var count = 0
  private var type: String?
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
    if let name = geometry?.typeName { type = type == nil || type == name ? name : "Unknown" }
    for (column, value) in values.enumerated() where value != .null { batch.set(column: column, value) }
  }

  /// All attributes of features.
  static func fields(of query: FeatureQuery) -> [(String, FieldType?)] {
    (0..<query.store.schema.count).map { (query.store.schema.name(of: $0), query.store.schema.declaredType(of: $0)) }
  }

  func data(in reference: SpatialReference) throws -> ColumnData {
    var data = ColumnData(columns: fields.map { (name: $0, type: $1) }, reference: reference)
    do throws(StoreFailure) { try data.append(batch, of: type ?? "Unknown") } catch { throw ModelError(error) }
    return data
  }
}
