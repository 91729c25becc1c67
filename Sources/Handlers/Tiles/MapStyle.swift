// Styles of layers, overlays and maps with the sources of their tiles.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
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
    let scales = world.scaleRange(of: layer)
    (options.minScale, options.maxScale, options.group) = (scales.min, scales.max, layer.group?.rawValue)
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

  /// - Parameter source: nil for one of its own.
  func style(source: String? = nil, hasGlyphs: Bool) -> LayerStyle {
    var options = options
    options.source = source ?? options.source
    options.hasGlyphs = hasGlyphs
    var style = LayerStyle(drawn, options)
    if hasTracks { style.lose(.tracks) }
    return style
  }
}

extension LayerProtocol.StyleOptions {
  /// The whole style: the sources of the tiles, and the layers over them.
  ///
  /// - Parameter pixels: those of the sources whose tiles are of pixels.
  func document(_ head: [StyleValue.Member] = [], sources: [String], pixels: Set<String> = [], _ layers: [StyleValue]) -> StyleValue {
    let sources = sources.map { name -> StyleValue.Member in
      let isOfPixels = pixels.contains(name)
      let type: StyleValue = isOfPixels ? "raster" : "vector"
      let size: StyleValue? = isOfPixels ? .number(Double(DrawnRaster.tileSize)) : nil
      if let url { return .init(name: name, value: .members(["type": type, "url": .text(url), "tileSize": size])) }
      let tiles = (tiles ?? ["{z}/{x}/{y}.\(isOfPixels ? "png" : "mvt")"]).map { StyleValue.text($0.replacing("{layer}", with: name)) }
      return .init(
        name: name,
        value: .members(["type": type, "tiles": .list(tiles), "tileSize": size, "minzoom": 0.0, "maxzoom": .number(Double(maxZoom))]))
    }
    let glyphs = glyphs.map { [StyleValue.Member(name: "glyphs", value: .text($0))] } ?? []
    return .object(
      [.init(name: "version", value: 8.0)] + head + glyphs
        + [.init(name: "sources", value: .object(sources)), .init(name: "layers", value: .list(layers))])
  }

  func result(_ layer: StyledLayer, _ revision: Int) -> LayerProtocol.StyleResult {
    let style = layer.style(hasGlyphs: glyphs != nil)
    let document = document(sources: [style.source], style.layers)
    return .init(revision: revision, style: .made { $0.value(document) }, notExpressed: style.losses)
  }
}

extension MapService {
  package static func style(_ params: Style.Params, in world: World) throws -> MapProtocol.MapStyleResult {
    var content = try PublishedContent(map: params.map, view: params.view, oneOf: ["map", "view"], in: world)
    let hasOwn = params.url == nil && params.tiles?.contains { $0.contains("{layer}") } ?? false
    let isOfPixels = !hasOwn && content.isOfRasters
    if hasOwn || isOfPixels { content.takeRasters(alone: isOfPixels) }
    let styled = try content.layers.map { try StyledLayer(layer: $0, in: world) } + content.overlays.map { StyledLayer(overlay: $0, in: world) }
    let shared = hasOwn ? nil : params.map ?? params.view
    let styles = styled.map { $0.style(source: shared, hasGlyphs: params.glyphs != nil) }
    let background = StyleValue.members([
      "id": "background", "type": "background",
      "paint": .members(["background-color": .color(content.background ?? Color(red: 255, green: 255, blue: 255))]),
    ])
    var head: [StyleValue.Member] = [.init(name: "name", value: .text(content.name))]
    if let start = content.start {
      let center = try world.transformer.transform(start.center, from: .webMercator, to: .wgs84)
      head += [
        .init(name: "center", value: .list([.number(center.x), .number(center.y)])),
        .init(name: "zoom", value: .number(LayerStyle.zoom(scale: start.camera.scale))),
        .init(name: "bearing", value: .number(start.camera.rotation == 0 ? 0 : 360 - start.camera.rotation)),
      ]
    }
    // Tiles of all rasters have their opacities.
    let rasters = hasOwn ? content.rasters : []
    var layers = isOfPixels ? [StyleValue.members(["id": shared.map { .text($0) }, "type": "raster", "source": shared.map { .text($0) }])] : []
    for index in 0...styles.count {
      layers += rasters.filter { min($0.drawn.index, styles.count) == index }.map { world.style(of: $0.layer, opacity: $0.drawn.opacity) }
      if index < styles.count { layers += styles[index].layers }
    }
    let pixels = hasOwn ? rasters.map(\.layer.id.rawValue) : isOfPixels ? [shared].compactMap { $0 } : []
    let document = params.document(
      head, sources: shared.map { [$0] } ?? styles.map(\.source) + pixels, pixels: Set(pixels), [background] + layers)
    return .init(
      revision: world.revision, style: .made { $0.value(document) },
      notExpressed: zip(styled, styles).compactMap { layer, style in
        style.losses.isEmpty ? nil : .init(layer: layer.drawn.object.id, losses: style.losses)
      }, omitted: content.omitted)
  }
}

extension World {
  /// The layer of a style that draws the tiles of a raster.
  func style(of raster: Layer, opacity: Double) -> StyleValue {
    let (id, scales) = (StyleValue.text(raster.id.rawValue), scaleRange(of: raster))
    return .members([
      "id": id, "metadata": raster.group.map { .members(["geomodel:group": .text($0.rawValue)]) }, "type": "raster", "source": id,
      "minzoom": scales.min.map { .number(LayerStyle.zoom(scale: $0)) }, "maxzoom": scales.max.map { .number(LayerStyle.zoom(scale: $0)) },
      "layout": isShown(raster) ? nil : .members(["visibility": "none"]), "paint": .members(["raster-opacity": .number(opacity)]),
    ])
  }
}
