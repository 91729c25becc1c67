// The renderer, labels and popup that layers and overlays share.

import FeatureStore
import Geometry
import TextFormatting

/// How the features of a layer or the graphics of an overlay are drawn, labelled and described in popups.
public struct Portrayal: Hashable, Sendable {
  public var renderer: Renderer?
  public var labels: [LabelDefinition] = []
  public var labelsEnabled = false
  public var popup: PopupDefinition?
  public var isPopupEnabled = true
  public var featureReduction: FeatureReduction?

  public init() {}

  /// The labels of a row; none if labels are disabled.
  ///
  /// - Parameters:
  ///   - scale: only labels that are drawn at this denominator; nil for all.
  ///   - conventions: for formatting.
  public func boundLabels(scale: Double?, schema: FeatureSchema, by conventions: TextConventions) -> BoundLabels {
    BoundLabels(labelsEnabled ? labels : [], scale: scale, schema: schema, by: conventions)
  }

  /// The popup of a row; nil if popups are disabled.
  ///
  /// - Parameters:
  ///   - name: the title if there is neither a definition nor an attribute `title`.
  ///   - conventions: for formatting.
  public func popup(
    of row: FeatureRow, schema: FeatureSchema, name: String, by conventions: TextConventions
  ) -> Popup? {
    guard isPopupEnabled else { return nil }
    let made = (popup ?? PopupDefinition()).popup(of: row, schema: schema, by: conventions)
    guard popup?.title == nil else { return made }
    // simplestyle has a property `title`, too.
    let own = schema.column(named: "title").flatMap { row.value($0).shownText(by: conventions) }
    return Popup(title: Text(own ?? name), lines: made.lines)
  }
}
