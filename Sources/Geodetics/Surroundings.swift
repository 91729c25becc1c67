// The area within a distance on the ellipsoid, as parts whose union it is.

import Geometry
import Platform

/// Makes areas around places, and beside geodesics, whose outlines stay within a distance of where they should be.
public struct Surroundings {
  private let tracer: CurveTracer
  private let curve: GeodeticCurve
  /// What a straight side of an outline may be off, and a geodesic that stands for another curve, in metres.
  private let (outline, chain): (Double, Double)

  /// The greatest distance around lines and polygons in metres, below a quarter of the earth's circumference; around places nearly half.
  public static let most = 9_900_000.0
  public static let mostAround = 19_900_000.0

  /// - Parameter deviation: metres that the outline may be off, between its positions as well.
  public init(_ tracer: CurveTracer, _ curve: GeodeticCurve, within deviation: Double) {
    (self.tracer, self.curve) = (tracer, curve)
    (outline, chain) = curve == .geodesic ? (deviation * 0.8, deviation * 0.1) : (deviation * 0.5, deviation * 0.4)
  }

  /// Areas whose union is what lies within a distance of lines, points and the outlines of polygons.
  ///
  /// Beside a geodesic they are the places from which it is met at a right angle, at its ends and bends sectors of circles.
  ///
  /// - Parameter distance: metres, positive, at most ``most``, of points ``mostAround``.
  /// - Complexity: O(n) geodesics in the positions of the geometry and of the outlines.
  public func around(_ geometry: Geometry, _ distance: Double) throws -> [Geometry] {
    var parts: [Geometry] = []
    for part in geometry.flattened {
      if part.dimension == 0 {
        for place in part.lines.joined() { parts.append(try circle(around: place, distance)) }
      } else if part.dimension == 1 {
        for line in part.lines { try add(line, isRing: false, distance, &parts) }
      } else {
        for way in Outline.ways(part.polygons) { try add(way, isRing: true, distance, &parts) }
      }
    }
    return parts
  }

  /// - Parameters:
  ///   - bend: the greatest curvature of the outline in 1/m, where that is known.
  ///   - radius: metres at an azimuth in degrees.
  public func ring(
    around center: Point, from azimuth: Double, sweep: Double, isWhole: Bool, bend: Double? = nil, radius: (_ azimuth: Double) -> Double
  ) throws -> Geometry {
    try ring(around: center, from: azimuth, sweep: sweep, isWhole: isWhole, bend: bend, radius: radius, within: outline)
  }

  private func ring(
    around center: Point, from azimuth: Double, sweep: Double, isWhole: Bool, bend: Double?, radius: (_ azimuth: Double) -> Double,
    within outline: Double
  ) throws -> Geometry {
    let plane = abs(center.y) < 80 ? TangentPlane(at: center) : nil
    let center = Place(center.x, center.y)
    func place(_ share: Double) throws -> Place {
      // Against the clock: the area is to the left.
      let azimuth = azimuth + sweep * (1 - share)
      let radius = radius(azimuth)
      // Positions are right to 0.02 mm.
      guard let plane, TangentPlane.error(radius) < min(outline / 8, 0.01) else { return try tracer.direct(center, azimuth, radius).place }
      return plane.place(azimuth: azimuth, distance: radius)
    }
    let places: [Place]
    var parts = max(1, Int((sweep / 45).rounded(.up)))
    if let bend, plane != nil, case let radius = radius(azimuth), TangentPlane.error(radius) < 0.01 {
      // Of a small circle the chords are known: halved until each is near. What is straight in degrees bends by less than 2e-6/m here.
      while pow(2 * radius * sin(sweep * .pi / 360 / Double(parts)), 2) * (bend + 2e-6) > outline * 8 { parts *= 2 }
      try tracer.spend(parts)
      places = try (0...parts).map { try place(Double($0) / Double(parts)) }
    } else {
      places = try tracer.trace(parts, within: outline, bend: bend, place)
    }
    guard !isWhole else { return SphereRegion.polygons(leftOf: Array(places.dropLast())) }
    let (first, last) = (azimuth + sweep, azimuth)
    return SphereRegion.polygons(
      leftOf: try ray(center, first, radius(first), within: outline).dropLast() + places
        + ray(center, last, radius(last), within: outline).reversed().dropFirst().dropLast())
  }

  /// A part of less than half of the earth. Where its sides are nearer to one another than what they may be off, they may cross each other, and
  /// what is left of them then be the rest of the earth: such a part is made finer.
  private func small(_ make: (_ within: Double) throws -> Geometry) throws -> Geometry {
    for finer in 0..<8 {
      let made = try make(outline / pow(8, Double(finer)))
      if SphereRegion.share(of: made) < 0.5 { return made }
    }
    return .polygon([])
  }

  private func circle(around place: Place, _ distance: Double) throws -> Geometry {
    try ring(around: Point(x: place.x, y: place.y), from: 0, sweep: 360, isWhole: true, bend: bend(distance)) { _ in distance }
  }

  /// The radius of an ellipse with two semi-axes at an azimuth from the first.
  public static func radius(_ a: Double, _ b: Double, at azimuth: Double) -> Double {
    let angle = azimuth * .pi / 180
    return a * b / hypot(b * cos(angle), a * sin(angle))
  }

  // MARK: Lines

  /// A geodesic between two places.
  private struct Leg {
    let (start, end): (Place, Place)
    let (startAzimuth, endAzimuth): (Double, Double)
    let length: Double

    /// From where to where its pieces go, of about a thousand kilometres. They overlap.
    var pieces: [(Double, Double)] {
      let count = max(1, (length / 1_000_000).rounded(.up))
      return stride(from: 0, to: count, by: 1).map { (length * $0 / count, $0 + 1 == count ? length : length * ($0 + 1.01) / count) }
    }
  }

  /// From a place outward along a geodesic.
  private func ray(_ place: Place, _ azimuth: Double, _ distance: Double, within outline: Double) throws -> [Place] {
    try tracer.trace(max(1, Int(distance / 1_000_000)), within: outline, bend: 0) { share in
      share == 0 ? place : try tracer.direct(place, azimuth, distance * share).place
    }
  }

  private func add(_ line: [Place], isRing: Bool, _ distance: Double, _ parts: inout [Geometry]) throws {
    // A pole has any longitude.
    let line = line.map { $0.isPole ? Place(0, $0.y) : $0 }
    var legs: [Leg] = []
    for (start, end) in zip(line, line.dropFirst()) {
      let chain = try tracer.geodesicChain(start, end, curve, isRing: isRing, within: chain)
      for (first, last) in zip(chain, chain.dropFirst()) {
        if let leg = try leg(first, last) { legs.append(leg) }
      }
    }
    guard let first = legs.first, let last = legs.last, let start = line.first, let end = line.last else {
      if let place = line.first { parts.append(try circle(around: place, distance)) }
      return
    }
    for leg in legs {
      for (start, end) in leg.pieces { parts.append(try strip(of: leg, start, end, distance)) }
    }
    let isClosed = start.turn(to: end) == 0 && start.y == end.y
    for (before, after) in zip(legs, legs.dropFirst() + (isClosed ? [first] : [])) {
      let turn = (after.startAzimuth - before.endAzimuth).remainder(dividingBy: 360)
      // Where a line hardly bends, both sides: rounding leaves no gap on the inner one.
      if turn > -0.01 { parts.append(try sector(after.start, before.endAzimuth - 90, max(turn, 0), distance)) }
      if turn < 0.01 { parts.append(try sector(after.start, after.startAzimuth + 90, max(-turn, 0), distance)) }
    }
    if !isClosed {
      parts.append(try sector(first.start, first.startAzimuth + 90, 180, distance))
      parts.append(try sector(last.end, last.endAzimuth - 90, 180, distance))
    }
  }

  /// Nil if it has no length.
  private func leg(_ start: Place, _ end: Place) throws -> Leg? {
    // Parts that meet have the same numbers there.
    let (start, end) = (start.turned, end.turned)
    let line = try tracer.inverse(start, end)
    guard line.distance > 0 else { return nil }
    return Leg(start: start, end: end, startAzimuth: line.startAzimuth, endAzimuth: line.endAzimuth, length: line.distance)
  }

  /// What is beside a piece of a geodesic.
  private func strip(of leg: Leg, _ start: Double, _ end: Double, _ distance: Double) throws -> Geometry {
    try small { within in try strip(of: leg, start, end, distance, within: within) }
  }

  private func strip(of leg: Leg, _ start: Double, _ end: Double, _ distance: Double, within outline: Double) throws -> Geometry {
    func node(_ at: Double) throws -> (place: Place, azimuth: Double) {
      if at == 0 { return (leg.start, leg.startAzimuth) }
      return at == leg.length ? (leg.end, leg.endAzimuth) : try tracer.direct(leg.start, leg.startAzimuth, at)
    }
    func side(_ turn: Double) throws -> [Place] {
      try tracer.trace(1, within: outline, bend: distance < 1_000_000 ? 1e-7 : nil) { share in
        let node = try node(share == 1 ? end : start + (end - start) * share)
        return try tracer.direct(node.place, node.azimuth + turn, distance).place
      }
    }
    func across(_ at: Double, _ turn: Double) throws -> [Place] {
      let node = try node(at)
      return try ray(node.place, node.azimuth + turn, distance, within: outline)
    }
    let right = try side(90) + across(end, 90).reversed().dropFirst()
    let far = try across(end, -90).dropFirst() + side(-90).reversed().dropFirst()
    let near = try across(start, -90).reversed().dropFirst() + across(start, 90).dropFirst().dropLast()
    return SphereRegion.polygons(leftOf: right + far + near)
  }

  /// A sector of a circle from an azimuth on, clockwise, and a degree more on both sides: parts overlap, so that rounding leaves no gaps.
  private func sector(_ place: Place, _ azimuth: Double, _ sweep: Double, _ distance: Double) throws -> Geometry {
    try small { within in
      try ring(
        around: Point(x: place.x, y: place.y), from: azimuth - 1, sweep: sweep + 2, isWhole: false, bend: bend(distance),
        radius: { _ in distance }, within: within)
    }
  }

  /// The curvature of a circle on the ellipsoid, a little more than in a plane.
  private func bend(_ distance: Double) -> Double? { distance < 1_000_000 ? 1.1 / distance : nil }
}

extension Positions {
  var places: [Place] { Swift.stride(from: 0, to: values.count, by: stride).map { Place(values[$0], values[$0 + 1]) } }
}

extension Geometry {
  /// The places of its points, lines and rings.
  var lines: [[Place]] {
    var lines: [[Place]] = []
    forEachPositions { lines.append($0.places) }
    return lines
  }
}

/// The outlines of polygons, without the sides at which they were cut at the antimeridian.
private enum Outline {
  private struct Side {
    let (start, end): (Place, Place)
    /// Whether it is on the antimeridian, with its area to the west or to the east.
    var isOnSeam: Bool { start.x == end.x && abs(start.x.remainder(dividingBy: 360)) == 180 && start.y != end.y }
    var isEastern: Bool { end.y > start.y }
    var range: ClosedRange<Double> { min(start.y, end.y)...max(start.y, end.y) }
  }

  /// Ranges that do not meet.
  private static func merged(_ sides: [Side]) -> [ClosedRange<Double>] {
    var ranges: [ClosedRange<Double>] = []
    for range in sides.map(\.range).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, range.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// Lines and rings; of a ring the last place is the first.
  static func ways(_ polygons: [[Positions]]) -> [[Place]] {
    let rings = polygons.flatMap { rings in
      rings.enumerated().map { index, ring -> [Side] in
        // Against the clock around areas.
        let places = (ring.doubledArea >= 0) == (index == 0) ? ring.places : ring.places.reversed()
        return zip(places, places.dropFirst()).map { Side(start: $0, end: $1) }
      }
    }
    let seams = rings.joined().filter(\.isOnSeam)
    guard !seams.isEmpty else { return rings.map { ring in ring.map(\.start) + ring.suffix(1).map(\.end) } }
    let (eastern, western) = (merged(seams.filter(\.isEastern)), merged(seams.filter { !$0.isEastern }))
    var ways: [[Place]] = []
    for ring in rings {
      var way: [Place] = []
      for side in ring {
        // A pole is one place, whatever its longitude: where an area follows the edge there it has no outline.
        if side.start.isPole, side.end.isPole, side.start.y == side.end.y { continue }
        var kept = [side.range]
        if side.isOnSeam {
          for other in side.isEastern ? western : eastern { kept = kept.flatMap { $0.without(other) } }
        }
        guard !side.isOnSeam || kept == [side.range] else {
          if way.count > 1 { ways.append(way) }
          ways += kept.map { [Place(side.start.x, $0.lowerBound), Place(side.start.x, $0.upperBound)] }
          way = []
          continue
        }
        if way.isEmpty { way.append(side.start) }
        way.append(side.end)
      }
      if way.count > 1 { ways.append(way) }
    }
    return ways
  }
}

extension ClosedRange<Double> {
  /// What another range leaves of it.
  fileprivate func without(_ other: ClosedRange<Double>) -> [ClosedRange<Double>] {
    guard other.lowerBound < upperBound, other.upperBound > lowerBound else { return [self] }
    var left: [ClosedRange<Double>] = []
    if other.lowerBound > lowerBound { left.append(lowerBound...other.lowerBound) }
    if other.upperBound < upperBound { left.append(other.upperBound...upperBound) }
    return left
  }
}
