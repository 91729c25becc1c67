// How the points of a layer or overlay are clustered, and how clusters are drawn, labelled and described.

import Clusters
import FeatureStore
import Geometry
import Platform

/// Clustering of points that are dense on the screen.
///
/// Clusters have their own renderer, labels and popup, over ``ClusterAttributes``.
public struct FeatureReduction: Hashable, Sendable {
  public var isEnabled = true
  /// Device-independent pixels.
  public var radius = 60.0
  /// No clusters below this scale denominator; 0 for no limit.
  public var maxScale = 0.0
  public var minSymbolSize = 12.0
  public var maxSymbolSize = 70.0
  /// Attributes of clusters, beside the number of their points.
  public var aggregateFields: [NamedStatistic] = []
  /// Nil for discs without an outline.
  public var renderer: Renderer?
  public var labels: [LabelDefinition] = []
  public var labelsEnabled = false
  /// Nil for no popup.
  public var popup: PopupDefinition?
  public var isPopupEnabled = true

  public init() {}

  /// The last zoom with clusters: a scale of 1:70 on a screen of 96 dpi.
  public static let maxZoom = 22

  public var settings: ClusterSettings { ClusterSettings(radius: radius, maxZoom: Self.maxZoom) }

  /// Whether points are clustered at a scale denominator.
  public func isActive(at scale: Double) -> Bool { isEnabled && scale >= maxScale }

  /// The size of a cluster of `count` points among `total`: grows with the logarithm of `count`, from a cluster of two.
  public func symbolSize(of count: Int, among total: Int) -> Double {
    guard total > 2 else { return minSymbolSize }
    let part = log2(Double(count) / 2) / log2(Double(total) / 2)
    return minSymbolSize + (maxSymbolSize - minSymbolSize) * min(max(part, 0), 1)
  }

  /// Throws if sizes are reversed, names repeat, a layer does not have a field, or a renderer, label or popup is not valid for
  /// the attributes of clusters.
  ///
  /// - Parameter schema: the columns of the features; nil if attributes are not declared.
  public func check(for schema: FeatureSchema?) throws(SymbologyError) {
    guard minSymbolSize <= maxSymbolSize else {
      throw SymbologyError(
        .form, at: ["maxSymbolSize"], expected: "a number not below minSymbolSize", found: "\(maxSymbolSize)")
    }
    try checkFields(for: schema)
    let clusters = ClusterAttributes(aggregateFields, of: schema).schema
    do { try renderer?.check(for: clusters) } catch { throw error.under("renderer") }
    do { try labels.check(for: clusters) } catch { throw error.under("labels") }
    do { try popup?.check(for: clusters) } catch { throw error.under("popup") }
  }

  private func checkFields(for schema: FeatureSchema?) throws(SymbologyError) {
    var names: Set<Text> = [ClusterAttributes.countName]
    for (index, each) in aggregateFields.enumerated() {
      let path = ["aggregateFields", String(index)]
      guard names.insert(each.name).inserted else {
        throw SymbologyError(
          .form, at: path + ["name"], expected: "a name that no other attribute of clusters has",
          found: each.name.string)
      }
      guard !each.kind.needsAllValues else {
        throw SymbologyError(
          .form, at: path + ["type"], expected: "a statistic that is computed without all values",
          found: "median or percentile")
      }
      do { try each.check(for: schema) } catch { throw error.under(path) }
    }
  }
}
