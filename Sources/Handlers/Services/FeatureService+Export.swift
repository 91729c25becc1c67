// Handlers of `feature/export`, `feature/exportStatistics` and `feature/exportJoin`.

import GeoModel
import GeoProtocol
import JSONRPC
import Planning
import WireCoding

extension FeatureService {
  package static func export(_ params: Export.Params, in world: inout World) throws -> Plan<Export.Result> {
    let export = try fileExport(params, in: &world)
    return TaskPlan { worker in try export.run(worker, WorkShare(worker.work)) }
  }

  static func fileExport(_ params: Export.Params, in world: inout World) throws -> FeatureExport {
    let features = try FeatureQuery(params, in: world)
    let format = try ExportFormat(of: params)
    if params.csvGeometry != nil, format != .csv { throw format.refuse("csvGeometry", of: "`CSV`") }
    let reference = try format.reference(
      given: try world.canonical(params.outSpatialReference), own: features.reference)
    var output = try FeatureOutput(params, features, measures: false, in: reference, cuts: format.record.isText, world)
    let geometryType = params.layer.map { world.layers[ID($0)]?.schema?.geometryType } ?? "Unknown"
    // Tables have no geometry.
    if geometryType == nil { output.selection.geometry = false }
    try format.check(hasGeometry: output.selection.geometry)
    return FeatureExport(
      params: params, output: output, terms: try features.terms(params.orderBy), format: format,
      geometryType: geometryType ?? "Unknown", revision: world.revision)
  }

  package static func exportStatistics(
    _ params: ExportStatistics.Params, in world: inout World
  ) throws -> Plan<ExportStatistics.Result> {
    let query = try statistics(params, in: world)
    let table = try TableExport(params, world)
    let (offset, limit) = (params.offset, params.limit ?? .max)
    return TaskPlan { worker in
      let result = try table.run(worker) { share in
        let page = try query.page(offset: offset, limit: limit, share)
        var rows = TableRows(zip(query.names, query.types).map { ($0, $1) })
        for (index, number) in page.numbers.enumerated() {
          if index & 255 == 0 { try share.work?.checkCancelled() }
          try rows.append(page.groups[number].values + page.groups[number].results)
        }
        return (try rows.store(), page.exceeded)
      }
      return .init(
        revision: result.revision, path: result.path, driver: result.driver, layerName: result.layerName,
        count: result.count, exceededLimit: result.exceededLimit, bytes: result.bytes, differences: result.differences,
        warnings: result.warnings, lost: result.lost)
    }
  }

  package static func exportJoin(
    _ params: ExportJoin.Params, in world: inout World
  ) throws -> Plan<ExportJoin.Result> {
    let plan = try JoinPlan(params, in: world)
    let names = plan.fields.map(\.0)
    let (list, own) = plan.columns.map { ("joinProperties", $0.count) } ?? ("aggregates", plan.aggregates.count)
    try QueryError.checkNames(names) { "/\(list)/\($0 - (names.count - own))" }
    let table = try TableExport(params, world)
    let page = JoinPlan.Page(offset: params.offset, limit: params.limit ?? .max)
    return TaskPlan { worker in
      let result = try table.run(worker) { share in try plan.table(page, share) }
      return .init(
        revision: result.revision, path: result.path, driver: result.driver, layerName: result.layerName,
        count: result.count, exceededLimit: result.exceededLimit, bytes: result.bytes, differences: result.differences,
        warnings: result.warnings, lost: result.lost)
    }
  }
}

extension ExportFormat {
  /// The format of a request, in which a layer can be called and placed as the request wants.
  init(of params: some FeatureProtocol.ExportFile) throws(RPCError) {
    let format = try ExportFormat(named: params.driver, path: params.path)
    if params.layerName != nil, !format.record.namesLayers { throw format.refuse("layerName", of: "`GeoJSON`") }
    if let name = params.layerName, let expected = format.layerNameFault(name) {
      throw RPCError(
        .invalidParams, "\(format.rawValue) has no layer of that name.", path: "/params/layerName", expected: expected)
    }
    if params.ifExists == .addLayer || params.ifExists == .replaceLayer, !format.record.addsLayers {
      throw RPCError(
        .invalidParams, "\(format.rawValue) has no layers to add one to.", path: "/params/ifExists",
        expected: "`error` or `replace`, or the driver `GPKG`")
    }
    self = format
  }

  func refuse(_ member: String, of others: String) -> RPCError {
    RPCError(
      .invalidParams, "\(rawValue) has no \(member).", path: "/params/\(member)",
      expected: "nothing, or the driver \(others)")
  }

  func check(hasGeometry: Bool) throws(RPCError) {
    guard record.needsGeometry, !hasGeometry else { return }
    throw RPCError(
      .noGeometry, "\(rawValue) has no features without geometry.", path: "/params/path", expected: "another format")
  }
}
