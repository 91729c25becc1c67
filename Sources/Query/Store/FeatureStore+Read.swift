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
  public func rowsInDrawingOrder() -> [UInt32] { rowsInDrawingOrder { _ in } }

  /// The same for long work.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func rowsInDrawingOrder(checking check: CancellationCheck) rethrows -> [UInt32] {
    let rows = try rowsAscending { try check(0.2 * $0) }
    return try sortedForDrawing(rows) { try check(0.2 + 0.8 * $0) }
  }

  /// Rows, ascending, in the order they are drawn in.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func sortedForDrawing(_ rows: [UInt32], checking check: CancellationCheck) rethrows -> [UInt32] {
    guard raised > 0 else { return rows }
    // By the zIndex, its sign turned so that it sorts, then by the row.
    var items: [IndexItem] = []
    items.reserveCapacity(rows.count)
    for (place, row) in rows.enumerated() {
      if place & 0x7fff == 0x7fff { try check(0.4 * Double(place) / Double(rows.count)) }
      let zIndex = UInt32(bitPattern: self[row]?.zIndex ?? 0) ^ 0x8000_0000
      items.append(IndexItem(key: UInt64(zIndex), row: row, source: 0))
    }
    try IndexItem.sort(&items) { try check(0.4 + 0.6 * $0) }
    return items.map(\.row)
  }

  func allRows() -> [UInt32] { rowsAscending { _ in } }

  /// All rows in the order of insertion.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func rowsAscending(checking check: CancellationCheck) rethrows -> [UInt32] {
    var rows: [UInt32] = []
    rows.reserveCapacity(count)
    for (place, slot) in slots.enumerated() {
      if place & 31 == 31 { try check(Double(place) / Double(slots.count)) }
      for place in 0..<slot.chunk.count where slot.chunk.isLive(place) { rows.append(slot.base + UInt32(place)) }
    }
    return rows
  }

  /// Rows of the features with these ids, each once and ascending; ids of none are passed over.
  ///
  /// - Complexity: O(k log n) for k ids.
  public func rows(of ids: [Int]) -> [UInt32] { rows(of: ids) { _ in } }

  /// The same for long work.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func rows(of ids: [Int], checking check: CancellationCheck) rethrows -> [UInt32] {
    var found = FoundRows()
    for start in stride(from: 0, to: ids.count, by: 1 << 14) {
      try check(0.7 * Double(start) / Double(ids.count))
      let end = min(start + 1 << 14, ids.count)
      found.reserve(end - start)
      for id in ids[start..<end] {
        guard let row = row(of: id) else { continue }
        found.rows[found.count] = row
        found.count += 1
      }
    }
    return Self.distinct(try found.sorted { try check(0.7 + 0.3 * $0) })
  }

  /// The columns that have values, in the order in which a store would have them that is given the features anew, one by one: what
  /// went with features that are gone no longer counts. Nil where that is the columns' own order.
  ///
  /// - Complexity: O(1) where the first feature has all attributes; else O(n) for each column that comes late, or not at all.
  public func columnsAsFilled() -> [Int]? {
    var open = Array(0..<schema.count)
    var order: [Int] = []
    forEach { row in
      open.removeAll { column in
        guard row.withAttribute(column, { if case .null = $0 { false } else { true } }) else { return false }
        order.append(column)
        return true
      }
      return !open.isEmpty
    }
    return zip(order, order.dropFirst()).allSatisfy { $0 < $1 } ? nil : order
  }

  /// Rows of the features whose envelope shares a position with one of `boxes`, edges included, each once and ascending.
  ///
  /// - Complexity: O(log n + hits log hits).
  public func rows(in boxes: [Envelope]) -> [UInt32] { rows(in: boxes) { _ in } }

  /// The same for long work.
  ///
  /// - Parameter check: called every few ten thousand rows, between boxes, and between searching and sorting.
  public func rows(in boxes: [Envelope], checking check: CancellationCheck) rethrows -> [UInt32] {
    var found = FoundRows()
    for (place, box) in boxes.enumerated() {
      index.search(box, into: &found)
      try check(0.2 * Double(place + 1) / Double(boxes.count))
    }
    let rows = try found.sorted { try check(0.2 + 0.8 * $0) }
    return boxes.count > 1 ? Self.distinct(rows) : rows
  }

  /// The ids of features, of the rows of features that are there.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func ids(of rows: [UInt32], checking check: CancellationCheck) rethrows -> [Int] {
    var ids: [Int] = []
    ids.reserveCapacity(rows.count)
    for (place, row) in rows.enumerated() {
      if place & 0x7fff == 0x7fff { try check(Double(place) / Double(rows.count)) }
      if let id = self[row]?.id { ids.append(id) }
    }
    return ids
  }

  private static func distinct(_ rows: [UInt32]) -> [UInt32] {
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
