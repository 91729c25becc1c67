// A store made of features of another has what a store has to which they are added one by one, and shares what it can.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering
@testable import SpatialIndex

@Suite struct StoreCopyTests {
  @Test(arguments: UInt64(0)..<6)
  func `a copy has the chosen features, attributes and geometries`(seed: UInt64) throws {
    var edits = RandomEdits(seed: seed)
    var (source, oracle) = (FeatureStore(), PlainStore())
    for _ in 0..<3 { try source.append(edits.batch(200 + edits.random.below(1000), for: &oracle)) }
    let ids = source.ids
    if seed % 2 == 0 { try source.remove(ids.filter { _ in edits.random.chance(0.1) }) }
    let all = source.allRows()
    var some = all.filter { _ in edits.random.chance(0.4) }
    if seed % 3 == 0 { some.shuffle(using: &edits.random) }
    let columns = (0..<source.schema.count).shuffled(using: &edits.random).prefix(1 + edits.random.below(source.schema.count))
    for rows in [all, some, []] {
      for givesGeometries in [false, true] {
        let copy = StoreCopy(of: source, rows: rows, columns: Array(columns))
        let geometries = rows.map { Geometry.point(Point(x: Double($0), y: 1)) }
        let (made, type) = copy.store(
          (0..<copy.chunkCount).map { number in
            let own = geometries.dropFirst(number * StoreCopy.size).prefix(StoreCopy.size)
            return copy.chunk(number, givesGeometries ? .init(Array(own)) : nil)
          })
        var expected = FeatureStore(columns: columns.map { (source.schema.name(of: $0), source.schema.declaredType(of: $0)) })
        var batch = FeatureBatch()
        for (index, row) in rows.enumerated() {
          let feature = try #require(source[row])
          batch.begin(id: feature.id)
          batch.setGeometry(givesGeometries ? geometries[index] : feature.geometry)
          for (target, column) in columns.enumerated() where feature.value(column) != .null {
            batch.set(column: batch.column(named: expected.schema.name(of: target)), feature.value(column))
          }
        }
        try expected.append(batch)
        #expect(made.checkInvariants().isEmpty)
        #expect(made.ids == expected.ids)
        #expect(made.fields == expected.fields)
        #expect(made.nextMintedID == expected.nextMintedID)
        #expect(made.extent == expected.extent)
        #expect(made.allRows() == expected.allRows())
        #expect(type == (rows.isEmpty ? nil : givesGeometries ? "Point" : "Unknown"))
        for row in expected.allRows() {
          let (one, other) = (try #require(made[row]), try #require(expected[row]))
          #expect(one.geometry == other.geometry)
          #expect((0..<columns.count).allSatisfy { one.value($0) == other.value($0) })
        }
      }
    }
  }

  @Test func `whole chunks share their columns and the index, and edits of one store leave the other`() throws {
    var source = try Self.numbers(3000)
    let copy = StoreCopy(of: source, rows: source.allRows(), columns: [1, 0])
    var (made, type) = copy.store((0..<copy.chunkCount).map { copy.chunk($0) })
    #expect(type == "Point")
    func address(_ store: FeatureStore, _ column: Int) -> UnsafePointer<UInt64>? {
      store.slots[1].reader.pointee.columns?[column].words.baseAddress
    }
    #expect(address(made, 0) == address(source, 1) && address(made, 1) == address(source, 0))
    var edit = FeatureEdit(id: 1500)
    edit.attributes = [("d", .double(-1))]
    try source.update([edit])
    try made.remove([2000])
    #expect(made.feature(id: 1500)?.value(0) == .double(750))
    #expect(source.feature(id: 1500)?.value(1) == .double(-1))
    #expect(source.contains(id: 2000) && !made.contains(id: 2000))
    #expect(source.checkInvariants().isEmpty && made.checkInvariants().isEmpty)
  }

  @Test(arguments: [true, false])
  func `other geometries are found in a copy, before and after edits`(arePoints: Bool) throws {
    let source = try Self.numbers(3000)
    let copy = StoreCopy(of: source, rows: nil, columns: [0])
    func geometry(_ row: Int) -> Geometry {
      let point = Point(x: Double(row / 60) * 3 + 7, y: Double(row % 60) * -2)
      return arePoints ? .point(point) : .lineString(Positions([point, Point(x: point.x + 1, y: point.y + 2)]))
    }
    var (made, _) = copy.store(
      (0..<copy.chunkCount).map { number in
        copy.chunk(number, .init((number * StoreCopy.size..<min(3000, (number + 1) * StoreCopy.size)).map(geometry)))
      })
    #expect(!made.index.points.isKeyed || !made.index.boxes.isKeyed)
    #expect(made.checkInvariants().isEmpty)
    try made.move([5, 700], x: [-50, 70], y: [-50, 70])
    try made.remove([6, 2999])
    var batch = FeatureBatch()
    for row in 0..<100 {
      batch.begin(id: 5000 + row)
      batch.setGeometry(geometry(row * 7))
    }
    try made.append(batch)
    #expect(!made.index.points.isKeyed || !made.index.boxes.isKeyed)
    #expect(made.checkInvariants().isEmpty && source.checkInvariants().isEmpty)
  }

  @Test(arguments: [
    "n + 1", "n * 2 + 1", "d - n", "n / 2", "d * d - 0.5", "n / (n - 5)", "n * 9223372036854775807", "n % 7", "n + rare", "n - d / 3 * 1e308",
  ])
  func `arithmetic on columns has the values of arithmetic on rows`(text: String) throws {
    let store = try Self.numbers(2500)
    let expression = try Expression(text).compiled(for: store.schema)
    var isWhole = false
    for slot in store.slots {
      guard let numbers = expression.numbers(of: slot.chunk) else { continue }
      isWhole = true
      for index in 0..<slot.chunk.count {
        let row = try #require(store[slot.base + UInt32(index)])
        #expect(numbers[index] == expression.value(of: row))
      }
    }
    #expect(isWhole == !["%", "rare", "1e308", "807"].contains { text.contains($0) })
  }

  /// Points with a column of integers, one of doubles, and one of few values.
  private static func numbers(_ count: Int) throws -> FeatureStore {
    var batch = FeatureBatch()
    try batch.setPoints(x: (0..<count).map { Double($0 % 60) }, y: (0..<count).map { Double($0 / 60) })
    try batch.setColumn("n", integers: (0..<count).map { Int64($0) })
    try batch.setColumn("d", doubles: (0..<count).map { Double($0) / 2 })
    try batch.setColumn("rare", (0..<count).map { $0 % 100 == 0 ? .integer(1) : .null })
    var store = FeatureStore()
    try store.append(batch)
    return store
  }
}
