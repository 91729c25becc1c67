// Spatial functions in conditions: what the index leaves out is what each feature's own test leaves out.

import Geometry
import GeometryEngine
import SpatialRelations
import Synchronization
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionSpatialTests {
  /// Points, boxes, lines, collections, empty ones and features without geometry.
  private static func store(_ random: inout SplitMix) throws -> FeatureStore {
    var store = FeatureStore(fields: [Field(name: "n", type: .integer)], geometryName: Text("shape"))
    var batch = FeatureBatch()
    for number in 0..<400 {
      let (x, y) = (Double(random.below(41)) - 20, Double(random.below(41)) - 20)
      let box = Geometry(Envelope(xMin: x, yMin: y, xMax: x + 3, yMax: y + 2))
      let point = Geometry.point(Point(x: x, y: y))
      let line = Geometry.lineString(Positions([Point(x: x, y: y), Point(x: x + 4, y: y - 1)]))
      batch.begin()
      batch.set(column: batch.column(named: "n"), .integer(Int64(number)))
      let geometries: [Geometry?] = [point, box, line, .collection([point, line]), .point(nil), .collection([]), nil]
      if let geometry = geometries[random.below(geometries.count)] { batch.setGeometry(geometry) }
    }
    _ = try store.append(batch)
    return store
  }

  private static func literal(_ random: inout SplitMix) -> String {
    let (x, y) = (random.below(30) - 20, random.below(30) - 20)
    return [
      "BBOX(\(x), \(y), \(x + 9), \(y + 7))", "POINT(\(x) \(y))", "LINESTRING(\(x) \(y), \(x + 12) \(y + 3))",
      "POLYGON((\(x) \(y), \(x + 15) \(y), \(x) \(y + 15), \(x) \(y)))", "MULTIPOINT(\(x) \(y), \(y) \(x))",
      "POLYGON EMPTY",
    ][random.below(6)]
  }

  private static func condition(_ random: inout SplitMix, depth: Int) -> String {
    if depth > 0, random.chance(0.6) {
      let word = random.chance(0.5) ? "AND" : "OR"
      let (left, right) = (condition(&random, depth: depth - 1), condition(&random, depth: depth - 1))
      return "\(random.chance(0.3) ? "NOT " : "")(\(left) \(word) \(right))"
    }
    if random.chance(0.2) {
      return ["n < 200", "shape IS NULL", "n % 3 = 1", "TRUE", "geometry IS NOT NULL"][random.below(5)]
    }
    let name = ["INTERSECTS", "DISJOINT", "WITHIN", "CONTAINS", "EQUALS", "TOUCHES", "CROSSES", "OVERLAPS"][
      random.below(8)]
    let shape = random.chance(0.5) ? "shape" : "geometry"
    let literal = literal(&random)
    return random.chance(0.5) ? "S_\(name)(\(shape), \(literal))" : "S_\(name)(\(literal), \(shape))"
  }

  @Test(arguments: UInt64(0)..<6)
  func `the index changes no result`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let store = try Self.store(&random)
    var bounded = 0
    for _ in 0..<60 {
      let text = Self.condition(&random, depth: 2)
      let condition = try Expression(text).compiled(for: store.schema, as: .condition)
      let expected = store.allRows().filter { store[$0].map(condition.isTrue) ?? false }
      #expect(store.rows(where: condition) == expected, "\(text)")
      if condition.indexBoxes != nil { bounded += 1 }
      // Unknown is not true of either.
      let opposite = try Expression("NOT (\(text))").compiled(for: store.schema, as: .condition)
      #expect(Set(store.rows(where: opposite)).isDisjoint(with: expected), "\(text)")
    }
    #expect(bounded > 5)
  }

  @Test(arguments: [
    ("S_INTERSECTS(shape, BBOX(0, 0, 1, 1))", 1), ("n > 1 AND S_WITHIN(shape, BBOX(0, 0, 1, 1))", 1),
    ("S_TOUCHES(BBOX(0, 0, 1, 1), shape) OR S_EQUALS(shape, POINT(3 3))", 2), ("NOT S_DISJOINT(shape, POINT(3 3))", 1),
    ("S_INTERSECTS(POINT(1 1), POINT(2 2))", 0), ("S_INTERSECTS(shape, BBOX(170, 0, -170, 1))", 1),
    ("NOT (S_DISJOINT(shape, POINT(3 3)) OR n = 1)", 1),
  ])
  func `a condition is bounded by boxes`(text: String, count: Int) throws {
    let schema = FeatureStore(fields: [Field(name: "n", type: .integer)], geometryName: Text("shape")).schema
    #expect(try Expression(text).compiled(for: schema).indexBoxes?.count == count)
  }

  @Test(arguments: [
    "S_DISJOINT(shape, POINT(3 3))", "NOT S_INTERSECTS(shape, POINT(3 3))", "n = 1",
    "n = 1 OR S_INTERSECTS(shape, POINT(3 3))",
    "S_INTERSECTS(shape, shape)", "S_INTERSECTS(POINT(1 1), POINT(1 1))", "S_INTERSECTS(shape, POINT(3 3)) IS NULL",
  ])
  func `a condition that any feature may meet has no boxes`(text: String) throws {
    let schema = FeatureStore(fields: [Field(name: "n", type: .integer)], geometryName: Text("shape")).schema
    #expect(try Expression(text).compiled(for: schema).indexBoxes == nil)
  }

  @Test func `literals are placed in the reference of the features`() throws {
    let schema = FeatureStore().schema
    func boxes(_ text: String, _ placement: GeometryPlacement) throws -> [Envelope]? {
      try Expression(text).placed(placement).compiled(for: schema).indexBoxes
    }
    let degrees = GeometryPlacement(
      yRange: -90...90, worldWidth: 360, transformed: { $0 }, shifts: { $0.xMax > 180 ? [0, -360] : [0] })
    #expect(try boxes("S_INTERSECTS(geometry, BBOX(170, 0, -170, 1))", degrees)?.map(\.xMin) == [170, -190])
    #expect(try boxes("S_INTERSECTS(geometry, LINESTRING(170 0, 190 0))", degrees)?.map(\.xMin) == [170, -190])
    let moved = GeometryPlacement(transformed: { _ in .point(Point(x: 7, y: 8)) })
    #expect(try boxes("S_INTERSECTS(geometry, POINT(1 2))", moved)?.first?.xMin == 7)
    for (text, placement) in [
      ("S_INTERSECTS(geometry, POINT(0 91))", degrees), ("S_INTERSECTS(geometry, BBOX(2, 0, 1, 1))", moved),
      ("S_INTERSECTS(geometry, POINT(0 0))", GeometryPlacement(transformed: { _ in nil })),
    ] {
      let error = #expect(throws: ExpressionError.self) { try boxes(text, placement) }
      #expect(error?.kind == .badLiteral && error?.column == 24)
    }
  }

  private static func points() throws -> (FeatureStore, firstID: Int) {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for x in 0..<3 {
      batch.begin()
      batch.setGeometry(.point(Point(x: Double(x), y: 0)))
    }
    let added = try store.append(batch)
    return (store, try #require(added.firstID))
  }

  @Test func `what is made of constants is made once, and by whoever may`() throws {
    let (store, _) = try Self.points()
    let made = Mutex(0)
    let square = Geometry(Envelope(xMin: -1, yMin: -1, xMax: 1, yMax: 1))
    let placement = GeometryPlacement(
      maker: { _, _, distance in
        guard (try? RelationAllowance.charge(distance)) != nil else { return nil }
        made.withLock { $0 += 1 }
        return square
      }, postpones: true)
    func rows(_ filter: CompiledExpression) -> Int { store.rows(where: filter).count }
    let expression = try Expression("S_INTERSECTS(geometry, S_BUFFER(POINT(0 0), 10 * 100))")
    let (little, much) = (RelationAllowance(nanoseconds: 100), RelationAllowance(nanoseconds: 10_000))
    let filter = try little.hold { try expression.placed(placement).compiled(for: store.schema) }
    #expect(little.failure == nil && made.withLock(\.self) == 0)
    #expect(little.hold { rows(filter) } == 0 && little.failure == .tooExpensive)
    #expect(much.hold { rows(filter) } == 2 && much.failure == nil)
    #expect(rows(filter) == 2 && made.withLock(\.self) == 1)
    // A command refuses it.
    var stored = placement
    stored.postpones = false
    let again = RelationAllowance(nanoseconds: 100)
    _ = try again.hold { try expression.placed(stored) }
    #expect(again.failure == .tooExpensive)
  }

  @Test func `what has too many positions fails the work and names the feature`() throws {
    let (store, firstID) = try Self.points()
    let placement = GeometryPlacement(maker: { _, geometry, _ in
      guard case .point(let point?) = geometry, point.x == 1 else { return geometry }
      RelationAllowance.fail(.tooManyPositions)
      return nil
    })
    let filter = try Expression("S_INTERSECTS(S_BUFFER(geometry, 1), POINT(1 0))").placed(placement).compiled(for: store.schema)
    let allowance = RelationAllowance(nanoseconds: 1e9)
    #expect(allowance.hold { store.rows(where: filter).isEmpty })
    #expect(allowance.error == .tooManyPositions(feature: firstID + 1))
  }
}
