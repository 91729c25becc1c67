// Stores made of features of another one, chunk by chunk on any threads: chunks of the same rows share their columns.

import Geometry
import SpatialIndex

/// A store that is made of features of another: with their ids, some of their attributes, and their geometries or others.
///
/// ```swift
/// let copy = StoreCopy(of: store, rows: store.rowsAscending { _ in }, columns: [0])
/// let same = copy.store((0..<copy.chunkCount).map { copy.chunk($0) }).store
/// ```
package struct StoreCopy: Sendable {
  /// Rows of a result that are made together.
  package static let size = FeatureChunk.capacity
  /// The geometries of some rows.
  package typealias Geometries = GeometryColumn

  private let source: FeatureStore
  /// Nil for all of a dense source.
  private let rows: [UInt32]?
  private let columns: [Int]

  /// One chunk of the result.
  package struct Chunk: Sendable {
    fileprivate let chunk: FeatureChunk
    /// The types of each column's values, one bit each.
    fileprivate let seen: [UInt8]
    /// The first row of the source if the chunk has its rows.
    fileprivate let base: UInt32?
    /// Whether the geometries are those of the source.
    fileprivate let keepsGeometries: Bool
    fileprivate let geometryType: String?

    fileprivate init(_ chunk: FeatureChunk, seen: [UInt8], base: UInt32?, keepsGeometries: Bool) {
      (self.chunk, self.seen, self.base, self.keepsGeometries) = (chunk, seen, base, keepsGeometries)
      geometryType = chunk.geometry.typeName
    }
  }

  /// - Parameters:
  ///   - rows: existing rows of the source, each once, in the order of the result; nil for all of a source that ``FeatureStore/isDense``.
  ///   - columns: columns of the source, each once.
  package init(of source: FeatureStore, rows: [UInt32]?, columns: [Int]) {
    (self.source, self.rows, self.columns) = (source, rows, columns)
  }

  package var chunkCount: Int { ((rows?.count ?? source.count) + Self.size - 1) / Self.size }

  /// Makes a chunk, which has ``size`` rows but for the last.
  ///
  /// - Parameter geometry: the geometries of its rows; nil for those of the source.
  package func chunk(_ number: Int, _ geometry: GeometryColumn? = nil) -> Chunk {
    let whole: FeatureStore.Slot
    if let rows {
      let rows = rows[number * Self.size..<min((number + 1) * Self.size, rows.count)]
      guard let slot = source.slot(ofExactly: rows) else { return gathered(rows, geometry) }
      whole = slot
    } else {
      whole = source.slots[number]
    }
    // In all of a dense source, ids are in order where they were.
    let isSame = rows == nil && geometry == nil && whole.chunk.isPlain(columns)
    let chunk = isSame ? whole.chunk : whole.chunk.sharing(columns, geometry)
    return Chunk(
      chunk, seen: columns.indices.map { chunk.index(of: $0).map { chunk.columns[$0].seen } ?? 0 },
      base: whole.base, keepsGeometries: geometry == nil)
  }

  private func gathered(_ rows: ArraySlice<UInt32>, _ geometry: GeometryColumn?) -> Chunk {
    var batch = FeatureBatch()
    let numbers = columns.map { (source: $0, target: batch.column(named: source.schema.name(of: $0))) }
    for row in rows {
      guard let feature = source[row] else { continue }
      batch.begin(id: feature.id)
      if geometry == nil { batch.setGeometry(of: feature) }
      for (source, target) in numbers { feature.withAttribute(source) { batch.set(column: target, attribute: $0) } }
    }
    let chunk = FeatureChunk()
    chunk.append(batch, 0..<batch.count, ids: batch.ids[...], numbers: Array(columns.indices))
    if let geometry { chunk.replace(geometry) }
    return Chunk(chunk, seen: batch.columns.map(\.seen), base: nil, keepsGeometries: geometry == nil)
  }

  /// The store of all chunks, in order, and the simple features type of its geometries. Shares the index of the source, if rows and
  /// geometries are the same, and takes its order if only the rows are.
  package func store(_ chunks: [Chunk]) -> (store: FeatureStore, geometryType: String?) {
    let schema = source.schema
    var store = FeatureStore(columns: columns.map { (schema.name(of: $0), schema.declaredType(of: $0)) })
    for each in chunks { store.append(each.chunk, seen: each.seen) }
    let isSame = chunks.enumerated().allSatisfy { $1.base == UInt32($0 * Self.size) } && store.count == source.count
    if isSame, chunks.allSatisfy(\.keepsGeometries) {
      store.keep(source.index)
    } else {
      store.keep(isSame && source.isDense ? store.index(inOrderOf: source.index) : SpatialIndex(store.indexedRows))
    }
    let types = Set(chunks.compactMap(\.geometryType))
    return (store, types.count > 1 ? GeometryColumn.mixedType : types.first)
  }
}

extension FeatureStore {
  /// The index of a store of as many whole chunks as another has, in its order.
  fileprivate func index(inOrderOf other: SpatialIndex) -> SpatialIndex {
    guard slots.allSatisfy({ $0.chunk.geometry.count == $0.chunk.count && $0.chunk.geometry.isEveryFinite }) else {
      return SpatialIndex(indexedRows, inOrderOf: other)
    }
    // Safe: the chunks are held, and only read.
    nonisolated(unsafe) let readers = slots.map(\.reader)
    return withExtendedLifetime(slots) {
      SpatialIndex(pointsInOrder: other.order) { row in
        let point = readers[Int(row) / FeatureChunk.capacity].pointee.point(Int(row) % FeatureChunk.capacity)
        return point.map { SIMD2($0.x, $0.y) } ?? .zero
      }
    }
  }

  /// The points of rows that are all of a chunk and have points, all with or all without Z; nil for others.
  package func points(ofWhole rows: ArraySlice<UInt32>) -> (x: [Double], y: [Double], z: [Double])? {
    guard let chunk = slot(ofExactly: rows)?.chunk, chunk.geometry.count == chunk.count, chunk.geometry.isEveryPacked else { return nil }
    let (x, y, z) = (chunk.geometry.x, chunk.geometry.y, chunk.geometry.z)
    return z.isEmpty || z.count == x.count && !z.contains(where: \.isNaN) ? (x, y, z) : nil
  }

  /// The slot whose rows these are, all and in order.
  fileprivate func slot(ofExactly rows: ArraySlice<UInt32>) -> Slot? {
    guard let first = rows.first, let slot = slot(of: first).map({ slots[$0] }), slot.base == first, slot.chunk.count == rows.count,
      slot.chunk.live == rows.count, zip(rows, first...).allSatisfy({ $0 == $1 })
    else { return nil }
    return slot
  }

  /// Adds a chunk without entering its rows into the index.
  fileprivate mutating func append(_ chunk: FeatureChunk, seen: [UInt8]) {
    for (column, seen) in seen.enumerated() { schema.note(seen, in: column) }
    if let ids = chunk.ids.consecutive, chunk.isOrdered, ids.lowerBound > orderedIDs.last?.last ?? -1 {
      nextID = max(nextID, ids.upperBound)
      orderedIDs.append(OrderedIDs(base: nextRow, first: ids.lowerBound, last: ids.upperBound - 1))
    } else {
      noteIDs(chunk.ids.values[...], of: chunk, from: 0, base: nextRow)
    }
    slots.append(Slot(base: nextRow, chunk: chunk))
    nextRow += UInt32(chunk.count)
    count += chunk.count
  }
}
