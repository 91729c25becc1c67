// What of each object is saved, in one place: a new property is saved by a line here, and read by the command that sets it.

import FeatureFormats
import GeoModel
import GeoProtocol
import Geometry
import JSON

/// Objects as a document has them, without what lies in them: that is written behind.
struct SavedObjects {
  let world: World
  let folder: DocumentFolder

  /// The newest version of the format that this server reads, and the one it writes.
  static let version = 1

  static let root = DocumentProtocol.Document(format: .geomodelDocument, version: version)

  /// Members that are lists of other objects, or long: they are written one by one.
  static let lists: Set<String> = [
    "sources", "maps", "scenes", "views", "operationalLayers", "overlays", "graphics", "data",
  ]
  /// Members that are written only where something asks for them; they are never taken for a newer version's.
  static let occasional: Set<String> = ["position", "layers"]

  func source(_ source: DocumentSource) -> DocumentProtocol.SavedSource {
    var saved = DocumentProtocol.SavedSource(source: source.id.rawValue)
    switch source.origin {
    case .inline(_, let reference): saved.spatialReference = reference?.definition
    case .file(let path, let driver, let xField, let yField, let reference):
      saved.path = folder.relative(path)
      // The format that was found, so that it is the same when the file is missing and when it is back.
      saved.driver = driver ?? source.driver.flatMap { FeatureDriver(rawValue: $0)?.rawValue }
      saved.xField = xField
      saved.yField = yField
      saved.spatialReference = reference?.definition
      saved.layers = source.layers.isEmpty ? nil : source.layers.map(Wire.sourceLayer)
    }
    return saved
  }

  func map(_ map: Map) -> DocumentProtocol.SavedMap {
    .init(map: map.id.rawValue, title: map.title, spatialReference: map.reference.reference.definition)
  }

  func layer(_ layer: Layer) -> DocumentProtocol.SavedLayer {
    .init(
      layer: layer.id.rawValue, source: layer.source.rawValue, sourceLayer: layer.schema.name, name: layer.name,
      isVisible: layer.appearance.isVisible, opacity: layer.appearance.opacity, minScale: layer.appearance.minScale,
      maxScale: layer.appearance.maxScale, renderer: layer.portrayal.renderer.map(Wire.renderer),
      labels: Self.labels(layer.portrayal), labelsEnabled: layer.portrayal.labelsEnabled ? true : nil,
      popup: layer.portrayal.popup.map(Wire.popup), isPopupEnabled: layer.portrayal.isPopupEnabled ? nil : false)
  }

  func scene(_ scene: Scene) -> DocumentProtocol.SavedScene {
    .init(
      scene: scene.id.rawValue, title: scene.title,
      elevationSources: scene.elevationSources.map { folder.relative($0.path) })
  }

  func view(_ view: View) -> DocumentProtocol.SavedView {
    var saved = DocumentProtocol.SavedView(
      view: view.id.rawValue, width: view.screen.width, height: view.screen.height, dpi: view.screen.dpi,
      viewpoint: Wire.viewpoint(view.viewpoint),
      locationDisplay: .init(
        wanderExtentFactor: view.locationDisplay.wanderExtentFactor,
        initialZoomScale: view.locationDisplay.initialZoomScale))
    switch view.content {
    case .map(let id): saved.map = id.rawValue
    case .scene(let id): saved.scene = id.rawValue
    }
    if !world.standsWhereViewpointSays(view) {
      let camera = view.camera
      saved.position = .init(x: camera.x, y: camera.y, scale: camera.scale, rotation: camera.rotation)
    }
    return saved
  }

  func overlay(_ overlay: Overlay) -> DocumentProtocol.SavedOverlay {
    .init(
      overlay: overlay.id.rawValue, name: overlay.name, spatialReference: overlay.reference.definition,
      isVisible: overlay.appearance.isVisible, opacity: overlay.appearance.opacity,
      minScale: overlay.appearance.minScale, maxScale: overlay.appearance.maxScale,
      renderer: overlay.portrayal.renderer.map(Wire.renderer), labels: Self.labels(overlay.portrayal),
      labelsEnabled: overlay.portrayal.labelsEnabled ? true : nil, popup: overlay.portrayal.popup.map(Wire.popup),
      isPopupEnabled: overlay.portrayal.isPopupEnabled ? nil : false)
  }

  private static func labels(_ portrayal: Portrayal) -> [SymbologyProtocol.LabelDefinition]? {
    portrayal.labels.isEmpty ? nil : portrayal.labels.map(Wire.label)
  }
}

/// A source that a document needs: one that is open, or one that was closed under its layers.
struct DocumentSource {
  let id: SourceID
  let origin: SourceOrigin
  /// What the open source says.
  var driver: String?
  /// The schema of those of its layers that maps show.
  var layers: [SourceLayer] = []

  /// All that a world needs, those that are open first.
  static func all(in world: World) -> [DocumentSource] {
    var sources = world.sources.values.map { DocumentSource(id: $0.id, origin: $0.origin, driver: $0.driver) }
    var places = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.id, $0) })
    for layer in world.layers.values {
      let place = places[layer.source] ?? sources.count
      if place == sources.count {
        sources.append(DocumentSource(id: layer.source, origin: layer.origin))
        places[layer.source] = place
      }
      if !sources[place].layers.contains(where: { $0.name == layer.schema.name }) {
        sources[place].layers.append(layer.schema)
      }
    }
    return sources
  }
}
