// The box around the features that a question is about, in a reference of choice.

import GeoModel
import Geometry
import JSONRPC
import Query

extension FeatureQuery {
  /// How many they are, and the box around them as they are in `target`; nil when none has a place.
  func extent(
    in target: SpatialReference, _ transformer: any CoordinateTransformer, _ part: WorkShare
  ) throws -> (count: Int, box: Envelope?) {
    if isAll, target == reference { return (store.count, store.extent) }
    let isMoved = target != reference
    let parts = part.divided(by: max(effort, 1), store.count * (isMoved ? Self.transforming : 1))
    let rows = try rows(parts[0])
    if !isMoved {
      var box = Envelope.none
      for (place, row) in rows.enumerated() {
        if place.isMultiple(of: 1 << 12) { try parts[1].check(place, of: rows.count) }
        if let own = store[row]?.envelope { box.include(own) }
      }
      return (rows.count, box.isNone ? nil : box)
    }
    var extent = try ProjectedExtent(from: reference, to: target, transformer)
    // A call for each feature would cost more than what it does.
    for start in stride(from: 0, to: rows.count, by: 1024) {
      try parts[1].check(start, of: rows.count)
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
      // Once more one by one, to say which.
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
  mutating func append(xy positions: Positions) {
    let stride = positions.stride
    guard stride > 2 else {
      append(contentsOf: positions.values)
      return
    }
    for place in Swift.stride(from: 0, to: positions.values.count, by: stride) {
      append(positions.values[place])
      append(positions.values[place + 1])
    }
  }
}
