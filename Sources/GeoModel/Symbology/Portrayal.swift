// What layers and overlays have in common beyond their appearance: renderer, labels, popup.

import Geometry
import Query
import TextFormatting

/// How the features of a layer or the graphics of an overlay are drawn and told about.
public struct Portrayal: Hashable, Sendable {
  public var renderer: Renderer?
  public var labels: [LabelDefinition] = []
  public var labelsEnabled = false
  public var popup: PopupDefinition?
  public var isPopupEnabled = true

  public init() {}

  /// The labels of a row: none while they are not enabled.
  ///
  /// - Parameters:
  ///   - scale: only those drawn at its denominator; nil for all.
  ///   - conventions: by which texts are made.
  public func boundLabels(scale: Double?, schema: FeatureSchema, by conventions: TextConventions) -> BoundLabels {
    BoundLabels(labelsEnabled ? labels : [], scale: scale, schema: schema, by: conventions)
  }

  /// What is told about a row; nil while nothing is.
  ///
  /// - Parameters:
  ///   - name: the title where neither a definition nor an attribute `title` gives one.
  ///   - conventions: by which texts are made.
  public func popup(
    of row: FeatureRow, schema: FeatureSchema, name: String, by conventions: TextConventions
  ) -> Popup? {
    guard isPopupEnabled else { return nil }
    let made = (popup ?? PopupDefinition()).popup(of: row, schema: schema, by: conventions)
    guard popup?.title == nil else { return made }
    // The attribute is simplestyle's, too.
    let own = schema.column(named: "title").flatMap { row.value($0).shownText(by: conventions) }
    return Popup(title: Text(own ?? name), lines: made.lines)
  }
}
