// Writes the features of a query to a file, which appears only when it is complete.

import FeatureStore
import Files
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform
import Reading
import WireCoding

/// An export that is planned on the loop and run by a worker.
struct FeatureExport: Sendable {
  typealias Params = FeatureProtocol.Export.Params
  typealias Result = FeatureProtocol.Export.Result

  let params: Params
  var output: FeatureOutput
  let terms: [SortTerm]
  let format: ExportFormat
  /// The geometry type of the layer if its features have none; `Unknown` if it is not declared.
  let geometryType: String
  let revision: Int

  /// Maximum number of features between two checkpoints.
  private static let checkInterval = 32

  func run(_ worker: Worker, _ share: WorkShare) throws -> Result {
    let path = try worker.files.path(params.path)
    let target = try worker.files.policy.resolveForWriting(path)
    try checkFree(target)
    let placement = layerPlacement(at: target)
    let shares = share.split(
      by: output.features.effort, (FeatureQuery.writeCost + output.changeCost) * output.features.effort)
    let found = try output.page(terms, offset: params.offset, limit: params.limit ?? .max, shares[0])
    var made = self
    made.output = found.output
    let sides = try format.sideNames(of: target).map { side in
      try checkFree(side)
      return try SideFile(replacing: side)
    }
    let file = try AtomicFile.begin(replacing: target)
    let earlier = placement == .create ? nil : try file.copy(target, checking: worker.work.checkCancelled)
    var report = ExportReport()
    if !format.record.keepsIDs { report.add(.init(kind: .ids)) }
    let name = params.layerName ?? format.layerName(ofFile: path.stemAndExtension.stem)
    try made.write(found.page, named: name, placement, path, to: file, sides, &report, worker, shares[1])
    let (bytes, lost) = (sides.reduce(file.size) { $0 + $1.size }, sides.reduce(file.lost) { $0 + $1.lost })
    if let earlier, target.identity != earlier { throw ReadError.changedWhileRead(path: path) }
    try worker.work.awaitTurn(found.page.count, of: found.page.count)
    for side in sides { try side.commit(replaces: params.ifExists == .replace, for: worker) }
    try file.commit(replaces: params.ifExists != .error, for: worker)
    for index in format.indexNames(of: target) { index.unlink() }
    return result(path, name, report, bytes: bytes, lost, exceeded: found.exceeded)
  }

  private func checkFree(_ target: HeldName) throws(RPCError) {
    guard let identity = target.identity else { return }
    guard identity.kind == .regular else {
      throw RPCError(.notAFile, "\(target.path) is not a regular file.", path: target.path, expected: "a file")
    }
    switch params.ifExists {
    case .error where format.record.addsLayers:
      throw RPCError(fileExists: target.path, unless: "ifExists: addLayer, replaceLayer, or replace for the whole file")
    case .error: throw RPCError(fileExists: target.path)
    case .replace, .addLayer, .replaceLayer: break
    }
    // SQLite would take a journal of the old file for one of the new file.
    for journal in ["-wal", "-journal"] where target.sibling(target.name + journal).identity.map({ $0.size > 0 }) ?? false {
      let reason = "a program has it open as a database: \(target.name + journal) lies beside it"
      throw RPCError(.saveFailed, "\(target.path) cannot be replaced: \(reason).", path: target.path).with("reason", reason)
    }
  }

  private func layerPlacement(at target: HeldName) -> WriteJob.Placement {
    guard target.identity != nil else { return .create }
    return switch params.ifExists {
    case .error, .replace: .create
    case .addLayer: .addLayer
    case .replaceLayer: .replaceLayer
    }
  }

  func write(
    _ rows: ArraySlice<UInt32>, named name: String, _ placement: WriteJob.Placement, _ path: String,
    to file: borrowing AtomicFile, _ sides: [SideFile], _ report: inout ExportReport, _ worker: Worker, _ share: WorkShare
  ) throws {
    switch format.record.writer {
    case .geoJSON:
      var text = GeoJSONText(self, name: name)
      try text.write(rows, to: file, &report, share)
    case .geoJSONSeq:
      let separators = path.stemAndExtension.extension == "geojsons"
      var text = GeoJSONText(self, separators: separators)
      try text.write(rows, to: file, &report, share)
    case .csv:
      let shares = share.split(by: 1, 9)
      var text = try CSVText(self, rows, shares[0])
      try text.write(rows, to: file, &report, shares[1])
    case .process(let driver):
      let blocks = try BlockExport(self, driver, named: name, placement, rows, share)
      try blocks.write(rows, path, to: file, sides, &report, worker, share)
    }
  }

  private func result(
    _ path: String, _ name: String, _ report: ExportReport, bytes: Int, _ lost: [FileAttribute], exceeded: Bool
  ) -> Result {
    let hasGeometry = output.selection.geometry
    var differences = report.differences
    let isPlaced = params.envelope != nil || params.geometry != nil || params.whereClause != nil || params.computedFields != nil
    let isMistaken = params.spatialReference != nil && params.outSpatialReference == nil && !isPlaced
    let warnings = (isMistaken ? ["spatialReference is of no geometry here; outSpatialReference is that of the file."] : []) + report.warnings
    if hasGeometry, !format.states(output.reference) || format == .shapefile && !output.isInEsrisDialect { differences.append(.init(kind: .spatialReference)) }
    return Result(
      revision: revision, path: path, driver: format.rawValue,
      layerName: format.record.namesLayers ? report.layerName ?? name : nil,
      count: report.count, exceededLimit: exceeded, bytes: bytes,
      spatialReference: hasGeometry ? output.reference.definition : nil, geometryFields: report.geometryFields,
      differences: differences.isEmpty ? nil : differences, failed: report.failed.isEmpty ? nil : report.failed,
      failedCount: report.failedCount > 0 ? report.failedCount : nil,
      warnings: warnings.isEmpty ? nil : warnings,
      lost: lost.isEmpty ? nil : lost.map(\.wire))
  }

  // MARK: Features

  /// Calls `body` with each feature and its geometry in the file's reference.
  func forEach(
    in rows: ArraySlice<UInt32>, _ report: inout ExportReport, _ share: WorkShare,
    _ body: (FeatureRow, FeatureWriter.Shape, inout ExportReport) throws -> Void
  ) throws {
    let check = { try share.work?.checkCancelled() ?? () }
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: Self.checkInterval) {
        try share.checkpoint(index, of: rows.count)
        try share.work?.awaitTurn(index, of: rows.count)
      }
      guard let feature = output.features.store[row] else { continue }
      var failed: [FeatureOutput.Failure] = []
      let shape = try output.shape(of: row, index, &failed, checking: check)
      if !failed.isEmpty { report.add(failed) }
      try body(feature, shape, &report)
      report.count += 1
    }
  }
}

extension FeatureRow {
  /// The geometry to be written; nil for a packed point (see ``point``), and if there is none.
  func geometry(_ shape: FeatureWriter.Shape) -> Geometry? {
    switch shape {
    case .own: point == nil ? geometry : nil
    case .given(let geometry): geometry
    }
  }
}
