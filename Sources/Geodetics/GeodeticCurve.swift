// Lines on the ellipsoid between two positions, and the positions between which straight lines stay near them.

import Geometry
import Platform

/// How two positions are joined.
public enum GeodeticCurve: Hashable, Sendable {
  /// The shortest line.
  case geodesic
  /// The line of one azimuth, the shorter way around.
  case loxodrome
  /// Straight in longitude and latitude.
  case straight

  /// The curve of one side: a side of an area is straight if it is half of the world or more, as its coordinates say.
  func ofSide(_ start: Place, _ end: Place, isRing: Bool) -> GeodeticCurve {
    isRing && abs(end.x - start.x) >= 180 && !start.isPole && !end.isPole ? .straight : self
  }
}

/// What cannot be made on the ellipsoid.
public enum GeodeticError: Error, Hashable {
  /// A result of more positions than ``Geometry/Geometry/mostPositions``.
  case tooManyPositions
}

/// Longitude and latitude in degrees on WGS 84.
typealias Place = SIMD2<Double>

extension Place {
  /// Degrees to another longitude by the shorter way, in -180...180.
  func turn(to other: Place) -> Double { (other.x - x).remainder(dividingBy: 360) }

  /// With the longitude in -180..<180.
  var turned: Place {
    let x = x.remainder(dividingBy: 360)
    return Place(x == 180 ? -180 : x, y)
  }

  var isPole: Bool { abs(y) >= 90 }

  /// A share of the way to another place, straight in longitude and latitude. A pole has any longitude.
  func toward(_ other: Place, _ share: Double) -> Place {
    let turn = isPole || other.isPole ? 0 : turn(to: other)
    return Place((isPole ? other.x : x) + turn * share, y + (other.y - y) * share)
  }

  /// Whether a chord to another place stays near a curve: by its height over a circle. Below 60 degrees, lines straight in longitude and
  /// latitude have a curvature of at most 4e-7/m.
  func isShort(to other: Place, bend: Double, within deviation: Double) -> Bool {
    guard abs(y) < 60, abs(other.y) < 60 else { return false }
    let gap = gap(to: other)
    return gap * gap * (bend + 4e-7) <= deviation * 8
  }

  /// Metres to another place through the earth: of near ones their distance.
  func gap(to other: Place) -> Double {
    let way = Geocentric.position(of: Point(x: x, y: y)) - Geocentric.position(of: Point(x: other.x, y: other.y))
    return (way * way).sum().squareRoot()
  }
}

/// Follows curves by positions. Confined to one thread.
public final class CurveTracer {
  let geodesy: any Geodesy
  private let check: () throws -> Void
  private(set) var count = 0

  /// - Parameter check: called often; throws to end the work.
  public init(_ geodesy: any Geodesy, checking check: @escaping () throws -> Void) { (self.geodesy, self.check) = (geodesy, check) }

  func direct(_ place: Place, _ azimuth: Double, _ distance: Double) throws -> (place: Place, azimuth: Double) {
    let (point, end) = try geodesy.direct(from: Point(x: place.x, y: place.y), azimuth: azimuth, distance: distance)
    return (Place(point.x, point.y), end)
  }

  func inverse(_ start: Place, _ end: Place) throws -> GeodesicLine {
    try geodesy.inverse(from: Point(x: start.x, y: start.y), to: Point(x: end.x, y: end.y))
  }

  /// As many pieces, one at least. What is no number of pieces is more than there may be.
  static func pieces(_ count: Double) -> Int { count <= Double(Geometry.mostPositions) ? max(1, Int(count)) : .max }

  func spend(_ positions: Int) throws {
    count += positions
    guard count <= Geometry.mostPositions else { throw GeodeticError.tooManyPositions }
    try check()
  }

  /// Positions of a curve, first and last included, between which the given chords stay within a distance of it in metres.
  ///
  /// Each piece is halved until its chord is near the curve at three places.
  ///
  /// - Parameters:
  ///   - parts: the least number of pieces: so many that a piece bends one way.
  ///   - chord: the place at a share of the way between two positions.
  ///   - bend: the greatest curvature beside a geodesic, in 1/m, where that is known: short pieces then need no proof.
  ///   - curve: the place at 0...1.
  func trace(
    _ parts: Int, within deviation: Double, bend: Double? = nil, chord: (Place, Place, Double) throws -> Place = { $0.toward($1, $2) },
    _ curve: (Double) throws -> Place
  ) throws -> [Place] {
    guard parts <= Geometry.mostPositions else { throw GeodeticError.tooManyPositions }
    var last = (at: 0.0, place: try curve(0))
    var places = [last.place]
    for part in 1...parts {
      let end = Double(part) / Double(parts)
      var waiting = [(at: end, place: try curve(end))]
      while let next = waiting.last {
        let width = next.at - last.at
        let isShort = bend.map { last.place.isShort(to: next.place, bend: $0, within: deviation) } ?? false
        let isNear = try isShort || width < 1e-12 || [0.5, 0.25, 0.75].allSatisfy { share in
          try chord(last.place, next.place, share).gap(to: curve(last.at + width * share)) <= deviation
        }
        if isNear {
          places.append(next.place)
          last = next
          waiting.removeLast()
        } else {
          let middle = last.at + width / 2
          waiting.append((middle, try curve(middle)))
        }
        try spend(1)
      }
    }
    return places
  }

  /// The length of a curve between two positions, at most a thousandth too long, and the place at a share of it.
  private func way(_ start: Place, _ end: Place, _ curve: GeodeticCurve) throws -> (length: Double, at: (Double) throws -> Place) {
    let at: (Double) -> Place
    let step = end - start
    switch curve {
    case .straight: at = { start + step * $0 }
    case .geodesic, .loxodrome:
      if curve == .geodesic || start.isPole || end.isPole {
        let line = try inverse(start, end)
        return (line.distance, { share in try self.direct(start, line.startAzimuth, line.distance * share).place })
      }
      let turn = start.turn(to: end)
      let (low, high) = (Self.isometric(start.y), Self.isometric(end.y))
      at = { share in
        let latitude = start.y + step.y * share
        // Along a parallel both grow alike.
        let east = abs(step.y) < 1e-9 || share == 1 ? share : (Self.isometric(latitude) - low) / (high - low)
        return Place(start.x + turn * east, latitude)
      }
    }
    // One that goes around the world often is longer than a few chords of it.
    let chords = max(64, Self.pieces(abs(step.x) / 45))
    guard chords <= Geometry.mostPositions else { throw GeodeticError.tooManyPositions }
    let places = (0...chords).map { at(Double($0) / Double(chords)) }
    return (zip(places, places.dropFirst()).reduce(0) { $0 + $1.0.gap(to: $1.1) } * 1.001, at)
  }

  /// The isometric latitude in degrees: in it, loxodromes are straight (J. P. Snyder, "Map projections", 1987, eq. 3-7).
  private static func isometric(_ latitude: Double) -> Double {
    let sine = sin(latitude * .pi / 180)
    return (atanh(sine) - eccentricity * atanh(eccentricity * sine)) * 180 / .pi
  }

  static let eccentricity = 0.081_819_190_842_621_49

  /// Positions from one to another that geodesics join within a distance of the curve.
  func geodesicChain(
    _ start: Place, _ end: Place, _ curve: GeodeticCurve, isRing: Bool, within deviation: Double
  ) throws -> [Place] {
    let curve = curve.ofSide(start, end, isRing: isRing)
    guard curve != .geodesic else { return [start, end] }
    let (_, at) = try way(start, end, curve)
    let chord = { (first: Place, last: Place, share: Double) throws -> Place in
      let line = try self.inverse(first, last)
      return try self.direct(first, line.startAzimuth, line.distance * share).place
    }
    return try trace(Self.pieces((abs(end.x - start.x) / 45).rounded(.up)), within: deviation, chord: chord, at)
  }

  /// How densely a line is followed.
  public enum Density: Sendable {
    /// No segment is longer; metres.
    case length(Double)
    /// No segment is farther from the curve; metres.
    case deviation(Double)
  }

  /// The geometry with positions along its segments, which are `curve`s. Z and M are interpolated, longitudes continue beyond 180 degrees.
  public func densified(_ geometry: Geometry, _ curve: GeodeticCurve, _ density: Density) throws -> Geometry {
    guard geometry.dimension > 0 else { return geometry }
    if case .collection(let parts) = geometry { return .collection(try parts.map { try densified($0, curve, density) }) }
    let isRing = geometry.dimension == 2
    return try geometry.mapPositions { line in
      var line = line
      let stride = line.stride
      if !isRing, curve != .straight {
        // Whole turns are added where the shorter way goes beyond 180 degrees.
        line.withMutableValues { values in
          for base in Swift.stride(from: stride, to: values.count, by: stride) {
            let before = values[base - stride]
            values[base] = before + (values[base] - before).remainder(dividingBy: 360)
          }
        }
      }
      var values: [Double] = []
      for base in Swift.stride(from: 0, to: line.values.count - stride, by: stride) {
        let (start, end) = (line.values[base..<base + stride], line.values[base + stride..<base + 2 * stride])
        values += start
        let (first, last) = (Place(start[base], start[base + 1]), Place(end[base + stride], end[base + stride + 1]))
        let inner = try between(first, last, curve.ofSide(first, last, isRing: isRing), density)
        for (number, place) in inner.enumerated() {
          let share = Double(number + 1) / Double(inner.count + 1)
          values += [place.x, place.y] + zip(start.dropFirst(2), end.dropFirst(2)).map { $0 + ($1 - $0) * share }
        }
      }
      values += line.values.suffix(stride)
      return Positions(values: values, hasZ: line.hasZ, hasM: line.hasM)
    }
  }

  /// The metres along the shortest lines between the positions of lines.
  public func length(of geometry: Geometry) throws -> Double {
    var length = 0.0
    for line in geometry.lines {
      for (start, end) in zip(line, line.dropFirst()) { length += try inverse(start, end).distance }
      try check()
    }
    return length
  }

  /// Places between two, with longitudes that lead from the first to the last.
  private func between(_ start: Place, _ end: Place, _ curve: GeodeticCurve, _ density: Density) throws -> [Place] {
    let (length, at) = try way(start, end, curve)
    let places: [Place]
    switch density {
    case .length(let most):
      let pieces = (length / most).rounded(.up)
      guard pieces < Double(Geometry.mostPositions) else { throw GeodeticError.tooManyPositions }
      try spend(Int(max(pieces, 1)))
      places = try pieces > 1 ? (1..<Int(pieces)).map { try at(Double($0) / pieces) } : []
    case .deviation(let most):
      places = Array(try trace(Self.pieces(length / 1_000_000), within: most, at).dropFirst().dropLast())
    }
    let isStraight = curve == .straight
    var (before, found) = (start, [Place]())
    for (index, place) in (places + [end]).enumerated() {
      var next = place
      if index < places.count {
        var turn = before.turn(to: place)
        // Over a pole, both ways are half of a turn.
        if !isStraight, abs(turn) > 180 - 1e-9 { turn = end.x < start.x ? -180 : 180 }
        next.x = place.isPole && !isStraight ? before.x : before.x + turn
      }
      // At a pole a line goes from one meridian to another.
      if !isStraight, next.x != before.x {
        let pole = before.isPole ? before.y : next.isPole ? next.y : abs(next.x - before.x) > 180 - 1e-9 ? copysign(90, before.y + next.y) : nil
        if let pole {
          if !before.isPole { found.append(Place(before.x, pole)) }
          if !next.isPole { found.append(Place(next.x, pole)) }
        }
      }
      if index < places.count { found.append(next) }
      before = next
    }
    return found
  }
}
