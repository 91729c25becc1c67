// Handlers of `geometry/*`: what moves, finds places, and changes reference or form.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import GridReferences
import JSON
import JSONRPC
import Platform
import WireCoding

extension GeometryService {
  private static func places(
    _ params: some GeometryProtocol.GeometryOperands, _ given: JSONOpaque, in world: World, _ worker: Worker,
    _ nearest: @escaping @Sendable (Geometry, Point) -> Geometry.Nearest?
  ) throws -> ([GeometryProtocol.NearestPlace], [GeometryProtocol.GeometryFailure]?) {
    _ = try world.canonical(params.spatialReference)
    let point = try Wire.point(given)
    let results = try GeometryBatch(params).results(worker, size: { _ in 128 }) { _, geometry, _ in
      let place = nearest(geometry, point)
      guard place.map({ $0.distance.isFinite && $0.point.x.isFinite && $0.point.y.isFinite }) ?? true else { throw GeometryBatch.beyondNumbers }
      return place
    }
    let places = results.enumerated().compactMap { index, result -> GeometryProtocol.NearestPlace? in
      guard let place = try? result?.get() else { return nil }
      return .init(
        index: index, point: Wire.opaque(.point(place.point)), distance: place.distance, part: place.part < 0 ? nil : place.part,
        vertex: place.part < 0 ? nil : place.vertex)
    }
    return (places, GeometryBatch.failures(results))
  }

  package static func nearestCoordinate(
    _ params: NearestCoordinate.Params, in world: inout World
  ) throws -> Plan<NearestCoordinate.Result> {
    let world = world
    return TaskPlan { worker in
      let (places, failures) = try places(params, params.point, in: world, worker) { geometry, point in
        guard !geometry.covers(x: point.x, y: point.y) else {
          return Geometry.Nearest(point: Point(x: point.x, y: point.y), distance: 0, part: -1, vertex: 0)
        }
        return geometry.nearestCoordinate(to: point)
      }
      return .init(places: places, failures: failures)
    }
  }

  package static func nearestVertex(_ params: NearestVertex.Params, in world: inout World) throws -> Plan<NearestVertex.Result> {
    let world = world
    return TaskPlan { worker in
      let (places, failures) = try places(params, params.point, in: world, worker) { $0.nearestVertex(to: $1) }
      return .init(places: places, failures: failures)
    }
  }

  // MARK: Moving

  /// Plans an operation about a point: the one given, or the centre of the box around all geometries.
  private static func turned(
    _ params: some GeometryProtocol.GeometryOperands, about anchor: JSONOpaque?, in world: World,
    _ move: @escaping @Sendable (_ x: Double, _ y: Double) -> (Double, Double)
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    _ = try world.canonical(params.spatialReference)
    let given = try anchor.map { try Wire.point($0) }
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let box = batch.geometries.compactMap(\.envelope).reduce(into: Envelope.none) { $0.include($1) }
      let (x, y) = given.map { ($0.x, $0.y) } ?? ((box.xMin + box.xMax) / 2, (box.yMin + box.yMax) / 2)
      return try batch.made(worker) { _, geometry, _ in
        try geometry.moved {
          let (dx, dy) = move($0 - x, $1 - y)
          return (x + dx, y + dy)
        }.finite()
      }
    }
  }

  package static func move(_ params: Move.Params, in world: inout World) throws -> Plan<Move.Result> {
    _ = try world.canonical(params.spatialReference)
    let (dx, dy, dz) = (params.dx, params.dy, params.dz)
    return TaskPlan { worker in
      try GeometryBatch(params).made(worker) { _, geometry, _ in try geometry.moved(z: dz) { ($0 + dx, $1 + dy) }.finite() }
    }
  }

  package static func rotate(_ params: Rotate.Params, in world: inout World) throws -> Plan<Rotate.Result> {
    let (sine, cosine) = Angle.unit(degrees: params.angle)
    return try turned(params, about: params.anchor, in: world) { ($0 * cosine - $1 * sine, $0 * sine + $1 * cosine) }
  }

  package static func scale(_ params: Scale.Params, in world: inout World) throws -> Plan<Scale.Result> {
    let (x, y) = (params.factorX, params.factorY ?? params.factorX)
    return try turned(params, about: params.anchor, in: world) { ($0 * x, $1 * y) }
  }

  // MARK: Reference and form

  /// The spatial reference of geometries that have to have one.
  private static func reference(
    _ params: some GeometryProtocol.GeometryOperands, by transformer: any CoordinateTransformer
  ) throws -> SpatialReference {
    guard let name = params.spatialReference else {
      throw RPCError(
        .invalidParams, "Geometries without a spatial reference cannot be projected.", path: "/params/spatialReference",
        expected: "a spatial reference")
    }
    return try transformer.describe(SpatialReference(name)).reference
  }

  package static func project(_ params: Project.Params, in world: inout World) throws -> Plan<Project.Result> {
    let transformer = world.transformer
    let choice = try choice(params)
    return TaskPlan { worker in
      // PROJ takes milliseconds for a reference that is new to it, which a queue of requests would make seconds on the loop.
      let source = try reference(params, by: transformer)
      let target = try transformer.describe(SpatialReference(params.outSpatialReference)).reference
      let chosen = try choice.map { try transformer.choosing($0, from: source, to: target) }
      let transformer = chosen?.transformer ?? transformer
      let projector = try GeometryProjector(from: source, to: target, transformer)
      var result =
        try GeometryBatch.projected(params, worker, transformer, from: source, to: target)
        ?? GeometryBatch(params).made(worker) { _, geometry, _ in
          try projector.pieces(geometry, checking: worker.checkCancelled)
        }
      result.transformation = chosen.map { .init($0.transformation) }
      return result
    }
  }

  /// The one transformation that is wanted; nil for the best at each place.
  static func choice(_ params: some GeometryProtocol.TransformationOptions) throws -> TransformationChoice? {
    let area = try area(params.area)
    guard params.transformation != nil || area != nil else { return nil }
    return TransformationChoice(name: params.transformation.map { Text($0) }, area: area)
  }

  package static func listTransformations(
    _ params: ListTransformations.Params, in world: inout World
  ) throws -> Plan<ListTransformations.Result> {
    let transformer = world.transformer
    let area = try area(params.area)
    return TaskPlan { _ in
      let source = try transformer.describe(SpatialReference(params.spatialReference)).reference
      let target = try transformer.describe(SpatialReference(params.outSpatialReference)).reference
      let all = try transformer.transformations(from: source, to: target, in: area)
      return .init(transformations: all.map { .init($0) }, used: all.firstIndex(where: \.isAvailable))
    }
  }

  /// The box in which a transformation is wanted.
  private static func area(_ given: SessionProtocol.Envelope?) throws -> Envelope? {
    guard var box = given.map({ Wire.envelope($0) }) else { return nil }
    guard (-180...180).contains(box.xMin), (-180...180).contains(box.xMax), -90 <= box.yMin, box.yMin <= box.yMax, box.yMax <= 90 else {
      throw RPCError(.invalidParams, "The area is no box of degrees.", path: "/params/area", expected: "longitudes in -180...180, latitudes in -90...90")
    }
    // PROJ divides boxes at the antimeridian, and one that begins or ends there for ever: until its stack ends the process.
    if box.xMin == 180 { box.xMin -= 1e-9 }
    if box.xMax == -180 { box.xMax += 1e-9 }
    return box
  }

  package static func format(_ params: Format.Params, in world: inout World) throws -> Plan<Format.Result> {
    let reference = try world.canonical(params.spatialReference)
    let (form, transformer) = (params.format, world.transformer)
    return TaskPlan { worker in
      let wkt = form == .esriJson && reference?.esriNumber == nil ? try reference.flatMap { try transformer.esriWKT(of: $0) } : nil
      let results = try GeometryBatch(params).results(worker, size: { $0.utf8.count }) { _, geometry, _ in
        try GeometryText.write(geometry, as: form, in: reference, wkt: wkt)
      }
      return .init(texts: results.map { (try? $0?.get()) ?? "" }, failures: GeometryBatch.failures(results))
    }
  }

  package static func parse(_ params: Parse.Params, in world: inout World) throws -> Plan<Parse.Result> {
    let transformer = world.transformer
    return TaskPlan { worker in
      // By what the texts say: a reference has several names.
      var references: [SpatialReference: SpatialReference] = [:]
      let results = try params.texts.map { text -> Result<Geometry, RPCError>? in
        try worker.checkCancelled()
        do {
          let (geometry, reference) = try GeometryText.read(text, as: params.format, checking: worker.checkCancelled)
          if let reference, references[reference] == nil {
            references[reference] = (try? transformer.describe(reference).reference) ?? reference
          }
          return .success(geometry)
        } catch { return .failure(GeometryBatch.failure(error)) }
      }
      let stated = Set(references.values)
      guard stated.count < 2 else {
        throw RPCError(
          .invalidParams, "The texts are in several spatial references.", path: "/params/texts", expected: "texts of one reference")
      }
      if results.count == 1, case .failure(let error) = results[0] { throw error }
      return .init(
        geometries: GeometryBatch.list(results.map { try? $0?.get() }), spatialReference: stated.first?.definition,
        failures: GeometryBatch.failures(results))
    }
  }

  // MARK: Notations

  package static func toCoordinates(_ params: ToCoordinates.Params, in world: inout World) throws -> Plan<ToCoordinates.Result> {
    let source = try reference(params, by: world.transformer)
    let (notation, precision, transformer) = (Notation(params.format), params.precision, world.transformer)
    guard precision ?? 0 <= notation.finest else {
      throw RPCError(
        .invalidParams, "\(notation.rawValue) is not as fine.", path: "/params/precision", expected: "integer in 0...\(notation.finest)")
    }
    let style = NotationStyle(
      marks: .init(params.marks), signed: params.signed, longitudeFirst: params.longitudeFirst, spaced: params.spaced)
    return TaskPlan { worker in
      let results = try GeometryBatch(params).results(worker, size: { $0.utf8.count }) { _, geometry, _ in
        guard case .point(_?) = geometry, case .point(let point?) = try transformer.transform(geometry, from: source, to: .wgs84) else {
          throw RPCError(
            .invalidGeometry, "The geometry is no point.", path: "/params/geometry", expected: "a point that is not empty")
        }
        return try notation.text(of: point, precision: precision, style)
      }
      return .init(texts: results.map { (try? $0?.get()) ?? "" }, failures: GeometryBatch.failures(results))
    }
  }

  package static func fromCoordinates(
    _ params: FromCoordinates.Params, in world: inout World
  ) throws -> Plan<FromCoordinates.Result> {
    let target = try world.transformer.describe(SpatialReference(params.outSpatialReference)).reference
    let (notation, transformer) = (params.format.map(Notation.init), world.transformer)
    return TaskPlan { worker in
      let results = try params.texts.enumerated().map { index, text -> Result<GeometryProtocol.CoordinatePlace, RPCError>? in
        try worker.checkCancelled()
        do {
          let place = try Notation.place(text, in: notation, corner: params.corner, longitudeFirst: params.longitudeFirst)
          let (point, size) = (try transformer.transform(.point(place.point), from: .wgs84, to: target), place.cell?.size)
          let isDegrees = place.cell?.isDegrees ?? false
          return .success(.init(
            index: index, point: Wire.opaque(point), format: place.notation.wire, cellMetres: isDegrees ? nil : size,
            cellDegrees: isDegrees ? size : nil))
        } catch { return .failure(GeometryBatch.failure(error, at: "/params/texts/\(index)")) }
      }
      if results.count == 1, case .failure(let error) = results[0] { throw error }
      return .init(
        places: results.compactMap { try? $0?.get() }, spatialReference: target.definition, failures: GeometryBatch.failures(results))
    }
  }
}

extension GeometryProtocol.Transformation {
  init(_ transformation: Transformation) {
    self.init(
      name: transformation.name, codes: transformation.codes, accuracy: transformation.accuracy, ballpark: transformation.isBallpark,
      available: transformation.isAvailable, areaOfUse: transformation.areaOfUse.map { Wire.envelope($0) },
      areaName: transformation.areaName,
      grids: transformation.grids.map { .init(name: $0.name, url: $0.url, available: $0.isAvailable) })
  }
}

extension Geometry {
  /// - Throws: `outOfRange` where a coordinate is beyond all numbers.
  fileprivate func finite() throws(RPCError) -> Geometry {
    guard fault == nil else { throw RPCError(.outOfRange, "A coordinate is beyond all numbers.", expected: "finite coordinates") }
    return self
  }
}
