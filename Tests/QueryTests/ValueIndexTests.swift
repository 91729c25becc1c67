// Questions for equality are answered by an index as by a scan, whatever has changed since the index was built.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ValueIndexTests {
  /// Names that differ, numbers of which twenty features have the same, and few kinds.
  private static func filled(_ count: Int) throws -> FeatureStore {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for row in 0..<count {
      batch.begin()
      batch.setPoint(x: Double(row % 360), y: Double(row % 90))
      batch.set(column: batch.column(named: "name"), .string("name \(row)"))
      batch.set(
        column: batch.column(named: "number"), row % 7 == 0 ? .double(Double(row / 20)) : .integer(Int64(row / 20)))
      batch.set(column: batch.column(named: "kind"), .string("kind \(row % 8)"))
    }
    try store.append(batch)
    return store
  }

  private static func compiled(_ text: String, _ store: FeatureStore) throws -> CompiledExpression {
    try Expression(text).compiled(for: store.schema, as: .condition)
  }

  /// The rows by the index, which is built if `builds`.
  private static func found(_ condition: CompiledExpression, in store: FeatureStore, builds: Bool) throws -> [UInt32]? {
    try store.candidates(for: condition, checking: builds ? { _ in } : nil).map { condition.filter($0, of: store) }
  }

  @Test func `the first question builds what later ones use`() throws {
    let store = try Self.filled(20_000)
    let condition = try Self.compiled("number = 100 AND kind = 'kind 3'", store)
    #expect(try Self.found(condition, in: store, builds: false) == nil)
    #expect(try Self.found(condition, in: store, builds: true) == store.rows(where: condition))
    let copy = store
    #expect(try Self.found(condition, in: copy, builds: false) == store.rows(where: condition))
    #expect(try Self.found(try Self.compiled("number = 4.0", store), in: store, builds: false)?.count == 20)
    #expect(
      try Self.found(try Self.compiled("number IN (1, 2.0, 'x', 5000)", store), in: store, builds: false)?.count == 40)
    #expect(try Self.found(try Self.compiled("number = 4.5", store), in: store, builds: false) == [])
    #expect(try Self.found(try Self.compiled("number > 4", store), in: store, builds: true) == nil)
    #expect(try Self.found(try Self.compiled("number = 4 OR kind = 'x'", store), in: store, builds: true) == nil)
    // Of eight kinds a scan finds the features as quickly.
    #expect(try Self.found(try Self.compiled("kind = 'kind 3'", store), in: store, builds: true) == nil)
  }

  @Test func `building is cancelled`() throws {
    let store = try Self.filled(20_000)
    let condition = try Self.compiled("name = 'name 5'", store)
    struct Cancelled: Error {}
    #expect(throws: Cancelled.self) { _ = try store.candidates(for: condition) { if $0 > 0.3 { throw Cancelled() } } }
    #expect(try Self.found(condition, in: store, builds: false) == nil)
  }

  @Test func `at most four columns are indexed`() throws {
    var store = try Self.filled(20_000)
    var edits: [FeatureEdit] = []
    for row in 0..<20_000 {
      var edit = FeatureEdit(id: row)
      edit.attributes = (0..<4).map { ("extra \($0)", .integer(Int64(row))) }
      edits.append(edit)
    }
    try store.update(edits)
    let conditions = ["name = 'name 5'"] + (0..<4).map { "\"extra \($0)\" = 7" }
    let compiled = try conditions.map { try Self.compiled($0, store) }
    for condition in compiled { #expect(try Self.found(condition, in: store, builds: true)?.count == 1) }
    #expect(try Self.found(compiled[0], in: store, builds: false) == nil)
    #expect(try Self.found(compiled[1], in: store, builds: false)?.count == 1)
  }

  @Test(arguments: UInt64(0)..<3)
  func `after random edits the index finds what a scan finds`(seed: UInt64) throws {
    var random = SplitMix(seed)
    var store = try Self.filled(18_000)
    _ = try Self.found(try Self.compiled("name = 'name 1'", store), in: store, builds: true)
    var snapshots = [store]
    var records: [StoreUndoRecord] = []
    var hits = 0
    for _ in 0..<25 {
      try Self.edit(&store, &records, &random)
      if random.chance(0.3) { snapshots.append(store) }
      // An edit of a copy that nobody else sees.
      var copy = snapshots[random.below(snapshots.count)]
      if random.chance(0.2) { try Self.edit(&copy, &records, &random, canUndo: false) }
      for queried in [store, copy, snapshots[random.below(snapshots.count)]] {
        for text in ["name = 'name \(random.below(18_000))'", "name IN ('new 1', 'new 2', 'name 9')"] {
          let condition = try Self.compiled(text, queried)
          guard let found = try Self.found(condition, in: queried, builds: random.chance(0.1)) else { continue }
          #expect(found == queried.rows(where: condition), "\(text)")
          hits += 1
        }
      }
    }
    #expect(hits > 20)
    #expect(store.checkInvariants().isEmpty)
  }

  private static func edit(
    _ store: inout FeatureStore, _ records: inout [StoreUndoRecord], _ random: inout SplitMix, canUndo: Bool = true
  ) throws {
    let first = random.below(17_000)
    var record: StoreUndoRecord?
    switch random.below(canUndo ? 6 : 4) {
    case 0:
      let ids = (first..<first + random.below(1500)).filter { store.contains(id: $0) }
      try store.remove(ids, recording: &record)
    case 1:
      let edits = (0..<5).compactMap { _ -> FeatureEdit? in
        var edit = FeatureEdit(id: random.below(18_000))
        edit.attributes = [("name", random.chance(0.2) ? .null : .string("new \(random.below(4))"))]
        return store.contains(id: edit.id) ? edit : nil
      }
      try store.update(edits, recording: &record)
    case 2:
      var batch = FeatureBatch()
      for _ in 0..<random.below(50) {
        batch.begin()
        batch.set(column: batch.column(named: "name"), .string("new \(random.below(4))"))
      }
      _ = try store.append(batch, recording: &record)
    case 3:
      let ids = (first..<first + 500).filter { store.contains(id: $0) }
      try store.move(ids, x: ids.map { _ in 1 }, y: ids.map { _ in 2 }, recording: &record)
    default:
      guard let last = records.popLast() else { return }
      _ = store.revert(last)
      return
    }
    if canUndo, let record { records.append(record) }
  }
}
