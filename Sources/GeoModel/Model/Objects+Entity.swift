// Which changes of objects are recorded, and which parts undo leaves alone.

import FeatureStore
import Geometry

extension Source: Entity {
  public static let isIndexed = false
  /// Undo leaves sources alone.
  public func undone(from current: Source) -> Source { current }
}

extension Map: Entity {
  public static let isIndexed = false
  public static func close(_ id: MapID, in world: inout World) throws(ModelError) { try world.close(id, .map(id)) }
}

extension Scene: Entity {
  public static func close(_ id: SceneID, in world: inout World) throws(ModelError) { try world.close(id, .scene(id)) }
  /// Elevation sources are not in a registry, so the scene lists their ids.
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
  public var references: [Text] {
    [content.reference.text]
      + [locationDisplay.source?.rawValue, locationDisplay.shared?.rawValue].compactMap { $0.map { Text($0) } }
  }
  public func refersTo(sameAs other: View) -> Bool {
    content == other.content && locationDisplay == other.locationDisplay
  }
  public var isMoving: Bool { isNavigating || steering?.isTurning ?? false }
  public static func close(_ id: ViewID, in world: inout World) throws(ModelError) { try world.closeView(id) }
  /// The number of its layer view states.
  public static func itemCount(of id: String?, in world: World) -> Int {
    (id.map { [ID($0)] } ?? world.views.ids).reduce(0) { $0 + world.layerViewStateCount(of: $1) }
  }

  public func undone(from current: View) -> View {
    // Undo restores the overlays of a view, but not the view itself.
    changed(current) { $0.overlays = overlays }
  }
}

extension Overlay: Entity {
  public static let isIndexed = false
  public var parent: ObjectReference? { ObjectReference(.views, view.rawValue) }
  public var memento: Overlay { changed(self) { $0.store = FeatureStore() } }
  public var byteCount: Int { 1024 + store.count * 100 }
  public static func close(_ id: OverlayID, in world: inout World) throws(ModelError) {
    let view = try world.overlays.require(id).view
    world.remove(id)
    world.changeKnown(view) { $0.overlays.remove(id) }
  }
  public static func itemCount(of id: String?, in world: World) -> Int {
    if let id { return world.overlays[ID(id)]?.store.count ?? 0 }
    return world.overlays.values.reduce(0) { $0 + $1.store.count }
  }

  public func rolledBack(from current: Overlay) -> Overlay {
    var result = self
    result.store = current.store
    result.selectedCount = current.selectedCount
    return result
  }
}

extension LocationSource: Entity {
  public var references: [Text] { (upstream?.rawValue ?? tracked?.source.rawValue).map { [Text($0)] } ?? [] }
  /// A source over another one closes with it, and one of an entity with the entity's source.
  public func closes(with object: ObjectReference) -> Bool {
    owner == object || object.collection == .locationSources && upstream?.rawValue == object.id
      || object.collection == .entitySources && tracked?.source.rawValue == object.id
  }
  public var wantedFeed: FeedFile? {
    guard case .nmea(let feed) = feed, status == .starting || status == .started else { return nil }
    return feed.file
  }
  public var isMoving: Bool { resumedAt != nil || staleTime != nil || epochEnd != nil }
  /// A location is live data, so it does not count as a change of the owner.
  public var parent: ObjectReference? { nil }
  public static func close(_ id: LocationSourceID, in world: inout World) throws(ModelError) {
    try world.closeLocationSource(id)
  }

  public func refusal(of member: String) -> ModelError {
    .wrongLocationKind(id.rawValue, kind, expected: member == Property.maxDistance.rawValue ? [.snapped] : [.filtered])
  }

  /// Undo restores settings, and leaves live data alone.
  public func undone(from current: LocationSource) -> LocationSource { current.withSettings(of: self) }
}

extension ViewContent {
  public var reference: ObjectReference {
    switch self {
    case .map(let id): ObjectReference(.maps, id.rawValue)
    case .scene(let id): ObjectReference(.scenes, id.rawValue)
    }
  }
}
