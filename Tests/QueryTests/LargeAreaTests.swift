// Pieces of large areas: what an overlay makes of a piece is what it makes of the whole.

import Geometry
import Testing

@testable import GeometryEngine
@testable import SpatialRelations

@Suite struct LargeAreaTests {
  private static func ring(_ positions: [SIMD2<Double>]) -> Positions {
    Positions(values: (positions + positions.prefix(1)).flatMap { [$0.x, $0.y] })
  }

  private static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> [SIMD2<Double>] {
    [SIMD2(x, y), SIMD2(x + width, y), SIMD2(x + width, y + height), SIMD2(x, y + height)]
  }

  /// A comb of many teeth with holes in them, and islands beside it: it enters and leaves small boxes on every side.
  private static func comb(clockwise: Bool) -> Geometry {
    var outer = [SIMD2(0.0, -10.0), SIMD2(400, -10)]
    for tooth in (0..<100).reversed() {
      let x = Double(4 * tooth)
      outer += [SIMD2(x + 3, 0.5), SIMD2(x + 2.75, 80 + x.truncatingRemainder(dividingBy: 7)), SIMD2(x + 1, 80), SIMD2(x, 1)]
    }
    var polygons = [[ring(clockwise ? outer.reversed() : outer)] + (0..<100).map { ring(box(Double(4 * $0) + 1.1, 20, 1, 2).reversed()) }]
    polygons += (0..<50).map { [ring(box(Double(8 * $0) + 3.25, 40, 0.5, 3))] }
    return .multiPolygon(polygons)
  }

  @Test(arguments: [false, true])
  func overlaysOfPiecesAreThoseOfTheWhole(clockwise: Bool) throws {
    let comb = Self.comb(clockwise: clockwise)
    let area = try #require(LargeArea(comb))
    let calculate = try GeometryCalculator()
    #expect(try calculate(GeometryOperation(.validity), [comb]).text == nil)
    var random = SplitMix(7)
    func number(_ range: Range<Double>) -> Double { Double.random(in: range, using: &random) }
    var pieces = 0
    for round in 0..<150 {
      let (x, y, size) = (number(-5..<405), number(-15..<90), number(0.1..<20))
      let corners = Self.box(x, y, size, number(0.1..<20))
      let geometry: Geometry =
        switch round % 3 {
        case 0: .polygon([Self.ring(corners)])
        case 1: .lineString(Positions(values: corners.flatMap { [$0.x, $0.y] }))
        default: .multiPoint(Positions(values: corners.flatMap { [$0.x, $0.y] }))
        }
      guard let piece = area.piece(around: geometry) else { continue }
      pieces += 1
      if !piece.isEmpty { #expect(try calculate(GeometryOperation(.validity), [piece]).text == nil) }
      for kind in [GeometryOperation.Kind.intersection, .difference] {
        let operation = GeometryOperation(kind)
        let (made, expected) = (try calculate(operation.trusting(1), [geometry, piece]), try calculate(operation, [geometry, comb]))
        #expect(made.geometries.map(\.places) == expected.geometries.map(\.places), "round \(round)")
      }
    }
    #expect(pieces > 120)
  }

  /// Positions with Z are taken as they are: an overlay finds heights from all of them.
  @Test func heightsHaveNoPieces() throws {
    let area = try #require(LargeArea(Self.comb(clockwise: false)))
    #expect(area.piece(around: .lineString(Positions(values: [0, 0, 1, 5, 5, 1], hasZ: true))) == nil)
    let high = Self.comb(clockwise: false).mapPositions { Positions(values: $0.points.flatMap { [$0.x, $0.y, 1] }, hasZ: true) }
    #expect(try #require(LargeArea(high)).piece(around: .lineString(Positions(values: [0, 0, 5, 5]))) == nil)
  }
}

extension Geometry {
  /// Its positions and its type: rings begin anywhere, and parts are in any order.
  fileprivate var places: [String: Set<[Double]>] {
    var places = Set<[Double]>()
    forEachPositions { for point in $0.points { places.insert([point.x, point.y]) } }
    return [typeName: places]
  }
}
