// Buffers of closed lines, which GEOS takes for rings.

import CGEOS
import Geometry

extension GEOSContext {
  /// What is within a distance.
  ///
  /// GEOS takes a line that ends where it starts for a ring, also one that crosses itself or runs back along itself: then much of what is within
  /// the distance is missing, with 3.11 as with 3.14, and with 3.11 of small rings, too. Areas and open lines it does right: a ring becomes
  /// what lies around its area but not deep in it, another closed line two open ones that overlap.
  func within(_ operand: Geometry, _ numbers: [Double]) throws(EngineError) -> Geometry {
    let isOneSided = numbers[5] != 0
    let parts = isOneSided || numbers[0] <= 0 ? [] : operand.flattened
    let closed = parts.flatMap { $0.dimension == 1 ? $0.lines.compactMap(\.asClosedLine) : [] }
    guard !closed.isEmpty else { return try one(operand, "buffer") { buffered($0, numbers) }.geometries[0] }
    let others: [Geometry] = parts.compactMap { part in
      guard part.dimension == 1 else { return part.isEmpty ? nil : part }
      let open = part.lines.filter { $0.asClosedLine == nil && !$0.isEmpty }
      return open.isEmpty ? nil : .multiLineString(open)
    }
    var areas: [Geometry] = []
    if !others.isEmpty {
      let rest = Geometry.collection(others)
      areas.append(try one(rest.uniform ?? rest, "buffer") { buffered($0, numbers) }.geometries[0])
    }
    var chains: [Positions] = []
    for line in closed {
      if let around = try around(line, numbers) { areas.append(around) } else { chains += line.opened }
    }
    if !chains.isEmpty {
      // A closed line has no ends: round ones are within the distance of it.
      var round = numbers
      round[2] = Double(GeometryOperation.Cap.round.rawValue)
      areas.append(try one(.multiLineString(chains), "buffer") { buffered($0, round) }.geometries[0])
    }
    return areas.count == 1 ? areas[0] : try one(.collection(areas), "buffer") { geos.pointee.GEOSUnaryUnion_r(handle, $0) }.geometries[0]
  }

  /// What is within a distance of a ring; nil of a line that is none.
  private func around(_ ring: Positions, _ numbers: [Double]) throws(EngineError) -> Geometry? {
    let area = try GEOSShape(.polygon([ring]), in: self)
    guard case .valid = try validity(of: area) else { return nil }
    let handle = area.handle
    let outer = try GEOSShape(of: "buffer", in: self) { buffered(handle, numbers) }
    let inner = try GEOSShape(of: "buffer", in: self) { buffered(handle, [-numbers[0]] + numbers.dropFirst()) }
    let (whole, hole) = (outer.handle, inner.handle)
    return try geometry(of: GEOSShape(of: "buffer", in: self) { geos.pointee.GEOSDifference_r(self.handle, whole, hole) })
  }
}

extension Positions {
  /// A line of four positions at least that ends where it starts, without positions repeated in a row; nil for others.
  fileprivate var asClosedLine: Positions? {
    guard count > 3, self[0].x == self[count - 1].x, self[0].y == self[count - 1].y else { return nil }
    let whole = Array(points).withoutRepeats
    return whole.count > 3 ? Positions(whole) : nil
  }

  /// Two lines of all segments, that have each position between segments of one of them.
  fileprivate var opened: [Positions] {
    let points = Array(points)
    return [Positions(Array(points.dropLast())), Positions(points.suffix(3) + [points[1]])]
  }
}
