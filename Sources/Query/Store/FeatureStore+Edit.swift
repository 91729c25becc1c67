// How features change: in bulk, all or nothing, the index told only of those that moved.

import Geometry

extension FeatureStore {
  /// Changes features, in the order of the call; one may be named more than once.
  ///
  /// - Throws: ``StoreFailure`` naming each id that there is not; the store is then unchanged.
  /// - Complexity: O(k log n); for each chunk touched after a snapshot a copy of the columns that change.
  public mutating func update(_ edits: [FeatureEdit]) throws(StoreFailure) {
    var none: OldValues?
    try update(edits, noting: &none)
  }

  /// As ``update(_:)``, with what takes it back.
  public mutating func update(_ edits: [FeatureEdit], recording undoRecord: inout StoreUndoRecord?) throws(StoreFailure) {
    let mark = mark
    var old: OldValues? = OldValues()
    try update(edits, noting: &old)
    undoRecord = StoreUndoRecord(to: mark, .changed(old ?? OldValues()))
  }

  private mutating func update(_ edits: [FeatureEdit], noting old: inout OldValues?) throws(StoreFailure) {
    let rows = try self.rows(of: edits.lazy.map(\.id), mayRepeat: true)
    var unknown: Set<Text> = []
    for edit in edits {
      for (name, value) in edit.attributes where value != .null && schema.column(named: name) == nil {
        unknown.insert(Text(name))
      }
    }
    guard schema.count + unknown.count <= Self.columnLimit else {
      throw StoreFailure(.tooManyColumns(limit: Self.columnLimit))
    }
    var moves = Moves()
    for (edit, row) in zip(edits, rows) {
      switch edit.geometry {
      case .keep: break
      case .set(let geometry): move(row, to: geometry, &moves, &old)
      case .clear: move(row, to: nil, &moves, &old)
      }
      setAttributes(edit, at: row, &old)
      if let zIndex = edit.zIndex { setZIndex(zIndex, at: row, recording: &old) }
      if let isVisible = edit.isVisible { setHidden(!isVisible, at: row, recording: &old) }
      if let isSelected = edit.isSelected { setSelected(isSelected, at: row, recording: &old) }
      switch edit.symbol {
      case .keep: break
      case .set(let text): setSymbol(.json(text), at: row, &old)
      case .clear: setSymbol(.null, at: row, &old)
      }
    }
    apply(moves)
  }

  private mutating func setAttributes(_ edit: FeatureEdit, at row: UInt32, _ old: inout OldValues?) {
    if edit.replacesAttributes {
      withChunk(of: row) {
        old?.noteAttributes($0, $1, row)
        $0.clearAttributes(at: $1)
      }
    }
    for (name, value) in edit.attributes {
      // Null of an unknown name is no reason for a column.
      if value == .null, schema.column(named: name) == nil { continue }
      let column = schema.add(name)
      schema.note(value.tag.bit, in: column)
      withChunk(of: row) {
        old?.noteAttribute($0, column, $1, row)
        $0.set(value, column: column, at: $1)
      }
    }
  }

  /// Moves features to points: the path for live data.
  ///
  /// - Throws: ``StoreFailure`` naming each id that there is not; the store is then unchanged.
  public mutating func move(_ ids: [Int], x: [Double], y: [Double], z: [Double]? = nil) throws(StoreFailure) {
    var none: OldValues?
    try move(ids, x: x, y: y, z: z, noting: &none)
  }

  /// As ``move(_:x:y:z:)``, with what takes it back.
  public mutating func move(
    _ ids: [Int], x: [Double], y: [Double], z: [Double]? = nil, recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) {
    let mark = mark
    var old: OldValues? = OldValues()
    try move(ids, x: x, y: y, z: z, noting: &old)
    undoRecord = StoreUndoRecord(to: mark, .changed(old ?? OldValues()))
  }

  private mutating func move(
    _ ids: [Int], x: [Double], y: [Double], z: [Double]?, noting old: inout OldValues?
  ) throws(StoreFailure) {
    for length in [x.count, y.count, z?.count ?? ids.count] where length != ids.count {
      throw StoreFailure(.lengthMismatch(expected: ids.count, found: length))
    }
    let rows = try self.rows(of: ids, mayRepeat: true)
    var moves = Moves()
    old?.reserveGeometries(rows.count)
    for (index, row) in rows.enumerated() {
      moves.note(row, indexed(row))
      withChunk(of: row) {
        old?.noteGeometry($0, $1, row)
        $0.setPoint(x: x[index], y: y[index], z: z?[index], at: $1)
      }
    }
    apply(moves)
  }

  /// Selects or deselects features.
  ///
  /// - Throws: ``StoreFailure`` naming each id that there is not; the store is then unchanged.
  public mutating func setSelected(_ isSelected: Bool, ids: [Int]) throws(StoreFailure) {
    var none: OldValues?
    for row in try rows(of: ids, mayRepeat: true) { setSelected(isSelected, at: row, recording: &none) }
  }

  /// As ``setSelected(_:ids:)``, with what rolls it back; undo leaves selections as they are.
  public mutating func setSelected(
    _ isSelected: Bool, ids: [Int], recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) {
    let mark = mark
    var old: OldValues? = OldValues()
    for row in try rows(of: ids, mayRepeat: true) { setSelected(isSelected, at: row, recording: &old) }
    undoRecord = StoreUndoRecord(to: mark, .changed(old ?? OldValues()))
  }

  /// Refuses ids of which one stands there twice.
  ///
  /// - Throws: ``StoreFailure`` naming each that was there before.
  public static func requireOnce(_ ids: [Int]) throws(StoreFailure) {
    guard !zip(ids, ids.dropFirst()).allSatisfy({ $0 < $1 }) else { return }
    var known: Set<Int> = []
    var failures: [StoreFailure.Item] = []
    for (index, id) in ids.enumerated() where !known.insert(id).inserted {
      failures.append(.init(index: index, error: .idRepeated(id)))
    }
    guard failures.isEmpty else { throw StoreFailure(failures) }
  }

  // MARK: -

  /// The rows of features, in the order of their ids here.
  func rows(
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

  mutating func setZIndex(_ zIndex: Int32, at row: UInt32, recording old: inout OldValues?) {
    guard let slot = slot(of: row) else { return }
    let place = Int(row - slots[slot].base)
    old?.noteZIndex(slots[slot].chunk, place, row)
    let before = slots[slot].chunk.zIndex(at: place)
    guard before != zIndex else { return }
    raised += (zIndex == 0 ? 0 : 1) - (before == 0 ? 0 : 1)
    slots[slot].owned().setZIndex(zIndex, at: place)
  }

  mutating func setHidden(_ isHidden: Bool, at row: UInt32, recording old: inout OldValues?) {
    withChunk(of: row) {
      old?.noteHidden($0, $1, row)
      $0.hidden[$1] = isHidden
    }
  }

  mutating func setSelected(_ isSelected: Bool, at row: UInt32, recording old: inout OldValues?) {
    withChunk(of: row) {
      old?.noteSelected($0, $1, row)
      $0.selected[$1] = isSelected
    }
  }

  private mutating func setSymbol(_ symbol: AttributeValue, at row: UInt32, _ old: inout OldValues?) {
    withChunk(of: row) {
      old?.noteSymbol($0, $1, row)
      $0.symbols.set(symbol, at: $1)
    }
  }

  func indexed(_ row: UInt32) -> IndexedGeometry? {
    slot(of: row).flatMap { slots[$0].chunk.geometry.indexed(Int(row - slots[$0].base)) }
  }

  private mutating func move(
    _ row: UInt32, to geometry: Geometry?, _ moves: inout Moves, _ old: inout OldValues?
  ) {
    moves.note(row, indexed(row))
    withChunk(of: row) {
      old?.noteGeometry($0, $1, row)
      $0.setGeometry(geometry, at: $1)
    }
  }

  /// Tells the index what is where now.
  mutating func apply(_ moves: Moves) {
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
struct Moves {
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
