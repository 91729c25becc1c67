// Areas, lengths and distances of geometries of one reference, in metres, and areas around them.

import Geodetics
import Geometry
import GeometryEngine

/// Measures geometries: on the ellipsoid if their reference is geographic, else in its plane.
///
/// What it costs is charged to the thread's ``RelationAllowance``; beyond that, and for positions outside of the reference, a measure is nil.
public struct GeometryMeter: Sendable {
  private let reference: SpatialReference
  /// Nil on the ellipsoid.
  private let metersPerUnit: Double?
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy

  /// Nil for a reference whose coordinates are neither degrees nor lengths in a plane.
  public init?(_ info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer, _ geodesy: any Geodesy) {
    switch info.kind {
    case .geographic: metersPerUnit = nil
    case .projected, .local:
      guard let factor = info.metersPerUnit else { return nil }
      metersPerUnit = factor
    case .geocentric, .vertical: return nil
    }
    (reference, self.transformer, self.geodesy) = (info.reference, transformer, geodesy)
  }

  /// - Parameter second: the other geometry of a distance.
  @Sendable public func measure(_ measure: GeometryMeasure, _ first: Geometry, _ second: Geometry?) -> Double? {
    do {
      switch measure {
      case .area: return try sum(placed(first)) { try area(of: $0) }
      case .length: return try sum(placed(first)) { try length(of: $0) }
      case .distance: return try second.flatMap { try distance(placed(first), placed($0)) }
      }
    } catch { return nil }
  }

  /// The area within a distance of a geometry; nil where there is none, and for what costs too much or has too many positions: the thread's
  /// ``RelationAllowance`` has failed then.
  public func buffer(_ geometry: Geometry, _ distance: Double) -> Geometry? {
    do {
      let calculate = try GeometryCalculator()
      if let metersPerUnit {
        // Beyond it lies nothing of what is related to others here: numbers of more than 100 digits cost infinitely much.
        let bound = 1e99
        let operation = GeometryOperation.buffer(
          max(-bound, min(bound, distance / metersPerUnit)), quadrantSegments: 8, cap: .round, join: .round, mitreLimit: 5, isOneSided: false)
        return try calculate(operation.mending, [geometry]).geometries[0]
      }
      guard abs(distance) <= GeodeticRegion.mostDistance(geometry) else { return nil }
      let tracer = CurveTracer(geodesy) { try RelationAllowance.charge(3_000) }
      let area = try GeodeticRegion(tracer, .geodesic, within: nil, of: distance)
        .area(around: placed(geometry), distance, mends: true, calculate)
      return reference == .wgs84 ? area : try transformer.transform(area, from: .wgs84, to: reference)
    } catch {
      if case GeodeticError.tooManyPositions = error { RelationAllowance.fail(.tooManyPositions) }
      if case EngineError.engineFailed(let signal) = error { RelationAllowance.fail(.engineFailed(signal: signal)) }
      return nil
    }
  }

  /// The centre of gravity in the plane of the coordinates; nil of an empty geometry, and for what costs too much.
  public static func centroid(_ geometry: Geometry) -> Geometry? {
    let made = try? GeometryCalculator()(GeometryOperation(.centroid), [geometry]).geometries[0]
    return made.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func placed(_ geometry: Geometry) throws -> Geometry {
    guard metersPerUnit == nil, reference != .wgs84 else { return geometry }
    return try transformer.transform(geometry, from: reference, to: .wgs84) { try RelationAllowance.charge(1_000_000) }
  }

  private func sum(_ geometry: Geometry, _ measure: (Geometry) throws -> Double) rethrows -> Double {
    guard case .collection(let parts) = geometry else { return try measure(geometry) }
    return try parts.reduce(0) { $0 + (try sum($1, measure)) }
  }

  private func area(of geometry: Geometry) throws -> Double {
    switch geometry {
    case .polygon(let rings): try area(within: rings)
    case .multiPolygon(let polygons): try polygons.reduce(0) { $0 + (try area(within: $1)) }
    case .point, .lineString, .multiPoint, .multiLineString, .collection: 0
    }
  }

  private func area(within rings: [Positions]) throws -> Double {
    var area = 0.0
    for (index, ring) in rings.enumerated() {
      let enclosed = abs(try measured(ring, isRing: true).area)
      area += index == 0 ? enclosed : -enclosed
    }
    return area
  }

  private func length(of geometry: Geometry) throws -> Double {
    switch geometry {
    case .lineString(let line): try measured(line, isRing: false).length
    case .polygon(let lines): try lines.reduce(0) { $0 + (try measured($1, isRing: true).length) }
    case .multiLineString(let lines): try lines.reduce(0) { $0 + (try measured($1, isRing: false).length) }
    case .multiPolygon(let polygons): try polygons.reduce(0) { $0 + (try length(of: .polygon($1))) }
    case .point, .multiPoint, .collection: 0
    }
  }

  private func measured(_ line: Positions, isRing: Bool) throws -> (length: Double, area: Double) {
    try RelationAllowance.charge(Double(line.count) * (metersPerUnit == nil ? 1000 : 5))
    guard let metersPerUnit else { return try geodesy.measure(line, isRing: isRing) }
    return (line.length * metersPerUnit, isRing ? line.doubledArea / 2 * metersPerUnit * metersPerUnit : 0)
  }

  private func distance(_ first: Geometry, _ second: Geometry) throws -> Double? {
    let check = { try RelationAllowance.charge(50_000) }
    let surface = metersPerUnit.map(EdgeTree.Surface.plane) ?? .ellipsoid
    guard let first = try EdgeTree(first, on: surface, checking: check),
      let second = try EdgeTree(second, on: surface, checking: check)
    else { return nil }
    if metersPerUnit != nil { return try first.planarDistance(to: second, limit: .infinity, checking: check) }
    return try first.geodeticDistance(to: second, limit: .infinity, geodesy, checking: check)?.distance
  }
}
