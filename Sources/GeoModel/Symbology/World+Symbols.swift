// The scale factor of symbols and the color of selections, inherited from environment and map.

extension World {
  /// The factor for the sizes of a layer's symbols, outlines and halos: the environment's `symbolScale`, multiplied by
  /// the ratio of the map's reference scale, if it has one, to the scale.
  ///
  /// - Parameter scale: the scale denominator; nil for the reference scale.
  public func symbolScale(of layer: Layer, at scale: Double?) -> Double {
    symbolScale(of: layer.reference, in: layer.container, at: scale)
  }

  /// The factor for an overlay's symbols, at the scale of its view.
  public func symbolScale(of overlay: Overlay) -> Double {
    guard let view = views[overlay.view] else { return 1 }
    return symbolScale(of: overlay.reference, in: view.content, at: view.camera.scale)
  }

  /// The factor at any scale, as in legends: the environment's `symbolScale`.
  public func symbolScale(at object: ObjectReference) -> Double {
    environment("symbolScale", at: object).double ?? 1
  }

  private func symbolScale(of object: ObjectReference, in content: ViewContent, at scale: Double?) -> Double {
    let own = symbolScale(at: object)
    guard let scale, let content = try? self.content(of: content) else { return own }
    return own * content.symbolScale(at: scale)
  }

  /// The color of selected features or graphics: the overlay's own, else the environment's.
  public func selectionColor(of object: ObjectReference) -> Color? {
    if object.collection == .overlays, let own = overlays[OverlayID(object.id)]?.selectionColor { return own }
    return environment("selectionColor", at: object).text.flatMap { Color($0) }
  }
}
