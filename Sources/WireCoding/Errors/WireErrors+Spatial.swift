// Wire errors of questions about features.

import GeoProtocol
import Geometry
import JSONRPC
import Planning
import SpatialRelations
import Statistics

extension RPCError {
  /// - Parameter path: the JSON Pointer of the constant geometry.
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
    case .tooExpensive:
      self = RPCError(
        .tooExpensive,
        "Segments cross so often, or positions or parts are so many, that computing a result would hold all other requests up.")
    case .tooManyPositions(let feature):
      let whose = feature.map { " around feature \($0)" } ?? ""
      self = RPCError(
        .outOfRange, "An area\(whose) would have more than \(Geometry.mostPositions) positions.",
        expected: "geometries with fewer parts, or another distance")
    case .engineFailed(let signal, let feature):
      let whose = feature.map { " for feature \($0)" } ?? ""
      let how = signal.map { "died (signal \($0))" } ?? "ended, mostly at its limit of memory (`--engine-memory`),"
      self = RPCError(.engineFailed, "The process that computes with geometries \(how) while it computed a result\(whose).")
        .with("signal", signal).with("feature", feature)
    case .unavailable(let reason): self = Self.libraryMissing("GEOS", reason)
    }
  }

  /// - Parameter prefix: the JSON Pointer from which the error's paths start.
  init(_ error: QueryError, at prefix: String) {
    switch error {
    case .invalid(let message, let kind, let path, let expected):
      let kind: ErrorKind =
        switch kind {
        case .value: .invalidParams
        case .geometry: .invalidGeometry
        case .range: .outOfRange
        }
      self = RPCError(kind, message, path: prefix + path, expected: expected)
    case .duplicateName(let name, let path):
      self = RPCError(.duplicateItem, "Records would have \"\(name)\" twice.", path: prefix + path).with("id", name)
    case .resultTooLarge(let limit): self = .resultTooLarge(limit: limit)
    }
  }

  init(_ error: TooManyGroups) {
    self = RPCError(
      .tooManyGroups,
      "There are too many distinct values to group by: group a part of the features, or by other fields."
    ).with("limit", error.limit)
  }
}
