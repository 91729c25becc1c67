// Lines of sight over the ground between pairs of places.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform
import WireCoding

/// How lines of sight bend.
struct Bending {
  let curvature: Bool
  let refraction: Double

  /// How far the ground falls away at a distance of a metre, in metres; proportional to the square of the distance.
  ///
  /// - Parameters:
  ///   - latitude: of the observer, in degrees.
  ///   - azimuth: of the line at the observer, in degrees.
  func fall(latitude: Double, azimuth: Double) -> Double {
    let (radii, angle) = (Self.radii(latitude: latitude), azimuth * .pi / 180)
    // Euler's formula for the curvature of a normal section.
    let curving = cos(angle) * cos(angle) / radii.meridian + sin(angle) * sin(angle) / radii.normal
    return curvature ? (1 - refraction) * curving / 2 : 0
  }

  /// The ellipsoid's radii of curvature to the north and to the east, in metres.
  static func radii(latitude: Double) -> (meridian: Double, normal: Double) {
    let (equator, polar) = (Geocentric.equator, Geocentric.polar)
    let eccentricity = 1 - (polar * polar) / (equator * equator)
    let sine = sin(latitude * .pi / 180)
    let normal = equator / (1 - eccentricity * sine * sine).squareRoot()
    return (normal * normal * normal / (equator * equator) * (1 - eccentricity), normal)
  }
}

struct Sightlines {
  static let maximumSamples = 10_000_000
  /// Samples for which the ground is asked at once.
  private static let samplesAtOnce = 1 << 17

  let ground: Ground
  let observerHeight: Double
  let targetHeight: Double
  let isAboveGround: Bool
  let bending: Bending
  let interpolation: Interpolation
  let step: Double?

  private struct Line {
    let observer: Int
    let target: Int
    let geodesic: GeodesicLine
    /// The number of sections.
    let pieces: Int
  }

  /// - Parameters:
  ///   - observers: in WGS 84, as `targets`.
  ///   - pairs: indexes of observers and targets.
  func lines(
    _ observers: [Point], _ targets: [Point], _ pairs: [(Int, Int)], _ share: WorkShare
  ) throws -> (lines: [SurfaceProtocol.Sight], sources: Set<Int>) {
    let eyes = try ground.heights(observers, interpolation, share)
    let ends = try ground.heights(targets, interpolation, share)
    var used = Set(eyes.sources).union(ends.sources)
    var steps: [Int: Double] = [:]
    var needed = 0.0
    let lines = try pairs.enumerated().map { index, pair in
      if index & 255 == 0 { try share.work?.checkCancelled() }
      let geodesic = try ground.geodesy.inverse(from: observers[pair.0], to: targets[pair.1])
      let step = step ?? steps[pair.0] ?? usualStep(at: observers[pair.0], eyes.sources[pair.0], geodesic.distance)
      steps[pair.0] = step
      let pieces = max((geodesic.distance / step).rounded(.up), 1)
      needed += pieces - 1
      return Line(observer: pair.0, target: pair.1, geodesic: geodesic, pieces: Int(min(pieces, 1e9)))
    }
    guard needed <= Double(Self.maximumSamples) else {
      throw RPCError.surfaceTooLarge(
        needed, limit: Self.maximumSamples, "The lines would have \(Int(min(needed, 9e15))) samples.", path: "/params/step")
    }
    var result: [SurfaceProtocol.Sight] = []
    result.reserveCapacity(lines.count)
    var obstructions: [(line: Int, point: Point, height: Double)] = []
    var start = 0
    var done = 0.0
    while start < lines.count {
      try share.checkpoint(done / max(needed, 1))
      var (end, points) = (start, [Point]())
      while end < lines.count, points.isEmpty || points.count + lines[end].pieces <= Self.samplesAtOnce {
        let line = lines[end]
        if line.pieces > 1 {
          points += try ground.geodesy.line(
            from: observers[line.observer], azimuth: line.geodesic.startAzimuth,
            distances: (1..<line.pieces).map { line.geodesic.distance * Double($0) / Double(line.pieces) })
        }
        end += 1
      }
      var samples: [Double] = []
      samples.reserveCapacity(points.count)
      let part = share.part(from: Int(done), to: Int(done) + points.count, of: max(Int(needed), 1))
      try ground.sample(points, interpolation, part) { found, _ in
        samples += found.heights
        used.formUnion(found.sources)
      }
      var first = 0
      for line in lines[start..<end] {
        let count = line.pieces - 1
        let sight = sight(
          line, at: observers[line.observer].y, eyes.heights[line.observer], ends.heights[line.target], samples[first..<first + count])
        switch sight.first {
        case nil: break
        case 0: obstructions.append((result.count, observers[line.observer], eyes.heights[line.observer]))
        case line.pieces: obstructions.append((result.count, targets[line.target], ends.heights[line.target]))
        case let piece?: obstructions.append((result.count, points[first + piece - 1], samples[first + piece - 1]))
        }
        result.append(sight.sight)
        first += count
      }
      done += Double(points.count)
      start = end
    }
    let places = try ground.given(obstructions.map(\.point), share)
    for (obstruction, place) in zip(obstructions, places) {
      result[obstruction.line].obstruction?.location = Wire.opaque(.point(Point(x: place.x, y: place.y, z: obstruction.height)))
    }
    return (result, used.filter { $0 >= 0 })
  }

  private func usualStep(at observer: Point, _ source: Int, _ distance: Double) -> Double {
    guard source >= 0, let raster = ground.surface.elevationSources[source].loaded,
      let side = ground.cellSide(of: raster, at: observer)
    else { return max(distance / 1000, 1e-3) }
    return max(side / 2, 1e-3)
  }

  /// - Parameters:
  ///   - standing: the height of the ground at the observer; `lying`: that at the target.
  /// - Returns: also the number of sections before the first place that hides the target: 0 is the observer's, which hides all from an
  ///   eye below the ground.
  private func sight(
    _ line: Line, at latitude: Double, _ standing: Double, _ lying: Double, _ heights: ArraySlice<Double>
  ) -> (sight: SurfaceProtocol.Sight, first: Int?) {
    let distance = line.geodesic.distance
    let eye = isAboveGround ? standing + observerHeight : observerHeight
    let end = isAboveGround ? lying + targetHeight : targetHeight
    var sight = SurfaceProtocol.Sight(
      observer: line.observer, target: line.target, state: .unknown, distance: distance,
      azimuth: distance == 0 ? 0 : line.geodesic.startAzimuth, observerElevation: eye.isNaN ? nil : eye,
      targetElevation: end.isNaN ? nil : end, samples: heights.count, unknownSamples: heights.count(where: \.isNaN))
    guard !eye.isNaN, !end.isNaN else { return (sight, nil) }
    let fall = bending.fall(latitude: latitude, azimuth: line.geodesic.startAzimuth)
    let slope = distance == 0 ? 0 : (end - eye) / distance - fall * distance
    var (first, excess, clearance): (Int?, Double, Double) = (nil, 0, .infinity)
    func pass(_ piece: Int, _ gap: Double) {
      clearance = min(clearance, gap)
      if gap < 0, first == nil { (first, excess) = (piece, -gap) }
    }
    if eye < standing { pass(0, eye - standing) }
    for (index, height) in heights.enumerated() where !height.isNaN {
      let way = distance * Double(index + 1) / Double(line.pieces)
      pass(index + 1, eye + slope * way - (height - fall * way * way))
    }
    if end < lying { pass(line.pieces, end - lying) }
    sight.state = first == nil ? .visible : .hidden
    sight.clearance = clearance.isFinite ? clearance : nil
    if let first {
      sight.obstruction = .init(
        location: Wire.opaque(.point(nil)), distance: distance * Double(first) / Double(line.pieces), above: excess)
    }
    return (sight, first)
  }
}
