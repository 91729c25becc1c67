// The members of each object in the tree, by the names of their properties. What is not known is null, so that members never
// come and go while the object lives.

import GeoModel
import Geometry
import JSON
import Query

/// Above so many graphics a snapshot gives them in parts.
let graphicsInOnePiece = 1000

/// The members of objects of one kind, each made when it is asked for.
struct StateMembers<Object>: Sendable {
  typealias Make = @Sendable (Object, World) -> StateNode
  private(set) var all: [(name: String, make: Make)]

  init(_ all: [(name: String, make: Make)]) { self.all = all }

  func make(_ name: String, of object: Object, in world: World) -> StateNode? {
    all.first { Text($0.name) == Text(name) }?.make(object, world)
  }

  /// The same of what a part has.
  func of<Whole>(_ part: @escaping @Sendable (Whole) -> Object?) -> StateMembers<Whole> {
    .init(
      all.map { member in (member.name, { whole, world in part(whole).map { member.make($0, world) } ?? nothing }) })
  }

  static func + (first: Self, second: Self) -> Self { .init(first.all + second.all) }
}

private var nothing: StateNode { .leaf { $0.null() } }

private func value(_ encodable: (any JSONEncodable)?) -> StateNode {
  .leaf { writer in
    if let encodable { encodable.encode(to: &writer) } else { writer.null() }
  }
}
private func value(_ text: String?) -> StateNode {
  .leaf { writer in
    if let text { writer.value(text) } else { writer.null() }
  }
}
private func value(_ number: Double?) -> StateNode {
  .leaf { writer in
    if let number { writer.value(number) } else { writer.null() }
  }
}
private func value(_ number: Int?) -> StateNode {
  .leaf { writer in
    if let number { writer.value(number) } else { writer.null() }
  }
}
private func value(_ flag: Bool) -> StateNode { .leaf { $0.value(flag) } }
private func value(_ ids: [String]) -> StateNode { .ids(ids) }
private func list(_ elements: [any JSONEncodable]) -> StateNode { .list { $0.array(elements) { $0.encode(to: &$1) } } }
private func parts(_ encodable: (any JSONEncodable)?) -> StateNode {
  .parts { writer in
    if let encodable { encodable.encode(to: &writer) } else { writer.null() }
  }
}

extension StateTree {
  static let ofSource = StateMembers<Source>([
    ("driver", { source, _ in value(source.driver) }), ("path", { source, _ in value(source.path) }),
    ("status", { source, _ in value(Wire.sourceStatus(source.status)) }),
    ("layers", { source, _ in list(source.layers.map(Wire.sourceLayer)) }),
  ])

  static let ofMap =
    StateMembers<Map>([
      ("spatialReference", { map, _ in value(map.reference.reference.definition) }),
      ("loadStatus", { map, world in value(Wire.loadStatus(world.loadStatus(of: .map(map.id)))) }),
    ]) + ofContent.of { $0.content } + ofNode()

  private static let ofContent = StateMembers<MapContent>([
    ("title", { content, _ in value(content.title?.string) }),
    ("basemap", { content, _ in parts(content.basemap.map(Wire.basemap)) }),
    ("operationalLayers", { content, _ in value(content.operationalLayers.map(\.rawValue)) }),
    ("tables", { content, _ in value(content.tables.map(\.rawValue)) }),
    ("bookmarks", { content, _ in list(content.bookmarks.map(Wire.bookmark)) }),
    ("initialViewpoint", { content, _ in value(content.initialViewpoint.map(Wire.viewpoint)) }),
    ("referenceScale", { content, _ in value(content.referenceScale) }),
    ("minScale", { content, _ in value(content.minScale) }), ("maxScale", { content, _ in value(content.maxScale) }),
    ("backgroundColor", { content, _ in value(content.backgroundColor?.text) }),
  ])

  static let ofScene =
    StateMembers<Scene>([
      ("loadStatus", { scene, world in value(Wire.loadStatus(world.loadStatus(of: .scene(scene.id)))) })
    ]) + ofContent.of { $0.content }
    + StateMembers<Scene>([
      ("spatialReference", { _, _ in value(SpatialReference.wgs84.definition) }),
      ("baseSurface", { scene, _ in parts(Wire.surface(scene.surface)) }),
    ]) + ofNode()

  static let ofView =
    StateMembers<View>([
      ("map", { view, _ in value(Wire.ids(of: view.content).0) }),
      ("scene", { view, _ in value(Wire.ids(of: view.content).1) }),
      ("width", { view, _ in value(view.screen.width) }), ("height", { view, _ in value(view.screen.height) }),
      ("dpi", { view, _ in value(view.screen.dpi) }),
      ("spatialReference", { view, _ in value(view.reference.reference.definition) }),
      ("viewpoint", { view, _ in value(Wire.viewpoint(view.viewpoint)) }),
      ("isNavigating", { view, _ in value(view.isNavigating) }),
      ("overlays", { view, _ in value(view.overlays.map(\.rawValue)) }),
      ("locationDisplay", { view, _ in value(Wire.locationDisplay(view.locationDisplay)) }),
      (
        "layerViewStates",
        { view, world in
          .leaf { writer in
            writer.beginObject()
            for (layer, state) in world.layerViewStates(of: view) {
              writer.key(layer.rawValue)
              writer.array(Wire.flags(state)) { $1.value($0.rawValue) }
            }
            writer.endObject()
          }
        }
      ),
    ]) + ofNode()

  /// What a node of the environment has.
  private static func ofNode<Node: Entity>() -> StateMembers<Node> {
    StateMembers<Node>([("environment", { (node: Node, world: World) in environment(of: node.reference, world) })])
  }

  static let ofLocationSource = StateMembers<LocationSource>([
    ("kind", { _, _ in value("simulated") }), ("velocity", { source, _ in value(source.velocity) }),
    ("interval", { source, _ in value(source.interval) }), ("loops", { source, _ in value(source.loops) }),
    ("owner", { source, _ in value(source.owner?.id) }),
    ("status", { source, _ in value(Wire.locationStatus(source.status)) }),
    ("location", { source, _ in value(source.location.map(Wire.location)) }),
  ])

  static func clock(_ world: World) -> StateNode {
    .branch(["mode", "tickRate"]) { name in
      switch name {
      case "mode": value(world.clock.mode == .real ? "real" : "manual")
      case "tickRate": value(world.clock.tickRate)
      default: nil
      }
    }
  }

  static func edit(_ history: History) -> StateNode {
    .branch(["canUndo", "canRedo", "undoName", "redoName", "isEditing"]) { name in
      switch name {
      case "canUndo": value(history.canUndo)
      case "canRedo": value(history.canRedo)
      case "undoName": value(history.undoName)
      case "redoName": value(history.redoName)
      case "isEditing": value(history.isEditing)
      default: nil
      }
    }
  }

  static func document(_ world: World) -> StateNode {
    .branch(["path", "isModified"]) { name in
      switch name {
      case "path": value(world.document.path)
      case "isModified": value(world.history.isModified)
      default: nil
      }
    }
  }
}
