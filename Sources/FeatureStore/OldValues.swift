// Values before a change: only those that the change replaces.

import Geometry

/// Values by row, in the order in which they were replaced; restored in reverse.
struct OldValues: Sendable {
  /// 24 bytes.
  struct Cell: Sendable {
    let value: AttributeValue
    let member: FeatureMember
    /// The column number of an attribute in the store; 0 for other members.
    let column: UInt16
    let row: UInt32

    /// Identifies the row, member and column.
    var key: UInt64 { UInt64(row) << 32 | UInt64(member.rawValue) << 16 | UInt64(column) }
  }

  private(set) var cells: [Cell] = []
  /// Points are packed; `geometries[i]` belongs to `geometryRows[i]`.
  private(set) var geometryRows: [UInt32] = []
  private(set) var geometries = GeometryColumn()

  // MARK: Recording, before the change

  /// Reserves memory for the geometries of `count` rows.
  mutating func reserveGeometries(_ count: Int) {
    geometryRows.reserveCapacity(count)
    geometries.reserve(count)
  }

  @inline(__always)
  mutating func noteGeometry(_ chunk: FeatureChunk, _ index: Int, _ row: UInt32) {
    geometries.append(chunk.geometry, index)
    geometryRows.append(row)
  }

  mutating func note(_ member: FeatureMember, _ column: Int, _ chunk: FeatureChunk, _ index: Int, _ row: UInt32) {
    cells.append(
      Cell(
        value: chunk.value(member, column, at: index), member: member, column: UInt16(truncatingIfNeeded: column),
        row: row))
  }

  /// Appends the values of a later change.
  mutating func append(_ later: OldValues) {
    cells += later.cells
    for index in later.geometryRows.indices { geometries.append(later.geometries, index) }
    geometryRows += later.geometryRows
  }

  /// The values except those of some cells.
  func without(_ written: WrittenCells) -> OldValues {
    var result = OldValues()
    result.cells = cells.filter { !written.contains($0) }
    for (index, row) in geometryRows.enumerated() where !written.contains(geometryOf: row) {
      result.geometries.append(geometries, index)
      result.geometryRows.append(row)
    }
    return result
  }

  // MARK: Reading

  /// The rows with recorded values, ascending, each once; rows whose selection alone is recorded are excluded.
  var rows: [UInt32] {
    (geometryRows + cells.lazy.filter { $0.member != .isSelected }.map(\.row)).ascendingOnce()
  }

  /// Whether each member that `later` recorded was recorded here for the same rows, in the same order.
  func covers(_ later: OldValues) -> Bool {
    (later.geometryRows.isEmpty || later.geometryRows == geometryRows)
      && FeatureMember.allCases.allSatisfy { member in
        let theirs = later.cells.lazy.filter { $0.member == member }
        return theirs.isEmpty || theirs.elementsEqual(cells.lazy.filter { $0.member == member }) { $0.key == $1.key }
      }
  }

  var byteCount: Int {
    let fixed = cells.count * MemoryLayout<Cell>.stride + geometryRows.count * 4 + geometries.byteCount
    return cells.reduce(fixed) { $0 + $1.value.byteCountElsewhere }
  }
}

extension AttributeValue {
  /// Approximate bytes outside of the value itself.
  var byteCountElsewhere: Int {
    switch self {
    // A short text is stored inline.
    case .string(let text), .json(let text): text.utf8.count > 15 ? text.utf8.count + 32 : 0
    case .null, .bool, .integer, .double: 0
    }
  }
}

extension [UInt32] {
  /// Runs of consecutive numbers.
  var runs: [Range<UInt32>] {
    var result: [Range<UInt32>] = []
    for row in self {
      if let last = result.last, last.upperBound == row {
        result[result.count - 1] = last.lowerBound..<row + 1
      } else {
        result.append(row..<row + 1)
      }
    }
    return result
  }
}
