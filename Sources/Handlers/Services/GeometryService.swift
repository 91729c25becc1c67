// Handlers of `geometry/*`: operations in the plane, each with one geometry or a list.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import SpatialRelations
import WireCoding

package enum GeometryService: GeometryHandlers {
  /// Plans an operation that makes a geometry of each.
  static func made(
    _ params: some GeometryProtocol.GeometryOperands, in world: World,
    _ body: @escaping @Sendable (_ index: Int, _ geometry: Geometry, borrowing GeometryCalculator) throws -> Geometry
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in try GeometryBatch(params).made(worker, body) }
  }

  /// Plans an operation of GEOS with each.
  private static func made(
    _ params: some GeometryProtocol.GeometryOperands, in world: World, _ operation: GeometryOperation
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    try made(params, in: world) { _, geometry, calculate in try calculate(operation, [geometry]).whole }
  }

  /// Plans an operation with each, or with all together as one collection.
  private static func made(
    _ params: some GeometryProtocol.GeometryOperands, together: Bool, in world: World, _ operation: GeometryOperation
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    guard together else { return try made(params, in: world, operation) }
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params).placed(for: operation)
      var answer = batch.answer(
        together: try calculated(worker) { calculate in try calculate(operation, [.collection(batch.geometries)]).whole })
      answer.failures = GeometryBatch.failures(batch.items)
      return answer
    }
  }

  /// A single calculation.
  private static func calculated<R>(
    _ worker: Worker, _ body: (borrowing GeometryCalculator) throws -> R
  ) throws -> R {
    do { return try worker.work.run { try body(try GeometryCalculator()) } } catch let error as EngineError { throw SpatialError(error) }
  }

  /// - Throws: `planarDegrees`, with the method that measures on the ellipsoid; `invalidParams` for coordinates that are in no plane.
  static func requirePlane(_ name: String?, _ twin: String, in world: World) throws {
    if let reference = try world.canonical(name) { try requirePlane(reference, twin, at: "/params/spatialReference", in: world) }
  }

  static func requirePlane(
    _ reference: SpatialReference, _ twin: String, at path: String, expected: String = "a projected spatial reference, or none", in world: World
  ) throws {
    let kind = try world.transformer.describe(reference).kind
    switch kind {
    case .projected, .local: return
    case .geographic:
      throw RPCError(
        .planarDegrees, "Degrees are no lengths: \(twin) measures on the ellipsoid.", path: path, expected: expected
      ).with("method", twin)
    case .geocentric, .vertical:
      throw RPCError(
        .invalidParams, "\(reference.definition) is \(kind): its coordinates are in no plane.", path: path,
        expected: "a projected spatial reference")
    }
  }

  /// The second geometry of each pair.
  struct Others: Sendable {
    private let all: [GeometryBatch.Item]
    private let isOne: Bool

    /// Of a list those that are malformed are failures.
    init(_ params: some GeometryProtocol.OtherGeometries, count: Int) throws {
      isOne = params.other != nil
      guard isOne != (params.others != nil) else { throw ModelError.oneOf(["other", "others"]) }
      all = try params.other.map { [.success(try GeometryBatch.checked($0))] } ?? GeometryBatch.read(params.others ?? [], at: "/params/others")
      guard isOne || all.count == count else {
        throw RPCError(.invalidParams, "There is not one for each geometry.", path: "/params/others", expected: "\(count) geometries")
      }
    }

    func geometry(_ index: Int) throws -> Geometry { try all[isOne ? 0 : index].get() ?? .collection([]) }
  }

  private static func paired(
    _ params: some GeometryProtocol.GeometryOperands & GeometryProtocol.OtherGeometries & GeometryProtocol.MendOption,
    in world: World, _ kind: GeometryOperation.Kind
  ) throws -> Plan<GeometryProtocol.GeometryResult> {
    _ = try world.canonical(params.spatialReference)
    let operation = GeometryOperation(kind, mends: params.mend)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let others = try Others(params, count: batch.count)
      return try batch.made(worker) { index, geometry, calculate in try calculate(operation, [geometry, others.geometry(index)]).whole }
    }
  }

  // MARK: Areas

  package static func buffer(_ params: Buffer.Params, in world: inout World) throws -> Plan<Buffer.Result> {
    try requirePlane(params.spatialReference, "geometry/geodeticBuffer", in: world)
    guard (params.distance != nil) != (params.distances != nil) else { throw ModelError.oneOf(["distance", "distances"]) }
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let distances = try batch.distances(params.distance, params.distances)
      let results = try batch.results(worker, size: { $0.byteCount }) { index, geometry, calculate in
        try GeometryUnion.buffered(geometry, .buffer(distances[index], params, mends: params.mend), worker, calculate)
      }
      guard params.together else { return try batch.answer(results) }
      var answer = batch.answer(together: try GeometryUnion(mends: params.mend)(results.compactMap { try? $0?.get() }, worker))
      answer.failures = GeometryBatch.failures(results)
      return answer
    }
  }

  package static func union(_ params: Union.Params, in world: inout World) throws -> Plan<Union.Result> {
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      var read = batch.items.map { item in item.map { $0 ?? .collection([]) } }
      let made = try GeometryUnion(mends: params.mend).united([read.map { (try? $0.get()) ?? .collection([]) }], worker)
      for failure in made.failures {
        guard batch.count > 1 else { throw failure.error }
        read[failure.index] = .failure(failure.error)
      }
      var answer = batch.answer(together: made.geometries[0])
      answer.failures = GeometryBatch.failures(read)
      return answer
    }
  }

  package static func intersection(_ params: Intersection.Params, in world: inout World) throws -> Plan<Intersection.Result> {
    try paired(params, in: world, .intersection)
  }

  package static func difference(_ params: Difference.Params, in world: inout World) throws -> Plan<Difference.Result> {
    try paired(params, in: world, .difference)
  }

  package static func symmetricDifference(
    _ params: SymmetricDifference.Params, in world: inout World
  ) throws -> Plan<SymmetricDifference.Result> { try paired(params, in: world, .symmetricDifference) }

  package static func clip(_ params: Clip.Params, in world: inout World) throws -> Plan<Clip.Result> {
    let box = Wire.envelope(params.envelope)
    let window = try world.area(of: box, in: world.canonical(params.spatialReference), at: "/params/envelope")
    let operation = GeometryOperation(.intersection, mends: params.mend)
    return try made(params, in: world) { _, geometry, calculate in
      try clipped(geometry) { geometry in
        guard let own = geometry.envelope else { return geometry }
        guard !box.contains(own) else { return try calculate.valid(geometry, mends: params.mend) }
        return try calculate(operation, [geometry, window]).whole.part(ofDimension: geometry.dimension)
      }
    }
  }

  /// Clips the parts of a collection one by one if they are of several dimensions: each keeps its own.
  static func clipped(_ geometry: Geometry, _ clip: (Geometry) throws -> Geometry) rethrows -> Geometry {
    guard geometry.uniform == nil, case .collection(let parts) = geometry else { return try clip(geometry) }
    return .collection(try parts.map { try clipped($0, clip) }.filter { !$0.isEmpty })
  }

  package static func convexHull(_ params: ConvexHull.Params, in world: inout World) throws -> Plan<ConvexHull.Result> {
    try made(params, together: params.together, in: world, GeometryOperation(.convexHull))
  }

  package static func concaveHull(_ params: ConcaveHull.Params, in world: inout World) throws -> Plan<ConcaveHull.Result> {
    try made(params, together: params.together, in: world, .concaveHull(params.ratio, allowsHoles: params.allowHoles))
  }

  package static func minimumRectangle(
    _ params: MinimumRectangle.Params, in world: inout World
  ) throws -> Plan<MinimumRectangle.Result> {
    try made(params, together: params.together, in: world, GeometryOperation(.minimumRectangle))
  }

  package static func minimumCircle(_ params: MinimumCircle.Params, in world: inout World) throws -> Plan<MinimumCircle.Result> {
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let results = try batch.results(worker, size: { $0.geometries[0].byteCount }) { _, geometry, calculate in
        try calculate(GeometryOperation(.minimumCircle), [geometry])
      }
      let circles = results.enumerated().compactMap { index, result -> GeometryProtocol.GeometryCircle? in
        guard let outcome = try? result?.get(), case .point(_?) = outcome.geometries[1] else { return nil }
        return .init(
          index: index, center: Wire.opaque(outcome.geometries[1]), radius: outcome.numbers[0],
          geometry: Wire.opaque(outcome.geometries[0]))
      }
      return .init(circles: circles, failures: GeometryBatch.failures(results))
    }
  }

  package static func combineExtents(
    _ params: CombineExtents.Params, in world: inout World
  ) throws -> Plan<CombineExtents.Result> {
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { _ in
      let batch = try GeometryBatch(params)
      let boxes = batch.geometries.compactMap(\.envelope)
      let box = boxes.isEmpty ? nil : boxes.reduce(into: Envelope.none) { $0.include($1) }
      return .init(envelope: box.map(Wire.envelope), failures: GeometryBatch.failures(batch.items))
    }
  }

  // MARK: Cutting

  package static func cut(_ params: Cut.Params, in world: inout World) throws -> Plan<Cut.Result> {
    _ = try world.canonical(params.spatialReference)
    let cutter = try line(params.cutter, "cutter")
    let operation = GeometryOperation(.cut, mends: params.mend)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let results = try batch.results(worker, size: { $0.geometries.reduce(0) { $0 + $1.byteCount } }) { _, geometry, calculate in
        try calculate(operation, [geometry, cutter])
      }
      let pieces = results.enumerated().flatMap { index, result -> [GeometryProtocol.CutPiece] in
        guard let outcome = try? result?.get() else { return [] }
        return zip(outcome.geometries, outcome.numbers).map { piece, side in
          .init(index: index, side: side > 0 ? .left : side < 0 ? .right : .uncut, geometry: Wire.opaque(piece))
        }
      }
      return .init(pieces: pieces, failures: GeometryBatch.failures(results))
    }
  }

  package static func reshape(_ params: Reshape.Params, in world: inout World) throws -> Plan<Reshape.Result> {
    let path = try line(params.path, "path")
    var runs = 0
    path.forEachPositions { if !$0.isEmpty { runs += 1 } }
    guard runs == 1 else {
      throw RPCError(.invalidGeometry, "The path has several lines.", path: "/params/path", expected: "one line")
    }
    let operation = GeometryOperation(.reshape, mends: params.mend)
    return try made(params, in: world) { _, geometry, calculate in try calculate(operation, [geometry, path]).whole }
  }

  package static func autoComplete(_ params: AutoComplete.Params, in world: inout World) throws -> Plan<AutoComplete.Result> {
    _ = try world.canonical(params.spatialReference)
    let lines = try params.lines.enumerated().map { try line($1, "lines/\($0)") }
    return TaskPlan { worker in
      let batch = try GeometryBatch(params).placed(for: GeometryOperation(.autoComplete))
      let polygons = batch.geometries
      let operation = GeometryOperation(.autoComplete, [Double(polygons.count)], mends: params.mend)
      let made = try calculated(worker) { calculate in try calculate(operation, polygons + lines).geometries }
      return .init(geometries: made.map(Wire.opaque), failures: GeometryBatch.failures(batch.items))
    }
  }

  package static func extend(_ params: Extend.Params, in world: inout World) throws -> Plan<Extend.Result> {
    let target = try line(params.to, "to")
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in
      try GeometryBatch(params).made(worker) { _, geometry, _ in
        try geometry.extended(to: target, atStart: params.atStart, atEnd: params.atEnd) { try worker.checkCancelled() }
      }
    }
  }

  package static func offset(_ params: Offset.Params, in world: inout World) throws -> Plan<Offset.Result> {
    try requirePlane(params.spatialReference, "geometry/geodeticBuffer", in: world)
    return try made(
      params, in: world,
      .offset(params.distance, quadrantSegments: params.quadrantSegments, join: .init(params.join), mitreLimit: params.mitreLimit))
  }

  /// A geometry of lines alone.
  private static func line(_ geometry: JSONOpaque, _ name: String) throws -> Geometry {
    let line = try GeometryBatch.checked(geometry)
    let parts = line.flattened.filter { !$0.isEmpty }
    guard !parts.isEmpty, parts.allSatisfy({ $0.dimension == 1 }) else {
      let message =
        switch parts.lazy.map(\.dimension).max() {
        case nil: "There is no line."
        case 2: "An area is no line; its outline is the MultiLineString of its rings."
        default: "A point is no line."
        }
      throw RPCError(.invalidGeometry, message, path: "/params/\(name)", expected: "a line that is not empty")
    }
    guard !line.isBeyondPlaces else {
      throw RPCError(.invalidGeometry, "Coordinates beyond 1e100 are no places.", path: "/params/\(name)", expected: "smaller coordinates")
    }
    return line
  }

  // MARK: Form

  package static func simplify(_ params: Simplify.Params, in world: inout World) throws -> Plan<Simplify.Result> {
    try made(params, in: world, .simplify(byStructure: params.method == .structure))
  }

  package static func isSimple(_ params: IsSimple.Params, in world: inout World) throws -> Plan<IsSimple.Result> {
    _ = try world.canonical(params.spatialReference)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let results = try batch.results(worker) { _, geometry, calculate in try calculate(GeometryOperation(.validity), [geometry]) }
      let faults = results.enumerated().compactMap { index, result -> GeometryProtocol.SimpleFault? in
        guard let outcome = try? result?.get(), let reason = outcome.text else { return nil }
        var place: Point?
        if case .point(let point) = outcome.geometries.first { place = point }
        return .init(index: index, reason: reason, at: place.map { [$0.x, $0.y] })
      }
      let failures = GeometryBatch.failures(results)
      return .init(isSimple: faults.isEmpty && failures == nil, faults: faults, failures: failures)
    }
  }

  package static func generalize(_ params: Generalize.Params, in world: inout World) throws -> Plan<Generalize.Result> {
    guard params.keepTopology else {
      _ = try world.canonical(params.spatialReference)
      return TaskPlan { worker in
        try GeometryBatch(params).made(worker) { _, geometry, _ in
          try geometry.generalized(params.maxDeviation) { try worker.checkCancelled() }
        }
      }
    }
    var operation = GeometryOperation.generalize(params.maxDeviation)
    operation.mends = params.mend
    return try made(params, in: world, operation)
  }

  package static func densify(_ params: Densify.Params, in world: inout World) throws -> Plan<Densify.Result> {
    let limit = params.maxSegmentLength
    return try made(params, in: world) { _, geometry, _ in
      guard geometry.densifiedCount(limit) <= Double(Geometry.mostPositions) else {
        throw RPCError(
          .outOfRange, "The geometry would have more than \(Geometry.mostPositions) positions.", path: "/params/maxSegmentLength",
          expected: "a longer segment")
      }
      return geometry.densified(limit)
    }
  }

  package static func labelPoint(_ params: LabelPoint.Params, in world: inout World) throws -> Plan<LabelPoint.Result> {
    try made(params, in: world, GeometryOperation(.labelPoint, mends: params.mend))
  }

  package static func centroid(_ params: Centroid.Params, in world: inout World) throws -> Plan<Centroid.Result> {
    let wrap = try world.canonical(params.spatialReference).flatMap { try WorldWrap(world.transformer.describe($0), world.transformer) }
    return try made(params, in: world) { _, geometry, calculate in try centroid(of: geometry, wrap, calculate) }
  }

  /// - Parameter wrap: of the geometry's reference.
  static func centroid(
    of geometry: Geometry, _ wrap: WorldWrap?, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    try WorldWrap.whole(geometry, wrap) { try calculate(GeometryOperation(.centroid), [$0]).whole } ?? .collection([])
  }
}
