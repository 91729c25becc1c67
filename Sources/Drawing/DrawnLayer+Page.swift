// What a layer or an overlay draws, feature by feature, in whole units of Web Mercator.

import FeatureStore
import GeoModel
import Geometry
import Sorting

extension DrawnLayer {
  /// Calls `body` with the features that are drawn, at most `limit`, in drawing order, their geometries in Web Mercator. Points are not clustered.
  ///
  /// - Parameter check: called every few milliseconds.
  /// - Returns: the numbers of features that are left out to keep to the limit, and that have no coordinates there.
  package func forEachMercator(
    limit: Int, _ transformer: any CoordinateTransformer, checking check: CancellationCheck,
    _ body: (DrawnItem, FeatureRow) throws -> Void
  ) throws -> (omitted: Int, failed: Int) {
    let transform = reference == .webMercator ? nil : try MapTransform(from: reference, to: .webMercator, transformer)
    let rows = try drawnRows(in: nil, nil) { try check(0.2 * $0) }
    let shown = try thinned(rows, to: limit) { _ in try check(0.2) }
    var failed = 0
    for (index, row) in shown.enumerated() {
      let done = 0.2 + 0.8 * Double(index) / Double(shown.count)
      if index & 63 == 0 { try check(done) }
      guard let feature = store[row], let item = item(of: feature) else { continue }
      do {
        let geometry = try transform?.drawn(item.geometry) { try check(done) } ?? item.geometry
        try body(item.moved(to: geometry), feature)
      } catch is TransformError { failed += 1 }
    }
    return (rows.count - shown.count, failed)
  }
}

extension DrawnItem {
  fileprivate func moved(to geometry: Geometry) -> DrawnItem {
    DrawnItem(id: id, geometry: geometry, symbol: symbol, labels: labels, selectionColor: selectionColor, cluster: cluster)
  }
}
