// One attribute of a chunk, in the smallest layout that its values allow.

import Geometry
import Sorting

/// The values of one attribute by row of a chunk. Rows after its end are null.
///
/// The layout starts as the narrowest for the first values, and widens when a value does not fit. Each layout uses some
/// of the arrays; the others are empty.
package struct ValueColumn: Sendable {
  package enum Layout: UInt8, BitwiseCopyable, Sendable {
    /// The rows that have a value, ascending, in ``sparseRows``, and their values in ``values``: for few rows.
    case sparse
    /// All values in ``values``: for types without a common layout.
    case mixed
    case bools
    /// The bits of numbers, in ``words``.
    case integers, doubles
    /// Texts that repeat, in ``codes``.
    case codes
    /// Texts, in ``texts``.
    case strings, json
  }

  package private(set) var layout = Layout.sparse
  private(set) var sparseRows: [UInt16] = []
  private(set) var values: [AttributeValue] = []
  package private(set) var bools: [Bool] = []
  package private(set) var words: [UInt64] = []
  package private(set) var codes = CodeColumn()
  package private(set) var texts = TextColumn()
  /// Null rows of `bools`, `integers` and `doubles`; other layouts represent null themselves.
  package private(set) var nulls = RowBits()
  /// No number is outside of these bounds, which may be too wide after values were replaced. For the layouts `integers` and
  /// `doubles`.
  package private(set) var integerBounds = ValueBounds<Int64>(least: .max, greatest: .min)
  package private(set) var doubleBounds = ValueBounds<Double>(least: .infinity, greatest: -.infinity)

  /// Identifies the values: columns with the same stamp have the same values, except for rows dropped from the end. 0 if there
  /// are none.
  var stamp: UInt64 = 0

  init() {}

  /// Numbers without nulls, as their bits.
  package init(words: [UInt64], areIntegers: Bool) {
    (layout, self.words) = (areIntegers ? .integers : .doubles, words)
    includeInBounds(words[...])
  }

  /// The values of a batch.
  package init(_ batch: BatchColumn) { append(batch, 0..<batch.tags.count, at: 0) }

  package subscript(row: Int) -> AttributeValue {
    switch layout {
    case .sparse:
      let index = sparseRows.partitioningIndex { Int($0) >= row }
      return index < sparseRows.count && Int(sparseRows[index]) == row ? values[index] : .null
    case .mixed: return row < values.count ? values[row] : .null
    default:
      defer { withExtendedLifetime(self) {} }
      switch reader.attribute(row) {
      case .null: return .null
      case .bool(let value): return .bool(value)
      case .integer(let value): return .integer(value)
      case .double(let value): return .double(value)
      case .string(let text): return .string(String(decoding: text, as: UTF8.self))
      case .json(let text): return .json(String(decoding: text, as: UTF8.self))
      }
    }
  }

  /// The number of rows up to the last one that may have a value.
  package var count: Int {
    switch layout {
    case .sparse: sparseRows.last.map { Int($0) + 1 } ?? 0
    case .mixed: values.count
    case .bools: bools.count
    case .integers, .doubles: words.count
    case .codes: codes.count
    case .strings, .json: texts.count
    }
  }

  /// The types of the values, one bit each.
  var seen: UInt8 {
    switch layout {
    case .sparse, .mixed: values.reduce(0) { $0 | $1.tag.bit }
    case .bools: nulls.count < count ? CellTag.bool.bit : 0
    case .integers: nulls.count < count ? CellTag.integer.bit : 0
    case .doubles: nulls.count < count ? CellTag.double.bit : 0
    case .codes: codes.codes.contains { $0 != CodeColumn.none } ? CellTag.string.bit : 0
    case .strings: texts.offsets.contains { $0 != TextArena.none } ? CellTag.string.bit : 0
    case .json: texts.offsets.contains { $0 != TextArena.none } ? CellTag.json.bit : 0
    }
  }

  // MARK: Single values

  mutating func set(_ value: AttributeValue, at row: Int) {
    if layout == .sparse { return setSparse(value, at: row) }
    if row >= count, value == .null { return }
    if !setDense(value, at: row) { mix(value, at: row) }
  }

  /// Returns false, with nothing changed, if the layout cannot hold the value.
  private mutating func setDense(_ value: AttributeValue, at row: Int) -> Bool {
    switch (layout, value) {
    case (.mixed, _):
      values.grow(to: row + 1)
      while values.count <= row { values.append(.null) }
      values[row] = value
    case (.bools, .bool(let flag)): bools.put(flag, at: row, filler: false, nulls: &nulls)
    case (.integers, .integer(let number)):
      words.put(UInt64(bitPattern: number), at: row, filler: 0, nulls: &nulls)
      integerBounds.include(number)
    case (.doubles, .double(let number)):
      words.put(number.bitPattern, at: row, filler: 0, nulls: &nulls)
      doubleBounds.include(number)
    case (.bools, .null), (.integers, .null), (.doubles, .null): nulls[row] = true
    case (.codes, .string(var text)):
      if codes.isWasteful || !text.withUTF8({ codes.set(UnsafeRawBufferPointer($0), at: row) }) {
        spellOut()
        set(value, at: row)
      }
    case (.codes, .null): return codes.set(nil, at: row)
    case (.strings, .string(var text)), (.json, .json(var text)):
      return text.withUTF8 { texts.set(UnsafeRawBufferPointer($0), at: row) }
    case (.strings, .null), (.json, .null): return texts.set(nil, at: row)
    default: return false
    }
    return true
  }

  private mutating func setSparse(_ value: AttributeValue, at row: Int) {
    let index = sparseRows.partitioningIndex { Int($0) >= row }
    if index < sparseRows.count, Int(sparseRows[index]) == row {
      values[index] = value
    } else if value != .null {
      sparseRows.insert(UInt16(truncatingIfNeeded: row), at: index)
      values.insert(value, at: index)
    }
    // Dense layouts are smaller when more than an eighth of the rows have values.
    if sparseRows.count * 8 > max(row + 1, count) { widen(for: value.tag) }
  }

  /// Changes from sparse to the dense layout of a type; nothing for null.
  private mutating func widen(for tag: CellTag) {
    guard let dense = Layout(for: tag) else { return }
    let entries = zip(sparseRows, values)
    (layout, sparseRows, values) = (dense, [], [])
    for (row, value) in entries { set(value, at: Int(row)) }
  }

  private mutating func mix(_ value: AttributeValue, at row: Int) {
    var values = (0..<max(count, row + 1)).map { self[$0] }
    values[row] = value
    self = ValueColumn()
    layout = .mixed
    self.values = values
  }

  private mutating func spellOut() {
    guard let texts = codes.spelledOut() else { return mix(.null, at: max(count, 1) - 1) }
    self = ValueColumn()
    layout = .strings
    self.texts = texts
  }

  // MARK: Batches

  /// Sets the value of a row to that of row `source` of a batch, without making a value of it where the layout fits.
  mutating func set(_ batch: BatchColumn, _ source: Int, at row: Int) {
    guard source < batch.tags.count else { return set(.null, at: row) }
    let cell = batch.cells[source]
    switch (layout, batch.tags[source]) {
    case (.integers, .integer):
      words.put(cell, at: row, filler: 0, nulls: &nulls)
      integerBounds.include(Int64(bitPattern: cell))
    case (.doubles, .double):
      words.put(cell, at: row, filler: 0, nulls: &nulls)
      doubleBounds.include(Double(bitPattern: cell))
    case (.strings, .string):
      let isSet = batch.texts.withText(at: UInt32(truncatingIfNeeded: cell)) { texts.set($0, at: row) }
      if !isSet { set(batch[source], at: row) }
    default: set(batch[source], at: row)
    }
  }

  /// Adds `rows` of a batch after row `start`, in runs of one type.
  mutating func append(_ batch: BatchColumn, _ rows: Range<Int>, at start: Int) {
    if layout == .sparse {
      let tags = batch.tags[rows.clamped(to: 0..<batch.tags.count)]
      let more = batch.tag(of: rows).map { $0 == .null ? 0 : rows.count } ?? tags.count { $0 != .null }
      // Too many values for the sparse layout.
      if (sparseRows.count + more) * 8 > start + rows.count, let first = tags.first(where: { $0 != .null }) {
        widen(for: first)
      }
    }
    var next = rows.lowerBound
    while next < min(rows.upperBound, batch.tags.count) {
      let run = batch.run(from: next, in: rows)
      let tag = batch.tags[next]
      next = run.upperBound
      if tag == .null || appendUniform(batch, run, tag, at: start + run.lowerBound - rows.lowerBound) { continue }
      for row in run { set(batch[row], at: start + row - rows.lowerBound) }
    }
  }

  /// Returns false, with nothing changed, if the layout cannot hold values of `tag`.
  private mutating func appendUniform(
    _ batch: BatchColumn, _ rows: Range<Int>, _ tag: CellTag, at start: Int
  ) -> Bool {
    guard count <= start else { return false }
    switch (layout, tag) {
    case (.integers, .integer), (.doubles, .double):
      words.grow(to: start + rows.count)
      words.fill(to: start, with: 0, nulls: &nulls)
      words.append(contentsOf: batch.cells[rows])
      includeInBounds(batch.cells[rows])
    case (.bools, .bool):
      bools.fill(to: start, with: false, nulls: &nulls)
      for row in rows { bools.append(batch.cells[row] != 0) }
    case (.codes, .string):
      codes.pad(to: start)
      if let rest = codes.append(batch, rows) {
        spellOut()
        append(batch, rest..<rows.upperBound, at: start + rest - rows.lowerBound)
      }
    case (.strings, .string), (.json, .json):
      texts.pad(to: start)
      return texts.append(batch, rows)
    default: return false
    }
    return true
  }

  private mutating func includeInBounds(_ words: ArraySlice<UInt64>) {
    if layout == .integers {
      var bounds = integerBounds
      for word in words { bounds.include(Int64(bitPattern: word)) }
      integerBounds = bounds
    } else {
      var bounds = doubleBounds
      for word in words { bounds.include(Double(bitPattern: word)) }
      doubleBounds = bounds
    }
  }

  // MARK: Memory

  /// Releases unused memory; for a full chunk.
  mutating func trim() {
    texts.trim()
    codes.trim()
  }

  /// Drops the rows from `rows` on.
  mutating func truncate(to rows: Int) {
    let kept = layout == .sparse ? sparseRows.partitioningIndex { Int($0) >= rows } : rows
    sparseRows.truncate(to: kept)
    values.truncate(to: kept)
    bools.truncate(to: rows)
    words.truncate(to: rows)
    codes.truncate(to: rows)
    texts.truncate(to: rows)
    nulls.truncate(to: rows)
  }

  /// Approximate memory of the values in bytes.
  var byteCount: Int {
    values.reduce(bools.count + words.count * 8 + codes.byteCount + texts.byteCount) {
      $0 + MemoryLayout<AttributeValue>.stride + $1.byteCountElsewhere
    }
  }
}

extension ValueColumn.Layout {
  init?(for tag: CellTag) {
    switch tag {
    case .null: return nil
    case .bool: self = .bools
    case .integer: self = .integers
    case .double: self = .doubles
    case .string: self = .codes
    case .json: self = .json
    }
  }
}

extension Array {
  fileprivate mutating func put(_ value: Element, at index: Int, filler: Element, nulls: inout RowBits) {
    fill(to: index + 1, with: filler, nulls: &nulls)
    self[index] = value
    nulls[index] = false
  }

  /// Adds elements that represent null.
  fileprivate mutating func fill(to count: Int, with filler: Element, nulls: inout RowBits) {
    guard self.count < count else { return }
    grow(to: count)
    while self.count < count {
      nulls[self.count] = true
      append(filler)
    }
  }
}
