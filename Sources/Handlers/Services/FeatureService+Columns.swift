// Answers of `feature/query` in columns.

import FeatureStore
import GeoProtocol
import JSONRPC
import Planning
import WireCoding

extension FeatureService {
  /// Text size at which columns end, in bytes. The client reads one part of this size while the next one is made.
  private static let partBytes = 16 << 20

  /// Text size after which a checkpoint follows, in bytes.
  private static let checkBytes = 1 << 18

  /// Sets the columns of a page, up to the feature that fills a part.
  ///
  /// - Returns: the number of rows read for them.
  static func setColumns(
    of result: inout FeatureProtocol.Query.Result, _ page: ArraySlice<UInt32>, _ geometries: [FeatureWriter.Shape]?,
    _ output: FeatureOutput, _ share: WorkShare
  ) throws -> Int {
    let store = output.features.store
    var writer = FeatureColumnsWriter(store.schema, output.selection)
    var count = page.count
    var checked = 0
    for (index, row) in page.enumerated() {
      // A checkpoint costs as much as a point.
      if index.isMultiple(of: 64) || writer.byteCount > checked + checkBytes {
        try share.checkpoint(index, of: page.count)
        checked = writer.byteCount
      }
      guard let feature = store[row] else { continue }
      writer.append(feature, geometries?[index] ?? .own)
      guard writer.byteCount > partBytes else { continue }
      if let limit = share.work?.resultBytes, writer.byteCount > limit { throw RPCError.resultTooLarge(limit: limit) }
      count = index + 1
      result.exceededLimit = result.exceededLimit || count < page.count
      break
    }
    result.fields = output.fields
    result.columns = writer.columns()
    return count
  }
}
