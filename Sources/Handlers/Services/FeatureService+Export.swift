// Handler of `feature/export`.

import GeoModel
import GeoProtocol
import JSONRPC
import Planning
import WireCoding

extension FeatureService {
  package static func export(_ params: Export.Params, in world: inout World) throws -> Plan<Export.Result> {
    let features = try FeatureQuery(params, in: world)
    let format = try ExportFormat(named: params.driver, path: params.path)
    func refuse(_ member: String, of others: String) -> RPCError {
      RPCError(
        .invalidParams, "\(format.rawValue) has no \(member).", path: "/params/\(member)",
        expected: "nothing, or the driver \(others)")
    }
    if params.layerName != nil, !format.record.namesLayers { throw refuse("layerName", of: "`GeoJSON`") }
    if let name = params.layerName, let expected = format.layerNameFault(name) {
      throw RPCError(
        .invalidParams, "\(format.rawValue) has no layer of that name.", path: "/params/layerName", expected: expected)
    }
    if params.csvGeometry != nil, format != .csv { throw refuse("csvGeometry", of: "`CSV`") }
    let reference = try format.reference(
      given: try world.canonical(params.outSpatialReference), own: features.reference)
    var output = try FeatureOutput(params, features, measures: false, in: reference, world)
    let geometryType = params.layer.map { world.layers[ID($0)]?.schema?.geometryType } ?? "Unknown"
    // Tables have no geometry.
    if geometryType == nil { output.selection.geometry = false }
    if format.record.needsGeometry, !output.selection.geometry {
      throw RPCError(
        .noGeometry, "\(format.rawValue) has no features without geometry.", path: "/params/path",
        expected: "another format")
    }
    let export = FeatureExport(
      params: params, output: output, terms: try features.terms(params.orderBy), format: format,
      geometryType: geometryType ?? "Unknown", revision: world.revision)
    return TaskPlan(result: export.run)
  }
}
