// Files of GDAL's formats: sends the features to a writer process in blocks of columns.

import Geometry
import JSONRPC
import Planning
import Platform
import Reading
import WireCoding

struct BlockExport {
  private let export: FeatureExport
  private let fields: ExportFields
  private var job: WriteJob

  init(
    _ export: FeatureExport, _ driver: WriteDriver, named name: String, _ placement: WriteJob.Placement,
    _ rows: ArraySlice<UInt32>, _ share: WorkShare
  ) throws {
    self.export = export
    let shares = share.split(by: 5, 5, 90)
    fields = try ExportFields(export, rows, shares[0])
    let hasGeometry = export.output.selection.geometry
    let limit = export.format.record.fieldLimit - (hasGeometry ? 1 : 0)
    guard fields.all.count <= limit else {
      throw RPCError(
        .invalidParams, "There are \(fields.all.count) fields; \(export.format.rawValue) has at most \(limit).",
        path: "/params/properties", expected: "names of at most \(limit) fields")
    }
    let profile = try GeometryProfile(of: hasGeometry ? rows : [], in: export.output, shares[1])
    let reference = export.output.reference
    let record = export.format.record
    guard let typeName = profile.typeName(record.mixture, declared: export.geometryType) else {
      throw RPCError(
        .invalidGeometry, "\(export.format.rawValue) does not hold geometries of these types together.",
        path: "/params/path", expected: "geometries of \(record.families), or another format")
    }
    let layer = LayerDescription(
      name: record.namesLayers ? name : "features", geometryType: hasGeometry ? typeName : nil,
      fields: fields.all.map(\.field),
      featureCount: nil, extent: nil, spatialReference: reference == .unknown ? nil : reference,
      fidColumn: fields.idName, geometryName: fields.geometryName)
    // Without NaN, all positions lack what some lack.
    let lacks = { record.isTable && $0 == WriteJob.Occurrence.some }
    job = WriteJob(
      driver: driver, layer: layer, z: lacks(profile.z) ? .none : profile.z,
      m: record.isText || lacks(profile.m) ? .none : profile.m,
      // The index of FlatGeobuf has no place for features without a position. Without an index, GDAL 3.6 leaves them out, and
      // writes no file if there are no other features.
      isIndexed: hasGeometry && (record.indexesAll || !profile.hasHoles || !profile.hasPositions))
    job.placement = placement
  }

  func write(
    _ rows: ArraySlice<UInt32>, _ path: String, to file: borrowing AtomicFile, _ sides: [SideFile], _ report: inout ExportReport,
    _ worker: Worker, _ share: WorkShare
  ) throws {
    let scratch = try file.scratch()
    defer { close(scratch) }
    var blocks = ExportBlocks(export, fields, for: job)
    var rest = rows
    let share = share.split(by: 10, 90)[1]
    let (layer, messages) = try worker.readers.write(
      job, to: file.descriptor, scratch: scratch, sides: sides.map(\.descriptor), path: path, isCancelled: { worker.isCancelled },
      next: {
        guard !rest.isEmpty else { return nil }
        try worker.work.awaitTurn(rows.count - rest.count, of: rows.count)
        let block = try blocks.next(&rest, of: rows.count, &report, share)
        guard let block else { throw RPCError(savingTo: path, errno) }
        return block
      })
    for (own, field) in zip(fields.all, layer.fields) { report.note(own, written: field) }
    if let count = layer.featureCount, count < report.count {
      report.add(.init(kind: .features, count: report.count - count))
      report.count = count
    }
    // GDAL warns of numbers that it cuts after the last digit that matters; `differences` has those that it changes.
    report.warnings = export.format.record.isTable ? messages.filter { !$0.contains("not successfully written") } : messages
    report.layerName = layer.name
    if job.layer.geometryType != nil, !job.isIndexed { report.add(.init(kind: .spatialIndex)) }
    let keepsOrder =
      switch export.format.record.order {
      case .given: true
      case .byID: blocks.isByID
      case .byPosition: !job.isIndexed
      }
    if !keepsOrder { report.add(.init(kind: .order)) }
  }
}

extension ExportFormat.Record {
  /// The types of geometries that a layer can hold together, as text.
  fileprivate var families: String {
    guard case .families(let families) = mixture else { return "any types" }
    return families.map { $0.types.sorted().joined(separator: " and ") }.joined(separator: ", or ")
  }
}

extension ExportReport {
  /// Records the differences between a field in the file and the field of the features.
  fileprivate mutating func note(_ own: ExportField, written: Field) {
    let name = own.source.name.string
    if written.name != own.source.name {
      add(.init(kind: .fieldName, field: name, name: written.name.string))
    }
    if written.type != own.source.type || own.isMixed {
      add(.init(kind: .fieldType, field: name, type: written.type.wire))
    }
  }
}
