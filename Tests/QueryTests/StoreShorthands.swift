// Shorter forms of what the store and its index offer, for tests.

import Geometry

@testable import FeatureStore
@testable import SpatialIndex

extension FeatureStore {
  mutating func update(_ edits: [FeatureEdit]) throws(StoreFailure) {
    var undoRecord: StoreUndoRecord?
    try update(edits, recording: &undoRecord)
  }

  mutating func move(_ ids: [Int], x: [Double], y: [Double], z: [Double]? = nil) throws(StoreFailure) {
    var undoRecord: StoreUndoRecord?
    try move(ids, x: x, y: y, z: z, recording: &undoRecord)
  }

  mutating func setSelected(_ isSelected: Bool, ids: [Int]) throws(StoreFailure) {
    let rows = try self.rows(of: ids, mayRepeat: true).filter { self[$0]?.isSelected != isSelected }
    toggleSelected(Set(rows).sorted())
  }

  mutating func remove(_ ids: [Int]) throws(StoreFailure) {
    var undoRecord: StoreUndoRecord?
    try remove(ids, recording: &undoRecord)
  }

  mutating func removeAll() {
    var undoRecord: StoreUndoRecord?
    removeAll(recording: &undoRecord)
  }

  @discardableResult
  mutating func replace(with batch: FeatureBatch) throws(StoreFailure) -> ReplacedFeatures {
    var undoRecord: StoreUndoRecord?
    return try replace(with: batch, recording: &undoRecord)
  }

  mutating func setSelected(
    _ isSelected: Bool, ids: [Int], recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) {
    try update(
      ids.map {
        var edit = FeatureEdit(id: $0)
        edit.isSelected = isSelected
        return edit
      }, recording: &undoRecord)
  }

  func allRows() -> [UInt32] { rowsAscending { _ in } }
}

extension StoreUndoRecord {
  /// Number of changes in the edit.
  var count: Int {
    switch step {
    case .added(let rows): rows.reduce(0) { $0 + $1.count }
    case .removed(let removed): removed.count
    case .changed(let values): values.cells.count + values.geometryRows.count
    case .replaced(let store, _): store.count
    case .several(let steps): steps.count
    }
  }
}

extension FeatureBatch {
  mutating func setColumn(_ name: String, _ values: [AttributeValue]) throws(StoreError) {
    let column = try beginColumn(name, rows: values.count)
    for (row, value) in values.enumerated() { set(column: column, row: row, value) }
  }
}

extension SpatialIndex {
  mutating func insert(points rows: [UInt32], x: [Double], y: [Double]) { insert(Self.points(rows, x, y)) }

  mutating func remove(points rows: [UInt32], x: [Double], y: [Double]) { remove(Self.points(rows, x, y)) }

  mutating func insert(boxes rows: [UInt32], _ envelopes: [Envelope]) { insert(Self.boxes(rows, envelopes)) }

  mutating func remove(boxes rows: [UInt32], _ envelopes: [Envelope]) { remove(Self.boxes(rows, envelopes)) }

  private static func points(_ rows: [UInt32], _ x: [Double], _ y: [Double]) -> IndexedRows {
    var points = IndexedRows()
    points.reservePoints(rows.count)
    for index in rows.indices { points.add(rows[index], IndexedGeometry(x: x[index], y: y[index])) }
    return points
  }

  private static func boxes(_ rows: [UInt32], _ envelopes: [Envelope]) -> IndexedRows {
    var boxes = IndexedRows()
    for (row, envelope) in zip(rows, envelopes) { boxes.add(row, IndexedGeometry(envelope)) }
    return boxes
  }

  func rows(in envelope: Envelope) -> [UInt32] { withRows(in: envelope) { Array($0) } }

  func withRows<Result>(in envelope: Envelope, _ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
    var found = FoundRows()
    search(envelope, into: &found)
    return found.withRows(body)
  }
}
