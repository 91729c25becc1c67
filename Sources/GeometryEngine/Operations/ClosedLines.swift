// Buffers of closed lines, which GEOS takes for rings.

import CGEOS
import Geometry

extension GEOSContext {
  /// What is within a distance.
  ///
  /// GEOS takes a line that ends where it starts for a ring, also one that crosses itself or runs back along itself: then much of what is within
  /// the distance is missing, with 3.11 as with 3.14. Lines that are open it does right, so a closed one becomes two that overlap.
  func within(_ operand: Geometry, _ numbers: [Double]) throws(EngineError) -> Geometry {
    let isOneSided = numbers[5] != 0
    let parts = isOneSided || numbers[0] <= 0 ? [] : operand.flattened
    let closed = parts.flatMap { $0.dimension == 1 ? $0.lines.filter(\.isClosedLine) : [] }
    guard !closed.isEmpty else { return try one(operand, "buffer") { buffered($0, numbers) }.geometries[0] }
    let others: [Geometry] = parts.compactMap { part in
      guard part.dimension == 1 else { return part.isEmpty ? nil : part }
      let open = part.lines.filter { !$0.isClosedLine && !$0.isEmpty }
      return open.isEmpty ? nil : .multiLineString(open)
    }
    var areas: [Geometry] = []
    if !others.isEmpty {
      let rest = Geometry.collection(others)
      areas.append(try one(rest.uniform ?? rest, "buffer") { buffered($0, numbers) }.geometries[0])
    }
    // A closed line has no ends: what stands over at those of its parts is within the distance of it.
    var round = numbers
    round[2] = Double(GeometryOperation.Cap.round.rawValue)
    let chains = Geometry.multiLineString(closed.flatMap(\.opened))
    areas.append(try one(chains, "buffer") { buffered($0, round) }.geometries[0])
    return areas.count == 1 ? areas[0] : try one(.collection(areas), "buffer") { geos.pointee.GEOSUnaryUnion_r(handle, $0) }.geometries[0]
  }
}

extension Positions {
  /// A line of four positions at least that ends where it starts, and goes elsewhere between.
  fileprivate var isClosedLine: Bool {
    guard count > 3 else { return false }
    let first = self[0]
    func isThere(_ point: Point) -> Bool { point.x == first.x && point.y == first.y }
    return isThere(self[count - 1]) && points.contains { !isThere($0) }
  }

  /// Two lines of all segments, that have each position between segments of one of them.
  fileprivate var opened: [Positions] {
    let points = Array(points)
    return [Positions(Array(points.dropLast())), Positions(points.suffix(3) + [points[1]])]
  }
}
