// What is published of a layer, a map or a view, and what its style draws.

import Drawing
import GeoModel
import GeoProtocol
import Geometry

/// Layers and overlays in drawing order, before they are drawn at a scale.
struct PublishedContent {
  let name: String
  private(set) var layers: [Layer] = []
  /// Those that are drawn between the others, as their indexes say.
  private(set) var rasters: [(layer: Layer, drawn: DrawnRaster)] = []
  private(set) var overlays: [Overlay] = []
  private(set) var background: Color?
  /// Where a view is, in its map's reference and in Web Mercator.
  private(set) var start: (camera: Camera, center: Point)?
  private(set) var omitted: [MapProtocol.OmittedLayer] = []

  /// - Throws: unless exactly one of them is named.
  init(layer: String? = nil, map: String?, view: String?, oneOf names: [String], in world: World) throws {
    switch (layer, map, view) {
    case (let id?, nil, nil):
      let layer = world.live(try world.layers.require(ID(id)))
      name = layer.name
      if layer.raster != nil {
        // Alone, its opacity is that of the style.
        guard let drawn = DrawnRaster(layer, opacity: 1, in: world) else { throw ModelError.notLoaded(id) }
        rasters = [(layer, drawn)]
        return
      }
      guard try layer.requireFeatures().store != nil else { throw ModelError.notLoaded(id) }
      layers = [layer]
    case (nil, let id?, nil):
      let content = try world.maps.require(ID(id)).content
      name = content.title?.string ?? id
      add(content, in: world)
    case (nil, nil, let id?):
      let view = try world.views.require(ID(id))
      let content = try world.content(of: view.content)
      name = content.title?.string ?? id
      add(content, in: world)
      overlays = view.overlays.compactMap { world.overlays[$0] }.filter { $0.appearance.isVisible }
      let place = Point(x: view.camera.x, y: view.camera.y)
      start = (view.camera, try world.transformer.transform(place, from: view.reference.reference, to: .webMercator))
    default: throw ModelError.oneOf(names)
    }
  }

  private mutating func add(_ content: MapContent, in world: World) {
    background = content.backgroundColor
    for layer in world.layers(from: Array(content.topLayers)) where layer.grouping == nil && world.isShown(layer) {
      if layer.features?.isTable == true { continue }
      let live = world.live(layer)
      if live.features?.store != nil {
        layers.append(live)
      } else if let drawn = DrawnRaster(layer, opacity: world.opacity(of: layer), index: layers.count, in: world) {
        rasters.append((layer, drawn))
        omitted.append(.init(layer: layer.id.rawValue, reason: .raster))
      } else {
        omitted.append(.init(layer: layer.id.rawValue, reason: .notLoaded))
      }
    }
  }

  /// Whether there is nothing but rasters to be seen: their tiles have pixels.
  var isOfRasters: Bool { !rasters.isEmpty && layers.isEmpty && overlays.allSatisfy { $0.store.count == 0 } }

  /// - Throws: `notLoaded` if there is nothing to be seen because layers are not loaded, as after a document was opened.
  func checkLoaded() throws(ModelError) {
    guard layers.isEmpty, rasters.isEmpty, overlays.allSatisfy({ $0.store.count == 0 }),
      let missing = omitted.first(where: { $0.reason == .notLoaded })
    else { return }
    throw .notLoaded(missing.layer)
  }

  /// Says that rasters are in what is made, or that they are all of it.
  mutating func takeRasters(alone: Bool = false) {
    omitted.removeAll { $0.reason == .raster }
    if alone { overlays = [] }
  }

  /// Leaves out what is at no zoom of the tiles.
  ///
  /// - Parameter isOfPixels: whether the tiles are of rasters.
  /// - Returns: the zooms of each layer and overlay, or else of each raster.
  mutating func keep(within zooms: ClosedRange<Int>, isOfPixels: Bool, in world: World) -> [ClosedRange<Int>] {
    var kept: [ClosedRange<Int>] = []
    if isOfPixels {
      rasters = rasters.filter { layer, _ in keep(world.scaleRange(of: layer), layer.id.rawValue, within: zooms, &kept) }
      return kept
    }
    layers = layers.filter { layer in keep(world.scaleRange(of: layer), layer.id.rawValue, within: zooms, &kept) }
    overlays = overlays.filter { overlay in keep(overlay.appearance.scaleRange, overlay.id.rawValue, within: zooms, &kept) }
    return kept
  }

  private mutating func keep(_ scales: ScaleRange, _ id: String, within zooms: ClosedRange<Int>, _ kept: inout [ClosedRange<Int>]) -> Bool {
    guard let own = scales.zooms(within: zooms) else {
      omitted.append(.init(layer: id, reason: .scaleRange))
      return false
    }
    kept.append(own)
    return true
  }

  /// The scales of each layer and overlay, then of each raster.
  func scaleRanges(in world: World) -> [ScaleRange] {
    layers.map { world.scaleRange(of: $0) } + overlays.map(\.appearance.scaleRange) + rasters.map { world.scaleRange(of: $0.layer) }
  }

  func drawn(at scale: Double, in world: World) -> [DrawnLayer] {
    layers.compactMap { layer in
      guard let features = layer.features, let store = features.store else { return nil }
      return DrawnLayer(layer, features, store, at: scale, opacity: world.opacity(of: layer), in: world)
    } + overlays.map { DrawnLayer($0, at: scale, in: world) }
  }
}

extension DrawnRaster {
  /// - Returns: nil for what is no loaded raster.
  init?(_ layer: Layer, opacity: Double, index: Int = 0, in world: World) {
    guard let raster = layer.raster, let source = raster.source, let renderer = raster.drawnRenderer else { return nil }
    self.init(
      ObjectReference(.layers, layer.id.rawValue), name: layer.name, .operational, opacity: opacity, index: index, renderer, source,
      world.transformer)
  }
}

/// The denominators of scales between which something is drawn.
struct ScaleRange: Sendable {
  var min: Double?
  var max: Double?

  /// The zooms of tiles in which it may be drawn: a tile serves up to the next zoom, the last one all that follow.
  func zooms(within zooms: ClosedRange<Int>) -> ClosedRange<Int>? {
    let first = min.map { Int(LayerStyle.zoom(scale: $0)) } ?? 0
    let last = max.map { Int(LayerStyle.zoom(scale: $0)) } ?? zooms.upperBound
    guard last >= zooms.lowerBound, first <= last || max == nil else { return nil }
    let upper = Swift.min(last, zooms.upperBound)
    return Swift.min(Swift.max(first, zooms.lowerBound), upper)...upper
  }
}

extension Appearance {
  var scaleRange: ScaleRange { ScaleRange(min: minScale, max: maxScale) }
}

extension World {
  /// The layer's opacity, multiplied by those of the groups that contain it.
  func opacity(of layer: Layer) -> Double {
    layer.appearance.opacity * (group(of: layer).map(opacity) ?? 1)
  }

  /// The layer's scales that are among those of the groups that contain it.
  func scaleRange(of layer: Layer) -> ScaleRange {
    let own = layer.appearance.scaleRange
    guard let outer = group(of: layer).map(scaleRange) else { return own }
    return ScaleRange(
      min: [own.min, outer.min].compactMap { $0 }.min(), max: [own.max, outer.max].compactMap { $0 }.max())
  }

  /// Whether a layer is visible at some scale: by itself, or as its groups have it.
  func isShown(_ layer: Layer) -> Bool {
    guard let group = group(of: layer), let grouping = group.grouping else { return layer.appearance.isVisible }
    let isShownThere =
      switch grouping.visibilityMode {
      case .independent: layer.appearance.isVisible
      case .inherited: true
      case .exclusive: grouping.layers.reversed().first { layers[$0]?.appearance.isVisible == true } == layer.id
      }
    return isShownThere && isShown(group)
  }

  private func group(of layer: Layer) -> Layer? { layer.group.flatMap { layers[$0] } }
}
