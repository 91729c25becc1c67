// The objects of a world in the form that documents have: which, in which order, with which sources.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import Reading
import StateTree
import WireCoding

/// Objects as a document has them, without what lies in them: that is written behind.
struct SavedObjects {
  let world: World
  let folder: DocumentFolder
  /// All sources that the document needs.
  let sources: [DocumentSource]
  fileprivate let sourcesByNumber: [Int: DocumentSource]

  init(world: World, folder: DocumentFolder) {
    self.world = world
    self.folder = folder
    sources = DocumentSource.all(in: world)
    sourcesByNumber = Dictionary(uniqueKeysWithValues: sources.map { ($0.number, $0) })
  }

  /// The newest version of the format that this server reads, and the one it writes.
  static let version = 1

  static let root = DocumentProtocol.Document(format: .geomodelDocument, version: version)

  func source(_ source: DocumentSource) -> DocumentProtocol.SavedSource {
    var saved = DocumentProtocol.SavedSource(source: source.id.rawValue)
    switch source.origin {
    case .inline(_, let reference): saved.spatialReference = reference?.definition
    case .columns(let data):
      saved.spatialReference = data.reference.definition
      saved.fields = data.store.fields.map(Wire.field)
    case .file(let file):
      saved.path = folder.relative(file.path)
      // The format that was found, so that it is the same when the file is missing and when it is back.
      saved.driver = file.driver ?? FeatureDriver(rawValue: source.driver)?.rawValue
      saved.xField = file.xField
      saved.yField = file.yField
      saved.encoding = file.encoding
      saved.spatialReference = file.reference?.definition
      saved.override = file.overrides
      saved.layers = source.layers.isEmpty ? nil : source.layers.map(Wire.sourceLayer)
    }
    return saved
  }
}

/// A kind of object that documents have. ``SavedKinds`` lists them, from the definition.
protocol SavedKind: Entity {
  associatedtype Saved: JSONEncodable
  /// The object as documents have it, without what lies in it: that is written behind.
  func saved(in document: SavedObjects) -> Saved
}

extension SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque { Wire.saved(self, document.world) }
}

/// A kind of object that documents have in a list of their own: an object is its members, and made by the commands of its kind.
protocol ListedKind: SavedKind {
  /// The members that it cannot be made without.
  static var required: Set<String> { get }
  /// Makes an object that was read.
  static func restore(_ id: String, _ json: JSONValue, in world: inout World) throws
}

extension Map: SavedKind {}
extension Overlay: SavedKind {}

extension Source: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedSource {
    document.source(document.sourcesByNumber[number] ?? DocumentSource(self))
  }
}

extension Layer: SavedKind {
  func saved(in document: SavedObjects) -> JSONOpaque {
    // A closed source whose own id something else has is written under another.
    let source = (features?.sourceNumber).flatMap { document.sourcesByNumber[$0] }
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
      wanderExtentFactor: locationDisplay.wanderExtentFactor, initialZoomScale: locationDisplay.initialZoomScale)
    more.append(("locationDisplay", .written { display.encode(to: &$0) }))
    return Wire.saved(self, document.world, and: more)
  }
}

extension World {
  /// The lists of layers of a map or a scene, by their names in the document; what is in a group stands behind it.
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

/// A source that a document needs: one that is open, or one that was closed under its layers.
struct DocumentSource {
  /// Its id in the document.
  var id: SourceID
  /// Whether something else has its own id.
  var isRenamed = false
  let number: Int
  let origin: SourceOrigin
  /// The format that was found in it.
  let driver: String
  /// The schema of those of its layers that maps show.
  var layers: [SourceLayer] = []

  /// All that a world needs, those that are open first. Their layers come as the document's do, so that it is the same when it is
  /// opened and saved again.
  static func all(in world: World) -> [DocumentSource] {
    let containers = world.maps.ids.map { ViewContent.map($0) } + world.scenes.ids.map { ViewContent.scene($0) }
    let layers = containers.flatMap { world.layerLists(of: $0).flatMap(\.layers) }
    var sources = world.sources.values.map { DocumentSource($0) }
    var indexes = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.number, $0) })
    var ids = Set(sources.map(\.id))
    // The index of each layer in the source's list, by its name.
    var known: [Int: [Text: Int]] = [:]
    for features in layers.compactMap(\.features) {
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
      // A table knows nothing of geometry: the schema of a layer beside it says more.
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

  /// Gives a closed source another id when something else has its own.
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
