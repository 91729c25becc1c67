// One attribute of a batch: a cell of eight bytes and a tag per row, in any mixture of types.

import Geometry
import Sorting

/// The type of a cell.
enum CellTag: UInt8, Sendable {
  case null, bool, integer, double, string, json
  @inline(__always) var bit: UInt8 { 1 &<< rawValue }
}

/// A column of a batch. Rows after its end, and gaps, are null.
package struct BatchColumn: Sendable {
  let name: String
  private let nameBytes: [UInt8]
  /// A bool, integer or double as its bits; a text as its offset in ``texts``.
  private(set) var cells: [UInt64] = []
  private(set) var tags: [CellTag] = []
  /// The tags that occur, one bit each.
  private(set) var seen: UInt8 = 0
  private(set) var texts = TextArena()
  /// Whether a text did not fit; the store then refuses the batch.
  private(set) var isOverfull = false

  package init(name: String = "") {
    self.name = name
    nameBytes = Array(name.utf8)
  }

  init(name: String, cells: [UInt64], tag: CellTag, nulls: [Bool]) {
    self.init(name: name)
    self.cells = cells
    tags = [CellTag](repeating: tag, count: cells.count)
    seen = cells.isEmpty ? 0 : tag.bit
    for (row, isNull) in nulls.enumerated() where isNull {
      tags[row] = .null
      seen |= CellTag.null.bit
    }
  }

  package init(integers: [Int64]) {
    self.init(name: "", cells: integers.map { UInt64(bitPattern: $0) }, tag: .integer, nulls: [])
  }

  package init(doubles: [Double]) { self.init(name: "", cells: doubles.map(\.bitPattern), tag: .double, nulls: []) }

  init(name: String, texts: [UnsafeRawBufferPointer]) {
    self.init(name: name)
    guard let offsets = self.texts.append(all: texts) else {
      isOverfull = true
      return
    }
    cells = offsets
    tags = [CellTag](repeating: .string, count: texts.count)
    seen = texts.isEmpty ? 0 : CellTag.string.bit
  }

  @inline(__always)
  func hasName(_ key: UnsafeRawBufferPointer) -> Bool {
    nameBytes.withUnsafeBytes { $0.isEqual(to: key) }
  }

  /// Sets the cell of `row`, the last row or the next one. Setting a cell again replaces it.
  @inline(__always)
  mutating func set(_ cell: UInt64, tag: CellTag, at row: Int) {
    seen |= tag.bit
    if cells.count != row, !align(to: row, cell, tag) { return }
    cells.append(cell)
    tags.append(tag)
  }

  /// Fills up to `row`; returns whether it is the next one.
  @inline(never)
  private mutating func align(to row: Int, _ cell: UInt64, _ tag: CellTag) -> Bool {
    if row < cells.count {
      if row >= 0 {
        cells[row] = cell
        tags[row] = tag
      }
      return false
    }
    seen |= CellTag.null.bit
    while cells.count < row {
      cells.append(0)
      tags.append(.null)
    }
    return true
  }

  @inline(__always)
  mutating func set(_ text: UnsafeRawBufferPointer, tag: CellTag, at row: Int) {
    if let offset = texts.append(text) {
      set(UInt64(offset), tag: tag, at: row)
    } else {
      isOverfull = true
    }
  }

  package mutating func set(_ value: AttributeValue, at row: Int) {
    switch value {
    case .null: set(0, tag: .null, at: row)
    case .bool(let value): set(value ? 1 : 0, tag: .bool, at: row)
    case .integer(let value): set(UInt64(bitPattern: value), tag: .integer, at: row)
    case .double(let value): set(value.bitPattern, tag: .double, at: row)
    case .string(var text): text.withUTF8 { set(UnsafeRawBufferPointer($0), tag: .string, at: row) }
    case .json(var text): text.withUTF8 { set(UnsafeRawBufferPointer($0), tag: .json, at: row) }
    }
  }

  @inline(__always)
  func isNull(_ row: Int) -> Bool { row >= tags.count || tags[row] == .null }

  /// Makes values of other types null, and integers doubles where the type asks for them.
  ///
  /// - Returns: the number of values that became null.
  mutating func conform(to type: FieldType) -> Int {
    let allowed: UInt8
    switch type {
    case .json: return 0
    case .boolean: allowed = CellTag.bool.bit
    case .integer: allowed = CellTag.integer.bit
    case .double: allowed = CellTag.double.bit
    case .string, .date, .dateTime, .time, .binary: allowed = CellTag.string.bit
    }
    guard seen & ~(allowed | CellTag.null.bit) != 0 else { return 0 }
    var dropped = 0
    for row in tags.indices where tags[row].bit & allowed == 0 && tags[row] != .null {
      if type == .double, tags[row] == .integer {
        cells[row] = Double(Int64(bitPattern: cells[row])).bitPattern
        tags[row] = .double
      } else {
        tags[row] = .null
        dropped += 1
      }
    }
    seen = allowed | CellTag.null.bit
    return dropped
  }

  /// The column of some rows, in the given order.
  func selecting(_ rows: [Int]) -> BatchColumn {
    var column = BatchColumn(name: name)
    for (index, row) in rows.enumerated() where !isNull(row) {
      switch tags[row] {
      case .string, .json:
        texts.withText(at: UInt32(truncatingIfNeeded: cells[row])) { column.set($0, tag: tags[row], at: index) }
      case .null, .bool, .integer, .double: column.set(cells[row], tag: tags[row], at: index)
      }
    }
    return column
  }

  /// The common tag of all `rows`; nil if they differ.
  func tag(of rows: Range<Int>) -> CellTag? {
    guard rows.lowerBound < tags.count else { return .null }
    guard rows.upperBound <= tags.count, let first = tags[rows].first else { return nil }
    return seen == first.bit || tags[rows].allSatisfy { $0 == first } ? first : nil
  }

  /// The longest run of one tag from `start`, a row within the column.
  func run(from start: Int, in rows: Range<Int>) -> Range<Int> {
    let limit = min(rows.upperBound, tags.count)
    let tag = tags[start]
    if seen == tag.bit { return start..<limit }
    return start..<(tags[start..<limit].firstIndex { $0 != tag } ?? limit)
  }

  subscript(row: Int) -> AttributeValue {
    guard row < cells.count else { return .null }
    let cell = cells[row]
    switch tags[row] {
    case .null: return .null
    case .bool: return .bool(cell != 0)
    case .integer: return .integer(Int64(bitPattern: cell))
    case .double: return .double(Double(bitPattern: cell))
    case .string: return .string(texts.string(at: UInt32(truncatingIfNeeded: cell)))
    case .json: return .json(texts.string(at: UInt32(truncatingIfNeeded: cell)))
    }
  }
}
