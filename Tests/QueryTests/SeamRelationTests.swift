// Relations across the edge of a map that goes around the world, against a model in one piece.

import Geometry
@testable import GeometryEngine
import SpatialRelations
import Testing

@Suite struct `Relations across the antimeridian` {
  static let seam = Seam(west: -180, width: 360)

  private func holds(_ relation: SpatialRelation, _ row: Geometry, _ constant: Geometry) throws -> Bool? {
    try SpatialPredicate(relation, constant, shifts: [0, 360, -360], seam: Self.seam).holds(for: row)
  }

  @Test(arguments: UInt64(0)..<50)
  func `whatever is cut, or written beyond the edge, relates as in one piece`(seed: UInt64) throws {
    var random = RandomPieces(seed: seed)
    for _ in 0..<400 {
      let (first, second) = (try random.shape(), try random.shape())
      let relation = `Spatial relations to a constant geometry`.relations.randomElement(using: &random.random) ?? .touches
      let expected = try PreparedGeometry(second.model).relates(relation, first.model)
      let found = try holds(relation, first.written, second.written)
      #expect(found == expected, "\(first.written.wkt) \(relation) \(second.written.wkt)")
    }
  }

  @Test func `what goes around the world has no edge there`() throws {
    func read(_ text: String) throws -> Geometry { try Geometry(wkt: text) }
    let girdle = try read("POLYGON ((-180 -90, 180 -90, 180 -60, -180 -60, -180 -90))")
    let across = try read("MULTIPOLYGON (((170 -80, 180 -80, 180 -70, 170 -70, 170 -80)), ((-180 -80, -170 -80, -170 -70, -180 -70, -180 -80)))")
    #expect(try holds(.touches, girdle, girdle) == false && holds(.equals, girdle, girdle) == true)
    #expect(try holds(.within, across, girdle) == true && holds(.contains, girdle, across) == true)
    #expect(try holds(.within, read("POINT (180 -70)"), girdle) == true)
    #expect(try holds(.touches, girdle, read("POINT (-180 -70)")) == false)
    #expect(try holds(.touches, read("POINT (-180 -60)"), girdle) == true)
    #expect(try holds(.overlaps, girdle, read("POLYGON ((170 -70, 190 -70, 190 -50, 170 -50, 170 -70))")) == true)
    #expect(try holds(.touches, read("LINESTRING (180 -70, 180 -65)"), girdle) == false)
    // Wherever it is cut.
    let other = try read("POLYGON ((0 -90, 360 -90, 360 -60, 0 -60, 0 -90))")
    #expect(try holds(.within, read("POINT (0 -70)"), other) == true && holds(.contains, other, read("POINT (0 -70)")) == true)
    #expect(try holds(.equals, other, girdle) == true && holds(.touches, other, girdle) == false)
    // The equator, of one piece, and its half.
    let equator = try read("LINESTRING (-180 0, 0 0, 180 0)")
    #expect(try holds(.within, read("MULTILINESTRING ((170 0, 180 0), (-180 0, -170 0))"), equator) == true)
    #expect(try holds(.crosses, read("LINESTRING (180 -1, 180 1)"), equator) == true)
  }
}

/// Shapes on a lattice around x = 0, where the written ones are cut, or beyond which they go.
private struct RandomPieces {
  var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed) }

  private mutating func next(_ range: ClosedRange<Int>) -> Double { Double(Int.random(in: range, using: &random)) }

  /// In one piece, and as a file has it.
  mutating func shape() throws -> (model: Geometry, written: Geometry) {
    let form = Int(next(0...3))
    func written(_ x: Double, isEast: Bool) -> Double {
      switch form {
      case 0: x + 180
      case 1: x - 180
      default: isEast ? x - 180 : x + 180
      }
    }
    let isCut = form > 1
    switch Int(next(0...5)) {
    case 0:
      let point = Point(x: next(-3...3), y: next(0...5))
      let x = written(point.x, isEast: point.x == 0 ? Bool.random(using: &random) : point.x > 0)
      return (.point(point), .point(Point(x: x, y: point.y)))
    case 1:
      let points = (0..<3).map { _ in Point(x: next(-3...3), y: next(0...5)) }
      let moved = points.map { Point(x: written($0.x, isEast: $0.x > 0), y: $0.y) }
      return (.multiPoint(Positions(points)), .multiPoint(Positions(moved)))
    case 2, 3:
      var points = [Point(x: next(-4...4), y: next(0...5))]
      for _ in 0..<Int(next(1...8)) {
        let last = points[points.count - 1]
        let step = Point(x: last.x + next(-1...1), y: last.y + next(-1...1))
        if step != last { points.append(step) }
      }
      guard points.count > 1 else { return try shape() }
      var runs: [(points: [Point], isEast: Bool)] = []
      for (start, end) in zip(points, points.dropFirst()) {
        let middle = start.x + end.x
        let isEast = middle == 0 ? runs.last?.isEast ?? true : middle > 0
        if let last = runs.last, !isCut || last.isEast == isEast { runs[runs.count - 1].points.append(end) } else {
          runs.append(([start, end], isEast))
        }
      }
      let moved = runs.map { run in Positions(run.points.map { Point(x: written($0.x, isEast: run.isEast), y: $0.y) }) }
      return (.lineString(Positions(points)), .multiLineString(moved))
    default:
      let cells = Set((0..<Int(next(2...16))).map { _ in [next(-3...2), next(0...4)] })
      func united(_ cells: [[Double]]) throws -> Geometry {
        try GeometryEngine.union(
          of: .multiPolygon(
            cells.map { cell in
              let (x, y) = (cell[0], cell[1])
              return [Positions(values: [x, y, x + 1, y, x + 1, y + 1, x, y + 1, x, y])]
            }))
      }
      let model = try united(cells.sorted { $0[0] < $1[0] })
      guard isCut else { return (model, model.mapX { written($0, isEast: true) }) }
      var pieces: [Geometry] = []
      for isEast in [false, true] {
        let half = cells.filter { ($0[0] >= 0) == isEast }
        if !half.isEmpty { pieces.append(try united(Array(half)).mapX { written($0, isEast: isEast) }) }
      }
      return (model, Geometry.collection(pieces).uniform ?? model)
    }
  }
}
