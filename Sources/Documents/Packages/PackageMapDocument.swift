// One map of a package's document, with ids that are free in the open model.

import GeoModel
import GeoProtocol
import JSON
import WireCoding

/// The part of a document that a map needs, with new ids for those in use.
struct PackageMapDocument {
  /// The new ids, by those in the package.
  private(set) var renamed: [String: String] = [:]
  private(set) var value = Value.null
  private var world: World
  private var taken: Set<String> = []

  private static let lists = ["operationalLayers", "baseLayers", "referenceLayers", "tables"]

  /// Nil if the document has no map of this id.
  ///
  /// - Parameter world: the open model.
  init?(_ map: String, of root: JSONValue, in world: World) throws {
    self.world = world
    guard case .object(let members) = try Wire.value(root), let found = members["maps"]?.elements?.first(where: { $0.id("map") == map }),
      case .object(var own) = found
    else { return nil }
    own["map"] = .string(rename(map) { ID<GeoModel.Map>($0) })
    var sources: Set<String> = []
    for list in Self.lists {
      let layers = (own[list]?.elements ?? []).filter { $0.id("entitySource") == nil }
      sources.formUnion(layers.compactMap { $0.id("source") })
      for id in layers.compactMap({ $0.id("layer") }) { _ = rename(id) { ID<Layer>($0) } }
      if own[list] != nil { own[list] = .array(layers) }
    }
    for id in sources.sorted() { _ = rename(id) { ID<Source>($0) } }
    for list in Self.lists {
      guard let layers = own[list]?.elements else { continue }
      own[list] = .array(layers.map { renaming(["layer", "group", "source"], of: $0) })
    }
    var result = Value.Members()
    for name in ["format", "version"] { result[name] = members[name] }
    let used = (members["sources"]?.elements ?? []).filter { $0.id("source").map(sources.contains) ?? false }
    result["sources"] = .array(used.map { renaming(["source"], of: $0) })
    result["maps"] = .array([.object(own)])
    value = .object(result)
  }

  /// A free id for an object of the package, by which the rest of the document is renamed.
  private mutating func rename<E: Entity>(_ id: String, _ make: (String) -> ID<E>) -> String {
    if let known = renamed[id] { return known }
    var free = id
    var count = 1
    while taken.contains(free) || (try? world.checkFree(make(free))) == nil {
      count += 1
      free = "\(id.prefix(50))-\(count)"
    }
    taken.insert(free)
    if free != id { renamed[id] = free }
    return free
  }

  private func renaming(_ names: [String], of object: Value) -> Value {
    guard case .object(var members) = object else { return object }
    for name in names { if let id = object.id(name), let new = renamed[id] { members[name] = .string(new) } }
    return .object(members)
  }
}

extension Value {
  /// The id in a member; nil if there is none.
  fileprivate func id(_ name: String) -> String? { members?[name]?.text }
}
