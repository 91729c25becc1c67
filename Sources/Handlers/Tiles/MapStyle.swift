// Styles of layers and overlays with the sources of their tiles.

import Drawing
import GeoModel
import GeoProtocol
import JSON
import VectorTiles

/// A layer or an overlay with what its style needs from the world.
struct StyledLayer {
  let drawn: DrawnLayer
  let options: LayerStyle.Options
  /// Whether there is more to be drawn than features.
  private let hasTracks: Bool

  init(layer: Layer, in world: World) throws {
    let features = try layer.requireFeatures()
    guard let store = features.store else { throw ModelError.notLoaded(layer.id.rawValue) }
    drawn = DrawnLayer(layer, features, store, at: ClusterZoom.scale(zoom: 0), opacity: world.opacity(of: layer), in: world)
    var options = LayerStyle.Options(source: layer.id.rawValue) { world.symbolScale(of: layer, at: $0) }
    options.isVisible = world.isShown(layer)
    (options.minScale, options.maxScale) = (layer.appearance.minScale, layer.appearance.maxScale)
    self.options = options
    hasTracks = features.trackDisplay.map { $0.showsTrackLines || $0.showsPreviousObservations } ?? false
  }

  init(overlay: Overlay, in world: World) {
    drawn = DrawnLayer(overlay, at: ClusterZoom.scale(zoom: 0), in: world)
    let scale = world.symbolScale(of: overlay)
    var options = LayerStyle.Options(source: overlay.id.rawValue) { _ in scale }
    options.isVisible = overlay.appearance.isVisible
    (options.minScale, options.maxScale) = (overlay.appearance.minScale, overlay.appearance.maxScale)
    self.options = options
    hasTracks = false
  }

  func style(hasGlyphs: Bool) -> LayerStyle {
    var options = options
    options.hasGlyphs = hasGlyphs
    var style = LayerStyle(drawn, options)
    if hasTracks { style.lose(.tracks) }
    return style
  }
}

/// A whole style: the source of the tiles, and the layers over it.
struct MapStyle {
  private let document: StyleValue
  private let losses: [LayerProtocol.StyleLoss]

  init(_ layer: StyledLayer, _ params: some LayerProtocol.StyleOptions) {
    let style = layer.style(hasGlyphs: params.glyphs != nil)
    losses = style.losses
    let tiles = StyleValue.list((params.tiles ?? ["{z}/{x}/{y}.mvt"]).map { .text($0) })
    let source = StyleValue.Member(
      name: style.source,
      value: .members(["type": "vector", "tiles": tiles, "minzoom": 0.0, "maxzoom": .number(Double(TileAddress.maxZoom))]))
    document = .members([
      "version": 8.0, "glyphs": params.glyphs.map { .text($0) }, "sources": .object([source]),
      "layers": .list(style.layers),
    ])
  }

  func result(_ revision: Int) -> LayerProtocol.StyleResult {
    .init(revision: revision, style: .made { $0.value(document) }, notExpressed: losses)
  }
}
