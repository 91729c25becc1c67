// The objects of a world in the form of documents: which objects, in which order, with which sources.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import Reading
import WireCoding

/// Objects in the form of documents, without the objects in them, which are written after them.
struct SavedObjects {
  let world: World
  let folder: DocumentFolder
  /// All sources that the saved objects use.
  let sources: [DocumentSource]
  fileprivate let sourcesByNumber: [Int: DocumentSource]
  /// The GeoPackages that sources become in a package, by the number of the source.
  let packed: [Int: String]

  init(world: World, folder: DocumentFolder, packed: [Int: String] = [:]) {
    self.world = world
    self.folder = folder
    self.packed = packed
    sources = DocumentSource.all(in: world)
    sourcesByNumber = Dictionary(uniqueKeysWithValues: sources.map { ($0.number, $0) })
  }

  /// The version of the format that this server writes, which is also the newest that it reads.
  static let version = 1

  static let root = DocumentProtocol.Document(format: .geomodelDocument, version: version)

  func source(_ source: DocumentSource) -> DocumentProtocol.SavedSource {
    var saved = DocumentProtocol.SavedSource(source: source.id.rawValue)
    if let path = packed[source.number] {
      (saved.path, saved.driver, saved.layers) = (path, FeatureDriver.geoPackage.rawValue, source.layers.map(Wire.sourceLayer))
      return saved
    }
    switch source.origin {
    case .inline(_, let reference): saved.spatialReference = reference?.definition
    case .columns(let data):
      saved.spatialReference = data.reference.definition
      saved.fields = data.store.fields.map(Wire.field)
    case .file(let file):
      saved.path = folder.relative(file.path)
      // The format found in the file, so that the document is the same whether the file is missing or not.
      saved.driver = file.driver ?? FeatureDriver(rawValue: source.driver)?.rawValue
      saved.xField = file.xField
      saved.zField = file.zField
      saved.yField = file.yField
      saved.encoding = file.encoding
      saved.spatialReference = file.reference?.definition
      saved.override = file.overrides
      saved.layers = source.layers.isEmpty ? nil : source.layers.map(Wire.sourceLayer)
    }
    return saved
  }
}

/// A kind of object in documents. ``SavedKinds`` lists all, from the definition.
protocol SavedKind: Entity {
  associatedtype Saved: JSONEncodable
  /// The object in the form of documents, without the objects in it, which are written after it.
  func saved(in document: SavedObjects) -> Saved
}

extension SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque { Wire.saved(self, document.world) }
}

/// A kind of object with its own list in documents. Its objects are saved as their members and made by the commands of the kind.
protocol ListedKind: SavedKind {
  /// The members without which an object cannot be made.
  static var required: Set<String> { get }
  /// Makes an object that was read.
  static func restore(_ id: String, _ json: JSONValue, in world: inout World) throws
}

extension Map: SavedKind {}
extension Overlay: SavedKind {}

extension GeotriggerMonitor {
  func saved(in document: SavedObjects) -> JSONOpaque { Wire.saved(saved(in: document.world), document.world) }
}

extension Source: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedSource {
    document.source(document.sourcesByNumber[number] ?? DocumentSource(self))
  }
}

extension Layer: SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque {
    // A closed source is saved with another id if another object has taken its own.
    let source = (features?.sourceNumber).flatMap { document.sourcesByNumber[$0] }
    if let raster {
      let path = document.folder.relative(raster.origin.path)
      return Wire.saved(self, document.world, and: [("path", .written { $0.value(path) })])
    }
    guard let source, source.isRenamed else { return Wire.saved(self, document.world) }
    return Wire.saved(under(source.id), document.world)
  }
}

extension Scene: SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque {
    let sources = surface.elevationSources.map {
      DocumentProtocol.SavedElevationSource(id: $0.id, path: document.folder.relative($0.path.string))
    }
    return Wire.saved(
      self, document.world, and: [("elevationSources", .written { $0.array(sources) { $0.encode(to: &$1) } })])
  }
}

extension View: SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque {
    var more: [(name: String, value: JSONOpaque)] = []
    if !document.world.viewpointDeterminesCamera(self) {
      let position = DocumentProtocol.ViewPosition(
        x: camera.x, y: camera.y, scale: camera.scale, rotation: camera.rotation)
      more.append(("position", .written { position.encode(to: &$0) }))
    }
    let display = DocumentProtocol.SavedLocationDisplay(
      wanderExtentFactor: locationDisplay.wanderExtentFactor, initialZoomScale: locationDisplay.initialZoomScale,
      navigationPointHeightFactor: locationDisplay.navigationPointHeightFactor)
    more.append(("locationDisplay", .written { display.encode(to: &$0) }))
    return Wire.saved(self, document.world, and: more)
  }
}

extension World {
  /// The lists of layers of a map or a scene, by their names in the document. Layers of a group follow the group.
  func layerLists(of container: ViewContent) -> [(name: String, role: LayerProtocol.LayerRole?, layers: [Layer])]
  {
    guard let content = try? self.content(of: container) else { return [] }
    return [
      ("operationalLayers", .operational, self.layers(from: content.operationalLayers)),
      ("baseLayers", .base, self.layers(from: content.basemap?.baseLayers ?? [])),
      ("referenceLayers", .reference, self.layers(from: content.basemap?.referenceLayers ?? [])),
      ("tables", nil, self.layers(from: content.tables)),
    ]
  }
}

/// A source used by a document: an open one, or one that was closed while layers still used it.
struct DocumentSource {
  /// Its id in the document.
  var id: SourceID
  /// Whether another object has its own id.
  var isRenamed = false
  let number: Int
  let origin: SourceOrigin
  /// The format found in the file.
  let driver: String
  /// The schema of those of its layers that maps and scenes contain.
  var layers: [SourceLayer] = []

  /// All sources of a world, open ones first. Their layers have the document's order, so that opening and saving again gives the
  /// same document.
  static func all(in world: World) -> [DocumentSource] {
    let containers = world.maps.ids.map { ViewContent.map($0) } + world.scenes.ids.map { ViewContent.scene($0) }
    let layers = containers.flatMap { world.layerLists(of: $0).flatMap(\.layers) }
    var sources = world.sources.values.map { DocumentSource($0) }
    var indexes = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.number, $0) })
    var ids = Set(sources.map(\.id))
    // By number of the source: the index of each layer in its list, by the layer's name.
    var known: [Int: [Text: Int]] = [:]
    for features in layers.compactMap(\.features) where features.entitySource == nil {
      let number = features.sourceNumber
      let index = indexes[number] ?? sources.count
      if index == sources.count {
        var source = DocumentSource(
          id: features.source, number: number, origin: features.origin, driver: features.driver)
        source.rename(unlike: ids, in: world)
        ids.insert(source.id)
        sources.append(source)
        indexes[number] = index
      }
      // The schema of a table has no geometry, so that of a layer over the same data is preferred.
      if let known = known[number]?[features.schema.name] {
        if sources[index].layers[known].geometryType == nil { sources[index].layers[known] = features.schema }
      } else {
        known[number, default: [:]][features.schema.name] = sources[index].layers.count
        sources[index].layers.append(features.schema)
      }
    }
    return sources
  }

  fileprivate init(_ source: Source) {
    self.init(id: source.id, number: source.number, origin: source.origin, driver: source.driver)
  }

  private init(id: SourceID, number: Int, origin: SourceOrigin, driver: String) {
    (self.id, self.number, self.origin, self.driver) = (id, number, origin, driver)
  }

  /// Gives a closed source another id if another object has taken its own.
  private mutating func rename(unlike ids: Set<SourceID>, in world: World) {
    let own = id
    var count = 1
    while ids.contains(id) || world.holder(of: id.rawValue) != nil {
      count += 1
      isRenamed = true
      id = SourceID("\(own.rawValue.prefix(50))-\(count)")
    }
  }
}
