// The store equals a plain array, refuses invalid changes, and never changes snapshots.

import Geometry
import TestSupport
import Testing

@testable import FeatureStore
@testable import SpatialIndex

@Suite struct FeatureStoreTests {
  @Test(.slow, arguments: UInt64(0)..<12)
  func `it equals a plain array after random edits`(seed: UInt64) throws {
    var edits = RandomEdits(seed: seed)
    var store = FeatureStore()
    var oracle = PlainStore()
    var snapshots: [(FeatureStore, PlainStore)] = []
    for step in 0..<30 {
      switch edits.random.below(8) {
      case 0, 1, 2:
        let size = edits.random.chance(0.15) ? edits.random.below(1600) : edits.random.below(60)
        try store.append(edits.batch(size, for: &oracle))
      case 3, 4:
        var changes: [FeatureEdit] = []
        for index in oracle.features.indices where edits.random.chance(0.2) {
          changes.append(edits.edit(&oracle.features[index]))
          if edits.random.chance(0.05) { changes.append(edits.edit(&oracle.features[index])) }
        }
        try store.update(changes)
      case 5:
        var ids: [Int] = []
        var x: [Double] = []
        var y: [Double] = []
        for index in oracle.features.indices where edits.random.chance(0.1) {
          let (a, b) = edits.position()
          ids.append(oracle.features[index].id)
          x.append(a)
          y.append(b)
          oracle.features[index].geometry = .point(Point(x: a, y: b))
        }
        try store.move(ids, x: x, y: y)
      case 6:
        let share = edits.random.chance(0.2) ? 0.95 : 0.15
        var ids = oracle.features.filter { _ in edits.random.chance(share) }.map(\.id)
        if edits.random.chance(0.5) { ids.shuffle(using: &edits.random) }
        let gone = Set(ids)
        try store.remove(ids)
        oracle.features.removeAll { gone.contains($0.id) }
      default:
        snapshots.append((store, oracle))
      }
      let boxes = (0..<4).map { _ in edits.boxes() }
      let found = store.differences(from: oracle, boxes: boxes)
      #expect(found.isEmpty, "step \(step): \(found.prefix(3))")
    }
    for (store, oracle) in snapshots.prefix(4) {
      #expect(store.differences(from: oracle, boxes: [edits.boxes()]).isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `what feeds leave is put together a part at a time, in order and selected as before`(isLate: Bool) throws {
    var random = SplitMix(7)
    var store = FeatureStore(columns: [("n", .integer)])
    if isLate { store.lateIndex = LateIndex() }
    var kept: [Int] = []
    for round in 0..<120 {
      store.compact(for: 1500)
      let before = store
      var batch = FeatureBatch()
      let column = batch.column(named: "n")
      for index in 0..<1500 {
        batch.begin()
        batch.setPoint(x: Double(index), y: Double(round))
        batch.set(column: column, .integer(Int64(1500 * round + index)))
      }
      kept += 1500 * round..<1500 * (round + 1)
      try store.append(batch)
      let gone = kept.filter { _ in !random.chance(0.05) }
      store.discard(gone)
      kept.removeAll(where: Set(gone).contains)
      if round % 10 == 0, let id = kept.randomElement(), let row = store.row(of: id) { store.toggleSelected([row]) }
      let selected = store.selectedIDs
      store.compact(for: 1500)
      #expect(store.checkInvariants().isEmpty)
      #expect(store.selectedIDs == selected)
      var ids: [Int] = []
      store.forEach { row in
        ids.append(row.id)
        #expect(row.value(0) == .integer(Int64(row.id)))
        return true
      }
      #expect(ids == kept && store.count == kept.count)
      let box = Envelope(xMin: 200, yMin: 0, xMax: 400, yMax: Double(round) / 2)
      let found = store.rows(in: [box]).map(store.id(ofPresent:)).sorted()
      #expect(found == kept.filter { (200...400).contains($0 % 1500) && 2 * ($0 / 1500) <= round })
      #expect(store.slots.count * FeatureChunk.capacity <= 8 * (store.count + FeatureChunk.capacity) + 4 * FeatureChunk.capacity)
      // A snapshot keeps what it had.
      #expect(before.checkInvariants().isEmpty)
    }
  }

  @Test func `minted ids are consecutive and never reused`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for _ in 0..<3 { batch.begin() }
    #expect(try store.append(batch) == AddedFeatures(firstID: 0, named: [], count: 3))
    try store.remove([0, 1, 2])
    #expect(store.isEmpty && store.slots.isEmpty)
    #expect(try store.append(batch).firstID == 3)
    var named = FeatureBatch()
    named.begin(id: 50)
    #expect(try store.append(named).firstID == nil)
    #expect(try store.append(batch).firstID == 51)
    #expect(store.contains(id: 50) && !store.contains(id: 0))
    #expect(store.checkInvariants().isEmpty)
  }

  @Test func `invalid ids are reported with their indices, and nothing is added`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    batch.begin(id: 7)
    try store.append(batch)
    var bad = FeatureBatch()
    for id in [8, 7, -1, -5, FeatureStore.idLimit, 8] { bad.begin(id: id) }
    #expect {
      try store.append(bad)
    } throws: { error in
      (error as? StoreFailure)?.items == [
        .init(index: 1, error: .idExists(7)), .init(index: 2, error: .idOutOfRange(.min)),
        .init(index: 3, error: .idOutOfRange(-5)), .init(index: 4, error: .idOutOfRange(FeatureStore.idLimit)),
        .init(index: 5, error: .idRepeated(8)),
      ]
    }
    #expect(store.count == 1 && store.nextMintedID == 8)
    #expect(throws: StoreFailure(.noSuchID(9), at: 1)) { try store.remove([7, 9]) }
    #expect(throws: StoreFailure(.idRepeated(7), at: 1)) { try store.remove([7, 7]) }
    #expect(throws: StoreFailure(.noSuchID(9), at: 0)) { try store.update([FeatureEdit(id: 9)]) }
    var last = FeatureBatch()
    var next = FeatureBatch()
    last.begin(id: FeatureStore.idLimit - 1)
    next.begin()
    try store.append(last)
    #expect(throws: StoreFailure(.noIDsLeft)) { try store.append(next) }
    #expect(store.count == 2 && store.checkInvariants().isEmpty)
  }

  @Test func `null, absent and removed attributes are all unknown`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    let a = batch.column(named: "a")
    batch.begin()
    batch.set(column: a, .null)
    batch.begin()
    batch.begin()
    batch.set(column: a, integer: 0)
    try store.append(batch)
    let column = try #require(store.schema.column(named: "a"))
    #expect((0..<3).map { store.feature(id: $0)?.value(column) } == [.null, .null, .integer(0)])
    var edit = FeatureEdit(id: 2)
    edit.attributes = [("a", .null), ("never", .null)]
    try store.update([edit])
    #expect(store.feature(id: 2)?.value(column) == .null)
    #expect(store.fields == [Field(name: "a", type: .integer)])
    #expect(store.feature(id: 2)?.value(99) == .null)
  }

  @Test func `columns give the same features as rows, and have equal lengths`() throws {
    var batch = FeatureBatch()
    try batch.setPoints(x: [1, 2, .nan], y: [4, 5, 6], z: [7, .nan, 9])
    try batch.setColumn("n", integers: [1, 2, 3], nulls: [false, true, false])
    try batch.setColumn("d", doubles: [0.5, 1, 2])
    try batch.setColumn("s", [.string("x"), .null, .string("x")])
    try batch.setColumn("b", [.bool(true), .bool(false), .bool(true)])
    #expect(throws: StoreError.lengthMismatch(expected: 3, found: 2)) { try batch.setColumn("n", doubles: [1, 2]) }
    #expect(throws: StoreError.lengthMismatch(expected: 3, found: 1)) { try batch.setPoints(x: [1], y: [1]) }
    var store = FeatureStore()
    try store.append(batch)
    #expect(
      store.plain == [
        PlainFeature(
          id: 0, geometry: .point(Point(x: 1, y: 4, z: 7)),
          attributes: ["n": .integer(1), "d": .double(0.5), "s": .string("x"), "b": .bool(true)]),
        PlainFeature(id: 1, geometry: .point(Point(x: 2, y: 5)), attributes: ["d": .double(1), "b": .bool(false)]),
        PlainFeature(id: 2, attributes: ["n": .integer(3), "d": .double(2), "s": .string("x"), "b": .bool(true)]),
      ])
    #expect(store.index.count == 2)
    #expect(store.fields.map(\.type) == [.integer, .double, .string, .boolean])
  }

  @Test func `the first change after a snapshot copies only the changed columns`() throws {
    var store = try Self.million(rows: 20_000)
    let snapshot = store
    let chunks = Set(store.slots.map { ObjectIdentifier($0.chunk) })
    let nodes = store.index.points.nodes
    try store.move([5], x: [1], y: [1])
    let copied = store.slots.filter { !chunks.contains(ObjectIdentifier($0.chunk)) }
    #expect(copied.count == 1)
    #expect(store.index.points.nodes.subtracting(nodes).count <= 8)
    // The copy of the chunk shares the unchanged texts.
    func texts(_ store: FeatureStore) -> UnsafeRawPointer? {
      let column = store.slots[0].chunk.columns[0]
      guard column.layout == .strings else { return nil }
      return column.texts.arena.bytes.withUnsafeBytes { $0.baseAddress }
    }
    #expect(texts(store) != nil && texts(store) == texts(snapshot))
    #expect(snapshot.checkInvariants().isEmpty && store.checkInvariants().isEmpty)
  }

  @Test func `a change without a snapshot copies no column`() throws {
    var store = try Self.million(rows: 5_000)
    func numbers() -> UnsafeRawPointer? {
      let column = store.slots[1].chunk.columns[2]
      guard column.layout == .integers else { return nil }
      return column.words.withUnsafeBytes { $0.baseAddress }
    }
    let before = numbers()
    var edit = FeatureEdit(id: 1500)
    edit.attributes = [("number", .integer(7))]
    try store.update([edit])
    #expect(before != nil && numbers() == before)
  }

  @Test func `a snapshot is read on another thread while the original changes`() async throws {
    var store = try Self.million(rows: 30_000)
    let snapshot = store
    let before = store.plain
    async let seen = Task.detached { snapshot.plain }.value
    for round in 0..<20 {
      let ids = Array(stride(from: round, to: 30_000, by: 23)).filter { store.contains(id: $0) }
      try store.move(ids, x: ids.map { Double($0) }, y: ids.map { _ in Double(round) })
      if round % 5 == 4 { try store.remove(ids) }
    }
    #expect(await seen == before)
    #expect(store.checkInvariants().isEmpty)
  }

  @Test func `a row stays valid after its store is released`() throws {
    func rows() throws -> [FeatureRow] {
      let store = try Self.million(rows: 3_000)
      return [0, 1_500, 2_999].compactMap { store[$0] }
    }
    var random = SplitMix(42)
    var expected: [(Double, Double)] = []
    for _ in 0..<3_000 { expected.append((random.unit() * 360 - 180, random.unit() * 180 - 90)) }
    let kept = try rows()
    let other = try Self.million(rows: 2_000)
    for row in kept {
      let number = Int(row.row)
      let digits = String(number)
      #expect(row.point.map { $0.x == expected[number].0 && $0.y == expected[number].1 } == true)
      #expect(row.value(0) == .string("feature-" + String(repeating: "0", count: 12 - digits.count) + digits))
      var seen: [Int] = []
      row.forEachAttribute { column, _ in seen.append(column) }
      #expect(seen == [0, 1, 2])
    }
    #expect(other.count == 2_000)
  }

  @Test func `dropped chunks do not change rows and ids of the others`() throws {
    var store = try Self.million(rows: 10_000)
    try store.remove(Array(2_000..<8_500))
    #expect(store.slots.count < 6)
    #expect(store.row(of: 9_000) == 9_000 && store.row(of: 5_000) == nil && store[5_000] == nil)
    var batch = FeatureBatch()
    for id in [3_000, 2_500, 5_000] { batch.begin(id: id) }
    try store.append(batch)
    #expect(store.contains(id: 5_000) && store.feature(id: 2_500)?.row == 10_001)
    #expect(store.checkInvariants().isEmpty)
  }

  /// Points with a distinct name of 20 bytes, one of 8 kinds, and a number: the data of the benchmarks.
  static func million(rows: Int, batch size: Int = 1000) throws -> FeatureStore {
    var store = FeatureStore()
    var random = SplitMix(42)
    for start in stride(from: 0, to: rows, by: size) {
      try store.append(batch(start..<min(rows, start + size), &random))
    }
    return store
  }

  static func batch(_ rows: Range<Int>, _ random: inout SplitMix) -> FeatureBatch {
    var batch = FeatureBatch()
    batch.reserveCapacity(rows.count)
    let name = batch.column(named: "name")
    let kind = batch.column(named: "kind")
    let number = batch.column(named: "number")
    var text = Array("feature-000000000000".utf8)
    for row in rows {
      batch.begin()
      batch.setPoint(x: random.unit() * 360 - 180, y: random.unit() * 180 - 90)
      var rest = row
      var digit = 19
      while digit > 7 {
        text[digit] = UInt8(48 + rest % 10)
        rest /= 10
        digit -= 1
      }
      text.withUnsafeBytes { batch.set(column: name, utf8: $0) }
      let kinds: StaticString = "kind-aaakind-bbbkind-ccckind-dddkind-eeekind-fffkind-gggkind-hhh"
      batch.set(column: kind, utf8: UnsafeRawBufferPointer(start: kinds.utf8Start + row % 8 * 8, count: 8))
      batch.set(column: number, integer: Int64(row * 7 % 1000))
    }
    return batch
  }
}
