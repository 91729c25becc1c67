// Batches whose columns are those of declared fields, and parts of batches.

import Geometry

extension FeatureBatch {
  /// Gives the batch the columns of some fields, in their order: other columns are dropped, missing ones are null, and values of other
  /// types become null. Integers become doubles where a field has these.
  ///
  /// - Returns: the number of values that were lost.
  public mutating func conform(to fields: [Field]) -> Int {
    var lost = columns.reduce(0) { $0 + $1.tags.count { $0 != .null } }
    var kept: [BatchColumn] = []
    for field in fields {
      var column = columnsByName[field.name].map { columns[$0] } ?? BatchColumn(name: field.name.string)
      lost -= column.tags.count { $0 != .null }
      lost += column.conform(to: field.type)
      kept.append(column)
    }
    columns = kept
    columnsByName = Dictionary(uniqueKeysWithValues: fields.enumerated().map { ($1.name, $0) })
    successors = kept.indices.map { $0 + 1 }
    return lost
  }

  /// A batch of some rows without ids, in the given order.
  public func selecting(_ rows: [Int]) -> FeatureBatch {
    var batch = FeatureBatch()
    batch.reserveCapacity(rows.count)
    for row in rows {
      batch.begin()
      if let point = geometry.packedPoint(row) {
        batch.setPoint(x: point.x, y: point.y, z: point.z)
      } else {
        batch.setGeometry(geometry[row])
      }
    }
    batch.columns = columns.map { $0.selecting(rows) }
    batch.columnsByName = columnsByName
    batch.successors = successors
    return batch
  }

  /// The value of a row in the column with a number.
  public func value(_ column: Int, row: Int) -> AttributeValue { columns[column][row] }

  @inline(__always)
  public func isNull(_ column: Int, row: Int) -> Bool { columns[column].isNull(row) }

  /// The position of a row whose geometry is a point with finite coordinates; nil for others.
  public func position(_ row: Int) -> Point? {
    var position: Point?
    if let point = geometry.packedPoint(row) {
      position = Point(x: point.x, y: point.y, z: point.z)
    } else if case .point(let point) = geometry[row] {
      position = point
    }
    guard let position, position.x.isFinite, position.y.isFinite else { return nil }
    return position
  }

  /// Adds a row with the geometry and the values of a feature's columns.
  public mutating func append(_ feature: FeatureRow, id: Int? = nil, columns names: [String]) {
    begin(id: id)
    setGeometry(of: feature)
    for (column, name) in names.enumerated() {
      let value = feature.value(column)
      if value != .null { set(column: self.column(named: name), value) }
    }
  }

  /// Sets the geometry of the row begun last to that of a feature.
  mutating func setGeometry(of feature: FeatureRow) {
    if let point = feature.point {
      setPoint(x: point.x, y: point.y, z: point.z.isNaN ? nil : point.z)
    } else {
      setGeometry(feature.geometry)
    }
  }

  /// Sets an attribute of the row begun last, without making a value of it.
  mutating func set(column: Int, attribute value: FeatureRow.Attribute) {
    switch value {
    case .null: break
    case .bool(let value): set(column: column, bool: value)
    case .integer(let value): set(column: column, integer: value)
    case .double(let value): set(column: column, double: value)
    case .string(let text): set(column: column, utf8: text)
    case .json(let text): set(column: column, json: text)
    }
  }

  /// Adds a column of integers, one a row.
  public mutating func append(column name: String, integers: [Int64]) {
    columnsByName[Text(name)] = columns.count
    columns.append(BatchColumn(name: name, cells: integers.map { UInt64(bitPattern: $0) }, tag: .integer, nulls: []))
    successors.append(columns.count)
  }

  /// Drops the columns after the first ones.
  public mutating func keepColumns(_ count: Int) {
    for column in columns[count...] { columnsByName[Text(column.name)] = nil }
    columns.removeLast(columns.count - count)
    successors.removeLast(successors.count - count)
  }
}
