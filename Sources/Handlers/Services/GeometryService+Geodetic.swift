// Handlers of `geometry/geodetic*`: operations on the ellipsoid, with geometries of any reference.

import GeoModel
import GeoProtocol
import Geodetics
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import Proximity
import WireCoding

/// Geometries on the way to WGS 84 and back.
struct Globe: Sendable {
  let reference: SpatialReference
  let transformer: any CoordinateTransformer
  let geodesy: any Geodesy
  /// Nil on WGS 84.
  private let projector: GeometryProjector?
  let backward: GeometryProjector?
  /// Whether the reference is a projection.
  let isProjected: Bool
  /// Whether it has an edge that is curved: areas end there, whatever is around them.
  private var hasEdge: Bool { backward?.curvedEdge != nil }

  init(_ reference: SpatialReference, in world: World) {
    (self.reference, transformer, geodesy) = (reference, world.transformer, world.geodesy)
    isProjected = (try? transformer.describe(reference).kind == .projected) ?? false
    projector = reference == .wgs84 ? nil : try? GeometryProjector(from: reference, to: .wgs84, transformer)
    backward = reference == .wgs84 ? nil : try? GeometryProjector(from: .wgs84, to: reference, transformer)
  }

  /// - Throws: `invalidParams` without a reference.
  init(_ name: String?, in world: World) throws {
    guard let reference = try world.canonical(name) else {
      throw RPCError(
        .invalidParams, "Geometries without a spatial reference are nowhere on the ellipsoid.", path: "/params/spatialReference",
        expected: "a spatial reference")
    }
    self.init(reference, in: world)
  }

  /// Lines across the antimeridian go on beyond it, as their sides take the shorter way.
  func placed(_ geometry: Geometry) throws -> Geometry {
    if geometry.dimension == 1 { return try whole(geometry) }
    return reference == .wgs84 ? geometry : try transformer.transform(geometry, from: reference, to: .wgs84)
  }

  /// The same, with rings around a pole closed along it: valid areas if they are cut at the antimeridian then.
  ///
  /// - Parameter beforeCut: given, areas are cut, with the positions that it puts on their sides.
  func whole(_ geometry: Geometry, beforeCut: ((Geometry) throws -> Geometry)? = nil) throws -> Geometry {
    guard let projector else { return geometry }
    guard let beforeCut, geometry.dimension == 2 else { return try projector.unbroken(geometry, checking: {}).geometry }
    return try projector.pieces(geometry, beforeCut: beforeCut)
  }

  /// A geometry placed on WGS 84 in one piece, and whether it is an area that may lie across the antimeridian or around a pole, in a
  /// reference where no side is longer than it looks.
  func located(_ geometry: Geometry) throws -> (geometry: Geometry, isTurned: Bool) {
    guard geometry.dimension == 2, let found = try projector?.unbroken(geometry, checking: {}) else { return (try placed(geometry), false) }
    return (found.geometry, found.edge != nil && !hasEdge)
  }

  /// A geometry placed on WGS 84; of an area that is turned, its rings.
  func outlined(_ geometry: Geometry) throws -> Geometry {
    guard geometry.dimension == 2, let found = try projector?.unbroken(geometry, checking: {}) else { return try placed(geometry) }
    return found.edge == nil || hasEdge ? found.geometry : try placed(.multiLineString(geometry.polygons.flatMap(\.self)))
  }

  /// A geometry placed to make something of it: an error before that if there is no such latitude.
  static func checked(_ placed: Geometry) throws -> Geometry {
    guard let box = placed.envelope, max(-box.yMin, box.yMax) > 90 else { return placed }
    var latitudes: [Double] = []
    placed.forEachPositions { line in latitudes += line.points.map(\.y) }
    let index = latitudes.firstIndex { abs($0) > 90 } ?? 0
    throw TransformError.outsideDomain(index: index, from: SpatialReference.wgs84.definition, to: "geodesic")
  }

  /// Areas that are cut at the antimeridian are whole again in a reference that has no edge there.
  func back(_ geometry: Geometry) throws -> Geometry {
    guard let backward else {
      return reference == .wgs84 ? geometry : try transformer.transform(geometry, from: .wgs84, to: reference)
    }
    let seam = Seam(west: -180, width: 360)
    guard geometry.dimension == 2, let box = geometry.envelope, seam.reaches(box) else { return try backward.pieces(geometry) }
    let isCut = !backward.keepsEdge && box.xMin == -180 && box.xMax == 180
    let moved = try backward.pieces(isCut && !hasEdge ? geometry.mapPositions(\.withSharedSeam) : geometry)
    // What is a rounding error beside the edge may be on it in other coordinates, and touch it there.
    guard try isCut || GeometryEngine.validity(of: moved) != .valid && GeometryEngine.validity(of: geometry) == .valid else { return moved }
    return try GeometryCalculator()(GeometryOperation(.union, mends: true), [moved]).geometries[0].part(ofDimension: 2)
  }

  func meter() throws -> GeometryMeter {
    guard let meter = GeometryMeter(try transformer.describe(.wgs84), transformer, geodesy) else {
      throw RPCError.internalError("WGS 84 has no measures")
    }
    return meter
  }

  func tracer(_ worker: Worker) -> CurveTracer { CurveTracer(geodesy) { try worker.checkCancelled() } }
}

extension Positions {
  /// With the same numbers on both sides of the antimeridian, and at a pole.
  fileprivate var withSharedSeam: Positions {
    var shared = self
    let stride = stride
    shared.withMutableValues { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
        if abs(values[base + 1]) == 90 { values[base] = 0 } else if values[base] == 180 { values[base] = -180 }
      }
    }
    return shared
  }
}

extension GeometryService {
  /// A geometry made on the ellipsoid of each.
  private static func placed(
    _ params: some GeometryProtocol.GeometryOperands, in world: World,
    _ body: @escaping @Sendable (_ geometry: Geometry, CurveTracer) throws -> Geometry
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    let globe = try Globe(params.spatialReference, in: world)
    return TaskPlan { worker in
      try GeometryBatch(params).made(worker) { _, geometry, _ in
        let (tracer, found) = (globe.tracer(worker), try globe.located(geometry))
        guard found.isTurned else { return try tracing { try globe.back(body(Globe.checked(found.geometry), tracer)) } }
        // Around a pole rings end a turn away from their start, as lines may.
        return try tracing {
          let made = try geometry.mapPositions { ring in
            guard ring.count > 1, case .lineString(let line) = try body(Globe.checked(globe.placed(.lineString(ring))), tracer) else {
              return Positions()
            }
            return ring[ring.count - 1] == ring[0] ? Positions(line.points.dropLast() + [line[0]]) : line
          }
          return try globe.back(made)
        }
      }
    }
  }

  private static func tracing<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch GeodeticError.tooManyPositions {
      throw RPCError(
        .outOfRange, "The geometry would have more than \(Geometry.mostPositions) positions.", path: "/params",
        expected: "a greater maxDeviation or maxSegmentLength")
    }
  }

  // MARK: Areas

  package static func geodeticBuffer(
    _ params: GeodeticBuffer.Params, in world: inout World
  ) throws -> Plan<GeodeticBuffer.Result> {
    let globe = try Globe(params.spatialReference, in: world)
    guard (params.distance != nil) != (params.distances != nil) else { throw ModelError.oneOf(["distance", "distances"]) }
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let distances = try batch.distances(params.distance, params.distances)
      let made = try batch.results(worker, size: { $0.byteCount }) { index, geometry, calculate in
        try buffered(
          geometry, distances[index], GeodeticCurve(params.curve), within: params.maxDeviation,
          mends: params.mend, on: globe, worker, calculate)
      }
      guard params.together else { return try batch.answer(made.map { made in made.map { made in made.flatMap { geometry in back(geometry, globe) } } }) }
      let whole = try GeometryUnion(mends: true)(made.compactMap { try? $0?.get() }, worker)
      var answer = batch.answer(together: try globe.back(whole))
      answer.failures = GeometryBatch.failures(made)
      return answer
    }
  }

  private static func back(_ geometry: Geometry, _ globe: Globe) -> Result<Geometry, RPCError> {
    do { return .success(try globe.back(geometry)) } catch { return .failure(GeometryBatch.failure(error)) }
  }

  /// - Returns: the area on WGS 84.
  static func buffered(
    _ geometry: Geometry, _ distance: Double, _ curve: GeodeticCurve, within deviation: Double?, mends: Bool, on globe: Globe,
    _ worker: Worker, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    let most = GeodeticRegion.mostDistance(geometry)
    guard abs(distance) <= most else {
      throw RPCError(
        .outOfRange, "The distance reaches too far around the earth.", path: "/params/distance",
        expected: "at most \(Int(most)) m around \(geometry.dimension == 0 ? "points" : "lines and areas")")
    }
    return try tracing {
      let region = GeodeticRegion(globe.tracer(worker), curve, within: deviation, of: distance)
      var outline: Geometry?
      let placed = try Globe.checked(
        globe.whole(geometry) { whole in
          if case .collection = whole {} else { outline = whole }
          return try region.traced(whole)
        })
      return try globe.followed(
        region.area(around: placed, outline: outline, distance, mends: mends, calculate), within: region.deviation * 0.2)
    }
  }

  package static func geodeticEllipse(
    _ params: GeodeticEllipse.Params, in world: inout World
  ) throws -> Plan<GeodeticEllipse.Result> {
    try around(params, params, sector: nil, in: world)
  }

  package static func geodeticSector(
    _ params: GeodeticSector.Params, in world: inout World
  ) throws -> Plan<GeodeticSector.Result> {
    try around(params, params, sector: (params.startAzimuth, params.sweep), in: world)
  }

  private static func around(
    _ params: some GeometryProtocol.GeometryOperands, _ axes: some GeometryProtocol.EllipseAxes, sector: (Double, Double)?,
    in world: World
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    let (a, azimuth, deviation) = (axes.radius, axes.axisAzimuth, axes.maxDeviation)
    let b = axes.crossRadius ?? a
    let globe = try Globe(params.spatialReference, in: world)
    return try placed(params, in: world) { geometry, tracer in
      guard case .point(let center?) = geometry else {
        throw RPCError(.invalidGeometry, "Only points are centers.", path: "/params/geometry", expected: "a point")
      }
      let region = GeodeticRegion(tracer, .geodesic, within: deviation, of: a)
      let made = try region.shapes.ring(
        around: center, from: sector?.0 ?? 0, sweep: sector?.1 ?? 360, isWhole: sector.map { $0.1 == 360 } ?? true
      ) { a == b ? a : Surroundings.radius(a, b, at: $0 - azimuth) }
      let whole = try globe.followed(made, within: region.deviation * 0.2)
      // Parts that meet at a center on the antimeridian are areas of their own.
      guard sector != nil, case .multiPolygon(let parts) = whole, parts.count > 1 else { return whole }
      return try GeometryCalculator()(GeometryOperation(.union, mends: true), [whole]).geometries[0].part(ofDimension: 2)
    }
  }

  // MARK: Form

  package static func geodeticDensify(
    _ params: GeodeticDensify.Params, in world: inout World
  ) throws -> Plan<GeodeticDensify.Result> {
    guard (params.maxSegmentLength != nil) != (params.maxDeviation != nil) else {
      throw ModelError.oneOf(["maxSegmentLength", "maxDeviation"])
    }
    let density = params.maxSegmentLength.map(CurveTracer.Density.length) ?? .deviation(params.maxDeviation ?? 1)
    let curve = GeodeticCurve(params.curve)
    return try placed(params, in: world) { geometry, tracer in try tracer.densified(geometry, curve, density) }
  }

  package static func geodeticMove(_ params: GeodeticMove.Params, in world: inout World) throws -> Plan<GeodeticMove.Result> {
    let (azimuth, distance, geodesy) = (params.azimuth, params.distance, world.geodesy)
    return try placed(params, in: world) { geometry, _ in
      // Positions of lines and areas stay beside one another across the antimeridian.
      var last: (before: Double, after: Double)?
      return try geometry.mapPositions { positions in
        var moved = positions
        let stride = positions.stride
        try moved.withMutableValues { values in
          for base in Swift.stride(from: 0, to: values.count, by: stride) {
            let x = values[base]
            var end = try geodesy.direct(from: Point(x: x, y: values[base + 1]), azimuth: azimuth, distance: distance).0
            if let last, geometry.dimension > 0 { end.x += ((last.after + x - last.before - end.x) / 360).rounded() * 360 }
            last = (x, end.x)
            (values[base], values[base + 1]) = (end.x, end.y)
          }
        }
        return moved
      }
    }
  }

  package static func normalize(_ params: Normalize.Params, in world: inout World) throws -> Plan<Normalize.Result> {
    let reference = try Globe(params.spatialReference, in: world).reference
    guard let wrap = WorldWrap(try world.transformer.describe(reference), world.transformer) else {
      throw RPCError(
        .invalidParams, "\(reference.definition) does not go around the world.", path: "/params/spatialReference",
        expected: "degrees, or a cylindrical projection of the whole world")
    }
    return try made(params, in: world) { _, geometry, _ in try geometry.cut(at: wrap.seam).withRightHandRings }
  }

  // MARK: Measures

  package static func geodeticLength(
    _ params: GeodeticLength.Params, in world: inout World
  ) throws -> Plan<GeodeticLength.Result> {
    let globe = try Globe(params.spatialReference, in: world)
    return TaskPlan { worker in
      let meter = try globe.meter()
      return try GeometryBatch(params).measured(worker) { _, geometry, _ in
        try geometry.flattened.reduce(0.0) { sum, part in
          let part = try globe.outlined(part)
          guard part.dimension == 1 else { return try sum + (meter.measure(.length, part, nil) ?? { throw noMeasure }()) }
          return try sum + globe.tracer(worker).length(of: part)
        }
      }
    }
  }

  package static func geodeticArea(
    _ params: GeodeticArea.Params, in world: inout World
  ) throws -> Plan<GeodeticArea.Result> {
    let globe = try Globe(params.spatialReference, in: world)
    return TaskPlan { worker in
      let meter = try globe.meter()
      return try GeometryBatch(params).measured(worker) { _, geometry, _ in
        try meter.measure(.area, globe.whole(geometry), nil) ?? { throw noMeasure }()
      }
    }
  }

  private static var noMeasure: RPCError {
    RPCError(.transformFailed, "A position is not on the ellipsoid.", expected: "latitudes from -90 to 90")
  }

  package static func geodeticDistance(
    _ params: GeodeticDistance.Params, in world: inout World
  ) throws -> Plan<GeodeticDistance.Result> {
    let globe = try Globe(params.spatialReference, in: world)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let others = try Others(params, count: batch.count)
      let meter = try globe.meter()
      let results = try batch.results(worker) { index, geometry, _ -> GeodesicLine? in
        let (first, second) = (try globe.placed(geometry), try globe.placed(others.geometry(index)))
        if case .point(let start?) = first, case .point(let end?) = second { return try globe.geodesy.inverse(from: start, to: end) }
        guard !first.isEmpty, !second.isEmpty else { return nil }
        guard let distance = meter.measure(.distance, first, second) else { throw noMeasure }
        return GeodesicLine(distance: distance, startAzimuth: .nan, endAzimuth: .nan)
      }
      let lines = results.map { (try? $0?.get()) ?? nil }
      func list(_ number: (GeodesicLine) -> Double) -> JSONOpaque {
        GeometryBatch.list(lines.map { line in line.map(number).flatMap { $0.isNaN ? nil : $0 } })
      }
      return .init(
        values: list(\.distance), azimuths: list(\.startAzimuth), endAzimuths: list(\.endAzimuth),
        failures: GeometryBatch.failures(results))
    }
  }
}
