// Reading of features: one, all in drawing order, or those in a box.

import Geometry
import Sorting
import SpatialIndex

extension FeatureStore {
  /// The feature in a row; nil if it was removed or never existed.
  @inline(__always)
  public subscript(row: UInt32) -> FeatureRow? {
    guard let slot = slot(of: row) else { return nil }
    let index = Int(row &- slots[slot].base)
    return slots[slot].chunk.isLive(index) ? FeatureRow(chunk: slots[slot].chunk, index: index, row: row) : nil
  }

  /// The id of an existing row, such as one that the index has found; reads nothing else of the row.
  @inline(__always)
  package func id(ofPresent row: UInt32) -> Int {
    // The reader is used without retaining the chunk, which the list holds.
    defer { withExtendedLifetime(slots) {} }
    guard let slot = slot(of: row) else { return 0 }
    return slots[slot].reader.pointee.id(Int(row &- slots[slot].base))
  }

  /// All row numbers are less than this.
  public var rowLimit: UInt32 { nextRow }

  public func feature(id: Int) -> FeatureRow? { row(of: id).flatMap { self[$0] } }

  /// Calls `body` with each feature in insertion order, until it returns false.
  public func forEach(_ body: (FeatureRow) -> Bool) {
    for slot in slots {
      for index in 0..<slot.chunk.count where slot.chunk.isLive(index) {
        guard body(FeatureRow(chunk: slot.chunk, index: index, row: slot.base + UInt32(index))) else { return }
      }
    }
  }

  /// Calls `body` with the features in `rows`, until it returns false; missing ones are skipped.
  ///
  /// Rows found by a box are scattered over memory. A block of them is touched before it is visited, so that memory
  /// latencies overlap (three times as fast, measured).
  public func forEach(in rows: ArraySlice<UInt32>, while body: (FeatureRow) -> Bool) {
    // Readers are used without retaining chunks; the list holds all chunks, and `body` cannot change it.
    let slots = slots
    defer { withExtendedLifetime(slots) {} }
    for start in stride(from: rows.startIndex, to: rows.endIndex, by: 64) {
      let block = rows[start..<min(rows.endIndex, start + 64)]
      var touched = 0
      for row in block {
        guard let slot = slot(of: row) else { continue }
        touched &+= slots[slot].reader.pointee.touch(Int(row &- slots[slot].base))
      }
      // Never true; the test only keeps the compiler from removing the loads.
      if touched == .min { return }
      for row in block {
        if let feature = self[row], !body(feature) { return }
      }
    }
  }

  /// Calls `body` with each run of the rows that are in one chunk: its slot, and the indexes of the rows. Rows that do
  /// not exist are skipped.
  @inline(__always)
  package func forEachChunk<Rows: RandomAccessCollection>(of rows: Rows, _ body: (Slot, Range<Int>) throws -> Void)
    rethrows
  where Rows.Element == UInt32, Rows.Index == Int {
    var start = rows.startIndex
    while start < rows.endIndex {
      var end = start
      if let slot = slot(of: rows[start]) {
        let (base, limit) = (slots[slot].base, UInt32(slots[slot].chunk.count))
        // Rows below the base wrap to values above the limit.
        while end < rows.endIndex, rows[end] &- base < limit { end &+= 1 }
        if start < end { try body(slots[slot], start..<end) }
      }
      start = max(end, start + 1)
    }
  }

  /// All rows in drawing order, bottom first: by zIndex, then by insertion.
  ///
  /// - Complexity: O(n); O(n log n) if any zIndex is not 0.
  public func rowsInDrawingOrder() -> [UInt32] { rowsInDrawingOrder { _ in } }

  /// As ``rowsInDrawingOrder()``, for long work.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func rowsInDrawingOrder(checking check: CancellationCheck) rethrows -> [UInt32] {
    let rows = try rowsAscending { try check(0.2 * $0) }
    return try sortedForDrawing(rows) { try check(0.2 + 0.8 * $0) }
  }

  /// Sorts ascending rows by drawing order.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func sortedForDrawing(_ rows: [UInt32], checking check: CancellationCheck) rethrows -> [UInt32] {
    guard hasZIndexes else { return rows }
    // Keys are zIndexes with the sign bit inverted, so that they sort as unsigned numbers; ties by row.
    var items: [SortItem] = []
    items.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      if index & 0x7fff == 0x7fff { try check(0.4 * Double(index) / Double(rows.count)) }
      let zIndex = UInt32(bitPattern: self[row]?.zIndex ?? 0) ^ 0x8000_0000
      items.append(SortItem(key: UInt64(zIndex), row: row))
    }
    try SortItem.sort(&items) { try check(0.4 + 0.6 * $0) }
    return items.map(\.row)
  }

  /// All rows in insertion order.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func rowsAscending(checking check: CancellationCheck) rethrows -> [UInt32] {
    var rows: [UInt32] = []
    rows.reserveCapacity(count)
    for (number, slot) in slots.enumerated() {
      if number & 31 == 31 { try check(Double(number) / Double(slots.count)) }
      for index in 0..<slot.chunk.count where slot.chunk.isLive(index) { rows.append(slot.base + UInt32(index)) }
    }
    return rows
  }

  /// Rows of the features with these ids, each once and ascending; unknown ids are ignored.
  ///
  /// - Complexity: O(k log n) for k ids.
  public func rows(of ids: [Int]) -> [UInt32] { rows(of: ids) { _ in } }

  /// As ``rows(of:)``, for long work.
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
    return try found.sorted { try check(0.7 + 0.3 * $0) }
  }

  /// The columns that have values, in the order in which a new store would get them if the features were added again one by one,
  /// without columns that only removed features use. Nil if that is the existing order.
  ///
  /// - Complexity: O(1) if the first feature has all attributes; else O(n) for each column that first occurs late, or never.
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

  /// Rows of the features whose envelope shares a position with one of `boxes`, edges included, each once and
  /// ascending.
  ///
  /// - Complexity: O(log n + hits log hits).
  public func rows(in boxes: [Envelope]) -> [UInt32] { rows(in: boxes) { _ in } }

  /// As ``rows(in:)``, for long work.
  ///
  /// - Parameters:
  ///   - longest: if given, edges may leave the envelope of their feature, as those that are straight in another reference do: as far as
  ///     half of its longer side, or anywhere if that is longer than this.
  ///   - check: called every few ten thousand rows, between boxes, and between searching and sorting.
  public func rows(in boxes: [Envelope], bent longest: Double? = nil, checking check: CancellationCheck) rethrows -> [UInt32] {
    guard !isToBeIndexed || lateIndex?.isWorthMaking(for: count) == true else {
      var rows: [UInt32] = []
      forEachIndexed { row, entry in if boxes.contains(where: { entry.touches($0, bent: longest) }) { rows.append(row) } }
      return rows
    }
    var found = FoundRows()
    let index = index
    for (number, box) in boxes.enumerated() {
      index.search(box, bent: longest, into: &found)
      try check(0.2 * Double(number + 1) / Double(boxes.count))
    }
    return try found.sorted { try check(0.2 + 0.8 * $0) }
  }

  /// The ids of all features in insertion order.
  public var ids: [Int] { ids(of: rowsAscending { _ in }) { _ in } }

  /// The ids of existing features by rows.
  ///
  /// - Parameter check: called every few ten thousand rows.
  public func ids(of rows: [UInt32], checking check: CancellationCheck) rethrows -> [Int] {
    var ids: [Int] = []
    ids.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      if index & 0x7fff == 0x7fff { try check(Double(index) / Double(rows.count)) }
      if let id = self[row]?.id { ids.append(id) }
    }
    return ids
  }

  /// The number of ``rows(in:)``; for a single box without visiting each row.
  public func count(in boxes: [Envelope]) -> Int {
    boxes.count == 1 && !isToBeIndexed ? index.count(in: boxes[0]) : rows(in: boxes).count
  }

  /// A close upper bound of ``count(in:)``, to estimate the cost of a query.
  public func countAtMost(in boxes: [Envelope], bent longest: Double? = nil) -> Int {
    isToBeIndexed ? count : boxes.reduce(0) { $0 + index.countAtMost(in: $1, bent: longest) }
  }

  /// The number of selected features. O(chunks).
  public var selectedCount: Int { slots.reduce(0) { $0 + $1.chunk.selected.count } }

  /// Ids of the selected features, in insertion order.
  public var selectedIDs: [Int] { selectedRows.compactMap { self[$0]?.id } }

  /// Rows of the selected features, ascending.
  public var selectedRows: [UInt32] {
    slots.flatMap { slot in
      slot.chunk.selected.isEmpty
        ? []
        : (0..<slot.chunk.count).filter { slot.chunk.selected[$0] && slot.chunk.isLive($0) }
          .map { slot.base + UInt32($0) }
    }
  }
}
