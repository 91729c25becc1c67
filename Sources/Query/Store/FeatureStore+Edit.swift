// How features change and go: in bulk, all or nothing, the index told only of those that moved.

import Geometry

extension FeatureStore {
  /// Changes features, in the order of the call; one may be named more than once.
  ///
  /// - Throws: ``StoreFailure`` naming each id that there is not; the store is then unchanged.
  /// - Complexity: O(k log n); for each chunk touched after a snapshot a copy of the columns that change.
  public mutating func update(_ edits: [FeatureEdit]) throws(StoreFailure) {
    let rows = try self.rows(of: edits.lazy.map(\.id), mayRepeat: true)
    var unknown: Set<String> = []
    for edit in edits {
      for (name, value) in edit.attributes where value != .null && schema.column(named: name) == nil {
        unknown.insert(name)
      }
    }
    guard schema.count + unknown.count <= Self.columnLimit else {
      throw StoreFailure(.tooManyColumns(limit: Self.columnLimit))
    }
    var moves = Moves()
    for (edit, row) in zip(edits, rows) {
      switch edit.geometry {
      case .keep: break
      case .set(let geometry): move(row, to: geometry, &moves)
      case .clear: move(row, to: nil, &moves)
      }
      if edit.replacesAttributes { withChunk(of: row) { $0.clearAttributes(at: $1) } }
      for (name, value) in edit.attributes {
        // Null of an unknown name is no reason for a column.
        if value == .null, schema.column(named: name) == nil { continue }
        let column = schema.add(name)
        schema.note(value.tag.bit, in: column)
        withChunk(of: row) { $0.set(value, column: column, at: $1) }
      }
      if let zIndex = edit.zIndex { setZIndex(zIndex, at: row) }
      if let isVisible = edit.isVisible { withChunk(of: row) { $0.hidden[$1] = !isVisible } }
      if let isSelected = edit.isSelected { withChunk(of: row) { $0.selected[$1] = isSelected } }
      switch edit.symbol {
      case .keep: break
      case .set(let text): withChunk(of: row) { $0.symbols.set(.json(text), at: $1) }
      case .clear: withChunk(of: row) { $0.symbols.set(.null, at: $1) }
      }
    }
    apply(moves)
  }

  /// Moves features to points: the path for live data.
  public mutating func move(_ ids: [Int], x: [Double], y: [Double], z: [Double]? = nil) throws(StoreFailure) {
    for length in [x.count, y.count, z?.count ?? ids.count] where length != ids.count {
      throw StoreFailure(.lengthMismatch(expected: ids.count, found: length))
    }
    let rows = try self.rows(of: ids, mayRepeat: true)
    var moves = Moves()
    for (index, row) in rows.enumerated() {
      moves.note(row, indexed(row))
      withChunk(of: row) { $0.setPoint(x: x[index], y: y[index], z: z?[index], at: $1) }
    }
    apply(moves)
  }

  /// Selects or deselects features.
  public mutating func setSelected(_ isSelected: Bool, ids: [Int]) throws(StoreFailure) {
    for row in try rows(of: ids, mayRepeat: true) { withChunk(of: row) { $0.selected[$1] = isSelected } }
  }

  /// Removes features. Their ids are not minted again.
  ///
  /// - Throws: ``StoreFailure`` naming each id that there is not, or that stands there twice; the store is then unchanged.
  public mutating func remove(_ ids: [Int]) throws(StoreFailure) {
    let rows = try self.rows(of: ids, mayRepeat: false)
    var change = IndexChange()
    var isAnyChunkEmpty = false
    for (id, row) in zip(ids, rows) {
      change.add(row, indexed(row))
      setZIndex(0, at: row)
      withChunk(of: row) { chunk, row in
        chunk.remove(row)
        if chunk.live == 0 { isAnyChunkEmpty = true }
      }
      if !otherIDs.isEmpty { otherIDs[id] = nil }
    }
    change.remove(from: &index)
    count -= ids.count
    guard isAnyChunkEmpty else { return }
    let dropped = Set(slots.lazy.filter { $0.chunk.live == 0 }.map(\.base))
    slots.removeAll { dropped.contains($0.base) }
    orderedIDs.removeAll { dropped.contains($0.base) }
  }

  /// Removes everything. Ids and fields go on as before.
  public mutating func removeAll() {
    slots = []
    orderedIDs = []
    otherIDs = [:]
    index = SpatialIndex()
    count = 0
    raised = 0
  }

  // MARK: -

  private func rows(
    of ids: some Collection<Int>, mayRepeat: Bool
  ) throws(StoreFailure) -> [UInt32] {
    var rows: [UInt32] = []
    var failures: [StoreFailure.Item] = []
    var known: Set<Int> = []
    rows.reserveCapacity(ids.count)
    var previous = -1
    var isAscending = true
    for (index, id) in ids.enumerated() {
      if !mayRepeat {
        if isAscending, id <= previous {
          isAscending = false
          known = Set(ids.prefix(index))
        }
        previous = id
        if !isAscending, !known.insert(id).inserted {
          failures.append(.init(index: index, error: .idRepeated(id)))
          continue
        }
      }
      if let row = row(of: id) { rows.append(row) } else { failures.append(.init(index: index, error: .noSuchID(id))) }
    }
    guard failures.isEmpty else { throw StoreFailure(failures) }
    return rows
  }

  /// Changes a row's chunk, which `body` gets with the row's place in it.
  mutating func withChunk(of row: UInt32, _ body: (FeatureChunk, Int) -> Void) {
    guard let slot = slot(of: row) else { return }
    body(slots[slot].owned(), Int(row - slots[slot].base))
  }

  mutating func setZIndex(_ zIndex: Int32, at row: UInt32) {
    guard let slot = slot(of: row) else { return }
    let place = Int(row - slots[slot].base)
    let old = slots[slot].chunk.zIndex(at: place)
    guard old != zIndex else { return }
    raised += (zIndex == 0 ? 0 : 1) - (old == 0 ? 0 : 1)
    slots[slot].owned().setZIndex(zIndex, at: place)
  }

  func indexed(_ row: UInt32) -> IndexedGeometry? {
    slot(of: row).flatMap { slots[$0].chunk.geometry.indexed(Int(row - slots[$0].base)) }
  }

  private mutating func move(_ row: UInt32, to geometry: Geometry?, _ moves: inout Moves) {
    moves.note(row, indexed(row))
    withChunk(of: row) { $0.setGeometry(geometry, at: $1) }
  }

  /// Tells the index what is where now.
  private mutating func apply(_ moves: Moves) {
    var old = IndexChange()
    var new = IndexChange()
    for (row, before) in moves.firstOfEach() {
      let after = indexed(row)
      guard before != after else { continue }
      old.add(row, before)
      new.add(row, after)
    }
    old.remove(from: &index)
    new.insert(into: &index)
  }
}

/// Rows whose geometry was changed, with what the index has of them.
private struct Moves {
  private var all: [(row: UInt32, before: IndexedGeometry?)] = []

  mutating func note(_ row: UInt32, _ before: IndexedGeometry?) { all.append((row, before)) }

  /// Each row once, ascending, with what it was before the first change.
  func firstOfEach() -> [(row: UInt32, before: IndexedGeometry?)] {
    if zip(all, all.dropFirst()).allSatisfy({ $0.row < $1.row }) { return all }
    var result: [(row: UInt32, before: IndexedGeometry?)] = []
    // Sorting is stable in effect: equal rows are told apart by their place.
    for (_, entry) in all.enumerated().sorted(by: { ($0.element.row, $0.offset) < ($1.element.row, $1.offset) })
    where result.last?.row != entry.row {
      result.append(entry)
    }
    return result
  }
}
