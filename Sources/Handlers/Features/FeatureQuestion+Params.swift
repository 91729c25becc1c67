// Converts params of requests to questions for the planner.

import Expressions
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

extension FeatureQuery {
  /// - Parameter path: JSON Pointer of the param that contains `whereClause`.
  init(
    _ params: some FeatureProtocol.FeatureFilter, in world: borrowing World, conditionAt path: String = "/whereClause"
  ) throws {
    try self.init(FeatureQuestion(params, in: world, conditionAt: path), in: world)
  }

  init(
    _ params: some FeatureProtocol.FeatureFilter & FeatureProtocol.ComputedFields, in world: borrowing World
  ) throws {
    var question = try FeatureQuestion(params, in: world, conditionAt: "/whereClause")
    question.computed = try (params.computedFields ?? []).enumerated().map { index, each in
      (each.name, try Wire.parsed(each.expression, at: "/params/computedFields/\(index)/expression"))
    }
    try self.init(question, in: world)
  }

  /// The sort terms of `orderBy`.
  func terms(_ orderBy: [FeatureProtocol.OrderBy]?) throws(ModelError) -> [SortTerm] {
    try terms((orderBy ?? []).map(FeatureOrder.init))
  }
}

extension FeatureOrder {
  init(_ wire: FeatureProtocol.OrderBy) { self.init(wire.field, isDescending: wire.order == .descending) }
}

extension FeatureQuestion {
  fileprivate init(
    _ params: some FeatureProtocol.FeatureFilter, in world: borrowing World, conditionAt path: String
  ) throws {
    switch (params.layer, params.overlay, params.entitySource) {
    case (let id?, nil, nil): self.init(try FeatureSet(LayerID(id), in: world))
    case (nil, let id?, nil): self.init(try FeatureSet(OverlayID(id), in: world))
    case (nil, nil, let id?):
      self.init(try FeatureSet(EntitySourceID(id), .init(params.entityFeatures), ids: params.ids, in: world))
    default: throw ModelError.oneOf(["layer", "overlay", "entitySource"])
    }
    condition = try params.whereClause.map { given in
      do throws(ExpressionError) { return try Wire.expression(given) } catch {
        throw ModelError.expression(error, path: path)
      }
    }
    conditionPath = path
    reference = try world.canonical(params.spatialReference)
    timeExtent = try params.timeExtent.map {
      _ = try source.requireTime()
      return try Wire.timeExtent($0, at: "/params/timeExtent")
    }
    envelope = params.envelope.map(Wire.envelope)
    relation = try Self.relation(params)
    geometry = try params.geometry.map { given in
      if let box = try given.value.flatMap(Wire.envelope(ofGeometry:)) { return .box(box) }
      return .geometry(try Wire.geometry(given))
    }
    (ids, isSelected) = (params.ids, params.isSelected)
  }

  /// - Throws: if a pattern is missing, malformed, or given for another relationship.
  private static func relation(_ params: some FeatureProtocol.FeatureFilter) throws -> SpatialRelation {
    guard params.spatialRelationship == .relate else {
      if params.relation != nil {
        throw RPCError(
          .invalidParams, "A pattern belongs to the relationship relate.", path: "/params/relation",
          expected: "absent, or spatialRelationship relate")
      }
      return SpatialRelation(params.spatialRelationship)
    }
    guard let pattern = params.relation.flatMap(IntersectionPattern.init) else {
      throw RPCError(
        .invalidParams, "The relationship relate needs a pattern.", path: "/params/relation",
        expected: "nine of T, F, *, 0, 1 and 2")
    }
    return .relate(pattern)
  }
}

extension SpatialRelation {
  /// The relation without a pattern; `relate`, which needs one, becomes `intersects`.
  init(_ relationship: FeatureProtocol.SpatialRelationship) {
    self =
      switch relationship {
      case .intersects, .relate: .intersects
      case .contains: .contains
      case .crosses: .crosses
      case .within: .within
      case .overlaps: .overlaps
      case .touches: .touches
      case .disjoint: .disjoint
      case .equals: .equals
      case .envelopeIntersects: .envelopeIntersects
      }
  }
}
