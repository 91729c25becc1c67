// Handlers of `source/*`. Opening is a task that reads the schema.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Reading
import WireCoding

package enum SourceService: SourceHandlers {
  /// Maximum nesting of inline data. Documents add levels of their own, and must be readable as well.
  private static let inlineDepthLimit = 1_024

  package static func open(_ params: Open.Params, in world: inout World) throws -> Plan<JSONOpaque> {
    let id = params.id.map { SourceID($0) }
    if let driver = params.driver, FeatureDriver(rawValue: driver) == nil {
      throw RPCError(
        .unknownFormat, "There is no driver \"\(driver)\".", path: "/params/driver",
        expected: FeatureDriver.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "))
    }
    if (params.xField == nil) != (params.yField == nil) {
      throw RPCError(
        .invalidParams, "xField and yField are required together.",
        path: "/params/\(params.xField == nil ? "xField" : "yField")",
        expected: "string")
    }
    if params.zField != nil, params.xField == nil {
      throw RPCError(
        .invalidParams, "zField is the elevation of positions in xField and yField.", path: "/params/xField", expected: "string")
    }
    let reference = try world.canonical(params.spatialReference)
    if params.override, reference == nil {
      throw RPCError(
        .invalidParams, "override is about spatialReference.", path: "/params/spatialReference", expected: "string")
    }
    return try plan(id: id, params.ifExists, in: &world) { files in
      var file = FileOrigin(opening: try files.path(params.path))
      (file.driver, file.xField, file.yField, file.zField) = (params.driver, params.xField, params.yField, params.zField)
      (file.encoding, file.reference, file.overrides) = (params.encoding, reference, params.override)
      return .file(file)
    }
  }

  package static func openInline(_ params: OpenInline.Params, in world: inout World) throws -> Plan<JSONOpaque> {
    let id = params.id.map { SourceID($0) }
    let reference = try world.canonical(params.spatialReference)
    if let columns = params.columns {
      guard params.data == nil else { throw ModelError.oneOf(["data", "columns"]) }
      let fields = (params.fields ?? []).map(Wire.field)
      // Attributes are members of JSON objects, in documents and results.
      if let index = fields.firstIndex(where: { $0.name.string.utf8.contains(0) }) {
        let path = "/params/fields/\(index)/name"
        throw RPCError(.invalidParams, "The name at \(path) contains NUL.", path: path, expected: "a name without NUL")
      }
      try QueryError.checkNames(fields.map(\.name.string)) { "/fields/\($0)/name" }
      return try plan(id: id, params.ifExists, in: &world) { _ in
        .columns(try ColumnSources.data(columns, fields: fields, in: reference, at: "/columns"))
      }
    }
    guard let value = params.data?.value, value.kind == .object else {
      throw RPCError(
        .invalidParams, "Expected a GeoJSON object at /params/data.", path: "/params/data", expected: "a GeoJSON object"
      )
    }
    guard value.depth <= inlineDepthLimit else {
      throw RPCError(
        .invalidParams, "The data at /params/data nest too deep.", path: "/params/data",
        expected: "GeoJSON with at most \(inlineDepthLimit) levels of arrays and objects")
    }
    try checkGeometries(in: value)
    // A feature alone is left to GDAL, which ends texts at a NUL.
    let isAlone = (try? value["type"].string()) == "Feature" && !value["crs"].isPresent
    let bytes = Array((isAlone ? #"{"type":"FeatureCollection","features":[\#(value.jsonText)]}"# : value.jsonText).utf8)
    return try plan(id: id, params.ifExists, in: &world) { _ in .inline(bytes, reference: reference) }
  }

  /// Readers take a geometry that they do not understand for none.
  private static func checkGeometries(in data: JSONValue) throws(JSONError) {
    let features = data["features"]
    if features.kind == .array {
      for index in 0..<features.count { try checkGeometry(features[index]["geometry"]) }
    } else {
      let isBare = data["coordinates"].isPresent || data["geometries"].isPresent
      try checkGeometry(isBare ? data : data["geometry"])
    }
  }

  private static func checkGeometry(_ geometry: JSONValue) throws(JSONError) {
    guard geometry.isPresent else { return }
    try geometry.requireObject()
    let depth: Int
    switch try geometry["type"].string() {
    case "Point": depth = 0
    case "MultiPoint", "LineString": depth = 1
    case "Polygon", "MultiLineString": depth = 2
    case "MultiPolygon": depth = 3
    case "GeometryCollection":
      let parts = geometry["geometries"]
      try parts.requireArray()
      for index in 0..<parts.count { try checkGeometry(parts[index]) }
      return
    default: throw geometry["type"].error(expected: "a type of GeoJSON's geometries")
    }
    try checkCoordinates(geometry["coordinates"], depth)
  }

  private static func checkCoordinates(_ list: JSONValue, _ depth: Int) throws(JSONError) {
    try list.requireArray()
    guard depth == 0 else {
      for index in 0..<list.count { try checkCoordinates(list[index], depth - 1) }
      return
    }
    // An empty position is that of an empty point.
    guard list.count != 1 else { throw list.error(expected: "a position of at least two numbers") }
    for index in 0..<min(list.count, 3) { _ = try list[index].double() }
  }

  private static func plan(
    id: SourceID?, _ ifExists: SessionProtocol.IfExists, in world: inout World,
    _ origin: @escaping @Sendable (FilePaths) throws -> SourceOrigin
  ) throws -> Plan<JSONOpaque> {
    if ifExists == .reuse, let source = id.flatMap({ world.sources[$0] }) {
      return TaskPlan { worker in
        let origin = try origin(worker.files)
        return { world in
          try world.checkReuse(of: source, matches(source.origin, origin))
          return Wire.object(source, world)
        }
      }
    }
    try world.checkFree(id, ifExists)
    return TaskPlan(.openSource) { worker in
      let origin = try origin(worker.files)
      let (driver, layers, warnings) = try schema(of: origin, worker) { worker.work.report($0) }
      return { world in
        // Another request may have opened it while this task ran.
        let existing = try world.existing(id?.rawValue, ifExists, Source.self) { source, _ in
          matches(source.origin, origin)
        }
        if let existing { return Wire.object(existing, world) }
        let source = try world.addSource(id: id, driver: driver, origin: origin, layers: layers, warnings: warnings)
        return Wire.object(source, world)
      }
    }
  }

  /// Whether a source has the origin that params ask for. Data in them are values, which need not be equal.
  private static func matches(_ old: SourceOrigin, _ new: SourceOrigin) -> KeyValuePairs<String, Bool> {
    switch (old, new) {
    case (.file(let old), .file(let new)):
      [
        "path": Text(old.path) == Text(new.path), "driver": old.driver == new.driver,
        "xField": old.xField == new.xField, "yField": old.yField == new.yField, "zField": old.zField == new.zField,
        "encoding": old.encoding == new.encoding,
        "spatialReference": old.reference == new.reference, "override": old.overrides == new.overrides,
      ]
    case (.inline(_, let old), .inline(_, let new)): ["spatialReference": old == new]
    case (.columns(let old), .columns(let new)):
      ["fields": old.layer.fields == new.layer.fields, "spatialReference": old.reference == new.reference]
    case (_, .file): ["path": false]
    case (_, .inline): ["data": false]
    case (_, .columns): ["columns": false]
    }
  }

  /// Reads the layers and fields of a source. Runs on a worker; `progress` gets the finished fraction.
  package static func schema(
    of origin: SourceOrigin, _ worker: Worker, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> (driver: String, layers: [SourceLayer], warnings: [String]) {
    if case .columns(let data) = origin { return ("inline", [data.layer], []) }
    let (source, options) = FeatureLoading.source(origin)
    let description: SourceDescription
    var isInline = false
    if case .inline = origin { isInline = true }
    do {
      description = try worker.readers.describe(
        source, options: options, policy: worker.files.policy, isCancelled: { worker.isCancelled },
        progress: progress)
    } catch {
      guard isInline, case .unrecognized(let path) = error else { throw error }
      // Inline data can only be GeoJSON, so an unknown format is invalid GeoJSON.
      throw ReadError.openFailed(driver: FeatureDriver.geoJSON.rawValue, path: path, reason: "it is not GeoJSON")
    }
    let layers = description.layers.map { layer($0, of: origin) }
    let warnings = description.warnings + description.layers.compactMap { warning(of: $0, of: origin) }
    return (isInline ? "inline" : description.driver.rawValue, layers, warnings)
  }

  /// A warning about a layer's spatial reference: that it was assumed, or differs from the given one.
  private static func warning(of layer: LayerDescription, of origin: SourceOrigin) -> String? {
    guard layer.geometryType != nil, case .file(let file) = origin else { return nil }
    switch (layer.spatialReference, file.reference) {
    case (let stated?, let given?) where stated != given:
      let stated = "The layer \(layer.name) is in \(stated.definition) by the file"
      return file.overrides
        ? "\(stated), which is ignored; \(given.definition) is used." : "\(stated); \(given.definition) is ignored."
    case (nil, nil):
      let consequence = file.isInDegrees ? "EPSG:4326 is assumed" : "it is unknown until `spatialReference` says it"
      return "The file does not state the spatial reference of the layer \(layer.name); \(consequence)."
    default: return nil
    }
  }

  package static func layer(_ layer: LayerDescription, of origin: SourceOrigin) -> SourceLayer {
    let reference =
      switch origin {
      // The request takes precedence over the obsolete `crs` member of GeoJSON.
      case .inline(_, let given): given ?? layer.spatialReference
      case .columns(let data): data.reference
      case .file(let file): file.reference(stated: layer.spatialReference)
      }
    return SourceLayer(
      name: layer.name, geometryType: layer.geometryType, featureCount: layer.featureCount, extent: layer.extent,
      reference: reference, fields: layer.fields, geometryName: layer.geometryName)
  }

  package static func addColumns(_ params: AddColumns.Params, in world: inout World) throws -> Answer<AddColumns.Result>
  {
    _ = try world.sources.require(ID(params.source))
    let (batch, type) = try ColumnSources.batch(params.columns, at: "/columns")
    let added = try world.addFeatures(batch, of: type, to: ID(params.source))
    return { .init(revision: $0.revision, firstId: added.firstID, count: added.count) }
  }
}
