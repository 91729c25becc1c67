// The drawn state of a view, computed from a world alone: layers and overlays in drawing order, with evaluated items.

import GeoModel

/// The content of a view: enough to draw or describe it.
///
/// ```swift
/// let snapshot = try ViewSnapshot(of: "v", in: world)
/// for layer in snapshot.layers {
///   try layer.forEachItem { item in draw(item, in: layer.reference, opacity: layer.opacity) }
/// }
/// ```
///
/// Clusters are items in place of the points in them. The world is a value, so a snapshot does not change with the server's
/// world, and may be read on any thread. Each item is evaluated when the iteration reaches it; the snapshot itself costs
/// O(layers).
package struct ViewSnapshot: Sendable {
  package let revision: Int
  package let view: View
  package let backgroundColor: Color?
  /// In drawing order: the basemap's layers, operational layers, reference layers, overlays. Contains only layers that are
  /// loaded, visible and within their scale range.
  package let layers: [DrawnLayer]
  /// The raster layers, in drawing order; each says how many of the others are below it.
  package let rasters: [DrawnRaster]

  /// What a snapshot has of a view.
  package enum Extent {
    case everything
    case overlay(OverlayID)
    /// The layers for which the function is true.
    case layers((LayerID) -> Bool)
  }

  package init(of id: ViewID, in world: World, _ extent: Extent = .everything) throws(ModelError) {
    view = try world.views.require(id)
    let content = try world.content(of: view.content)
    revision = world.revision
    backgroundColor = content.backgroundColor
    switch extent {
    case .everything:
      let drawn = Self.layers(of: view, content, in: world) { _ in true }
      (layers, rasters) = (drawn.layers + Self.overlays(view.overlays, of: view, in: world), drawn.rasters)
    case .overlay(let overlay): (layers, rasters) = (Self.overlays([overlay], of: view, in: world), [])
    case .layers(let isIncluded): (layers, rasters) = Self.layers(of: view, content, in: world, isIncluded)
    }
  }

  private static func layers(
    of view: View, _ content: MapContent, in world: World, _ isIncluded: (LayerID) -> Bool
  ) -> (layers: [DrawnLayer], rasters: [DrawnRaster]) {
    let baseCount = content.basemap?.baseLayers.count ?? 0
    let operationalEnd = baseCount + content.operationalLayers.count
    var topCount = 0
    var groups: [LayerID: (stratum: DrawnLayer.Stratum, opacity: Double)] = [:]
    // The result has groups before the layers in them.
    var (layers, rasters): ([DrawnLayer], [DrawnRaster]) = ([], [])
    for (id, state) in world.layerViewStates(of: view) {
      guard let layer = world.layers[id] else { continue }
      if layer.group == nil { topCount += 1 }
      let group = layer.group.flatMap { groups[$0] }
      let stratum =
        group?.stratum ?? (topCount <= baseCount ? .base : topCount <= operationalEnd ? .operational : .reference)
      let opacity = (group?.opacity ?? 1) * layer.appearance.opacity
      groups[id] = (stratum, opacity)
      guard state.contains(.active), isIncluded(id) else { continue }
      let live = world.live(layer)
      if let features = live.features, let store = features.store {
        layers.append(
          DrawnLayer(live, features, store, at: view.camera.scale, dpi: view.screen.dpi, stratum, opacity: opacity, in: world))
      } else if let raster = layer.raster, let source = raster.source, let renderer = raster.drawnRenderer {
        rasters.append(
          DrawnRaster(
            ObjectReference(.layers, id.rawValue), name: layer.name, stratum, opacity: opacity, index: layers.count, renderer, source,
            world.transformer))
      }
    }
    return (layers, rasters)
  }

  private static func overlays(_ overlays: some Sequence<OverlayID>, of view: View, in world: World) -> [DrawnLayer] {
    overlays.compactMap { id in
      guard let overlay = world.overlays[id], overlay.appearance.isVisible,
        overlay.appearance.shows(at: view.camera.scale)
      else { return nil }
      return DrawnLayer(overlay, at: view.camera.scale, dpi: view.screen.dpi, in: world)
    }
  }
}
