// Layers' features as tables of a GeoPackage that becomes part of another file.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

/// The features of a layer within an area, to be written as a table.
package struct PackedTable: Sendable {
  /// The name of the table.
  package let name: String
  private let export: FeatureExport

  /// What was written.
  package struct Report: Sendable {
    package var count = 0
    package var differences: [FeatureProtocol.ExportDifference] = []
    package var warnings: [String] = []
    /// A number of each feature that differs if the feature does, by id.
    package var digests: [(id: Int, digest: UInt64)] = []
  }

  /// - Parameters:
  ///   - area: a geometry in the reference; nil for all features. Rows of tables lie nowhere, and all are taken.
  ///   - world: the filters of the layer are taken off in it.
  package init(
    _ layer: LayerID, table: String, area: JSONOpaque?, in reference: String?, _ world: inout World
  ) throws {
    if try world.layers.require(layer).features?.definitionExpression != nil {
      try world.updateLayer(layer, [MemberChange("definitionExpression", nil)])
    }
    if try world.layers.require(layer).features?.time != nil { try world.updateLayer(layer, [MemberChange("time", nil)]) }
    name = table
    let area = try world.layers.require(layer).features?.isTable == true ? nil : area
    export = try FeatureService.fileExport(
      FeatureExport.Params(
        layer: layer.rawValue, geometry: area, spatialReference: area == nil ? nil : reference, path: "\(layer).gpkg", driver: "GPKG",
        layerName: table), in: &world)
  }

  package var effort: Int { export.output.features.effort }

  /// Adds the table to a GeoPackage.
  ///
  /// - Parameters:
  ///   - path: names the file in errors.
  ///   - isFirst: whether the file is empty.
  package func write(
    to file: borrowing AtomicFile, _ path: String, isFirst: Bool, _ worker: Worker, _ share: WorkShare
  ) throws -> Report {
    let shares = share.split(by: 1, 8, 1)
    let found = try export.output.page([], offset: 0, limit: .max, shares[0])
    var made = export
    made.output = found.output
    var report = ExportReport()
    try made.write(found.page, named: name, isFirst ? .create : .addLayer, path, to: file, [], &report, worker, shares[1])
    var result = Report(count: report.count, differences: report.differences, warnings: report.warnings)
    result.digests.reserveCapacity(found.page.count)
    var writer = JSONWriter(capacity: 1024)
    let store = made.output.features.store
    for (index, row) in found.page.enumerated() {
      if index & 255 == 0 { try shares[2].checkpoint(index, of: found.page.count) }
      guard let feature = store[row] else { continue }
      writer.reset(keeping: 1 << 20)
      FeatureWriter.writeShape(feature, to: &writer)
      FeatureWriter.writeProperties(feature, store.schema, Array(0..<store.schema.count), to: &writer)
      result.digests.append((feature.id, writer.bytes.digest))
    }
    return result
  }
}

extension UnsafeRawBufferPointer {
  /// FNV-1a, the same in every process.
  ///
  /// - Source: RFC 9923.
  fileprivate var digest: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}
