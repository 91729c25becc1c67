// A run of rows of a store: the unit of sharing and copying.

import Geometry

/// Up to ``capacity`` rows, in columns.
///
/// `@unchecked Sendable`: a chunk held by two stores is never written; ``FeatureStore`` copies it first. A copy shares
/// its columns' arrays until one is changed, so that moving a point does not copy texts.
final class FeatureChunk: @unchecked Sendable {
  /// A power of two: the low bits of a row are its index in the chunk.
  static let capacity = 1024

  /// Number of rows, including removed ones.
  private(set) var count = 0
  private(set) var live = 0
  private(set) var removed = RowBits()
  private(set) var ids = IDColumn()
  /// Whether ids ascend here and from chunk to chunk, so that they can be found by bisection.
  var isOrdered = true
  private(set) var geometry = GeometryColumn()
  /// The store's numbers of the chunk's columns, ascending.
  private(set) var columnNumbers: [Int] = []
  private(set) var columns: [Column] = []
  private(set) var zIndexes: [Int32] = []
  var hidden = RowBits()
  var selected = RowBits()
  var symbols = Column()

  /// Addresses of all data, for reading while the chunk is held; see ``withReader(_:)``.
  let reader = UnsafeMutablePointer<ChunkReader>.allocate(capacity: 1)

  /// Passes the reader to `body`, and holds the chunk until it returns, which addresses alone would not.
  @inline(__always)
  func withReader<Result>(_ body: (borrowing ChunkReader) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return body(reader.pointee)
  }

  /// Lets `update` record changed addresses in the reader, while the chunk is held.
  @inline(__always)
  private func note(_ body: (inout ChunkReader) -> Void) {
    defer { withExtendedLifetime(self) {} }
    body(&reader.pointee)
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
    copy.ids = ids
    copy.isOrdered = isOrdered
    copy.geometry = geometry
    copy.columnNumbers = columnNumbers
    copy.columns = columns
    copy.zIndexes = zIndexes
    copy.hidden = hidden
    copy.selected = selected
    copy.symbols = symbols
    copy.note {
      $0.note(geometry)
      $0.note(columns)
    }
    return copy
  }

  @inline(__always)
  func isLive(_ row: Int) -> Bool { row < count && !removed[row] }

  /// The index of the column in this chunk; nil if no row of the chunk has a value.
  @inline(__always)
  func place(of column: Int) -> Int? {
    // Usually every chunk has every column.
    if column < columnNumbers.count, columnNumbers[column] == column { return column }
    let place = insertionPlace(of: column)
    return place < columnNumbers.count && columnNumbers[place] == column ? place : nil
  }

  private func insertionPlace(of column: Int) -> Int {
    var low = 0
    var high = columnNumbers.count
    while low < high {
      let middle = (low + high) / 2
      if columnNumbers[middle] < column { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func makePlace(of column: Int) -> Int {
    if let place = place(of: column) { return place }
    let place = insertionPlace(of: column)
    columnNumbers.insert(column, at: place)
    columns.insert(Column(), at: place)
    return place
  }

  func value(_ column: Int, at row: Int) -> AttributeValue { place(of: column).map { columns[$0][row] } ?? .null }

  func set(_ value: AttributeValue, column: Int, at row: Int) {
    if value == .null, place(of: column) == nil { return }
    let known = columns.count
    let place = makePlace(of: column)
    columns[place].set(value, at: row)
    note { if columns.count == known { $0.note(columns[place], at: place) } else { $0.note(columns) } }
  }

  func clearAttributes(at row: Int) {
    for place in columns.indices { columns[place].set(.null, at: row) }
    note { $0.note(columns) }
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

  /// Adds `rows` of a batch, for which there is room. `numbers` are the store's for the batch's columns.
  func append(_ batch: FeatureBatch, _ rows: Range<Int>, ids: IDSlice, numbers: [Int]) {
    let start = count
    self.ids.append(ids)
    geometry.append(batch.geometry, rows, at: start)
    for (column, number) in zip(batch.columns, numbers) where column.tag(of: rows) != .null {
      columns[makePlace(of: number)].append(column, rows, at: start)
    }
    if !batch.symbols.cells.isEmpty { symbols.append(batch.symbols, rows, at: start) }
    count += rows.count
    live += rows.count
    if count == Self.capacity { trim() }
    note {
      $0.note(geometry)
      $0.note(columns)
    }
  }

  /// Values remain, so that the row can be restored.
  func remove(_ row: Int) {
    removed[row] = true
    selected[row] = false
    live -= 1
  }

  func restore(_ row: Int) {
    removed[row] = false
    live += 1
  }

  /// Drops the rows from `rows` on, which were removed.
  func truncate(to rows: Int) {
    guard rows < count else { return }
    count = rows
    ids.truncate(to: rows)
    geometry.truncate(to: rows)
    for place in columns.indices { columns[place].truncate(to: rows) }
    symbols.truncate(to: rows)
    zIndexes.truncate(to: rows)
    removed.truncate(to: rows)
    hidden.truncate(to: rows)
    selected.truncate(to: rows)
    note {
      $0.note(geometry)
      $0.note(columns)
    }
  }

  /// Approximate memory in bytes.
  var byteCount: Int {
    columns.reduce(ids.byteCount + geometry.byteCount + symbols.byteCount + zIndexes.count * 4 + 512) {
      $0 + $1.byteCount + MemoryLayout<Column>.stride + MemoryLayout<ColumnReader>.stride
    }
  }

  private func trim() {
    for place in columns.indices { columns[place].trim() }
    symbols.trim()
  }
}
