// The parts of layers that undo leaves alone: features and load status.

import FeatureStore
import Geometry

extension Layer: Entity {
  public static func close(_ id: LayerID, in world: inout World) throws(ModelError) { try world.removeLayer(id) }
  public var parent: ObjectReference? { directContainer }
  /// The group, map or scene that lists the layer.
  var directContainer: ObjectReference { group.map { ObjectReference(.layers, $0.rawValue) } ?? container.reference }
  public var references: [Text] { features.map { [Text($0.source.rawValue)] } ?? [] }
  public var memento: Layer { changed(self) { $0.features?.store = nil } }
  public var byteCount: Int { 1024 + (store?.count ?? 0) * 100 }

  public func rolledBack(from current: Layer) -> Layer {
    changed(self) {
      $0.features?.store = current.features?.store
      $0.raster?.source = current.raster?.source
    }
  }

  public func undone(from current: Layer) -> Layer {
    var result = rolledBack(from: current)
    result.revision = current.revision
    if let raster = current.raster { result.raster?.loadStatus = raster.loadStatus }
    if let features = current.features {
      result.features?.schema = features.schema
      result.features?.origin = features.origin
      result.features?.loadStatus = features.loadStatus
      // The features are the current ones, but the filters are the restored ones, so the count may have changed.
      result.features?.countSelected()
    }
    return result
  }

  public var restoredAfterRemoval: Layer {
    // The load of a removed layer has ended.
    changed(self) { if $0.ownLoadStatus == .loading { $0.ownLoadStatus = .notLoaded } }
  }
}
