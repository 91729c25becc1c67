// The model as one tree of JSON: what paths lead through, snapshots show and deltas change.

import GeoModel
import Geometry
import JSON
import Query

/// A node of the tree. Children and values are made on demand.
indirect enum StateNode {
  /// Members in their order.
  case branch([String], (String) -> StateNode?)
  case leaf((inout JSONWriter) -> Void)
  /// The same of an ordered list, whose deltas are insertions, removals and moves.
  case list((inout JSONWriter) -> Void)
  /// An ordered list of ids, each of which is there once.
  case ids([String])
  /// An object or null: its members are sent one by one, and lists among them by steps.
  case parts((inout JSONWriter) -> Void)
  /// Graphics by id.
  case graphics(FeatureStore)

  func child(_ name: String) -> StateNode? {
    switch self {
    case .branch(_, let child): return child(name)
    case .graphics(let store):
      return Self.number(name).flatMap { store.feature(id: $0) }.map { row in
        .leaf { FeatureWriter.writeGraphic(row, store.schema, to: &$0) }
      }
    case .leaf, .list, .ids: return opened?.child(name)
    case .parts: return opened(Self.part)?.child(name)
    }
  }

  /// Below a property the value is plain JSON, and so is the way; nil where it is a scalar, which leads nowhere.
  private var opened: StateNode? { opened(Self.leaf) }

  private func opened(_ make: @escaping (JSONValue, JSONDocument) -> StateNode?) -> StateNode? {
    guard let document = try? JSONDocument(text) else { return nil }
    let value = document.unownedRoot
    switch value.kind {
    case .object:
      var names: [String] = []
      value.forEachMember { name, _ in names.append(String(decoding: name, as: UTF8.self)) }
      return .branch(names) { make(value.member($0), document) }
    case .array:
      return .branch((0..<value.count).map(String.init)) { name in
        Self.number(name).flatMap { make(value[$0], document) }
      }
    default: return nil
    }
  }

  private static func leaf(_ value: JSONValue, in document: JSONDocument) -> StateNode? {
    guard value.kind != .absent else { return nil }
    return .leaf { writer in withExtendedLifetime(document) { value.encode(to: &writer) } }
  }

  /// The node of a member of an object that is sent by members.
  private static func part(_ value: JSONValue, in document: JSONDocument) -> StateNode? {
    guard value.kind == .array else { return leaf(value, in: document) }
    return .list { writer in withExtendedLifetime(document) { value.encode(to: &writer) } }
  }

  /// A number as it is written in paths: `03` and `+3` are none.
  private static func number(_ name: String) -> Int? { Int(name).flatMap { String($0) == name ? $0 : nil } }

  /// The names of its children; none for a scalar.
  var names: [String] {
    switch self {
    case .leaf, .list, .ids, .parts: return opened?.names ?? []
    case .branch(let names, _): return names
    case .graphics(let store):
      var ids: [String] = []
      ids.reserveCapacity(store.count)
      store.forEach {
        ids.append(String($0.id))
        return true
      }
      return ids
    }
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .leaf(let write), .list(let write), .parts(let write): write(&writer)
    case .ids(let ids): writer.array(ids) { $1.value($0) }
    case .graphics(let store): StateNode.write(store, 0..<store.count, to: &writer)
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

extension StateNode {
  /// Writes the graphics of a range of indexes in the order of insertion as one object, by id.
  static func write(_ store: FeatureStore, _ range: Range<Int>, to writer: inout JSONWriter) {
    writer.beginObject()
    var index = 0
    store.forEach { row in
      if range.contains(index) {
        writer.key(String(row.id))
        FeatureWriter.writeGraphic(row, store.schema, to: &writer)
      }
      index += 1
      return index < range.upperBound
    }
    writer.endObject()
  }

  /// Its text, made now.
  var text: String {
    var writer = JSONWriter(capacity: 256)
    write(to: &writer)
    return writer.string
  }

  var rendered: JSONOpaque {
    let text = text
    return .written { $0.raw(text) }
  }

  /// How many graphics are in it.
  var graphicCount: Int {
    switch self {
    case .leaf, .list, .ids, .parts: 0
    case .graphics(let store): store.count
    case .branch(let names, let child):
      // Only the tree's upper levels lead to graphics; below an object's members there are none.
      names.reduce(0) { $0 + (child($1)?.graphicCount ?? 0) }
    }
  }
}

enum StateTree {
  /// The whole tree of a world.
  static func root(_ world: World) -> StateNode {
    .branch(Collection.allCases.map(\.rawValue) + ["clock", "edit", "document"]) { name in
      switch name {
      case "clock": clock(world)
      case "edit": edit(world.history)
      case "document": document(world)
      default: Collection(rawValue: name).map { collection(world, $0) }
      }
    }
  }

  /// The node at a path; nil when the path leads nowhere.
  static func node(at path: [String], in world: World) -> StateNode? {
    // Straight to an object: no list of ids is made.
    let object = path.count > 1 ? Collection(rawValue: path[0]).map { ObjectReference($0, path[1]) } : nil
    var node = object.map { self.node(of: $0, in: world) } ?? root(world)
    for name in path.dropFirst(object == nil ? 0 : 2) { node = node?.child(name) }
    return node
  }

  private static func node(of object: ObjectReference, in world: World) -> StateNode? {
    let noun = object.collection.noun
    return withMembers(of: object, in: world) { names, _ in
      .branch([noun] + names()) { name in
        name == noun ? .leaf { $0.value(object.id) } : member(name, of: object, in: world)
      }
    }
  }

  static func node(at path: StatePath, in world: World) -> StateNode? {
    guard let member = path.member, let collection = Collection(rawValue: path.root.string) else {
      return node(at: path.names, in: world)
    }
    // Straight to the member: no list of ids is made, nor one of names.
    var node = self.member(member.string, of: ObjectReference(collection, path.id.string), in: world)
    if node == nil { node = self.node(at: Array(path.names.prefix(3)), in: world) }
    for name in path.rest { node = node?.child(name.string) }
    return node
  }

  /// Every node whose path matches a pattern, in order.
  static func matches(of pattern: StatePattern, in world: World) -> [(path: [String], node: StateNode)] {
    var matches: [(path: [String], node: StateNode)] = [([], root(world))]
    for segment in pattern.segments {
      var below: [(path: [String], node: StateNode)] = []
      for (path, node) in matches {
        switch segment {
        case .name(let name):
          if let child = node.child(name.string) { below.append((path + [name.string], child)) }
        case .any:
          for name in node.names {
            if let node = node.child(name) { below.append((path + [name], node)) }
          }
        }
      }
      matches = below
    }
    return matches
  }

  static func path(of object: ObjectReference) -> [String] { [object.collection.rawValue, object.id] }

  private static func collection(_ world: World, _ collection: Collection) -> StateNode {
    switch collection {
    case .sources: branch(world.sources, world)
    case .maps: branch(world.maps, world)
    case .layers: branch(world.layers, world)
    case .scenes: branch(world.scenes, world)
    case .views: branch(world.views, world)
    case .overlays: branch(world.overlays, world)
    case .locationSources: branch(world.locationSources, world)
    case .viewModelTypes: branch(world.viewModelTypes, world)
    case .viewModels: branch(world.viewModels, world)
    case .bindings: branch(world.bindings, world)
    case .links: branch(world.links, world)
    case .environmentKeys: branch(world.environmentKeys, world)
    case .environments: branch(world.environments, world)
    }
  }

  /// Hands on what an object has but for its id: the names of its members, and each by its name. Nil when there is no such object.
  private static func withMembers<R>(
    of object: ObjectReference, in world: World, _ body: (() -> [String], (String) -> StateNode?) -> R
  ) -> R? {
    func open<Object: Entity>(_ object: Object?) -> R? {
      guard let object else { return nil }
      return body({ Object.members.filter { $0.isMember(of: object) }.map(\.name) }) { name in
        guard let member = Object.members.first(where: { Text($0.name) == Text(name) }) else { return nil }
        return member.value(of: object, in: world).map { StateNode($0, member.shape) }
      }
    }
    let id = object.id
    switch object.collection {
    case .sources: return open(world.sources[ID(id)])
    case .maps: return open(world.maps[ID(id)])
    case .layers: return open(world.layers[ID(id)])
    case .scenes: return open(world.scenes[ID(id)])
    case .views: return open(world.views[ID(id)])
    case .overlays: return open(world.overlays[ID(id)])
    case .locationSources: return open(world.locationSources[ID(id)])
    case .viewModelTypes: return open(world.viewModelTypes[ID(id)])
    case .viewModels:
      guard let model = world.viewModels[ID(id)] else { return nil }
      return body({ model.properties.map(\.name) }, { member($0, of: model) })
    case .bindings: return open(world.bindings[ID(id)])
    case .links: return open(world.links[ID(id)])
    case .environmentKeys: return open(world.environmentKeys[ID(id)])
    case .environments: return open(world.environments[ID(id)])
    }
  }

  private static func member(_ name: String, of object: ObjectReference, in world: World) -> StateNode? {
    withMembers(of: object, in: world) { _, make in make(name) } ?? nil
  }

  private static func branch<Element>(_ registry: Registry<Element>, _ world: World) -> StateNode {
    .branch(registry.ids.map(\.rawValue)) { node(of: ObjectReference(Element.collection, $0), in: world) }
  }
}
