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

  /// What `clear` may name.
  static let clearable = ["renderer", "labels", "popup"]

  func applying(_ update: PortrayalUpdate, clear: [String]) -> Portrayal {
    var new = self
    if let renderer = update.renderer { new.renderer = renderer }
    if let labels = update.labels { new.labels = labels }
    if let labelsEnabled = update.labelsEnabled { new.labelsEnabled = labelsEnabled }
    if let popup = update.popup { new.popup = popup }
    if let isPopupEnabled = update.isPopupEnabled { new.isPopupEnabled = isPopupEnabled }
    if clear.contains("renderer") { new.renderer = nil }
    if clear.contains("labels") { new.labels = [] }
    if clear.contains("popup") { new.popup = nil }
    return new
  }

  static func observed<E>(_ portrayal: @escaping @Sendable (E) -> Portrayal) -> [Observed<E>] {
    [
      Observed(.renderer) { portrayal($0).renderer }, Observed(.labels) { portrayal($0).labels },
      Observed(.labelsEnabled) { portrayal($0).labelsEnabled }, Observed(.popup) { portrayal($0).popup },
      Observed(.isPopupEnabled) { portrayal($0).isPopupEnabled },
    ]
  }

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
    return Popup(title: own ?? name, lines: made.lines)
  }
}

/// Changes to a portrayal; nil leaves alone.
public struct PortrayalUpdate: Sendable {
  public var renderer: Renderer?
  public var labels: [LabelDefinition]?
  public var labelsEnabled: Bool?
  public var popup: PopupDefinition?
  public var isPopupEnabled: Bool?

  public init(
    renderer: Renderer? = nil, labels: [LabelDefinition]? = nil, labelsEnabled: Bool? = nil,
    popup: PopupDefinition? = nil, isPopupEnabled: Bool? = nil
  ) {
    self.renderer = renderer
    self.labels = labels
    self.labelsEnabled = labelsEnabled
    self.popup = popup
    self.isPopupEnabled = isPopupEnabled
  }

  /// Refuses what a layer with these columns could never show.
  func check(for schema: FeatureSchema) throws(SymbologyError) {
    do { try renderer?.check(for: schema) } catch { throw error.under("renderer") }
    for (place, label) in (labels ?? []).enumerated() {
      do { try label.check(for: schema) } catch { throw error.under("labels", String(place)) }
    }
    do { try popup?.check(for: schema) } catch { throw error.under("popup") }
  }
}
