// Wire errors of spatial relations.

import GeoProtocol
import Geometry
import JSONRPC
import SpatialRelations

extension RPCError {
  /// - Parameter path: of the constant geometry.
  package init(_ error: SpatialError, at path: String) {
    switch error {
    case .invalid(let reason, let place):
      let at = place.map { " at \($0.x) \($0.y)" } ?? ""
      self = RPCError(
        .invalidGeometry, "The geometry is invalid: \(reason)\(at).", path: path, expected: "a valid geometry"
      ).with("at", place.map { [$0.x, $0.y] })
    case .mixedCollection:
      self = RPCError(
        .invalidGeometry,
        "Members of the collection differ in dimension: only intersects, disjoint and envelopeIntersects are defined for it.",
        path: path, expected: "points, lines or polygons, not several of these")
    case .refused(let feature, let reason):
      let whose = feature.map { "The geometry of feature \($0)" } ?? "The geometry"
      self = RPCError(.invalidGeometry, "\(whose) cannot be made valid: \(reason).", path: feature == nil ? path : nil)
        .with("feature", feature)
    case .interrupted: self = .cancelled
    case .unavailable(let reason): self = Self.libraryMissing("GEOS", reason)
    }
  }
}
