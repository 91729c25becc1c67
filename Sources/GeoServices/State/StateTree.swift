// The model as one tree of JSON: what paths lead through, snapshots show and deltas change.

import GeoModel
import JSON

/// A place in the tree. Children and values are made when they are asked for.
indirect enum StateNode {
  /// Members in their order.
  case branch([String], (String) -> StateNode?)
  case leaf((inout JSONWriter) -> Void)

  func child(_ name: String) -> StateNode? {
    switch self {
    case .branch(_, let child): return child(name)
    case .leaf(let write):
      // Below a property the value is plain JSON, and so is the way.
      var writer = JSONWriter(capacity: 256)
      write(&writer)
      guard let document = try? JSONDocument(writer.string) else { return nil }
      return StateNode.parsed(document.unownedRoot, in: document)?.child(name)
    }
  }

  private static func parsed(_ value: JSONValue, in document: JSONDocument) -> StateNode? {
    switch value.kind {
    case .absent: return nil
    case .object:
      var names: [String] = []
      value.forEachMember { name, _ in names.append(String(decoding: name, as: UTF8.self)) }
      return .branch(names) { parsed(value.member($0), in: document) }
    case .array:
      return .branch((0..<value.count).map(String.init)) { name in
        Int(name).flatMap { parsed(value[$0], in: document) }
      }
    default:
      return .leaf { writer in withExtendedLifetime(document) { value.encode(to: &writer) } }
    }
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .leaf(let write): write(&writer)
    case .branch(let names, let child):
      writer.beginObject()
      for name in names {
        guard let node = child(name) else { continue }
        writer.key(name)
        node.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

enum StateTree {
  /// The whole tree of a world.
  static func root(_ world: World) -> StateNode {
    .branch(Collection.allCases.map(\.rawValue) + ["clock"]) { name in
      if name == "clock" { return clock(world) }
      return Collection(rawValue: name).map { collection(world, $0) }
    }
  }

  /// The place at a path; nil when nothing stands there.
  static func node(at path: [String], in world: World) -> StateNode? {
    var node: StateNode? = root(world)
    for name in path { node = node?.child(name) }
    return node
  }

  /// Every place that a pattern means, in order.
  static func places(of pattern: StatePattern, in world: World) -> [(path: [String], node: StateNode)] {
    var places: [(path: [String], node: StateNode)] = [([], root(world))]
    for segment in pattern.segments {
      var below: [(path: [String], node: StateNode)] = []
      for (path, node) in places {
        switch segment {
        case .name(let name):
          if let child = node.child(name) { below.append((path + [name], child)) }
        case .any:
          guard case .branch(let names, let child) = node else { continue }
          for name in names {
            if let node = child(name) { below.append((path + [name], node)) }
          }
        }
      }
      places = below
    }
    return places
  }

  static func path(of object: ObjectReference) -> [String] { [object.collection.rawValue, object.id] }

  private static func collection(_ world: World, _ collection: Collection) -> StateNode {
    switch collection {
    case .sources: branch(world.sources) { members($0) }
    case .maps: branch(world.maps) { members($0) }
    case .layers: branch(world.layers) { members($0) }
    case .scenes: branch(world.scenes) { members($0) }
    case .views: branch(world.views) { members($0) }
    case .overlays: branch(world.overlays) { members($0) }
    case .locationSources: branch(world.locationSources) { members($0) }
    }
  }

  private static func branch<Element>(
    _ registry: Registry<Element>, _ members: @escaping (Element) -> [(String, StateNode)]
  ) -> StateNode {
    .branch(registry.ids.map(\.rawValue)) { id in registry[ID(id)].map { object(members($0)) } }
  }

  private static func object(_ members: [(String, StateNode)]) -> StateNode {
    .branch(members.map(\.0)) { name in members.first { $0.0 == name }?.1 }
  }
}

extension JSONValue {
  /// The member of a name that is known only at run time.
  func member(_ name: String) -> JSONValue {
    var found = self["\u{1}"]
    forEachMember { key, value in
      if key.elementsEqual(name.utf8) { found = value }
    }
    return found
  }
}
