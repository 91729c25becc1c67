// Values before a change: only those that the change replaces.

import Geometry

/// Values by row, in the order in which they were replaced; restored in reverse.
struct OldValues: Sendable {
  /// 24 bytes.
  struct Cell: Sendable {
    let value: AttributeValue
    /// The column number of the attribute in the store.
    let column: UInt16
    let row: UInt32
  }

  private(set) var attributes: [Cell] = []
  private(set) var symbols: [Cell] = []
  /// Points are packed; `geometries[i]` belongs to `geometryRows[i]`.
  private(set) var geometryRows: [UInt32] = []
  private(set) var geometries = GeometryColumn()
  private(set) var zIndexes: [(row: UInt32, value: Int32)] = []
  private(set) var hidden: [(row: UInt32, value: Bool)] = []
  private(set) var selected: [(row: UInt32, value: Bool)] = []

  var isEmpty: Bool { count == 0 && selected.isEmpty }

  /// Number of features, if each was changed once; selections count only where there is nothing else.
  var count: Int {
    let counts = [attributes.count, symbols.count, geometryRows.count, zIndexes.count, hidden.count]
    return counts.max().flatMap { $0 > 0 ? $0 : nil } ?? selected.count
  }

  // MARK: Noting, before the change

  /// Reserves memory for the geometries of `count` rows.
  mutating func reserveGeometries(_ count: Int) {
    geometryRows.reserveCapacity(count)
    geometries.reserve(count)
  }

  @inline(__always)
  mutating func noteGeometry(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    geometries.append(chunk.geometry, place)
    geometryRows.append(row)
  }

  @inline(__always)
  mutating func noteAttribute(_ chunk: FeatureChunk, _ column: Int, _ place: Int, _ row: UInt32) {
    attributes.append(
      Cell(value: chunk.value(column, at: place), column: UInt16(truncatingIfNeeded: column), row: row))
  }

  /// Records all attributes of a row.
  mutating func noteAttributes(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    for column in chunk.columnNumbers where chunk.value(column, at: place) != .null {
      noteAttribute(chunk, column, place, row)
    }
  }

  mutating func noteSymbol(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    symbols.append(Cell(value: chunk.symbols[place], column: 0, row: row))
  }

  mutating func noteZIndex(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    zIndexes.append((row, chunk.zIndex(at: place)))
  }

  mutating func noteHidden(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    hidden.append((row, chunk.hidden[place]))
  }

  @inline(__always)
  mutating func noteSelected(_ chunk: FeatureChunk, _ place: Int, _ row: UInt32) {
    selected.append((row, chunk.selected[place]))
  }

  /// Appends the values of a later change.
  mutating func append(_ later: OldValues) {
    attributes += later.attributes
    symbols += later.symbols
    for place in later.geometryRows.indices { geometries.append(later.geometries, place) }
    geometryRows += later.geometryRows
    zIndexes += later.zIndexes
    hidden += later.hidden
    selected += later.selected
  }

  // MARK: Looking at it

  /// The rows with recorded values, ascending, each once; rows with only a recorded selection are excluded.
  var rows: [UInt32] {
    if attributes.isEmpty, symbols.isEmpty, zIndexes.isEmpty, hidden.isEmpty { return geometryRows.ascendingOnce() }
    let all =
      geometryRows + attributes.map(\.row) + symbols.map(\.row) + zIndexes.map(\.row) + hidden.map(\.row)
    return all.ascendingOnce()
  }

  func covers(_ later: OldValues) -> Bool {
    func isNone(_ cells: [Cell], orOf mine: [Cell]) -> Bool {
      cells.isEmpty || cells.elementsEqual(mine) { $0.row == $1.row && $0.column == $1.column }
    }
    return (later.geometryRows.isEmpty || later.geometryRows == geometryRows)
      && isNone(later.attributes, orOf: attributes) && isNone(later.symbols, orOf: symbols)
      && (later.zIndexes.isEmpty || later.zIndexes.elementsEqual(zIndexes) { $0.row == $1.row })
      && (later.hidden.isEmpty || later.hidden.elementsEqual(hidden) { $0.row == $1.row })
      && (later.selected.isEmpty || later.selected.elementsEqual(selected) { $0.row == $1.row })
  }

  var byteCount: Int {
    let cells = attributes.count + symbols.count
    let fixed = cells * MemoryLayout<Cell>.stride + geometryRows.count * 4
    return [attributes, symbols].joined().reduce(fixed) { $0 + $1.value.byteCountElsewhere } + geometries.byteCount
      + (zIndexes.count + hidden.count + selected.count) * 8
  }
}

extension AttributeValue {
  /// Approximate bytes outside of the value itself.
  var byteCountElsewhere: Int {
    switch self {
    // A short text is stored inline.
    case .string(let text), .json(let text): text.utf8.count > 15 ? text.utf8.count + 32 : 0
    default: 0
    }
  }
}

extension [UInt32] {
  /// The same numbers ascending, each once; free if they already are.
  func ascendingOnce() -> [UInt32] {
    if zip(self, dropFirst()).allSatisfy({ $0 < $1 }) { return self }
    var result: [UInt32] = []
    for row in sorted() where result.last != row { result.append(row) }
    return result
  }

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
