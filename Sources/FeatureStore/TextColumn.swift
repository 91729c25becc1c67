// The texts of one column of a chunk: individual texts, or codes of a few distinct ones.

import Sorting

/// A text or null per row.
package struct TextColumn: Sendable {
  /// ``TextArena/none`` is null.
  package private(set) var offsets: [UInt32] = []
  package private(set) var arena = TextArena()
  /// Bytes of replaced texts.
  private var dead = 0

  var count: Int { offsets.count }

  mutating func pad(to rows: Int) {
    offsets.grow(to: rows)
    while offsets.count < rows { offsets.append(TextArena.none) }
  }

  /// Returns false if there is no room for the text.
  mutating func append(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let offset = arena.append(text) else { return false }
    offsets.grow(to: offsets.count + 1)
    offsets.append(offset)
    return true
  }

  /// Appends `rows` of a batch, which are all texts written in order.
  mutating func append(_ batch: BatchColumn, _ rows: Range<Int>) -> Bool {
    guard let first = rows.first, let last = rows.last else { return true }
    let start = Int(batch.cells[first])
    let end = batch.texts.range(at: UInt32(truncatingIfNeeded: batch.cells[last])).upperBound
    guard start <= end, let shift = arena.append(batch.texts, start..<end) else { return false }
    offsets.grow(to: offsets.count + rows.count)
    for row in rows { offsets.append(UInt32(truncatingIfNeeded: Int(batch.cells[row]) &+ shift)) }
    return true
  }

  mutating func set(_ text: UnsafeRawBufferPointer?, at row: Int) -> Bool {
    pad(to: row + 1)
    let old = offsets[row]
    if old != TextArena.none { dead += arena.range(at: old).count + 1 }
    guard let text else {
      offsets[row] = TextArena.none
      return true
    }
    guard let offset = arena.append(text) else { return false }
    offsets[row] = offset
    if dead > 1024, dead > arena.bytes.count / 2 { compact() }
    return true
  }

  private mutating func compact() {
    var fresh = TextArena()
    for row in offsets.indices where offsets[row] != TextArena.none {
      offsets[row] = arena.withText(at: offsets[row]) { fresh.append($0) } ?? TextArena.none
    }
    arena = fresh
    dead = 0
  }

  /// Drops the rows from `rows` on.
  mutating func truncate(to rows: Int) {
    guard rows < offsets.count else { return }
    for offset in offsets[rows...] where offset != TextArena.none { dead += arena.range(at: offset).count + 1 }
    offsets.truncate(to: rows)
  }

  var byteCount: Int { offsets.count * 4 + arena.bytes.count }

  mutating func trim() { arena.trim() }
}

/// A code or null per row, and the texts of the codes: for columns with few distinct values.
package struct CodeColumn: Sendable {
  package static let none = UInt8.max
  package private(set) var codes: [UInt8] = []
  /// At most 255.
  private(set) var distinct = TextColumn()

  var count: Int { codes.count }
  /// Whether texts repeat too rarely for codes to save memory, judged from 64 rows on.
  var isWasteful: Bool { codes.count >= 64 && distinct.count * 2 > codes.count }

  mutating func pad(to rows: Int) {
    codes.grow(to: rows)
    while codes.count < rows { codes.append(Self.none) }
  }

  /// The text's code, a new one if necessary; nil if there are too many.
  private mutating func code(_ text: UnsafeRawBufferPointer) -> UInt8? {
    for code in 0..<distinct.count
    where distinct.arena.withText(at: distinct.offsets[code], { $0.isEqual(to: text) }) {
      return UInt8(truncatingIfNeeded: code)
    }
    guard distinct.count < 255, distinct.append(text) else { return nil }
    return UInt8(truncatingIfNeeded: distinct.count - 1)
  }

  mutating func set(_ text: UnsafeRawBufferPointer?, at row: Int) -> Bool {
    guard let text else {
      if row < codes.count { codes[row] = Self.none }
      return true
    }
    guard let code = code(text) else { return false }
    pad(to: row + 1)
    codes[row] = code
    return true
  }

  /// Appends texts of a batch, with a temporary hash table.
  ///
  /// - Returns: The row at which there were too many distinct texts; nil if all were appended.
  mutating func append(_ batch: BatchColumn, _ rows: Range<Int>) -> Int? {
    guard rows.count > 8 else {
      for row in rows {
        let offset = UInt32(truncatingIfNeeded: batch.cells[row])
        guard !isWasteful, batch.texts.withText(at: offset, { set($0, at: codes.count) }) else { return row }
      }
      return nil
    }
    codes.grow(to: codes.count + rows.count)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { table -> Int? in
      table.initialize(repeating: Self.none)
      func slot(_ text: UnsafeRawBufferPointer, isSame: (UInt8) -> Bool) -> Int {
        var slot = Int(truncatingIfNeeded: text.quickHash & 511)
        while table[slot] != Self.none, !isSame(table[slot]) { slot = (slot + 1) & 511 }
        return slot
      }
      for code in 0..<distinct.count {
        distinct.arena.withText(at: distinct.offsets[code]) { text in
          table[slot(text) { _ in false }] = UInt8(truncatingIfNeeded: code)
        }
      }
      for row in rows {
        let isIn = batch.texts.withText(at: UInt32(truncatingIfNeeded: batch.cells[row])) { text -> Bool in
          let slot = slot(text) { code in
            distinct.arena.withText(at: distinct.offsets[Int(code)]) { $0.isEqual(to: text) }
          }
          if table[slot] == Self.none {
            guard !isWasteful, distinct.count < 255, distinct.append(text) else { return false }
            table[slot] = UInt8(truncatingIfNeeded: distinct.count - 1)
          }
          codes.append(table[slot])
          return true
        }
        if !isIn { return row }
      }
      return nil
    }
  }

  /// The same texts, stored individually.
  func spelledOut() -> TextColumn? {
    var column = TextColumn()
    for code in codes {
      if code == Self.none {
        column.pad(to: column.count + 1)
      } else if !distinct.arena.withText(at: distinct.offsets[Int(code)], { column.append($0) }) {
        return nil
      }
    }
    return column
  }

  package func withText<Result>(at row: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    guard row < codes.count, codes[row] != Self.none else { return nil }
    return distinct.arena.withText(at: distinct.offsets[Int(codes[row])], body)
  }

  mutating func truncate(to rows: Int) { codes.truncate(to: rows) }

  var byteCount: Int { codes.count + distinct.byteCount }

  mutating func trim() { distinct.trim() }
}
