// One attribute of a chunk: as few bytes a row as its values allow.

import Geometry

/// The values of one attribute, by row of a chunk. Rows that it does not reach are null.
///
/// It starts as the narrowest layout that its first values allow, and becomes a wider one when a value does not fit.
struct Column: Sendable {
  enum Layout: Sendable {
    /// Few rows have a value: theirs, and the rows ascending.
    case sparse([UInt16], [AttributeValue])
    case bools([Bool])
    case integers([Int64])
    case doubles([Double])
    case codes(CodeColumn)
    case strings(TextColumn)
    case json(TextColumn)
    /// Types that no other layout holds together.
    case mixed([AttributeValue])
  }

  private(set) var layout = Layout.sparse([], [])
  /// Of `bools`, `integers` and `doubles`; the others have a null of their own.
  private(set) var nulls = RowBits()

  typealias View = FeatureRow.Attribute

  /// The value of a row without making a `String`.
  @inline(__always)
  func withView<Result>(at row: Int, _ body: (View) -> Result) -> Result {
    switch layout {
    case .integers(let values):
      return body(row < values.count && !nulls[row] ? .integer(values[row]) : .null)
    case .doubles(let values):
      return body(row < values.count && !nulls[row] ? .double(values[row]) : .null)
    case .bools(let values):
      return body(row < values.count && !nulls[row] ? .bool(values[row]) : .null)
    case .strings(let texts):
      guard row < texts.count, texts.offsets[row] != TextArena.none else { return body(.null) }
      return texts.arena.withText(at: texts.offsets[row]) { body(.string($0)) }
    case .codes(let codes):
      return codes.withText(at: row) { body(.string($0)) } ?? body(.null)
    case .json(let texts):
      guard row < texts.count, texts.offsets[row] != TextArena.none else { return body(.null) }
      return texts.arena.withText(at: texts.offsets[row]) { body(.json($0)) }
    case .sparse, .mixed:
      switch self[row] {
      case .null: return body(.null)
      case .bool(let value): return body(.bool(value))
      case .integer(let value): return body(.integer(value))
      case .double(let value): return body(.double(value))
      case .string(var text): return text.withUTF8 { body(.string(UnsafeRawBufferPointer($0))) }
      case .json(var text): return text.withUTF8 { body(.json(UnsafeRawBufferPointer($0))) }
      }
    }
  }

  subscript(row: Int) -> AttributeValue {
    switch layout {
    case .sparse(let rows, let values):
      let place = rows.place(of: row)
      return place < rows.count && Int(rows[place]) == row ? values[place] : .null
    case .mixed(let values): return row < values.count ? values[row] : .null
    default:
      return withView(at: row) { view in
        switch view {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .double(let value): .double(value)
        case .string(let text): .string(String(decoding: text, as: UTF8.self))
        case .json(let text): .json(String(decoding: text, as: UTF8.self))
        }
      }
    }
  }

  /// Rows up to the last that may have a value.
  var count: Int {
    switch layout {
    case .sparse(let rows, _): rows.last.map { Int($0) + 1 } ?? 0
    case .bools(let values): values.count
    case .integers(let values): values.count
    case .doubles(let values): values.count
    case .codes(let codes): codes.count
    case .strings(let texts), .json(let texts): texts.count
    case .mixed(let values): values.count
    }
  }

  // MARK: Changing. A layout is taken out before it is changed, so that its arrays have one owner and are not copied.

  private mutating func take() -> Layout {
    let taken = layout
    layout = .sparse([], [])
    return taken
  }

  mutating func set(_ value: AttributeValue, at row: Int) {
    switch (take(), value) {
    case (.sparse(var rows, var values), _):
      let place = rows.place(of: row)
      if place < rows.count, Int(rows[place]) == row {
        values[place] = value
      } else if value != .null {
        rows.insert(UInt16(truncatingIfNeeded: row), at: place)
        values.insert(value, at: place)
      }
      layout = .sparse(rows, values)
      // Beyond an eighth of the rows, dense columns are smaller.
      if rows.count * 8 > max(row + 1, count) { widen(by: value) }
    case (.integers(var values), .integer(let value)):
      values.fill(to: row + 1, with: 0, nulls: &nulls)
      values[row] = value
      nulls[row] = false
      layout = .integers(values)
    case (.doubles(var values), .double(let value)):
      values.fill(to: row + 1, with: 0, nulls: &nulls)
      values[row] = value
      nulls[row] = false
      layout = .doubles(values)
    case (.bools(var values), .bool(let value)):
      values.fill(to: row + 1, with: false, nulls: &nulls)
      values[row] = value
      nulls[row] = false
      layout = .bools(values)
    case (.integers(let values), .null):
      if row < values.count { nulls[row] = true }
      layout = .integers(values)
    case (.doubles(let values), .null):
      if row < values.count { nulls[row] = true }
      layout = .doubles(values)
    case (.bools(let values), .null):
      if row < values.count { nulls[row] = true }
      layout = .bools(values)
    case (.codes(var codes), .string(var text)):
      let isIn = !codes.isWasteful && text.withUTF8 { codes.set(UnsafeRawBufferPointer($0), at: row) }
      layout = .codes(codes)
      if !isIn {
        spellOut()
        set(value, at: row)
      }
    case (.codes(var codes), .null):
      _ = codes.set(nil, at: row)
      layout = .codes(codes)
    case (.strings(var texts), .string(var text)):
      let isIn = text.withUTF8 { texts.set(UnsafeRawBufferPointer($0), at: row) }
      layout = .strings(texts)
      if !isIn { mix(value, at: row) }
    case (.json(var texts), .json(var text)):
      let isIn = text.withUTF8 { texts.set(UnsafeRawBufferPointer($0), at: row) }
      layout = .json(texts)
      if !isIn { mix(value, at: row) }
    case (.strings(var texts), .null):
      if row < texts.count { _ = texts.set(nil, at: row) }
      layout = .strings(texts)
    case (.json(var texts), .null):
      if row < texts.count { _ = texts.set(nil, at: row) }
      layout = .json(texts)
    case (.mixed(var values), _):
      values.grow(to: row + 1)
      while values.count <= row { values.append(.null) }
      values[row] = value
      layout = .mixed(values)
    case (let other, _):
      layout = other
      mix(value, at: row)
    }
  }

  private mutating func mix(_ value: AttributeValue, at row: Int) {
    var values = (0..<max(count, row + 1)).map { self[$0] }
    values[row] = value
    nulls = RowBits()
    layout = .mixed(values)
  }

  private mutating func spellOut() {
    guard case .codes(let codes) = layout else { return }
    if let texts = codes.spelledOut() { layout = .strings(texts) } else { mix(.null, at: max(count, 1) - 1) }
  }

  /// From sparse to the layout of `value`'s type.
  private mutating func widen(by value: AttributeValue) {
    guard case .sparse(let rows, let values) = layout, let empty = Layout(for: value.tag) else { return }
    layout = empty
    for (row, value) in zip(rows, values) { set(value, at: Int(row)) }
  }

  /// Adds `rows` of a batch behind row `start`, in one go where they are of one type.
  mutating func append(_ batch: BatchColumn, _ rows: Range<Int>, at start: Int) {
    let tag = batch.tag(of: rows)
    if tag == .null { return }
    if let tag {
      // Many at once: not worth being sparse first.
      if case .sparse(let known, let values) = layout, (known.count + rows.count) * 8 > start + rows.count,
        let empty = Layout(for: tag)
      {
        layout = empty
        for (row, value) in zip(known, values) { set(value, at: Int(row)) }
      }
      if appendUniform(batch, rows, tag, at: start) { return }
    }
    for row in rows where row < batch.tags.count && batch.tags[row] != .null {
      set(batch[row], at: start + row - rows.lowerBound)
    }
  }

  /// False when the layout is not the one for `tag`; nothing is then changed.
  private mutating func appendUniform(
    _ batch: BatchColumn, _ rows: Range<Int>, _ tag: CellTag, at start: Int
  ) -> Bool {
    switch (take(), tag) {
    case (.integers(var values), .integer) where values.count <= start:
      values.grow(to: start + rows.count)
      values.fill(to: start, with: 0, nulls: &nulls)
      batch.cells[rows].withUnsafeBytes { values.append(contentsOf: $0.bindMemory(to: Int64.self)) }
      layout = .integers(values)
    case (.doubles(var values), .double) where values.count <= start:
      values.grow(to: start + rows.count)
      values.fill(to: start, with: 0, nulls: &nulls)
      batch.cells[rows].withUnsafeBytes { values.append(contentsOf: $0.bindMemory(to: Double.self)) }
      layout = .doubles(values)
    case (.bools(var values), .bool) where values.count <= start:
      values.fill(to: start, with: false, nulls: &nulls)
      for row in rows { values.append(batch.cells[row] != 0) }
      layout = .bools(values)
    case (.codes(var codes), .string) where codes.count <= start:
      codes.pad(to: start)
      let rest = codes.append(batch, rows)
      layout = .codes(codes)
      if let rest {
        spellOut()
        append(batch, rest..<rows.upperBound, at: start + rest - rows.lowerBound)
      }
    case (.strings(var texts), .string) where texts.count <= start:
      texts.pad(to: start)
      let isIn = texts.append(batch, rows)
      layout = .strings(texts)
      return isIn
    case (.json(var texts), .json) where texts.count <= start:
      texts.pad(to: start)
      let isIn = texts.append(batch, rows)
      layout = .json(texts)
      return isIn
    case (let other, _):
      layout = other
      return false
    }
    return true
  }

  /// Gives back what growing has reserved beyond the need; for a chunk that is full.
  mutating func trim() {
    switch take() {
    case .strings(var texts):
      texts.trim()
      layout = .strings(texts)
    case .json(var texts):
      texts.trim()
      layout = .json(texts)
    case .codes(var codes):
      codes.trim()
      layout = .codes(codes)
    case let other: layout = other
    }
  }
}

extension Column.Layout {
  init?(for tag: CellTag) {
    switch tag {
    case .null: return nil
    case .bool: self = .bools([])
    case .integer: self = .integers([])
    case .double: self = .doubles([])
    case .string: self = .codes(CodeColumn())
    case .json: self = .json(TextColumn())
    }
  }
}

extension [UInt16] {
  /// Where `row` is or belongs.
  func place(of row: Int) -> Int {
    var low = 0, high = count
    while low < high {
      let middle = (low + high) / 2
      if Int(self[middle]) < row { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Array {
  /// Adds elements that stand for null.
  fileprivate mutating func fill(to count: Int, with filler: Element, nulls: inout RowBits) {
    guard self.count < count else { return }
    grow(to: count)
    while self.count < count {
      nulls[self.count] = true
      append(filler)
    }
  }
}
