// Handlers of `surface/*`: analyses of the ground.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

package enum SurfaceService: SurfaceHandlers {
  package static func profile(
    _ params: SurfaceProtocol.Profile.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.Profile.Result> {
    let ground = try Ground(params, in: world)
    guard case .lineString(let line) = try Wire.geometry(params.line) else {
      throw RPCError(.invalidGeometry, "The geometry is not a line.", path: "/params/line", expected: "a line")
    }
    guard line.count > 0 else {
      throw RPCError(.emptyGeometry, "The line is empty.", path: "/params/line", expected: "a line that is not empty")
    }
    guard params.step == nil || params.count == nil else { throw ModelError.oneOf(["step", "count"]) }
    return plan { share in
      let shares = share.split(by: 1, 3)
      let profile = try GroundProfile(
        try ground.degrees(line.points, share), step: params.step, count: params.count, ground, shares[0])
      var (heights, numbers) = ([Double](), [Int]())
      try ground.sample(profile.points, .init(params.interpolation), shares[1]) { samples, _ in
        heights += samples.heights
        numbers += samples.sources
      }
      let places = try ground.given(line: profile.points, share)
      let used = Set(numbers.lazy.filter { $0 >= 0 })
      let order = Dictionary(uniqueKeysWithValues: used.sorted().enumerated().map { ($1, $0) })
      return .init(
        revision: ground.revision, spatialReference: ground.reference.definition, length: profile.length, count: places.count,
        distance: PackedColumn.short(profile.distances), x: PackedColumn.short(places.map(\.x)),
        y: PackedColumn.short(places.map(\.y)), elevation: PackedColumn.short(heights),
        source: PackedColumn.short(numbers.map { order[$0] ?? $0 }), sources: try ground.sources(used),
        known: numbers.count { $0 >= 0 }, statistics: profile.statistics(heights))
    }
  }

  package static func lineOfSight(
    _ params: SurfaceProtocol.LineOfSight.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.LineOfSight.Result> {
    let ground = try Ground(params, in: world)
    let observers = try params.observers.map { try Wire.point($0) }
    let targets = try params.targets.map { try Wire.point($0) }
    guard observers.count == targets.count || observers.count == 1 || targets.count == 1 else {
      throw RPCError(
        .invalidParams, "\(observers.count) observers cannot be paired with \(targets.count) targets.", path: "/params/targets",
        expected: "one target, or as many as observers")
    }
    let pairs = (0..<max(observers.count, targets.count)).map { index in
      (observers.count == 1 ? 0 : index, targets.count == 1 ? 0 : index)
    }
    let sightlines = Sightlines(
      ground: ground, observerHeight: params.observerHeight, targetHeight: params.targetHeight,
      isAboveGround: params.heightBase == .ground,
      bending: Bending(curvature: params.curvature, refraction: params.refraction),
      interpolation: .init(params.interpolation), step: params.step)
    return plan { share in
      let (lines, used) = try sightlines.lines(
        try ground.degrees(observers, at: "/params/observers", share), try ground.degrees(targets, at: "/params/targets", share), pairs,
        share)
      return .init(
        revision: ground.revision, spatialReference: ground.reference.definition, curvature: params.curvature,
        refraction: params.refraction, lines: lines, sources: try ground.sources(used))
    }
  }

  static func plan<Result: Sendable>(_ make: @escaping @Sendable (WorkShare) throws -> Result) -> Plan<Result> {
    TaskPlan(.readRaster, result: { worker in
      let result = try make(WorkShare(worker.work))
      try worker.checkCancelled()
      return result
    })
  }
}
