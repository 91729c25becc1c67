// Wire errors of spatial references, transformations and notations of coordinates.

import GeoProtocol
import Geometry
import GridReferences
import JSONRPC

extension RPCError {
  /// Converts an error without params in which its subject could be searched.
  package init(_ error: TransformError) { self.init(error, ErrorPlace(root: nil, prefix: "")) }

  /// What is expected of coordinates in degrees.
  static let latitudes =
    "latitudes in -90...90 as y, after the longitude; or, for metres, the spatial reference that the coordinates have"

  init(_ error: TransformError, _ place: ErrorPlace) {
    switch error {
    case .unknownReference(let name, let reason):
      self.init(
        .unknownSpatialReference, "There is no spatial reference \"\(name.prefix(200))\": \(reason).",
        path: place.path(toText: name), expected: "an authority code such as EPSG:4326, WKT, PROJJSON or a PROJ string")
    case .noOperation(let source, let target):
      self = RPCError(
        .transformFailed, "There is no transformation from \(source) to \(target).",
        path: place.path(toText: source, target)
      ).with("source", source).with("target", target)
    case .outsideDomain(let index, let source, let target, let latitude):
      let reason = latitude.map { ": its y, \($0.jsonText), is no latitude." }
      self = RPCError(
        .transformFailed, "Position \(index) has no coordinates in \(target)\(reason ?? ".")",
        path: place.path(toPosition: index), expected: latitude == nil ? nil : Self.latitudes
      ).with("index", index).with("source", source).with("target", target)
    case .noHeightDatum(let name):
      self.init(
        .noHeightDatum, "It is not known what heights of \(name.prefix(200)) are above.", path: place.path(toText: name),
        expected: "a vertical reference such as EPSG:5773, or EPSG:4979 for the ellipsoid; `assumedVerticalReference` for files that do not say")
    case .gridMissing(let source, let target, let grids):
      self = RPCError(
        .gridMissing, "PROJ lacks grids for \(source.prefix(200)) to \(target.prefix(200)): \(grids.joined(separator: ", ")).",
        path: place.path(toText: target)
      ).with("grids", grids)
    case .unknownTransformation(let name, let source, let target, let isElsewhere):
      self = RPCError(
        .unknownTransformation,
        "The transformation \(name.prefix(200)) is not one of those from \(source.prefix(200)) to \(target.prefix(200)), or not in the area.",
        path: place.path(toText: name), expected: "a name or code of geometry/listTransformations"
      ).with("source", source).with("target", target).with("elsewhere", isElsewhere)
    case .unavailable(let reason): self = Self.libraryMissing("PROJ", reason)
    }
  }
  /// - Parameter prefix: the JSON Pointer of the text; of the params if there is none.
  init(_ error: NotationError, at prefix: String) {
    switch error.kind {
    case .malformed, .outside, .ambiguous:
      let place = error.offset.map { " at offset \($0)" } ?? ""
      self = RPCError(.invalidCoordinates, "Expected \(error.expected)\(place).", path: prefix, expected: error.expected)
        .with("offset", error.offset)
    case .uncovered:
      self.init(.outOfRange, "Expected \(error.expected).", path: prefix + "/geometry", expected: error.expected)
    }
  }
}
