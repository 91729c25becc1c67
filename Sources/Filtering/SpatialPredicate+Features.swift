// Finds features of a store that have a spatial relation to a constant geometry.

import FeatureStore
import Geometry
import Sorting
import SpatialRelations

extension SpatialPredicate {
  /// Whether a feature has the relation. Nil, unknown, if it has no geometry, or a collection of mixed dimensions for which the
  /// relation is not defined.
  public func holds(for row: FeatureRow) throws(SpatialError) -> Bool? {
    if let point = row.point { return try holds(x: point.x, y: point.y) }
    guard let geometry = row.geometry else { return nil }
    do throws(SpatialError) { return try holds(for: geometry, in: row.envelope) } catch { throw error.of(row.id) }
  }

  /// The rows of the features with the relation, in the given order.
  ///
  /// - Parameter check: called every few hundred microseconds, except during one large geometry.
  public func filter(
    _ rows: [UInt32], of store: FeatureStore, checking check: CancellationCheck
  ) throws -> [UInt32] {
    var kept: [UInt32] = []
    var work = 0
    for (index, row) in rows.enumerated() {
      guard let feature = store[row] else { continue }
      work += feature.point == nil ? cost.ofOther + feature.weight(withTexts: false) / 8 : cost.ofPoint
      if work > 1 << 14 {
        work = 0
        try check(Double(index) / Double(rows.count))
      }
      if try holds(for: feature) == true { kept.append(row) }
    }
    return kept
  }
}
