// The members of each object in the tree, by the names of their properties. What is not known is null, so that members never
// come and go while the object lives.

import GeoModel
import Geometry
import JSON
import Query

/// Above so many graphics a snapshot gives them in parts.
let graphicsInOnePiece = 1000

private typealias Members = [(String, StateNode)]

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
private func value(_ texts: [String]) -> StateNode { .list { $0.array(texts) { $1.value($0) } } }
private func list(_ elements: [any JSONEncodable]) -> StateNode { .list { $0.array(elements) { $0.encode(to: &$1) } } }

extension StateTree {
  static func members(_ source: Source) -> [(String, StateNode)] {
    [
      ("driver", value(source.driver)), ("path", value(source.path)),
      ("status", value(Wire.sourceStatus(source.status))),
      ("layers", list(source.layers.map(Wire.sourceLayer))),
    ]
  }

  static func members(_ map: Map, _ world: World) -> [(String, StateNode)] {
    [
      ("spatialReference", value(map.reference.reference.definition)),
      ("loadStatus", value(Wire.loadStatus(world.loadStatus(of: .map(map.id))))),
    ] + members(map.content)
  }

  private static func members(_ content: MapContent) -> Members {
    [
      ("title", value(content.title)), ("basemap", value(content.basemap.map(Wire.basemap))),
      ("operationalLayers", value(content.operationalLayers.map(\.rawValue))),
      ("tables", value(content.tables.map(\.rawValue))), ("bookmarks", list(content.bookmarks.map(Wire.bookmark))),
      ("initialViewpoint", value(content.initialViewpoint.map(Wire.viewpoint))),
      ("referenceScale", value(content.referenceScale)), ("minScale", value(content.minScale)),
      ("maxScale", value(content.maxScale)), ("backgroundColor", value(content.backgroundColor?.text)),
    ]
  }

  static func members(_ layer: Layer, _ world: World) -> [(String, StateNode)] {
    let (map, scene) = Wire.ids(of: layer.container)
    let common: Members =
      [
        ("kind", value(Wire.kind(layer.kind).rawValue)), ("map", value(map)), ("scene", value(scene)),
        ("group", value(layer.group?.rawValue)), ("name", value(layer.name)),
      ] + members(layer.appearance) + [("loadStatus", value(Wire.loadStatus(world.loadStatus(of: layer))))]
    if let grouping = layer.grouping {
      return common + [
        ("layers", value(grouping.layers.map(\.rawValue))),
        ("visibilityMode", value(Wire.visibilityMode(grouping.visibilityMode).rawValue)),
      ]
    }
    guard let features = layer.features else { return common }
    return common + members(layer.portrayal) + [
      ("source", value(features.source.rawValue)), ("sourceLayer", value(features.schema.name)),
      ("spatialReference", value(layer.reference.definition)), ("geometryType", value(features.schema.geometryType)),
      ("featureCount", value(layer.featureCount)), ("extent", value(layer.extent.map(Wire.envelope))),
      ("fields", list(features.schema.fields.map(Wire.field))), ("selectedCount", value(features.selectedCount)),
      ("definitionExpression", value(features.definitionExpression?.text)),
      ("time", value(features.time.map(Wire.time))), ("isTimeFilterEnabled", value(features.isTimeFilterEnabled)),
    ]
  }

  private static func members(_ appearance: Appearance) -> Members {
    [
      ("isVisible", value(appearance.isVisible)), ("opacity", value(appearance.opacity)),
      ("minScale", value(appearance.minScale)), ("maxScale", value(appearance.maxScale)),
    ]
  }

  private static func members(_ portrayal: Portrayal) -> Members {
    [
      ("renderer", value(portrayal.renderer.map(Wire.renderer))), ("labels", list(portrayal.labels.map(Wire.label))),
      ("labelsEnabled", value(portrayal.labelsEnabled)), ("popup", value(portrayal.popup.map(Wire.popup))),
      ("isPopupEnabled", value(portrayal.isPopupEnabled)),
    ]
  }

  static func members(_ scene: Scene, _ world: World) -> [(String, StateNode)] {
    [("loadStatus", value(Wire.loadStatus(world.loadStatus(of: .scene(scene.id)))))] + members(scene.content) + [
      ("baseSurface", value(Wire.surface(scene.surface)))
    ]
  }

  static func members(_ view: View, _ world: World) -> [(String, StateNode)] {
    let (map, scene) = Wire.ids(of: view.content)
    return [
      ("map", value(map)), ("scene", value(scene)), ("width", value(view.screen.width)),
      ("height", value(view.screen.height)), ("dpi", value(view.screen.dpi)),
      ("spatialReference", value(view.reference.reference.definition)),
      ("viewpoint", value(Wire.viewpoint(view.viewpoint))), ("isNavigating", value(view.isNavigating)),
      ("overlays", value(view.overlays.map(\.rawValue))),
      ("locationDisplay", value(Wire.locationDisplay(view.locationDisplay))),
      (
        "layerViewStates",
        .leaf { writer in
          writer.beginObject()
          for (layer, state) in world.layerViewStates(of: view) {
            writer.key(layer.rawValue)
            writer.array(Wire.flags(state)) { $1.value($0.rawValue) }
          }
          writer.endObject()
        }
      ),
    ]
  }

  static func members(_ overlay: Overlay) -> [(String, StateNode)] {
    [
      ("view", value(overlay.view.rawValue)), ("name", value(overlay.name)),
      ("spatialReference", value(overlay.reference.definition)),
    ] + members(overlay.appearance) + members(overlay.portrayal) + [
      ("selectionColor", value(overlay.selectionColor?.text)), ("renderingMode", value(overlay.renderingMode.rawValue)),
      ("graphicCount", value(overlay.store.count)), ("selectedCount", value(overlay.selectedCount)),
      ("extent", value(overlay.store.extent.map(Wire.envelope))), ("graphics", .graphics(overlay.store)),
    ]
  }

  static func members(_ source: LocationSource) -> [(String, StateNode)] {
    [
      ("kind", value("simulated")), ("velocity", value(source.velocity)), ("interval", value(source.interval)),
      ("loops", value(source.loops)), ("owner", value(source.owner?.id)),
      ("status", value(Wire.locationStatus(source.status))),
      ("location", value(source.location.map(Wire.location))),
    ]
  }

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
