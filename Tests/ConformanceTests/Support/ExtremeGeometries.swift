// Random geometries in all forms that the protocol has, at the limits of coordinates and nesting.

import Foundation
import Geometry

extension ExtremeValues {
  /// A geometry as a client may send it.
  mutating func geometry() -> Value {
    let depth = chance(0.1) ? pick([2, 31, 32, 33]) : 0
    return (0..<depth).reduce(simple()) { inner, _ in ["type": "GeometryCollection", "geometries": [inner]] }
  }

  private mutating func simple() -> Value {
    let hasZ = chance(0.2)
    func line(_ count: Int) -> Value { .array((0..<count).map { _ in position(hasZ) }) }
    func ring() -> Value {
      let points = (0..<3).map { _ in position(hasZ) }
      return .array(points + [points[0]])
    }
    switch integer(0...11) {
    case 0: return ["type": "LineString", "coordinates": line(integer(0...3))]
    case 1: return ["type": "Polygon", "coordinates": .array((0..<integer(0...2)).map { _ in ring() })]
    case 2: return ["type": "MultiPoint", "coordinates": line(integer(0...3))]
    case 3: return ["type": "MultiLineString", "coordinates": [line(2), line(3)]]
    case 4: return ["type": "MultiPolygon", "coordinates": [[ring()], [ring(), ring()]]]
    case 5: return ["type": "Point", "coordinates": []]
    case 6:
      let numbers = (0..<4).map { _ in coordinate() }
      return [
        "type": "Envelope", "xMin": .real(numbers[0]), "yMin": .real(min(numbers[1], numbers[3])),
        "xMax": .real(numbers[2]), "yMax": .real(max(numbers[1], numbers[3])),
      ]
    case 7: return ["type": "WKT", "text": .string(wellKnownText())]
    case 8:
      let geometry = (try? Geometry(wkt: wellKnownText())) ?? .point(Point(x: 1, y: 2))
      return ["type": "WKB", "data": .string(Data(geometry.wkb()).base64EncodedString())]
    default: return point(hasZ)
    }
  }

  mutating func point(_ hasZ: Bool = false) -> Value { ["type": "Point", "coordinates": position(hasZ)] }

  private mutating func position(_ hasZ: Bool) -> Value {
    .array([.real(coordinate()), .real(coordinate(90))] + (hasZ ? [.real(number([:]))] : []))
  }

  private mutating func coordinate(_ limit: Double = 180) -> Double {
    chance(0.8) ? Double.random(in: -limit...limit, using: &random) : number([:])
  }

  private mutating func wellKnownText() -> String {
    let depth = chance(0.2) ? pick([1, 31, 32, 33]) : 0
    let inner = pick([
      "POINT (1 2)", "POINT EMPTY", "POINT Z (1 2 3)", "POINT M (1 2 3)", "POINT ZM (1 2 3 4)",
      "LINESTRING M (1 2 3, 4 5 6)",
      "MULTIPOINT (1 2, EMPTY)", "POLYGON EMPTY", "POLYGON Z ((0 0 1, 1 0 1, 0 1 1, 0 0 1))",
      "LINESTRING Z (1 2 NaN, 3 4 5)",
      "GEOMETRYCOLLECTION EMPTY", "LINESTRING ZM (1 2 3 4, 5 6 7 8)", "MULTIPOLYGON (((0 0, 1 0, 0 1, 0 0)), EMPTY)",
      "POINT (1e308 -1e308)", "POINT (-0.0 5e-324)",
    ])
    return String(repeating: "GEOMETRYCOLLECTION (", count: depth) + inner + String(repeating: ")", count: depth)
  }
}
