// Which changes of objects are recorded, and what undo leaves alone.

import Geometry
import Query

extension Source: Entity {
  public static let collection = Collection.sources
  public static var registry: WritableKeyPath<World, Registry<Source>> & Sendable { \.sources }
  public static let isUndoable = false

  /// Undo leaves sources alone.
  public func undone(from current: Source) -> Source { current }
}

extension Map: Entity {
  public static let collection = Collection.maps
  public static var registry: WritableKeyPath<World, Registry<Map>> & Sendable { \.maps }
}

extension Scene: Entity {
  public static let collection = Collection.scenes
  public static var registry: WritableKeyPath<World, Registry<Scene>> & Sendable { \.scenes }
  public static let isIndexed = true
  /// Elevation sources have no registry of their own.
  public var references: [Text] { surface.elevationSources.map { Text($0.id) } }

  public func undone(from current: Scene) -> Scene {
    var result = self
    result.revision = current.revision
    for (index, source) in surface.elevationSources.enumerated() {
      guard let now = current.surface.elevationSources.first(where: { $0.id == source.id }) else { continue }
      result.surface.elevationSources[index] = now
    }
    return result
  }
}

extension View: Entity {
  public static let collection = Collection.views
  public static var registry: WritableKeyPath<World, Registry<View>> & Sendable { \.views }
  public static let isUndoable = false
  public static let isIndexed = true
  public var references: [Text] {
    [content.reference.text] + (locationDisplay.source.map { [Text($0.rawValue)] } ?? [])
  }
  public var isMoving: Bool { isNavigating }

  public func undone(from current: View) -> View {
    // Undo restores the overlays of a view, but not the view itself.
    var result = current
    result.overlays = overlays
    return result
  }
}

extension Overlay: Entity {
  public static let collection = Collection.overlays
  public static var registry: WritableKeyPath<World, Registry<Overlay>> & Sendable { \.overlays }

  public var parent: ObjectReference? { ObjectReference(.views, view.rawValue) }
  public var memento: Overlay {
    var result = self
    result.store = FeatureStore()
    return result
  }
  public var byteCount: Int { 1024 + store.count * 100 }

  public func rolledBack(from current: Overlay) -> Overlay {
    var result = self
    result.store = current.store
    result.selectedCount = current.selectedCount
    return result
  }
}

extension LocationSource: Entity {
  public static let collection = Collection.locationSources
  public static var registry: WritableKeyPath<World, Registry<LocationSource>> & Sendable { \.locationSources }
  public static let isUndoable = false
  public static let isIndexed = true
  public var references: [Text] { owner.map { [$0.text] } ?? [] }
  public var isMoving: Bool { isRunning }

  /// A location source is live: undo leaves all of it alone.
  public func undone(from current: LocationSource) -> LocationSource { current }
}

extension ViewContent {
  public var reference: ObjectReference {
    switch self {
    case .map(let id): ObjectReference(.maps, id.rawValue)
    case .scene(let id): ObjectReference(.scenes, id.rawValue)
    }
  }
}
