// What the place of a layer or overlay makes of its symbols: how large they are, and in what colour the selection is shown.

extension World {
  /// By how much a layer's symbols grow at a scale, outlines and halos with them: by the environment's `symbolScale`, and where the map has a reference scale by how
  /// far the scale is beyond that.
  ///
  /// - Parameter scale: its denominator; the reference scale when nil.
  public func symbolScale(of layer: Layer, at scale: Double?) -> Double {
    symbolScale(of: layer.reference, in: layer.container, at: scale)
  }

  /// The same for an overlay, at the scale of its view.
  public func symbolScale(of overlay: Overlay) -> Double {
    guard let view = views[overlay.view] else { return 1 }
    return symbolScale(of: overlay.reference, in: view.content, at: view.camera.scale)
  }

  /// By how much symbols of a layer or overlay grow wherever they are: what a legend, which has no scale, shows of it.
  public func symbolScale(seenBy object: ObjectReference) -> Double {
    environment("symbolScale", at: object).double ?? 1
  }

  private func symbolScale(of object: ObjectReference, in content: ViewContent, at scale: Double?) -> Double {
    let own = symbolScale(seenBy: object)
    guard let scale, let content = try? self.content(of: content) else { return own }
    return own * content.symbolScale(at: scale)
  }

  /// The colour that selected features of a layer or graphics of an overlay are shown in: the overlay's own, else the environment's.
  public func selectionColor(of object: ObjectReference) -> Color? {
    if object.collection == .overlays, let own = overlays[OverlayID(object.id)]?.selectionColor { return own }
    return environment("selectionColor", at: object).text.flatMap { Color($0) }
  }
}
