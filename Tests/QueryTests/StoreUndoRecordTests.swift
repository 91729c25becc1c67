// Every kind of edit can be reverted: exactly by rollback, and by undo and redo.

import Geometry
import TestSupport
import Testing

@testable import FeatureStore
@testable import SpatialIndex

@Suite struct StoreUndoRecordTests {
  @Test(.slow, arguments: UInt64(0)..<16)
  func `rollback restores the same states in reverse`(seed: UInt64) throws {
    var edits = RandomEdits(seed: seed)
    var store = FeatureStore(fields: [Field(name: "flag", type: .boolean)])
    var oracle = PlainStore()
    var snapshots: [(FeatureStore, PlainStore)] = []
    for round in 0..<4 {
      var past: [(undoRecord: StoreUndoRecord, oracle: PlainStore, exact: Exact)] = []
      for _ in 0..<9 {
        let before = (oracle, Exact(store))
        if edits.random.chance(0.2) { snapshots.append((store, oracle)) }
        if let undoRecord = try edits.apply(to: &store, &oracle, selecting: true) {
          past.append((undoRecord, before.0, before.1))
        }
      }
      let boxes = (0..<4).map { _ in edits.boxes() }
      for step in (edits.random.below(4)..<past.count).reversed() {
        store.rollBack(past[step].undoRecord)
        let found = store.differences(from: past[step].oracle, boxes: boxes)
        #expect(found.isEmpty, "round \(round), step \(step): \(found.prefix(3))")
        #expect(Exact(store) == past[step].exact)
        oracle = past[step].oracle
      }
    }
    for (store, oracle) in snapshots {
      #expect(store.differences(from: oracle, boxes: [edits.boxes()]).isEmpty)
    }
  }

  @Test(.slow, arguments: UInt64(0)..<16)
  func `undo and redo reach any state of a history, and keep selections`(seed: UInt64) throws {
    var edits = RandomEdits(seed: seed &+ 1000)
    var store = FeatureStore()
    var oracle = PlainStore()
    var replica: [Int: PlainFeature] = [:]
    var done: [(undoRecord: StoreUndoRecord, other: [PlainFeature], fields: [Field])] = []
    var undone = done
    for step in 0..<60 {
      switch edits.random.below(6) {
      case 0, 1:
        let before = (oracle.features, store.fields)
        if let undoRecord = try edits.apply(to: &store, &oracle, selecting: false) {
          done.append((undoRecord, before.0, before.1))
          undone = []
        }
        replica = store.byID
        continue
      case 2:
        let ids = oracle.features.filter { _ in edits.random.chance(0.2) }.map(\.id)
        let isSelected = edits.random.chance(0.6)
        try store.setSelected(isSelected, ids: ids)
        for id in ids { if let index = oracle.index(of: id) { oracle.features[index].isSelected = isSelected } }
        replica = store.byID
        continue
      case 3, 4:
        guard let last = done.popLast() else { continue }
        let here = (oracle.features, store.fields)
        let (redo, changes) = store.revert(last.undoRecord)
        undone.append((redo, here.0, here.1))
        oracle.go(to: last.other)
        #expect(store.fields == last.fields)
        replica.apply(changes, from: store)
      default:
        guard let next = undone.popLast() else { continue }
        let here = (oracle.features, store.fields)
        let (undo, changes) = store.revert(next.undoRecord)
        done.append((undo, here.0, here.1))
        oracle.go(to: next.other)
        #expect(store.fields == next.fields)
        replica.apply(changes, from: store)
      }
      let found = store.differences(from: oracle, boxes: [edits.boxes(), edits.boxes()])
      #expect(found.isEmpty, "step \(step): \(found.prefix(3))")
      #expect(replica == store.byID)
      #expect(store.nextMintedID == oracle.nextID)
    }
  }

  @Test func `an undone addition is redone with its ids, which are not minted again`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for _ in 0..<1500 { batch.begin() }
    var undoRecord: StoreUndoRecord?
    _ = try store.append(batch, recording: &undoRecord)
    let (redo, undone) = store.revert(try #require(undoRecord))
    #expect(store.isEmpty && undone.removed == Array(0..<1500) && store.nextMintedID == 1500)
    let (_, redone) = store.revert(redo)
    #expect(redone.added == Array(0..<1500) && store.count == 1500)
    #expect(try store.append(batch).firstID == 1500)
    #expect(store.checkInvariants().isEmpty)
  }

  @Test func `rolled back ids and rows are free again`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for _ in 0..<700 { batch.begin() }
    try store.append(batch)
    var undoRecord: StoreUndoRecord?
    #expect(try store.append(batch, recording: &undoRecord).firstID == 700)
    store.rollBack(try #require(undoRecord))
    #expect(store.slots.count == 1 && store.nextRow == 700)
    #expect(try store.append(batch).firstID == 700)
    // Found by bisection, as before the edit.
    #expect(store.otherIDs.isEmpty && store.slots.count == 2 && store.checkInvariants().isEmpty)
  }

  @Test func `removed features return to their positions with selection and zIndex`() throws {
    var store = try FeatureStoreTests.million(rows: 5_000)
    try store.setSelected(true, ids: [10, 1_500, 4_999])
    var edit = FeatureEdit(id: 1_500)
    edit.zIndex = 3
    edit.symbol = .set("{}")
    try store.update([edit])
    let before = store.plain
    let order = store.rowsInDrawingOrder()
    var undoRecord: StoreUndoRecord?
    // The second chunk is removed whole, of the others a part.
    try store.remove(Array(1_000..<2_500) + [10, 4_999], recording: &undoRecord)
    #expect(store.slots.count == 4 && store.selectedIDs.isEmpty)
    let (redo, changes) = store.revert(try #require(undoRecord))
    #expect(store.plain == before && store.rowsInDrawingOrder() == order)
    #expect(changes.added == [10] + Array(1_000..<2_500) + [4_999])
    #expect(changes.updated.isEmpty && changes.removed.isEmpty)
    _ = store.revert(redo)
    #expect(store.count == 5_000 - 1_502 && store.checkInvariants().isEmpty)
  }

  @Test func `replacing reports only differences, and remaining features stay selected`() throws {
    var store = FeatureStore()
    let point = Geometry.point(Point(x: 1, y: 2))
    func feature(_ id: Int, _ name: String) -> PlainFeature {
      PlainFeature(id: id, geometry: point, attributes: ["name": .string(name)])
    }
    try store.append(RandomEdits.batch(of: [feature(1, "a"), feature(2, "b"), feature(3, "c")]))
    try store.setSelected(true, ids: [2, 3])
    var undoRecord: StoreUndoRecord?
    let replaced = try store.replace(
      with: RandomEdits.batch(of: [feature(4, "d"), feature(2, "b"), feature(1, "new")]), recording: &undoRecord)
    #expect(replaced.changes == ChangedFeatures(added: [4], updated: [1], removed: [3]))
    #expect(store.selectedIDs == [2] && store.plain.map(\.id) == [4, 2, 1])
    try store.setSelected(true, ids: [1])
    let (redo, undone) = store.revert(try #require(undoRecord))
    #expect(undone == ChangedFeatures(added: [3], updated: [1], removed: [4]))
    #expect(store.plain.map(\.id) == [1, 2, 3] && store.selectedIDs == [1, 2, 3])
    let (_, redone) = store.revert(redo)
    #expect(redone == ChangedFeatures(added: [4], updated: [1], removed: [3]))
    // Replacing by the same features in the same order is no change and has no undo record.
    let same = try store.replace(
      with: RandomEdits.batch(of: [feature(4, "d"), feature(2, "b"), feature(1, "new")]), recording: &undoRecord)
    #expect(same.changes.isEmpty && undoRecord == nil && store.checkInvariants().isEmpty)
    let before = store.plain
    #expect(throws: StoreFailure(.idRepeated(9), at: 1)) {
      try store.replace(with: RandomEdits.batch(of: [feature(9, ""), feature(9, "")]))
    }
    #expect(store.plain == before)
  }

  @Test func `the record of the first of many moves reverts them all, others do not`() throws {
    var store = try FeatureStoreTests.million(rows: 2_000)
    let before = store.plain
    func move(_ ids: [Int], to x: Double) throws -> StoreUndoRecord? {
      var undoRecord: StoreUndoRecord?
      try store.move(ids, x: ids.map { _ in x }, y: ids.map { _ in 0 }, recording: &undoRecord)
      return undoRecord
    }
    let first = try #require(try move([3, 1_999], to: 1))
    for x in 2..<9 { #expect(first.covers(try #require(try move([3, 1_999], to: Double(x))))) }
    let (redo, changes) = store.revert(first)
    #expect(store.plain == before && changes.updated == [3, 1_999])
    _ = store.revert(redo)
    #expect(store.feature(id: 3)?.point?.x == 8)
    #expect(!first.covers(try #require(try move([3], to: 1))))
    var edit = FeatureEdit(id: 3)
    edit.attributes = [("number", .integer(1))]
    var undoRecord: StoreUndoRecord?
    try store.update([edit], recording: &undoRecord)
    #expect(!first.covers(try #require(undoRecord)))
  }

  @Test(arguments: UInt64(0)..<16)
  func `edits without a net effect are reverted, and earlier edits still can be`(seed: UInt64) throws {
    var random = SplitMix(seed)
    var store = try FeatureStoreTests.million(rows: 2_000)
    let start = store.plain
    var undoRecord: StoreUndoRecord?
    try store.remove([3, 5] + Array(1_500..<2_000), recording: &undoRecord)
    let earlier = try #require(undoRecord)
    let before = store.plain
    var edits: [StoreUndoRecord] = []
    var way: [StoreUndoRecord] = []
    for step in 0..<12 {
      var undoRecord: StoreUndoRecord?
      if random.unit() < 0.3 {
        _ = try store.append(RandomEdits.batch(of: [PlainFeature(id: 5_000 + step)]), recording: &undoRecord)
      } else {
        var edit = FeatureEdit(id: 100 + Int(random.unit() * 4))
        edit.attributes = [("number", .integer(Int64(step))), ("new \(step % 3)", .string("text"))]
        edit.zIndex = Int32(step)
        if step % 2 == 0 { edit.geometry = .set(.point(Point(x: Double(step), y: 1))) }
        try store.update([edit], recording: &undoRecord)
      }
      edits.append(try #require(undoRecord))
      way.append(try #require(undoRecord))
      let forgotten = store.forget(edits)
      #expect(forgotten == nil)
    }
    for undoRecord in way.reversed() {
      let (back, _) = store.revert(undoRecord)
      edits.append(back)
    }
    let forgotten = store.forget(edits)
    #expect(forgotten?.count == edits.count && store.plain == before)
    #expect(store.checkInvariants().isEmpty)
    for undoRecord in (forgotten ?? []).reversed() { store.rollBack(undoRecord) }
    #expect(store.plain == before && store.checkInvariants().isEmpty)
    // As at the end of an edit: earlier edits are undone.
    _ = store.forget(edits)
    _ = store.revert(earlier)
    #expect(store.plain == start && store.checkInvariants().isEmpty)
  }

  @Test(.slow, arguments: UInt64(0)..<16)
  func `a feature is equal since some edits if its values are, whatever happened in between`(seed: UInt64)
    throws
  {
    var edits = RandomEdits(seed: seed &+ 2000)
    var store = FeatureStore()
    var oracle = PlainStore()
    for _ in 0..<6 { _ = try edits.apply(to: &store, &oracle, selecting: true) }
    let before = store.byID
    var way: [StoreUndoRecord] = []
    func check() {
      let now = store.byID
      let ids = Set(before.keys).union(now.keys)
      let equal = ids.filter { before[$0] != nil && before[$0] == now[$0] }
      #expect(store.equal(Array(ids), since: way) == equal)
    }
    for _ in 0..<5 {
      if let undoRecord = try edits.apply(to: &store, &oracle, selecting: true) { way.append(undoRecord) }
      check()
    }
    for undoRecord in way.reversed() {
      way.append(store.revert(undoRecord).0)
      check()
    }
    #expect(store.checkInvariants().isEmpty)
  }

  @Test func `an undo record holds what the edit replaced, not the store`() throws {
    var store = try FeatureStoreTests.million(rows: 10_000)
    let chunks = Set(store.slots.map { ObjectIdentifier($0.chunk) })
    let nodes = store.index.points.nodes
    var undoRecords: [StoreUndoRecord] = []
    var undoRecord: StoreUndoRecord?
    try store.move([5], x: [1], y: [1], recording: &undoRecord)
    undoRecords += [try #require(undoRecord)]
    try store.remove([2_000], recording: &undoRecord)
    undoRecords += [try #require(undoRecord)]
    _ = try store.append(RandomEdits.batch(of: [PlainFeature(id: 70_000)]), recording: &undoRecord)
    undoRecords += [try #require(undoRecord)]
    #expect(Set(store.slots.map { ObjectIdentifier($0.chunk) }) == chunks)
    #expect(store.index.points.nodes.subtracting(nodes).count <= 2)
    for undoRecord in undoRecords { #expect(undoRecord.count == 1 && undoRecord.byteCount < 400) }
    try store.remove(Array(4_096..<6_144), recording: &undoRecord)
    let bytes = try #require(undoRecord).byteCount
    #expect(bytes > 2_048 * 40 && bytes < 2_048 * 120)
  }
}

/// The observable state of a store besides its features.
private struct Exact: Equatable {
  let rows: [UInt32]
  let fields: [Field]
  let nextID: Int
  let nextRow: UInt32

  init(_ store: FeatureStore) {
    rows = store.allRows()
    fields = store.fields
    nextID = store.nextMintedID
    nextRow = store.nextRow
  }
}

extension FeatureStore {
  fileprivate var byID: [Int: PlainFeature] { Dictionary(uniqueKeysWithValues: plain.map { ($0.id, $0) }) }
}

extension PlainStore {
  /// As for undo: features that exist before and after keep their selection.
  fileprivate mutating func go(to other: [PlainFeature]) {
    let selected = Dictionary(uniqueKeysWithValues: features.map { ($0.id, $0.isSelected) })
    features = other.map {
      var feature = $0
      feature.isSelected = selected[feature.id] ?? feature.isSelected
      return feature
    }
  }
}

extension [Int: PlainFeature] {
  fileprivate mutating func apply(_ changes: ChangedFeatures, from store: FeatureStore) {
    for id in changes.removed { #expect(removeValue(forKey: id) != nil) }
    for id in changes.added { #expect(self[id] == nil) }
    for id in changes.updated { #expect(self[id] != nil) }
    for id in changes.added + changes.updated { self[id] = store.feature(id: id)?.plain(store.schema) }
  }
}
