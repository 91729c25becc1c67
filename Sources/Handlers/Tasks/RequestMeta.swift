// The control fields of a request, read by the host before its handler runs.

import GeoModel
import GeoProtocol
import JSON

extension SessionProtocol.Meta {
  /// Reads `meta` of a request's params. Most requests have none, which costs one look-up.
  package init(of params: JSONValue) throws(JSONError) {
    let meta = params["meta"]
    if meta.isPresent { try self.init(from: meta) } else { self.init() }
  }
}

/// The object that a method's params name first, for `meta.ifRevision`; nil for the world. A binding counts as the object that it
/// leads to.
package func objectNamed(by method: String, in params: JSONValue, of world: World) -> ObjectReference? {
  func find(_ id: JSONValue) -> ObjectReference? { (try? id.string()).flatMap { world.find($0) } }
  let domain = method.prefix { $0 != "/" }
  switch domain {
  case "environment": return find(params["node"])
  case "state": return (try? params["path"].string()).flatMap { ModelPath(pointer: $0)?.object }
  case "binding":
    if let path = find(params["binding"]).flatMap({ world.bindings[ID($0.id)]?.path }) { return path.object }
  default: break
  }
  let nouns =
    switch domain {
    // A layer is added to a map or a scene, and those are also loaded as a whole.
    case "layer", "bookmark": ["layer", "map", "scene"]
    // An overlay is created on a view.
    case "overlay": ["overlay", "view"]
    case "feature": ["layer", "overlay", "entitySource"]
    case "binding": ["link", "binding"]
    default: Collection.allCases.filter { $0.domain == domain }.map(\.noun)
    }
  guard let noun = nouns.first(where: { params.member($0).isPresent }), let id = try? params.member(noun).string(),
    let collection = Collection.allCases.first(where: { $0.noun == noun })
  else { return nil }
  return ObjectReference(collection, id)
}
