// How features are read: one, all in drawing order, or those in a box.

import Geometry

extension FeatureStore {
  /// The feature in a row; nil when it was removed or never was.
  @inline(__always)
  public subscript(row: UInt32) -> FeatureRow? {
    guard let slot = slot(of: row) else { return nil }
    let place = Int(row &- slots[slot].base)
    return slots[slot].chunk.isLive(place) ? FeatureRow(chunk: slots[slot].chunk, place: place, row: row) : nil
  }

  public func feature(id: Int) -> FeatureRow? { row(of: id).flatMap { self[$0] } }

  /// Calls `body` with each feature in the order of insertion, until it says false.
  public func forEach(_ body: (FeatureRow) -> Bool) {
    for slot in slots {
      for place in 0..<slot.chunk.count where slot.chunk.isLive(place) {
        guard body(FeatureRow(chunk: slot.chunk, place: place, row: slot.base + UInt32(place))) else { return }
      }
    }
  }

  /// Calls `body` with the features in `rows`; those that are not there are passed over.
  ///
  /// Rows that a box finds lie all over the memory. So a block of them is touched before it is visited: the processor waits
  /// for many loads at once, where the visits would wait for one after the other (three times as long, measured).
  public func forEach(in rows: [UInt32], _ body: (FeatureRow) -> Void) {
    // Readers are read here without a chunk in hand; the list holds all chunks, and `body` cannot change it.
    let slots = slots
    defer { withExtendedLifetime(slots) {} }
    for start in stride(from: 0, to: rows.count, by: 64) {
      let block = rows[start..<min(rows.count, start + 64)]
      var touched = 0
      for row in block {
        guard let slot = slot(of: row) else { continue }
        let place = Int(row &- slots[slot].base)
        touched &+= slots[slot].reader.pointee.touch(place)
      }
      // Never so; but the compiler cannot know, and must load.
      if touched == .min { return }
      for row in block {
        if let feature = self[row] { body(feature) }
      }
    }
  }

  /// All rows as they are drawn, the bottom one first: by zIndex, then in the order of insertion.
  ///
  /// - Complexity: O(n), and O(n log n) once any zIndex is other than 0.
  public func rowsInDrawingOrder() -> [UInt32] {
    sortedForDrawing(allRows())
  }

  /// Rows, ascending, in the order they are drawn in.
  public func sortedForDrawing(_ rows: [UInt32]) -> [UInt32] {
    guard raised > 0 else { return rows }
    // One number to compare: the zIndex, its sign turned so that it sorts, before the row.
    return rows.map { row in
      let zIndex = UInt32(bitPattern: self[row]?.zIndex ?? 0) ^ 0x8000_0000
      return UInt64(zIndex) << 32 | UInt64(row)
    }.sorted().map { UInt32(truncatingIfNeeded: $0) }
  }

  func allRows() -> [UInt32] {
    var rows: [UInt32] = []
    rows.reserveCapacity(count)
    forEach {
      rows.append($0.row)
      return true
    }
    return rows
  }

  /// Rows of the features whose envelope shares a position with one of `boxes`, edges included, each once and ascending.
  ///
  /// - Complexity: O(log n + hits log hits).
  public func rows(in boxes: [Envelope]) -> [UInt32] {
    var found = FoundRows()
    for box in boxes { index.search(box, into: &found) }
    let rows = found.sorted()
    guard boxes.count > 1 else { return rows }
    var result: [UInt32] = []
    result.reserveCapacity(rows.count)
    for row in rows where result.last != row { result.append(row) }
    return result
  }

  /// How many features ``rows(in:)`` would give; for one box without visiting each.
  public func count(in boxes: [Envelope]) -> Int {
    boxes.count == 1 ? index.count(in: boxes[0]) : rows(in: boxes).count
  }

  /// No fewer than ``count(in:)`` gives, and not many more: what a look at them would be like.
  public func countAtMost(in boxes: [Envelope]) -> Int { boxes.reduce(0) { $0 + index.countAtMost(in: $1) } }

  /// How many features are selected. O(chunks).
  public var selectedCount: Int { slots.reduce(0) { $0 + $1.chunk.selected.count } }

  /// Ids of the selected features, in the order of insertion.
  public var selectedIDs: [Int] { selected { slot, place in slot.chunk.ids[place] } }

  /// Rows of the selected features, ascending.
  public var selectedRows: [UInt32] { selected { slot, place in slot.base + UInt32(place) } }

  private func selected<Value>(_ value: (Slot, Int) -> Value) -> [Value] {
    slots.flatMap { slot in
      slot.chunk.selected.isEmpty
        ? []
        : (0..<slot.chunk.count).filter { slot.chunk.selected[$0] && slot.chunk.isLive($0) }.map { value(slot, $0) }
    }
  }
}
