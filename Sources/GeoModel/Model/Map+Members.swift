// The tables of members of maps and scenes, which share most members.

import Geometry

extension Map {
  public static let members: [Member<Map>] =
    [title, Member(.spatialReference) { $0.reference.reference }] + contents
    + [Member(derived: .loadStatus) { .loadStatus($1.loadStatus(of: .map($0.id))) }, .environment]
}

extension Scene {
  public static let members: [Member<Scene>] =
    [title] + contents + [
      Member(.baseSurface, { $0.surface }, set: { $0.surface = $1 }),
      Member(.spatialReference) { _ in SpatialReference.wgs84 },
      Member(derived: .loadStatus) { .loadStatus($1.loadStatus(of: .scene($0.id))) },
      .environment,
    ]
}

/// An object that contains layers: a map or a scene.
protocol LayerContainer: Entity {
  var content: MapContent { get set }
}

extension Map: LayerContainer {}
extension Scene: LayerContainer {}

extension LayerContainer {
  static var title: Member<Self> {
    Member(.title, { $0.content.title }, set: { $0.content.title = $1 })
  }

  static var contents: [Member<Self>] {
    [
      Member(.basemap, { $0.content.basemap }, set: { $0.content.basemap = $1 }),
      Member(.operationalLayers) { $0.content.operationalLayers },
      Member(.tables) { $0.content.tables },
      Member(.bookmarks, default: [], { $0.content.bookmarks }, set: { $0.content.bookmarks = $1 }),
      Member(.initialViewpoint, { $0.content.initialViewpoint }, set: { $0.content.initialViewpoint = $1 }),
      Member(.referenceScale, { $0.content.referenceScale }, set: { $0.content.referenceScale = $1 }),
      Member(.minScale, { $0.content.minScale }, set: { $0.content.minScale = $1 }),
      Member(.maxScale, { $0.content.maxScale }, set: { $0.content.maxScale = $1 }),
      Member(.maxExtent, { $0.content.maxExtent }, set: { $0.content.maxExtent = $1 }),
      Member(.scaleLevels, { $0.content.scaleLevels }, set: { $0.content.scaleLevels = $1 }),
      Member(.rotationSnap, { $0.content.rotationSnap }, set: { $0.content.rotationSnap = $1 }),
      Member(.backgroundColor, { $0.content.backgroundColor }, set: { $0.content.backgroundColor = $1 }),
    ]
  }
}
