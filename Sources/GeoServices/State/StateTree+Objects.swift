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

  static func ofLayer(_ layer: Layer) -> StateMembers<Layer> {
    layer.grouping != nil ? ofGroupLayer : ofFeatureLayer
  }

  private static let ofAnyLayer =
    StateMembers<Layer>([
      ("kind", { layer, _ in value(Wire.kind(layer.kind).rawValue) }),
      ("map", { layer, _ in value(Wire.ids(of: layer.container).0) }),
      ("scene", { layer, _ in value(Wire.ids(of: layer.container).1) }),
      ("group", { layer, _ in value(layer.group?.rawValue) }), ("name", { layer, _ in value(layer.name.string) }),
    ]) + ofAppearance.of { $0.appearance }
    + StateMembers<Layer>([("loadStatus", { layer, world in value(Wire.loadStatus(world.loadStatus(of: layer))) })])

  private static let ofGroupLayer =
    ofAnyLayer
    + StateMembers<LayerGrouping>([
      ("layers", { grouping, _ in value(grouping.layers.map(\.rawValue)) }),
      ("visibilityMode", { grouping, _ in value(Wire.visibilityMode(grouping.visibilityMode).rawValue) }),
    ]).of { (layer: Layer) in layer.grouping } + ofNode()

  private static let ofFeatureLayer =
    ofAnyLayer + ofPortrayal.of { $0.portrayal }
    + StateMembers<LayerFeatures>([
      ("source", { features, _ in value(features.source.rawValue) }),
      ("sourceLayer", { features, _ in value(features.schema.name.string) }),
    ]).of { (layer: Layer) in layer.features }
    + StateMembers<Layer>([("spatialReference", { layer, _ in value(layer.reference.definition) })])
    + StateMembers<LayerFeatures>([
      ("geometryType", { features, _ in value(features.schema.geometryType) })
    ]).of { (layer: Layer) in layer.features }
    + StateMembers<Layer>([
      ("featureCount", { layer, _ in value(layer.featureCount) }),
      ("extent", { layer, _ in value(layer.extent.map(Wire.envelope)) }),
    ])
    + StateMembers<LayerFeatures>([
      ("fields", { features, _ in list(features.schema.fields.map(Wire.field)) }),
      ("selectedCount", { features, _ in value(features.selectedCount) }),
      ("definitionExpression", { features, _ in value(features.definitionExpression?.text) }),
      ("time", { features, _ in value(features.time.map(Wire.time)) }),
      ("isTimeFilterEnabled", { features, _ in value(features.isTimeFilterEnabled) }),
    ]).of { (layer: Layer) in layer.features } + ofNode()

  private static let ofAppearance = StateMembers<Appearance>([
    ("isVisible", { appearance, _ in value(appearance.isVisible) }),
    ("opacity", { appearance, _ in value(appearance.opacity) }),
    ("minScale", { appearance, _ in value(appearance.minScale) }),
    ("maxScale", { appearance, _ in value(appearance.maxScale) }),
  ])

  private static let ofPortrayal = StateMembers<Portrayal>([
    ("renderer", { portrayal, _ in value(portrayal.renderer.map(Wire.renderer)) }),
    ("labels", { portrayal, _ in list(portrayal.labels.map(Wire.label)) }),
    ("labelsEnabled", { portrayal, _ in value(portrayal.labelsEnabled) }),
    ("popup", { portrayal, _ in value(portrayal.popup.map(Wire.popup)) }),
    ("isPopupEnabled", { portrayal, _ in value(portrayal.isPopupEnabled) }),
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

  static let ofOverlay =
    StateMembers<Overlay>([
      ("view", { overlay, _ in value(overlay.view.rawValue) }), ("name", { overlay, _ in value(overlay.name?.string) }),
      ("spatialReference", { overlay, _ in value(overlay.reference.definition) }),
    ]) + ofAppearance.of { $0.appearance } + ofPortrayal.of { $0.portrayal }
    + StateMembers<Overlay>([
      ("selectionColor", { overlay, _ in value(overlay.selectionColor?.text) }),
      ("renderingMode", { overlay, _ in value(overlay.renderingMode.rawValue) }),
      ("graphicCount", { overlay, _ in value(overlay.store.count) }),
      ("selectedCount", { overlay, _ in value(overlay.selectedCount) }),
      ("extent", { overlay, _ in value(overlay.store.extent.map(Wire.envelope)) }),
      ("graphics", { overlay, _ in .graphics(overlay.store) }),
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
