// The extent of the features that match a query, in any spatial reference.

import GeoModel
import Geometry
import JSONRPC
import Query

extension FeatureQuery {
  /// The number of matching features and their extent in `target`; nil when none has a geometry.
  func extent(
    in target: SpatialReference, _ transformer: any CoordinateTransformer, _ share: WorkShare
  ) throws -> (count: Int, box: Envelope?) {
    if isAll, target == reference { return (store.count, store.extent) }
    let isMoved = target != reference
    let shares = share.split(by: max(effort, 1), store.count * (isMoved ? Self.transformCost : 1))
    let rows = try rows(shares[0])
    if !isMoved {
      var box = Envelope.none
      for (index, row) in rows.enumerated() {
        if index.isMultiple(of: 1 << 12) { try shares[1].checkpoint(index, of: rows.count) }
        if let own = store[row]?.envelope { box.include(own) }
      }
      return (rows.count, box.isNone ? nil : box)
    }
    var extent = try ProjectedExtent(from: reference, to: target, transformer)
    // Positions of 1024 features are transformed by one call: the call costs more than a position.
    for start in stride(from: 0, to: rows.count, by: 1024) {
      try shares[1].checkpoint(start, of: rows.count)
      try include(rows[start..<min(start + 1024, rows.count)], in: &extent)
    }
    return (rows.count, extent.box)
  }

  private func include(_ rows: ArraySlice<UInt32>, in extent: inout ProjectedExtent) throws {
    var values: [Double] = []
    for row in rows { store[row]?.geometry?.forEachPositions { values.append(xy: $0) } }
    do throws(TransformError) {
      try extent.include(&values)
    } catch {
      // Repeats one by one, so that the error names the feature.
      for row in rows {
        guard let feature = store[row] else { continue }
        var values: [Double] = []
        feature.geometry?.forEachPositions { values.append(xy: $0) }
        do throws(TransformError) { try extent.include(&values) } catch {
          throw RPCError(error).with("feature", feature.id)
        }
      }
    }
  }
}

extension [Double] {
  /// Appends x and y of each position.
  package mutating func append(xy positions: Positions) {
    let stride = positions.stride
    guard stride > 2 else {
      append(contentsOf: positions.values)
      return
    }
    for start in Swift.stride(from: 0, to: positions.values.count, by: stride) {
      append(positions.values[start])
      append(positions.values[start + 1])
    }
  }
}
