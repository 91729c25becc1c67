// Features to be added to a store together, in columns, filled by rows or by whole columns.

import Geometry

/// Features to be added to a ``FeatureStore``.
///
/// Filled by rows, ``begin(id:)`` and then the row's values, or by columns, ``setPoints(x:y:z:)``,
/// ``setColumn(_:doubles:nulls:)`` and so on. A batch is independent of a store and can be filled on any thread.
///
/// ```swift
/// var batch = FeatureBatch()
/// try batch.setPoints(x: [1, 2], y: [3, 4])
/// try batch.setColumn("height", doubles: [10, 20])
/// ```
public struct FeatureBatch: Sendable {
  /// Number of rows.
  public private(set) var count = 0
  /// Empty while no row has an id; -1 for an id to be minted.
  private(set) var ids: [Int] = []
  private(set) var geometry = GeometryColumn()
  var columns: [BatchColumn] = []
  private(set) var symbols = BatchColumn(name: "")
  private(set) var zIndexes: [(row: Int, zIndex: Int32)] = []
  private(set) var hidden: [Int] = []
  private(set) var selected: [Int] = []

  var columnsByName: [Text: Int] = [:]
  /// The column that followed each one in the previous row, and the position of the current row in that order.
  var successors: [Int] = []
  private var first = 0
  private var last = -1

  public init() {}

  public mutating func reserveCapacity(_ rows: Int) { geometry.reserve(rows) }

  /// Begins the next row, without geometry and attributes and with defaults. Without an id the store mints one.
  @inline(__always)
  public mutating func begin(id: Int? = nil) {
    if let id {
      while ids.count < count { ids.append(-1) }
      ids.append(id == -1 ? .min : id)
    } else if !ids.isEmpty {
      ids.append(-1)
    }
    geometry.appendNone()
    count &+= 1
    last = -1
  }

  /// The rows whose geometry has y outside of a range.
  public func rowsOutside(_ range: ClosedRange<Double>) -> [Int] { geometry.rowsOutside(range) }

  // MARK: Values of the row begun last. Without such a row the setters have no effect.

  @inline(__always)
  public mutating func setPoint(x: Double, y: Double, z: Double? = nil) {
    if count > 0 { geometry.setPoint(x: x, y: y, z: z, at: count &- 1) }
  }

  public mutating func setGeometry(_ value: Geometry?) {
    if count > 0 { geometry.set(value, at: count - 1) }
  }

  public mutating func setZIndex(_ zIndex: Int32) {
    if count > 0 { zIndexes.append((count - 1, zIndex)) }
  }

  public mutating func setHidden() {
    if count > 0 { hidden.append(count - 1) }
  }

  public mutating func setSelected() {
    if count > 0 { selected.append(count - 1) }
  }

  /// An opaque text that the store returns unchanged: a symbol as JSON.
  public mutating func setSymbol(utf8 text: UnsafeRawBufferPointer) {
    if count > 0 { symbols.set(text, tag: .json, at: count - 1) }
  }

  @inline(__always)
  public mutating func set(column: Int, integer: Int64) {
    columns[column].set(UInt64(bitPattern: integer), tag: .integer, at: count &- 1)
  }

  @inline(__always)
  public mutating func set(column: Int, double: Double) {
    columns[column].set(double.bitPattern, tag: .double, at: count &- 1)
  }

  @inline(__always)
  public mutating func set(column: Int, bool: Bool) {
    columns[column].set(bool ? 1 : 0, tag: .bool, at: count &- 1)
  }

  /// A text as well-formed UTF-8.
  @inline(__always)
  public mutating func set(column: Int, utf8 text: UnsafeRawBufferPointer) {
    columns[column].set(text, tag: .string, at: count &- 1)
  }

  /// The text of a JSON object or array.
  public mutating func set(column: Int, json text: UnsafeRawBufferPointer) {
    columns[column].set(text, tag: .json, at: count - 1)
  }

  public mutating func set(column: Int, _ value: AttributeValue) {
    columns[column].set(value, at: count - 1)
  }

  // MARK: Column names

  /// The number of the column of that name, for the setters; a new one if necessary.
  public mutating func column(named name: String) -> Int {
    if let known = columnsByName[Text(name)] { return known }
    columns.append(BatchColumn(name: name))
    successors.append(columns.count)
    columnsByName[Text(name)] = columns.count - 1
    return columns.count - 1
  }

  /// As ``column(named:)``, for rows whose attributes have the same order: one comparison of bytes.
  @inline(__always)
  public mutating func column(key: UnsafeRawBufferPointer) -> Int {
    let expected = last < 0 ? first : successors[last]
    if expected < columns.count, columns[expected].hasName(key) {
      last = expected
      return expected
    }
    return unexpectedColumn(key)
  }

  @inline(never)
  private mutating func unexpectedColumn(_ key: UnsafeRawBufferPointer) -> Int {
    let found = column(named: String(decoding: key, as: UTF8.self))
    if last < 0 { first = found } else { successors[last] = found }
    last = found
    return found
  }

  // MARK: Whole columns. The first one determines the number of rows.

  public mutating func setPoints(x: [Double], y: [Double], z: [Double]? = nil) throws(StoreError) {
    try adopt(x.count)
    for length in [y.count, z?.count ?? count] where length != count {
      throw .lengthMismatch(expected: count, found: length)
    }
    geometry = GeometryColumn(x: x, y: y, z: z ?? [])
  }

  public mutating func setGeometries(_ geometries: [Geometry?]) throws(StoreError) {
    try adopt(geometries.count)
    for (row, value) in geometries.enumerated() { geometry.set(value, at: row) }
  }

  /// The store mints the missing ids.
  public mutating func setIDs(_ values: [Int?]) throws(StoreError) {
    try adopt(values.count)
    ids = values.map { $0 ?? -1 }
  }

  public mutating func setIDs(_ values: [Int]) throws(StoreError) {
    try adopt(values.count)
    ids = values.map { $0 == -1 ? .min : $0 }
  }

  /// `nulls[i]` marks rows without a value; empty if all rows have one.
  public mutating func setColumn(_ name: String, doubles: [Double], nulls: [Bool] = []) throws(StoreError) {
    try setColumn(name, doubles.map(\.bitPattern), .double, nulls)
  }

  public mutating func setColumn(_ name: String, integers: [Int64], nulls: [Bool] = []) throws(StoreError) {
    try setColumn(name, integers.map { UInt64(bitPattern: $0) }, .integer, nulls)
  }

  /// A column of `rows` values of any type, to be set by ``set(column:row:_:)``, rows ascending; null
  /// elsewhere.
  public mutating func beginColumn(_ name: String, rows: Int) throws(StoreError) -> Int {
    try adopt(rows)
    let column = column(named: name)
    columns[column] = BatchColumn(name: name)
    return column
  }

  /// A column of texts in well-formed UTF-8, one per row.
  public mutating func setColumn(_ name: String, texts: [UnsafeRawBufferPointer]) throws(StoreError) {
    try adopt(texts.count)
    columns[column(named: name)] = BatchColumn(name: name, texts: texts)
  }

  @inline(__always)
  public mutating func set(column: Int, row: Int, utf8 text: UnsafeRawBufferPointer) {
    columns[column].set(text, tag: .string, at: row)
  }

  public mutating func set(column: Int, row: Int, _ value: AttributeValue) {
    if value != .null { columns[column].set(value, at: row) }
  }

  private mutating func setColumn(
    _ name: String, _ cells: [UInt64], _ tag: CellTag, _ nulls: [Bool]
  ) throws(StoreError) {
    try adopt(cells.count)
    guard nulls.isEmpty || nulls.count == count else {
      throw .lengthMismatch(expected: count, found: nulls.count)
    }
    let column = column(named: name)
    columns[column] = BatchColumn(name: name, cells: cells, tag: tag, nulls: nulls)
  }

  private mutating func adopt(_ rows: Int) throws(StoreError) {
    if count == 0 {
      count = rows
      geometry.pad(to: rows)
    }
    guard rows == count else { throw .lengthMismatch(expected: count, found: rows) }
  }
}
