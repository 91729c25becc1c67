// Updates of features: all or nothing; the index is updated only for moved features.

import Geometry
import SpatialIndex

extension FeatureStore {
  /// Updates features in the order of the call; one may occur more than once.
  ///
  /// - Throws: ``StoreFailure`` with each unknown id; the store is then unchanged.
  /// - Complexity: O(k log n), and a copy of the changed columns for each chunk shared with a snapshot.
  public mutating func update(_ edits: [FeatureEdit], recording undoRecord: inout StoreUndoRecord?) throws(StoreFailure)
  {
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
    let mark = mark
    var old = OldValues()
    var moves = Moves()
    for (edit, row) in zip(edits, rows) {
      switch edit.geometry {
      case .keep: break
      case .set(let geometry): move(row, &moves, &old) { $0.setGeometry(geometry, at: $1) }
      case .clear: move(row, &moves, &old) { $0.setGeometry(nil, at: $1) }
      }
      setAttributes(edit, at: row, &old)
      if let zIndex = edit.zIndex { set(.zIndex, of: row, to: .integer(Int64(zIndex)), recording: &old) }
      if let isVisible = edit.isVisible { set(.isHidden, of: row, to: .bool(!isVisible), recording: &old) }
      if let isSelected = edit.isSelected { set(.isSelected, of: row, to: .bool(isSelected), recording: &old) }
      switch edit.symbol {
      case .keep: break
      case .set(let text): set(.symbol, of: row, to: .json(text), recording: &old)
      case .clear: set(.symbol, of: row, to: .null, recording: &old)
      }
    }
    apply(moves)
    undoRecord = StoreUndoRecord(mark: mark, step: .changed(old))
  }

  private mutating func setAttributes(_ edit: FeatureEdit, at row: UInt32, _ old: inout OldValues) {
    if edit.replacesAttributes {
      withChunk(of: row) { chunk, index in
        for column in chunk.columnNumbers where chunk.value(column, at: index) != .null {
          old.note(.attribute, column, chunk, index, row)
        }
        chunk.clearAttributes(at: index)
      }
    }
    for (name, value) in edit.attributes {
      // Null for an unknown name adds no column.
      if value == .null, schema.column(named: name) == nil { continue }
      let column = schema.add(name)
      schema.note(value.tag.bit, in: column)
      set(.attribute, column, of: row, to: value, recording: &old)
    }
  }

  /// Moves features to points: the fast path for live data.
  ///
  /// - Throws: ``StoreFailure`` with each unknown id; the store is then unchanged.
  public mutating func move(
    _ ids: [Int], x: [Double], y: [Double], z: [Double]? = nil, recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) {
    for length in [x.count, y.count, z?.count ?? ids.count] where length != ids.count {
      throw StoreFailure(.lengthMismatch(expected: ids.count, found: length))
    }
    let rows = try self.rows(of: ids, mayRepeat: true)
    var old = OldValues()
    var moves = Moves()
    old.reserveGeometries(rows.count)
    for (index, row) in rows.enumerated() {
      move(row, &moves, &old) { $0.setPoint(x: x[index], y: y[index], z: z?[index], at: $1) }
    }
    apply(moves)
    undoRecord = StoreUndoRecord(mark: mark, step: .changed(old))
  }

  /// Selects the rows that are not selected, and deselects the others. Rows that do not exist are skipped.
  public mutating func toggleSelected(_ rows: [UInt32]) {
    for row in rows where self[row] != nil { withChunk(of: row) { $0.selected[$1].toggle() } }
  }

  /// As ``toggleSelected(_:)``, with an undo record.
  public mutating func toggleSelected(_ rows: [UInt32], recording undoRecord: inout StoreUndoRecord?) {
    let mark = mark
    var old = OldValues()
    for row in rows {
      guard let feature = self[row] else { continue }
      set(.isSelected, of: row, to: .bool(!feature.isSelected), recording: &old)
    }
    undoRecord = StoreUndoRecord(mark: mark, step: .changed(old))
  }

  /// Refuses repeated ids.
  ///
  /// - Throws: ``StoreFailure`` with each repetition.
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

  /// The rows of features, in the order of the given ids.
  func rows(of ids: some Collection<Int>, mayRepeat: Bool) throws(StoreFailure) -> [UInt32] {
    var rows: [UInt32] = []
    var failures: [StoreFailure.Item] = []
    rows.reserveCapacity(ids.count)
    // Ascending ids are distinct.
    var known: Set<Int>? = mayRepeat || zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 } ? nil : []
    for (index, id) in ids.enumerated() {
      if known?.insert(id).inserted == false {
        failures.append(.init(index: index, error: .idRepeated(id)))
      } else if let row = row(of: id) {
        rows.append(row)
      } else {
        failures.append(.init(index: index, error: .noSuchID(id)))
      }
    }
    guard failures.isEmpty else { throw StoreFailure(failures) }
    return rows
  }

  /// Adds an attribute that no feature has.
  package mutating func addColumn(_ name: String, _ type: FieldType? = nil) -> Int {
    let column = schema.add(name)
    schema.declare(type, column)
    return column
  }

  /// Changes a row's chunk; `body` gets it and the row's index in it.
  mutating func withChunk(of row: UInt32, _ body: (FeatureChunk, Int) -> Void) {
    guard let slot = slot(of: row) else { return }
    body(slots[slot].owned(), Int(row - slots[slot].base))
    slots[slot].noteStamp()
  }

  /// Sets a member of a row.
  mutating func set(
    _ member: FeatureMember, _ column: Int = 0, of row: UInt32, to value: AttributeValue, recording old: inout OldValues
  ) {
    if member == .zIndex, value != .integer(0) { hasZIndexes = true }
    withChunk(of: row) {
      old.note(member, column, $0, $1, row)
      $0.set(member, column, to: value, at: $1)
    }
  }

  func indexed(_ row: UInt32) -> IndexedGeometry? {
    slot(of: row).flatMap { slots[$0].chunk.geometry.indexed(Int(row - slots[$0].base)) }
  }

  /// Changes the geometry of a row by `body`, which receives its chunk and its index in the chunk.
  @inline(__always)
  mutating func move(
    _ row: UInt32, _ moves: inout Moves, _ old: inout OldValues, _ body: (FeatureChunk, Int) -> Void
  ) {
    moves.note(row, indexed(row))
    withChunk(of: row) {
      old.noteGeometry($0, $1, row)
      body($0, $1)
    }
  }

  /// Updates the index for moved rows.
  mutating func apply(_ moves: Moves) {
    var old = IndexedRows()
    var new = IndexedRows()
    for (row, before) in moves.firstOfEach() {
      let after = indexed(row)
      guard before != after else { continue }
      old.add(row, before)
      new.add(row, after)
    }
    reindex(removing: old, adding: new)
  }
}

/// Rows whose geometry changed, with their previous index entries.
struct Moves {
  private var all: [(row: UInt32, before: IndexedGeometry?)] = []

  mutating func note(_ row: UInt32, _ before: IndexedGeometry?) { all.append((row, before)) }

  /// Each row once, ascending, with its index entry before the first change.
  func firstOfEach() -> [(row: UInt32, before: IndexedGeometry?)] {
    if zip(all, all.dropFirst()).allSatisfy({ $0.row < $1.row }) { return all }
    var result: [(row: UInt32, before: IndexedGeometry?)] = []
    // The offset makes the sort stable: entries of the same row stay in order.
    for (_, entry) in all.enumerated().sorted(by: { ($0.element.row, $0.offset) < ($1.element.row, $1.offset) })
    where result.last?.row != entry.row {
      result.append(entry)
    }
    return result
  }
}
