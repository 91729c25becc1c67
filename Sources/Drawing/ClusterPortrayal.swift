// Symbols, labels and popups of clusters: the rules of a feature reduction, bound to the attributes of clusters.

import FeatureStore
import GeoModel
import Geometry
import TextFormatting

/// The symbols, labels and popups of the clusters of a layer or an overlay at a scale.
///
/// Clusters are evaluated as features: see ``ClusterAttributes``.
package struct ClusterPortrayal: Sendable {
  package let reduction: FeatureReduction
  package let attributes: ClusterAttributes
  private let schema: FeatureSchema
  private let renderer: BoundRenderer
  private let labels: BoundLabels
  private let symbolScale: Double
  private let conventions: TextConventions

  /// - Parameters:
  ///   - schema: the schema of the features.
  ///   - scale: denominator of the scale at which they are drawn.
  ///   - symbolScale: factor by which symbols are enlarged.
  package init(
    _ reduction: FeatureReduction, of schema: FeatureSchema, scale: Double, symbolScale: Double,
    by conventions: TextConventions
  ) {
    (self.reduction, self.symbolScale, self.conventions) = (reduction, symbolScale, conventions)
    attributes = ClusterAttributes(reduction.aggregateFields, of: schema)
    self.schema = attributes.schema
    renderer = BoundRenderer(Self.renderer(of: reduction), schema: self.schema)
    labels = BoundLabels(
      reduction.labelsEnabled ? reduction.labels : [], scale: scale, schema: self.schema, by: conventions)
  }

  private static func renderer(of reduction: FeatureReduction) -> Renderer {
    reduction.renderer ?? Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol()))))
  }

  /// Whether the renderer determines sizes; otherwise they follow from the number of points.
  private var isSizedByRenderer: Bool {
    reduction.renderer?.visualVariables.contains { if case .size = $0.effect { true } else { false } } ?? false
  }

  /// Whether symbols depend on the statistics of clusters.
  var needsStatistics: Bool { reduction.renderer?.fields.isSubset(of: [ClusterAttributes.countName]) == false }

  /// The symbol of a cluster in its drawn size; nil if it is not drawn.
  ///
  /// - Parameter total: the number of all points.
  package func symbol(of cluster: FeatureRow, among total: Int) -> Symbol? {
    guard var symbol = renderer.symbol(of: cluster), symbol.drawsPoints else { return nil }
    if !isSizedByRenderer {
      symbol = symbol.sized(reduction.symbolSize(of: count(of: cluster), among: total))
    }
    return symbol.scaled(by: symbolScale)
  }

  package func count(of cluster: FeatureRow) -> Int {
    if case .integer(let count) = cluster.value(0) { Int(count) } else { 1 }
  }

  /// The labels of a cluster in their drawn size.
  package func labels(of cluster: FeatureRow) -> [Label] {
    labels.labels(of: cluster).map { $0.scaled(by: symbolScale) }
  }

  package var hasLabels: Bool { !labels.isEmpty }

  package var hasPopups: Bool { reduction.isPopupEnabled && reduction.popup != nil }

  /// The popup of a cluster; nil if none is defined.
  package func popup(of cluster: FeatureRow) -> Popup? {
    guard hasPopups else { return nil }
    return reduction.popup?.popup(of: cluster, schema: schema, by: conventions)
  }

  /// An upper bound of the distance from a cluster's position to its drawn symbol, in device-independent pixels.
  var reach: Double {
    let largest =
      isSizedByRenderer ? renderer.largest : renderer.entries.map { $0.symbol.sized(reduction.maxSymbolSize) }
    return largest.map { $0.scaled(by: symbolScale).widestReach }.max() ?? 0
  }
}
