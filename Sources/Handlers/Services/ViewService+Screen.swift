// Handlers of `view/*` that convert between screen points and places.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import WireCoding

extension ViewService {
  package static func toLocation(_ params: ToLocation.Params, in world: inout World) throws -> Plan<ToLocation.Result> {
    let view = try world.views.require(ID(params.view))
    let reference = try world.canonical(params.spatialReference) ?? view.reference.reference
    let (own, transformer, revision) = (view.reference.reference, world.transformer, world.revision)
    @Sendable func result(_ found: [Point?]) throws -> ToLocation.Result {
      let moved = try transformer.transformEach(
        found.map { $0.map { Point(x: $0.x, y: $0.y) } ?? Point(x: 0, y: 0) }, from: own, to: reference)
      let locations = zip(found, moved).enumerated().map { index, each -> Result<Point, TransformError> in
        guard let location = each.0 else {
          return .failure(.outsideDomain(index: index, from: "the screen", to: "the ground"))
        }
        return each.1.map { Point(x: $0.x, y: $0.y, z: location.z) }
      }
      let list = exact(locations, own, to: reference.definition)
      return .init(
        revision: revision, spatialReference: reference.definition,
        locations: Wire.list(list) { Wire.opaque(.point($0)) }, failed: Wire.failures(list))
    }
    guard let (perspective, surface) = view.perspective(in: world) else {
      return TaskPlan(answer: try result(params.points.map { view.location(x: $0.x, y: $0.y) }))
    }
    let points = params.points.map { ScreenPosition(x: $0.x, y: $0.y) }
    let ground = params.ground ? surface : BaseSurface()
    return try plan(isOnLoop: points.count <= rayLimit || !ground.hasHeights) { onlyKept, isCancelled in
      try perspective.locations(of: points, on: ground, transformer, onlyKept: onlyKept, isCancelled: isCancelled)
        .map(result)
    }
  }

  package static func toScreen(_ params: ToScreen.Params, in world: inout World) throws -> Plan<ToScreen.Result> {
    let view = try world.views.require(ID(params.view))
    let locations = try params.locations.map { try Wire.point($0) }
    let reference = SpatialReference(params.spatialReference)
    let moved = exact(
      try world.transformer.transformEach(
        locations.map { Point(x: $0.x, y: $0.y) }, from: reference, to: view.reference.reference), reference,
      to: "the map")
    let (revision, transformer) = (world.revision, world.transformer)
    @Sendable func result(_ onScreen: [Result<Point, TransformError>]) -> ToScreen.Result {
      let points = exact(onScreen, reference, to: "pixels")
      return .init(
        revision: revision, points: Wire.list(points) { ViewProtocol.ScreenPoint(x: $0.x, y: $0.y) },
        failed: Wire.failures(points))
    }
    guard let (perspective, surface) = view.perspective(in: world) else {
      return TaskPlan(
        answer: result(
          moved.map { each in
            each.map { location in
              let point = view.screenPoint(nearest: location)
              return Point(x: point.x, y: point.y)
            }
          }))
    }
    let ground = params.ground ? surface : BaseSurface()
    // Points without Z are on the ground.
    let low = locations.indices.filter { locations[$0].z == nil }
    let places = low.compactMap { try? moved[$0].get() }
    return try plan(isOnLoop: places.count <= heightLimit || !ground.hasHeights) { onlyKept, isCancelled in
      var heights: ArraySlice<Double> = []
      if ground.hasHeights {
        let found = try ground.heights(at: places, transformer, onlyKept: onlyKept, isCancelled: isCancelled)
        guard let found else { return nil }
        heights = found.heights.map { $0 * found.factor }[...]
      }
      return result(
        zip(locations, moved).enumerated().map { index, each in
          each.1.flatMap { place in
            let height = each.0.z ?? heights.popFirst() ?? 0
            let point = perspective.screenPoint(of: Point(x: place.x, y: place.y, z: height))
            return point.map { .success($0) }
              ?? .failure(.outsideDomain(index: index, from: reference.definition, to: "the screen"))
          }
        })
    }
  }

  /// Number of rays, and of heights, that are found on the loop if the tiles are kept.
  private static let rayLimit = 2
  private static let heightLimit = 1000

  /// Answers on the loop if nothing has to be read, or else as a task.
  ///
  /// - Parameter found: nil if it may read nothing, and would have to.
  private static func plan<R: Sendable>(
    isOnLoop: Bool,
    _ found: @escaping @Sendable (_ onlyKept: Bool, _ isCancelled: @escaping @Sendable () -> Bool) throws -> R?
  ) throws -> Plan<R> {
    if isOnLoop, let known = try found(true, { false }) { return TaskPlan(.readRaster, answer: known) }
    return TaskPlan(.readRaster, result: { worker in
      let result = try found(false) { worker.isCancelled }
      try worker.checkCancelled()
      guard let result else { throw RPCError.internalError("an elevation source has read nothing") }
      return result
    })
  }

  /// Coordinates beyond the limit of what doubles represent exactly, infinite ones among them, as failures.
  private static func exact(
    _ points: [Result<Point, TransformError>], _ source: SpatialReference, to target: String
  ) -> [Result<Point, TransformError>] {
    let limit = 0x1p53
    return points.enumerated().map { index, result in
      result.flatMap { point in
        abs(point.x) <= limit && abs(point.y) <= limit
          ? result : .failure(.outsideDomain(index: index, from: source.definition, to: target))
      }
    }
  }
}
