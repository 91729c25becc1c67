// One attribute of a chunk, in the smallest layout that its values allow.

import Geometry

/// The values of one attribute by row of a chunk. Rows after its end are null.
///
/// The layout starts as the narrowest for the first values, and widens when a value does not fit.
struct Column: Sendable {
  enum Layout: Sendable {
    /// Values of the few rows that have one, and those rows ascending.
    case sparse([UInt16], [AttributeValue])
    case bools([Bool])
    case integers([Int64])
    case doubles([Double])
    case codes(CodeColumn)
    case strings(TextColumn)
    case json(TextColumn)
    /// Types without a common layout.
    case mixed([AttributeValue])
  }

  var layout = Layout.sparse([], [])
  /// Null rows of `bools`, `integers` and `doubles`; the other layouts have their own null.
  var nulls = RowBits()

  subscript(row: Int) -> AttributeValue {
    switch layout {
    case .sparse(let rows, let values):
      let place = rows.place(of: row)
      return place < rows.count && Int(rows[place]) == row ? values[place] : .null
    case .mixed(let values): return row < values.count ? values[row] : .null
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

  mutating func take() -> Layout {
    let taken = layout
    layout = .sparse([], [])
    return taken
  }

  mutating func set(_ value: AttributeValue, at row: Int) {
    var fits = true
    switch take() {
    case .sparse(let rows, let values):
      setSparse(rows, values, value, at: row)
    case .integers(var values):
      if case .integer(let new) = value {
        values.put(new, at: row, filler: 0, nulls: &nulls)
      } else {
        fits = value == .null
        if fits, row < values.count { nulls[row] = true }
      }
      layout = .integers(values)
    case .doubles(var values):
      if case .double(let new) = value {
        values.put(new, at: row, filler: 0, nulls: &nulls)
      } else {
        fits = value == .null
        if fits, row < values.count { nulls[row] = true }
      }
      layout = .doubles(values)
    case .bools(var values):
      if case .bool(let new) = value {
        values.put(new, at: row, filler: false, nulls: &nulls)
      } else {
        fits = value == .null
        if fits, row < values.count { nulls[row] = true }
      }
      layout = .bools(values)
    case .codes(var codes):
      if case .string(var text) = value {
        let isIn = !codes.isWasteful && text.withUTF8 { codes.set(UnsafeRawBufferPointer($0), at: row) }
        layout = .codes(codes)
        if isIn { return }
        spellOut()
        return set(value, at: row)
      }
      fits = value == .null
      if fits { _ = codes.set(nil, at: row) }
      layout = .codes(codes)
    case .strings(var texts):
      if case .string(var text) = value {
        fits = text.withUTF8 { texts.set(UnsafeRawBufferPointer($0), at: row) }
      } else {
        fits = value == .null
        if fits, row < texts.count { _ = texts.set(nil, at: row) }
      }
      layout = .strings(texts)
    case .json(var texts):
      if case .json(var text) = value {
        fits = text.withUTF8 { texts.set(UnsafeRawBufferPointer($0), at: row) }
      } else {
        fits = value == .null
        if fits, row < texts.count { _ = texts.set(nil, at: row) }
      }
      layout = .json(texts)
    case .mixed(var values):
      values.grow(to: row + 1)
      while values.count <= row { values.append(.null) }
      values[row] = value
      layout = .mixed(values)
    }
    if !fits { mix(value, at: row) }
  }

  private mutating func setSparse(
    _ rows: [UInt16], _ values: [AttributeValue], _ value: AttributeValue, at row: Int
  ) {
    var rows = rows
    var values = values
    let place = rows.place(of: row)
    if place < rows.count, Int(rows[place]) == row {
      values[place] = value
    } else if value != .null {
      rows.insert(UInt16(truncatingIfNeeded: row), at: place)
      values.insert(value, at: place)
    }
    layout = .sparse(rows, values)
    // Dense layouts are smaller when more than an eighth of the rows have values.
    if rows.count * 8 > max(row + 1, count) { widen(by: value) }
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

  /// Changes from sparse to the layout of `value`'s type.
  private mutating func widen(by value: AttributeValue) {
    guard case .sparse(let rows, let values) = layout, let empty = Layout(for: value.tag) else { return }
    layout = empty
    for (row, value) in zip(rows, values) { set(value, at: Int(row)) }
  }

  /// Adds `rows` of a batch after row `start`, in runs of one type.
  mutating func append(_ batch: BatchColumn, _ rows: Range<Int>, at start: Int) {
    if case .sparse(let known, let values) = layout {
      let tags = batch.tags[rows.clamped(to: 0..<batch.tags.count)]
      let more = batch.tag(of: rows).map { $0 == .null ? 0 : rows.count } ?? tags.count { $0 != .null }
      // Too many for the sparse layout.
      if (known.count + more) * 8 > start + rows.count, let first = tags.first(where: { $0 != .null }),
        let empty = Layout(for: first)
      {
        layout = empty
        for (row, value) in zip(known, values) { set(value, at: Int(row)) }
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

  /// False, with nothing changed, if the layout does not match `tag`.
  private mutating func appendUniform(
    _ batch: BatchColumn, _ rows: Range<Int>, _ tag: CellTag, at start: Int
  ) -> Bool {
    switch take() {
    case .integers(var values) where tag == .integer && values.count <= start:
      values.grow(to: start + rows.count)
      values.fill(to: start, with: 0, nulls: &nulls)
      batch.cells[rows].withUnsafeBufferPointer { cells in
        cells.withMemoryRebound(to: Int64.self) { values.append(contentsOf: $0) }
      }
      layout = .integers(values)
    case .doubles(var values) where tag == .double && values.count <= start:
      values.grow(to: start + rows.count)
      values.fill(to: start, with: 0, nulls: &nulls)
      batch.cells[rows].withUnsafeBufferPointer { cells in
        cells.withMemoryRebound(to: Double.self) { values.append(contentsOf: $0) }
      }
      layout = .doubles(values)
    case .bools(var values) where tag == .bool && values.count <= start:
      values.fill(to: start, with: false, nulls: &nulls)
      for row in rows { values.append(batch.cells[row] != 0) }
      layout = .bools(values)
    case .codes(var codes) where tag == .string && codes.count <= start:
      codes.pad(to: start)
      let rest = codes.append(batch, rows)
      layout = .codes(codes)
      if let rest {
        spellOut()
        append(batch, rest..<rows.upperBound, at: start + rest - rows.lowerBound)
      }
    case .strings(var texts) where tag == .string && texts.count <= start:
      texts.pad(to: start)
      let isIn = texts.append(batch, rows)
      layout = .strings(texts)
      return isIn
    case .json(var texts) where tag == .json && texts.count <= start:
      texts.pad(to: start)
      let isIn = texts.append(batch, rows)
      layout = .json(texts)
      return isIn
    case let other:
      layout = other
      return false
    }
    return true
  }

  /// Releases memory reserved beyond the need; for a full chunk.
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
  /// The index at which `row` is or would be inserted.
  func place(of row: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if Int(self[middle]) < row { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Array {
  fileprivate mutating func put(_ value: Element, at index: Int, filler: Element, nulls: inout RowBits) {
    fill(to: index + 1, with: filler, nulls: &nulls)
    self[index] = value
    nulls[index] = false
  }

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
