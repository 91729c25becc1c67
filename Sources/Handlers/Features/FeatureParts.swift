// Results of queries in parts: each part is written after the client has read the previous one.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

/// The parts of one result of `feature/query`. All have the same revision.
struct FeatureParts: Sendable {
  typealias Result = FeatureProtocol.Query.Result
  typealias Part = FeatureProtocol.Query.Part

  let output: FeatureOutput
  let format: FeatureProtocol.FeatureFormat
  let revision: Int
  /// Maximum length of a part's text, in bytes, so that the message stays within 1 MiB.
  var bytes = (1 << 20) - 1024

  /// The step that makes the first part of `rows`.
  ///
  /// - Parameter share: the share of the worker's progress for all parts.
  func next(
    _ rows: ArraySlice<UInt32>, of count: Int, _ share: WorkShare, _ end: @escaping Plan<Result>.Finish
  ) throws -> Plan<Result>.Step {
    guard !rows.isEmpty else { return .last(end) }
    try share.checkpoint(count - rows.count, of: count)
    let (part, written) = try part(rows, of: count, share)
    let rest = rows.dropFirst(written)
    return .part(part.made(isAttaching: share.work?.isAttaching ?? false)) { _ in try next(rest, of: count, share, end) }
  }

  /// The next part of `rows`.
  ///
  /// - Returns: also the number of rows in it, at least one if there are any.
  func part(_ rows: ArraySlice<UInt32>, of count: Int, _ share: WorkShare) throws -> (part: Part, count: Int) {
    var part = Part(revision: revision, spatialReference: output.reference.definition)
    var failed: [FeatureOutput.Failure] = []
    let written: Int
    switch format {
    case .geojson: written = try setFeatures(of: &part, rows, &failed, share)
    case .columns:
      if rows.count == count { part.fields = output.fields }
      written = try setColumns(of: &part, rows, &failed, share)
    }
    if !failed.isEmpty { part.failed = failed.map(\.feature) }
    return (part, written)
  }

  /// - Returns: the number of rows in the part, at least one.
  private func setFeatures(
    of part: inout Part, _ rows: ArraySlice<UInt32>, _ failed: inout [FeatureOutput.Failure], _ share: WorkShare
  ) throws -> Int {
    let (store, limit) = (output.features.store, share.work?.resultBytes ?? .max)
    let check = { try share.work?.checkCancelled() ?? () }
    var text: [UInt8] = []
    var writer = JSONWriter(capacity: 4096)
    var (count, failureBytes) = (0, 0)
    for (index, row) in rows.enumerated() {
      try check()
      let known = failed.count
      let shape = try output.shape(of: row, index, &failed, checking: check)
      if let feature = store[row] {
        writer.truncate(to: 0)
        try FeatureWriter.writeFeature(
          feature, store.schema, output.selection, shape, to: &writer, checkpoint: check)
        guard writer.count <= limit else { throw RPCError.resultTooLarge(limit: limit) }
        failureBytes += failed.count > known ? failed[known].textBytes : 0
        if !text.isEmpty, text.count + writer.count + failureBytes > bytes {
          failed.removeSubrange(known...)
          break
        }
        text.append(UInt8(ascii: text.isEmpty ? "[" : ","))
        text.append(contentsOf: writer.bytes)
      }
      count = index + 1
    }
    if text.isEmpty { text = [UInt8(ascii: "[")] }
    text.append(UInt8(ascii: "]"))
    let array = text
    part.features = .written { writer in array.withUnsafeBytes { writer.raw($0) } }
    return count
  }

  /// - Returns: the number of rows in the part, at least one.
  private func setColumns(
    of part: inout Part, _ rows: ArraySlice<UInt32>, _ failed: inout [FeatureOutput.Failure], _ share: WorkShare
  ) throws -> Int {
    let store = output.features.store
    let check = { try share.work?.checkCancelled() ?? () }
    var most = rows.count
    while true {
      var writer = FeatureColumnsWriter(store.schema, output.selection)
      failed = []
      var count = 0
      for (index, row) in rows.prefix(most).enumerated() {
        try check()
        guard let feature = store[row] else { continue }
        writer.append(feature, try output.shape(of: row, index, &failed, checking: check))
        count = index + 1
        // Stops below the limit, since the size of columns is an estimate.
        if writer.byteCount > bytes * 7 / 8 { break }
      }
      part.columns = writer.columns()
      part.failed = failed.isEmpty ? nil : failed.map(\.feature)
      let size = part.text.count
      if let limit = share.work?.resultBytes, size > limit, count == 1 { throw RPCError.resultTooLarge(limit: limit) }
      guard size > bytes, count > 1 else { return min(max(count, 1), rows.count) }
      // The estimate was too low because of a large last feature or many fields, so fewer rows are tried.
      most = count * 7 / 8 == count ? count - 1 : max(count * 7 / 8, 1)
    }
  }
}

extension FeatureOutput.Failure {
  /// Approximate length of the failure in the message.
  fileprivate var textBytes: Int { feature.reason.utf8.count + 48 }
}

extension JSONEncodable {
  /// The value as JSON text.
  var text: [UInt8] {
    var writer = JSONWriter(capacity: 1 << 16)
    encode(to: &writer)
    return [UInt8](writer.bytes)
  }
}
