// What the place of a layer or overlay makes of its symbols: how large they are, and in what colour the selection is shown.

extension World {
  /// By how much symbols of a layer or overlay grow: the environment's `symbolScale`, and in a view of a map with a reference scale
  /// how far it is zoomed in beyond that.
  public func symbolScale(of object: ObjectReference, in view: ViewID?) throws(ModelError) -> Double {
    let own = environment("symbolScale", at: object).double ?? 1
    guard let view = try view.map(views.require) else { return own }
    switch view.content {
    case .map(let id): return own * (maps[id]?.symbolScale(at: view.camera.scale) ?? 1)
    case .scene(let id): return own * (scenes[id]?.content.symbolScale(at: view.camera.scale) ?? 1)
    }
  }

  /// The colour that selected features of a layer or graphics of an overlay are shown in: the overlay's own, else the environment's.
  public func selectionColor(of object: ObjectReference) -> Color? {
    if object.collection == .overlays, let own = overlays[OverlayID(object.id)]?.selectionColor { return own }
    return environment("selectionColor", at: object).text.flatMap { Color($0) }
  }
}
