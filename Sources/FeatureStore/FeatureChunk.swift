// A block of rows of a store: the unit of sharing and copying.

import Geometry
import Sorting
import Synchronization

/// A member of a feature besides its geometry.
enum FeatureMember: UInt8, CaseIterable, Sendable {
  case attribute, symbol, zIndex, isHidden, isSelected
}

/// Up to ``capacity`` rows, in columns.
///
/// `@unchecked Sendable`: a chunk held by two stores is never written; ``FeatureStore`` copies it first. A copy shares
/// its columns' arrays until one is changed, so that moving a point does not copy texts.
package final class FeatureChunk: @unchecked Sendable {
  /// A power of two: the low bits of a row are its index in the chunk.
  package static let capacity = 1024

  /// Number of rows, including removed ones.
  package private(set) var count = 0
  private(set) var live = 0
  package private(set) var removed = RowBits()
  /// Number of removed rows that no step of history restores.
  private(set) var discarded = 0
  private(set) var ids = IDColumn()
  /// Whether ids ascend here and from chunk to chunk, so that they can be found by bisection.
  var isOrdered = true
  package private(set) var geometry = GeometryColumn()
  /// The store's numbers of the chunk's columns, ascending.
  private(set) var columnNumbers: [Int] = []
  package private(set) var columns: [ValueColumn] = []
  /// The newest of the columns' stamps.
  private(set) var stamp: UInt64 = 0
  private(set) var zIndexes: [Int32] = []
  package var hidden = RowBits()
  var selected = RowBits()
  /// Name indexes of the current attributes: dropped when an attribute changes.
  private(set) var names = NameIndexes()
  var symbols = ValueColumn() { didSet { symbolMeasure.store(Double.nan.bitPattern, ordering: .relaxed) } }
  /// The bits of the greatest measure of ``symbols``; NaN until it is computed.
  let symbolMeasure = Atomic(Double.nan.bitPattern)

  /// Addresses of all data, for reading while the chunk is held; see ``withReader(_:)``.
  let reader = UnsafeMutablePointer<ChunkReader>.allocate(capacity: 1)

  /// Passes the reader to `body`, and keeps the chunk alive until it returns, which addresses alone would not.
  @inline(__always)
  package func withReader<Result>(_ body: (borrowing ChunkReader) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return body(reader.pointee)
  }

  /// Lets `body` record changed addresses in the reader, while the chunk is kept alive.
  @inline(__always)
  private func note(_ body: (inout ChunkReader) -> Void) {
    defer { withExtendedLifetime(self) {} }
    body(&reader.pointee)
  }

  private func noteAll() {
    note {
      $0.note(ids)
      $0.note(geometry)
      $0.note(columns)
      $0.note(numbers: columnNumbers)
    }
  }

  init() { reader.initialize(to: ChunkReader()) }

  deinit {
    reader.pointee.free()
    reader.deallocate()
  }

  func copy() -> FeatureChunk {
    let copy = FeatureChunk()
    copy.count = count
    copy.live = live
    copy.removed = removed
    copy.discarded = discarded
    copy.ids = ids
    copy.isOrdered = isOrdered
    copy.geometry = geometry
    copy.columnNumbers = columnNumbers
    copy.columns = columns
    copy.stamp = stamp
    copy.zIndexes = zIndexes
    copy.hidden = hidden
    copy.selected = selected
    copy.symbols = symbols
    copy.names = NameIndexes(names)
    copy.symbolMeasure.store(symbolMeasure.load(ordering: .relaxed), ordering: .relaxed)
    copy.noteAll()
    return copy
  }

  /// A chunk of the same rows, of which none is removed, with some of the attributes in another order.
  ///
  /// - Parameter other: the geometries; nil for the same.
  func sharing(_ kept: [Int], _ other: GeometryColumn?) -> FeatureChunk {
    let chunk = FeatureChunk()
    (chunk.count, chunk.live, chunk.ids, chunk.geometry, chunk.stamp) = (count, live, ids, other ?? geometry, stamp)
    for (number, column) in kept.enumerated() {
      guard let index = index(of: column) else { continue }
      chunk.columnNumbers.append(number)
      chunk.columns.append(columns[index])
    }
    chunk.noteAll()
    return chunk
  }

  /// Whether it has nothing but ids, geometries and these attributes.
  func isPlain(_ columns: [Int]) -> Bool {
    columnNumbers == columns && removed.isEmpty && hidden.isEmpty && selected.isEmpty && zIndexes.isEmpty && symbols.count == 0
  }

  /// Adds a column that the chunk does not have, unless all is null.
  func add(_ values: ValueColumn, column: Int) {
    guard values.seen & ~CellTag.null.bit != 0 else { return }
    let index = makeIndex(of: column)
    columns[index] = values
    mark(index)
    noteAll()
  }

  func replace(_ other: GeometryColumn) {
    geometry = other
    note { $0.note(geometry) }
  }

  @inline(__always)
  package func isLive(_ row: Int) -> Bool { row < count && !removed[row] }

  /// The index of the column in this chunk; nil if no row of the chunk has a value.
  @inline(__always)
  package func index(of column: Int) -> Int? {
    // Usually every chunk has every column.
    if column < columnNumbers.count, columnNumbers[column] == column { return column }
    let index = columnNumbers.partitioningIndex { $0 >= column }
    return index < columnNumbers.count && columnNumbers[index] == column ? index : nil
  }

  private func makeIndex(of column: Int) -> Int {
    if let index = index(of: column) { return index }
    let index = columnNumbers.partitioningIndex { $0 >= column }
    columnNumbers.insert(column, at: index)
    columns.insert(ValueColumn(), at: index)
    return index
  }

  package func value(_ column: Int, at row: Int) -> AttributeValue {
    index(of: column).map { columns[$0][row] } ?? .null
  }

  func set(_ value: AttributeValue, column: Int, at row: Int) {
    if value == .null, index(of: column) == nil { return }
    forgetNames()
    let known = columns.count
    let index = makeIndex(of: column)
    columns[index].set(value, at: row)
    mark(index)
    if columns.count > known { return noteAll() }
    note { $0.note(columns[index], at: index) }
  }

  /// Gives a changed column a new stamp.
  private func mark(_ index: Int) {
    stamp = ValueStamp.next()
    columns[index].stamp = stamp
  }

  func clearAttributes(at row: Int) {
    forgetNames()
    for index in columns.indices {
      columns[index].set(.null, at: row)
      mark(index)
    }
    note { $0.note(columns) }
  }

  /// The value of a member; `column` is only used for attributes.
  func value(_ member: FeatureMember, _ column: Int, at row: Int) -> AttributeValue {
    switch member {
    case .attribute: value(column, at: row)
    case .symbol: symbols[row]
    case .zIndex: .integer(Int64(zIndex(at: row)))
    case .isHidden: .bool(hidden[row])
    case .isSelected: .bool(selected[row])
    }
  }

  func set(_ member: FeatureMember, _ column: Int, to value: AttributeValue, at row: Int) {
    switch (member, value) {
    case (.attribute, _): set(value, column: column, at: row)
    case (.symbol, _): symbols.set(value, at: row)
    case (.zIndex, .integer(let zIndex)): setZIndex(Int32(truncatingIfNeeded: zIndex), at: row)
    case (.isHidden, .bool(let flag)): hidden[row] = flag
    case (.isSelected, .bool(let flag)): selected[row] = flag
    default: break
    }
  }

  func setGeometry(_ value: Geometry?, at row: Int) {
    geometry.set(value, at: row)
    note { $0.note(geometry) }
  }

  /// Sets the geometry from row `source` of another column.
  @inline(__always)
  func setGeometry(_ other: GeometryColumn, _ source: Int, at row: Int) {
    if let point = other.packedPoint(source) {
      setPoint(x: point.x, y: point.y, z: point.z, at: row)
    } else {
      setGeometry(other[source], at: row)
    }
  }

  func setPoint(x: Double, y: Double, z: Double?, at row: Int) {
    geometry.setPoint(x: x, y: y, z: z, at: row)
    note { $0.note(geometry) }
  }

  @inline(__always)
  func zIndex(at row: Int) -> Int32 { row < zIndexes.count ? zIndexes[row] : 0 }

  func setZIndex(_ zIndex: Int32, at row: Int) {
    if row >= zIndexes.count, zIndex == 0 { return }
    zIndexes.grow(to: row + 1)
    while zIndexes.count <= row { zIndexes.append(0) }
    zIndexes[row] = zIndex
  }

  /// Adds `rows` of a batch, for which there is room. `numbers` are the store's numbers of the batch's columns.
  func append(_ batch: FeatureBatch, _ rows: Range<Int>, ids: ArraySlice<Int>, numbers: [Int]) {
    forgetNames()
    let start = count
    self.ids.append(ids)
    geometry.append(batch.geometry, rows, at: start)
    for (column, number) in zip(batch.columns, numbers) where column.tag(of: rows) != .null {
      let index = makeIndex(of: number)
      columns[index].append(column, rows, at: start)
      mark(index)
    }
    if !batch.symbols.cells.isEmpty { symbols.append(batch.symbols, rows, at: start) }
    count += rows.count
    live += rows.count
    if count == Self.capacity {
      for index in columns.indices { columns[index].trim() }
      symbols.trim()
    }
    noteAll()
  }

  /// Replaces the geometry and the batch's attributes of a row. `numbers` are the store's numbers of the batch's columns.
  func assign(_ batch: FeatureBatch, _ source: Int, numbers: [Int], at row: Int) {
    forgetNames()
    setGeometry(batch.geometry, source, at: row)
    let known = columns.count
    for (column, number) in zip(batch.columns.indices, numbers) {
      let isNull = batch.columns[column].isNull(source)
      if isNull, index(of: number) == nil { continue }
      let index = makeIndex(of: number)
      columns[index].set(batch.columns[column], source, at: row)
      mark(index)
      if columns.count == known { note { $0.note(columns[index], at: index) } }
    }
    if columns.count > known { noteAll() }
  }

  private func forgetNames() {
    if !names.isEmpty { names = NameIndexes() }
  }

  /// Marks a row as removed. Its values remain, so that it can be restored.
  func remove(_ row: Int) {
    removed[row] = true
    selected[row] = false
    live -= 1
  }

  /// Whether steps of history may restore removed rows.
  var hasRestorableRows: Bool { count > live + discarded }

  /// Records that a number of removed rows will not be restored.
  func discard(_ rows: Int) { discarded += rows }

  func restore(_ row: Int) {
    removed[row] = false
    live += 1
  }

  /// Drops the rows from `rows` on, which were removed.
  func truncate(to rows: Int) {
    guard rows < count else { return }
    forgetNames()
    count = rows
    ids.truncate(to: rows)
    geometry.truncate(to: rows)
    for index in columns.indices { columns[index].truncate(to: rows) }
    symbols.truncate(to: rows)
    zIndexes.truncate(to: rows)
    removed.truncate(to: rows)
    hidden.truncate(to: rows)
    selected.truncate(to: rows)
    noteAll()
  }

  /// Approximate memory in bytes.
  var byteCount: Int {
    columns.reduce(ids.byteCount + geometry.byteCount + symbols.byteCount + zIndexes.count * 4 + 512) {
      $0 + $1.byteCount + MemoryLayout<ValueColumn>.stride + MemoryLayout<ColumnReader>.stride
    }
  }
}
