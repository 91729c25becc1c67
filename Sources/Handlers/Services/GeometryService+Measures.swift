// Handlers of planar measures of geometries, and of the relations between them.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSONRPC
import SpatialRelations
import WireCoding

extension GeometryService {
  package static func length(_ params: Length.Params, in world: inout World) throws -> Plan<Length.Result> {
    try requirePlane(params.spatialReference, "geometry/geodeticLength", in: world)
    return TaskPlan { worker in try GeometryBatch(params).measured(worker) { _, geometry, _ in geometry.planarLength } }
  }

  package static func area(_ params: GeometryProtocol.Area.Params, in world: inout World) throws -> Plan<GeometryProtocol.Area.Result> {
    try requirePlane(params.spatialReference, "geometry/geodeticArea", in: world)
    return TaskPlan { worker in try GeometryBatch(params).measured(worker) { _, geometry, _ in geometry.planarArea } }
  }

  package static func distance(_ params: Distance.Params, in world: inout World) throws -> Plan<Distance.Result> {
    try requirePlane(params.spatialReference, "geometry/geodeticDistance", in: world)
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let others = try Others(params, count: batch.count)
      return try batch.measured(worker) { index, geometry, calculate in
        try calculate(GeometryOperation(.nearest), [geometry, others.geometry(index)]).numbers.first
      }
    }
  }

  private static func spatialRelation(_ name: FeatureProtocol.SpatialRelationship, _ pattern: String?) throws -> SpatialRelation {
    guard name != .envelopeIntersects else {
      throw RPCError(.invalidParams, "A matrix says nothing of envelopes.", path: "/params/relationship", expected: "another relation")
    }
    guard name == .relate else {
      guard pattern == nil else {
        throw RPCError(
          .invalidParams, "The pattern has no effect.", path: "/params/relation", expected: "absent, or relationship relate")
      }
      return SpatialRelation(name)
    }
    guard let pattern = pattern.flatMap(IntersectionPattern.init) else {
      throw RPCError(.invalidParams, "relate needs a pattern.", path: "/params/relation", expected: "nine of T, F, *, 0, 1, 2")
    }
    return .relate(pattern)
  }

  package static func relate(_ params: Relate.Params, in world: inout World) throws -> Plan<Relate.Result> {
    _ = try world.canonical(params.spatialReference)
    let relation = try params.relationship.map { try spatialRelation($0, params.relation) }
    return TaskPlan { worker in
      let batch = try GeometryBatch(params)
      let others = try Others(params, count: batch.count)
      let operation = GeometryOperation(.relate, mends: params.mend)
      let results = try batch.results(worker) { index, geometry, calculate in
        try calculate(operation, [geometry, others.geometry(index)]).text ?? ""
      }
      let matrices = results.map { try? $0?.get() }
      var answer = Relate.Result(matrices: matrices.map { $0 ?? "" }, failures: GeometryBatch.failures(results))
      if let relation {
        answer.related = matrices.enumerated().map { index, matrix in
          guard let matrix, let geometry = try? batch.items[index].get(), let other = try? others.geometry(index) else { return false }
          return relation.holds(in: matrix, geometry.dimension, other.dimension)
        }
      }
      return answer
    }
  }
}
