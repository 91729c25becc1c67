// Sides that are straight in degrees, and nearly so in another reference.

import GeoModel
import Geodetics
import Geometry
import Platform

extension Globe {
  /// An area on WGS 84 with positions along its sides, so that those straight in the reference are near them: within metres. Where a
  /// position has no coordinates there, it is left as it is. An area across an edge of the reference that is curved is cut there.
  ///
  /// - Throws: ``GeodeticError/tooManyPositions``.
  func followed(_ area: Geometry, within deviation: Double) throws -> Geometry {
    guard area.dimension == 2, isProjected else { return area }
    var total = 0
    return try (backward?.cutAtCurvedEdge(area) ?? area).mapPositions { ring in
      let sides = ring.points.indices.dropLast().filter { isLong(ring[$0], ring[$0 + 1], deviation) }
      guard !sides.isEmpty, let pieces = try? pieces(of: sides, ring, deviation) else { return ring }
      total += pieces.values.reduce(ring.count, +)
      guard total <= Geometry.mostPositions else { throw GeodeticError.tooManyPositions }
      var places: [Point] = []
      for index in ring.points.indices.dropLast() {
        let (start, end) = (ring[index], ring[index + 1])
        let count = Double(pieces[index] ?? 1)
        places += stride(from: 0, to: count, by: 1).map {
          Point(x: start.x + (end.x - start.x) * $0 / count, y: start.y + (end.y - start.y) * $0 / count)
        }
      }
      return Positions(places + [ring[ring.count - 1]])
    }
  }

  /// Whether a side may bend by more: what is straight in degrees has about the curvature of its parallel, in some references more.
  private func isLong(_ start: Point, _ end: Point, _ deviation: Double) -> Bool {
    let latitude = min(max(abs(start.y), abs(end.y)), 89.9999)
    let way = (end.x - start.x) * cos(min(abs(start.y), abs(end.y)) * .pi / 180)
    let length = hypot(way, end.y - start.y) * 112_000
    return length * length * (2 * tan(latitude * .pi / 180) + 1) / 6_300_000 > deviation * 4
  }

  /// How many pieces sides need: the middle of a side in the reference may be so far from its middle in degrees.
  private func pieces(of sides: [Int], _ ring: Positions, _ deviation: Double) throws -> [Int: Int] {
    let middles = sides.map { Point(x: (ring[$0].x + ring[$0 + 1].x) / 2, y: (ring[$0].y + ring[$0 + 1].y) / 2) }
    let ends = try moved(sides.flatMap { [ring[$0], ring[$0 + 1]] })
    let chords = stride(from: 0, to: ends.count, by: 2).map { Point(x: (ends[$0].x + ends[$0 + 1].x) / 2, y: (ends[$0].y + ends[$0 + 1].y) / 2) }
    let back = try transformer.transform(Geometry.multiPoint(Positions(chords)), from: reference, to: .wgs84)
    var found: [Int: Int] = [:]
    var number = 0
    back.forEachPositions { line in
      for place in line.points {
        let off = distance(place, middles[number])
        // A side across the edge of the reference's world is cut there, not followed.
        let isOnOneSide = off < distance(ring[sides[number]], ring[sides[number] + 1])
        if off > deviation, isOnOneSide { found[sides[number]] = min(Int((off / deviation).squareRoot().rounded(.up)), 1000) }
        number += 1
      }
    }
    return found
  }

  /// Through the earth, in metres.
  private func distance(_ first: Point, _ second: Point) -> Double {
    let way = Geocentric.position(of: first) - Geocentric.position(of: second)
    return (way * way).sum().squareRoot()
  }

  private func moved(_ places: [Point]) throws -> [Point] {
    var found: [Point] = []
    try transformer.transform(Geometry.multiPoint(Positions(places)), from: .wgs84, to: reference).forEachPositions { found += $0.points }
    return found
  }
}
