// The table of members of overlays.

import FeatureStore

extension Overlay {
  public static let members: [Member<Overlay>] =
    [
      Member(.view) { $0.view },
      Member(.name, { $0.name }, set: { $0.name = $1 }),
      Member(.spatialReference) { $0.reference },
    ] + appearance + portrayal
    + [
      Member(.selectionColor, { $0.selectionColor }, set: { $0.selectionColor = $1 }),
      Member(.renderingMode, default: .dynamic, { $0.renderingMode }, set: { $0.renderingMode = $1 }),
      isPopupEnabled,
      // Derived members: edits of graphics record their changes.
      Member(derived: .graphicCount) { overlay, _ in overlay.store.count.memberValue },
      Member(derived: .selectedCount) { overlay, _ in overlay.selectedCount.memberValue },
      Member(derived: .extent) { overlay, _ in overlay.store.extent.memberValue },
      Member(derived: .graphics) { overlay, _ in .graphics(overlay.store) },
      .environment,
    ]
}
