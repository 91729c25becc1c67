// The control fields of a request, read by the host before its handler runs.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import StateTree

/// `meta` of a request's params.
package struct RequestMeta {
  package var origin: String?
  package var ifRevision: Int?
  package var step: String?
  package var task: SessionProtocol.TaskOptions?

  /// Most requests have none; then this costs one look-up.
  package init(_ params: JSONValue) throws(JSONError) {
    let meta = params["meta"]
    guard meta.isPresent else { return }
    try meta.requireObject()
    let wire = try SessionProtocol.Meta(from: meta)
    origin = wire.origin
    ifRevision = wire.ifRevision
    step = wire.step
    task = wire.task
  }
}

/// The object that a method's params name first, for `meta.ifRevision`; nil for the world. A binding stands for what it leads into.
package func objectNamed(by method: String, in params: JSONValue, of world: World) -> ObjectReference? {
  func find(_ id: JSONValue) -> ObjectReference? { (try? id.string()).flatMap { world.find($0) } }
  switch method.prefix(while: { $0 != "/" }) {
  case "environment": return find(params["node"])
  case "state": return (try? params["path"].string()).flatMap { ModelPath(pointer: $0)?.object }
  case "binding":
    if let path = find(params["binding"]).flatMap({ world.bindings[ID($0.id)]?.path }) { return path.object }
  default: break
  }
  let target: (Collection, JSONValue)? =
    switch method.prefix(while: { $0 != "/" }) {
    case "source": (.sources, params["source"])
    case "map": (.maps, params["map"])
    // A layer is added to a map or a scene, which may be loaded as a whole, too.
    case "layer", "bookmark":
      if params["layer"].isPresent {
        (.layers, params["layer"])
      } else if params["map"].isPresent {
        (.maps, params["map"])
      } else {
        (.scenes, params["scene"])
      }
    case "scene": (.scenes, params["scene"])
    case "view": (.views, params["view"])
    // An overlay is created on a view.
    case "overlay": params["overlay"].isPresent ? (.overlays, params["overlay"]) : (.views, params["view"])
    case "feature": params["layer"].isPresent ? (.layers, params["layer"]) : (.overlays, params["overlay"])
    case "viewModel": (.viewModels, params["viewModel"])
    case "binding": params["link"].isPresent ? (.links, params["link"]) : (.bindings, params["binding"])
    case "location": (.locationSources, params["locationSource"])
    default: nil
    }
  guard let (collection, value) = target, let id = try? value.string() else { return nil }
  return ObjectReference(collection, id)
}
