// Converts maps, scenes and their contents between the wire and the model.

import GeoModel
import GeoProtocol
import Geometry

extension Wire {
  package static func basemap(_ basemap: Basemap) -> MapProtocol.Basemap {
    .init(
      name: basemap.name?.string, baseLayers: basemap.baseLayers.map(\.rawValue),
      referenceLayers: basemap.referenceLayers.map(\.rawValue))
  }

  package static func bookmark(_ bookmark: Bookmark) -> BookmarkProtocol.Bookmark {
    .init(id: bookmark.id.string, name: bookmark.name.string, viewpoint: viewpoint(bookmark.viewpoint))
  }

  package static func bookmark(_ bookmark: BookmarkProtocol.NewBookmark) throws(WireFault) -> NewBookmark {
    NewBookmark(id: bookmark.id, name: bookmark.name, viewpoint: try target(bookmark.viewpoint))
  }

  package static func surface(_ surface: BaseSurface) -> SceneProtocol.BaseSurface {
    .init(
      elevationSources: surface.elevationSources.map(elevationSource),
      elevationExaggeration: surface.elevationExaggeration, isEnabled: surface.isEnabled, opacity: surface.opacity)
  }

  package static func elevationSource(_ source: SurfaceSource) -> SceneProtocol.ElevationSource {
    switch source.raster {
    case .loaded(let raster):
      .init(
        id: source.id, path: source.path.string, loadStatus: .loaded, spatialReference: raster.reference.definition,
        extent: envelope(raster.extent), resolution: raster.resolution, unknownUnit: raster.unknownUnit)
    case .failed(let failure): .init(id: source.id, path: source.path.string, loadStatus: loadStatus(.failed(failure)))
    }
  }

  // MARK: Layers

  /// The map or scene given in params, of which exactly one is required.
  package static func content(_ map: String?, _ scene: String?) throws(ModelError) -> ViewContent {
    switch (map, scene) {
    case (let map?, nil): .map(ID(map))
    case (nil, let scene?): .scene(ID(scene))
    default: throw .oneOf(["map", "scene"])
    }
  }

  package static func position(_ role: LayerProtocol.LayerRole?, _ group: String?, _ index: Int?) -> LayerPosition {
    LayerPosition(role: role.map { LayerRole($0) }, group: group.map { ID($0) }, index: index)
  }

  package static func time(_ time: LayerTime) -> LayerProtocol.LayerTime {
    .init(
      startField: time.startField.string, endField: time.endField?.string,
      extent: time.extent.map { .init(startTime: $0.start?.text, endTime: $0.end?.text) })
  }

  package static func flags(_ state: LayerViewState) -> [ViewProtocol.LayerViewFlag] {
    LayerViewState.Flag.allCases.filter { state.contains(LayerViewState($0)) }.map(\.wire)
  }
}
