// The model as one JSON tree: the tree that paths address, snapshots contain and deltas change.

import FeatureStore
import GeoModel
import Geometry
import JSON
import WireCoding

/// A node of the tree. Children and values are made on demand.
package indirect enum StateNode {
  /// Members in their order. A collection's names are listed only when they are asked for.
  case branch(() -> [String], itemCount: () -> Int = { 0 }, (String) -> StateNode?)
  case leaf((inout JSONWriter) -> Void)
  /// An ordered list; its deltas are insertions, removals and moves.
  case list((inout JSONWriter) -> Void)
  /// An ordered list of ids, each of which occurs once.
  case ids(TextList)
  /// An object or null: deltas contain its changed members, and steps of lists among them.
  case parts((inout JSONWriter) -> Void)
  /// A struct or a dictionary of a client: deltas contain what differs in it, at any depth.
  case value(Value)
  /// Graphics by id.
  case graphics(FeatureStore)
  /// The states of layers in a view, by layer.
  case layerStates(ViewLayerStates)

  package func child(_ name: String) -> StateNode? {
    switch self {
    case .branch(_, _, let child): return child(name)
    case .graphics(let store):
      return Self.number(name).flatMap { store.feature(id: $0) }.map { row in
        .leaf { FeatureWriter.writeGraphic(row, store.schema, to: &$0) }
      }
    case .value(let value): return value.part(at: [Text(name)]).map { StateNode($0.memberValue, .parts) }
    case .leaf, .list, .ids, .layerStates, .parts: return opened?.child(name)
    }
  }

  /// A branch over the members of a property's JSON value, for callers that visit many of them. The node itself if it is a branch
  /// already; nil for a scalar, which has no members.
  ///
  /// - Complexity: linear in the length of the value, and so is a single ``child(_:)`` of a node that is not opened.
  var opened: StateNode? {
    switch self {
    case .branch, .graphics, .value: self
    case .leaf, .list, .ids, .layerStates: opened(Self.leaf)
    case .parts: opened(Self.part)
    }
  }

  private func opened(_ make: @escaping (JSONValue, JSONDocument) -> StateNode?) -> StateNode? {
    guard let document = try? JSONDocument(text) else { return nil }
    let value = document.unownedRoot
    switch value.kind {
    case .object:
      let names = value.members.map(\.name)
      return .branch({ names }) { make(value.member($0), document) }
    case .array:
      return .branch({ (0..<value.count).map(String.init) }) { name in
        Self.element(name, of: value).flatMap { make($0, document) }
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

  /// The element that a name in a path stands for: an index, or `@` and the element's id, which is its text or its member `id`.
  private static func element(_ name: String, of list: JSONValue) -> JSONValue? {
    guard name.utf8.first == UInt8(ascii: "@") else { return number(name).map { list[$0] } }
    let id = name.utf8.dropFirst()
    for index in 0..<list.count {
      let element = list[index]
      let key = element.kind == .object ? element["id"] : element
      if key.withUTF8({ $0.elementsEqual(id) }) { return element }
    }
    return nil
  }

  /// An index as paths write it: `03` and `+3` are not accepted.
  private static func number(_ name: String) -> Int? { Int(name).flatMap { String($0) == name ? $0 : nil } }

  /// The names of its children; none for a scalar.
  package var names: [String] {
    switch self {
    case .leaf, .list, .ids, .parts, .layerStates: opened?.names ?? []
    case .branch(let names, _, _): names()
    case .value(let value): value.members?.names ?? []
    case .graphics(let store): store.ids.map(String.init)
    }
  }

  package func write(to writer: inout JSONWriter) {
    switch self {
    case .leaf(let write), .list(let write), .parts(let write): write(&writer)
    case .value(let value): value.encode(to: &writer)
    case .ids(let ids): MemberValue.ids(ids).encode(to: &writer)
    case .graphics(let store): FeatureWriter.writeGraphics(store, 0..<store.count, to: &writer)
    case .layerStates(let states): MemberValue.layerViewStates(states).encode(to: &writer)
    case .branch(let names, _, let child):
      writer.beginObject()
      for name in names() {
        guard let node = child(name) else { continue }
        writer.key(name)
        node.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

extension StateNode {
  /// Its text, made now.
  package var text: String {
    var writer = JSONWriter(capacity: 256)
    write(to: &writer)
    return writer.string
  }

  package var rendered: JSONOpaque { .made { write(to: &$0) } }

  /// The number of graphics and other ``StateItems`` in the node.
  package var itemCount: Int {
    switch self {
    case .leaf, .list, .ids, .parts, .value: 0
    case .graphics(let store): store.count
    case .layerStates(let states): states.topLayers.count
    case .branch(_, let itemCount, _): itemCount()
    }
  }

  /// The members of a value that can be sent a few at a time; nil if it is sent whole.
  package var items: StateItems? {
    switch self {
    case .graphics(let store): StateItems(store)
    case .layerStates(let states): StateItems(states)
    case .leaf, .list, .ids, .parts, .value, .branch: nil
    }
  }
}

package enum StateTree {
  /// The whole tree of a world.
  package static func root(_ world: World) -> StateNode {
    .branch(
      { Collection.allCases.map(\.rawValue) + ["clock", "edit", "document"] },
      itemCount: { Collection.allCases.reduce(0) { $0 + world.itemCount(of: $1) } }
    ) { name in
      switch name {
      case "clock": clock(world)
      case "edit": edit(world.history)
      case "document": document(world)
      default:
        Collection(rawValue: name).map { collection in
          .branch(
            { world.ids(of: collection) }, itemCount: { world.itemCount(of: collection) }
          ) { node(of: ObjectReference(collection, $0), in: world) }
        }
      }
    }
  }

  /// The collections that the value at a path contains whole: all at the root, one at a collection.
  package static func collections(at path: ModelPath) -> [Collection] {
    switch path.names.count {
    case 0: Collection.allCases
    case 1: Collection(rawValue: path.names[0].string).map { [$0] } ?? []
    default: []
    }
  }

  /// The root with an empty object for each collection, or the empty object for a collection.
  package static func withoutObjects(_ path: ModelPath, _ node: StateNode) -> StateNode {
    let empty = StateNode.branch({ [] }) { _ in nil }
    guard path.names.isEmpty else { return empty }
    return .branch({ node.names }) { Collection(rawValue: $0) == nil ? node.child($0) : empty }
  }

  /// The node at a path; nil when the path leads nowhere.
  package static func node(at path: ModelPath, in world: World) -> StateNode? {
    var node: StateNode?
    var depth = 0
    // Directly to an object or its member, without lists of ids and names.
    if let object = path.object {
      if path.names.count > 2 { node = member(path.names[2].string, of: object, in: world) }
      depth = node == nil ? 2 : 3
      node = node ?? self.node(of: object, in: world)
    } else {
      node = root(world)
    }
    for name in path.names.dropFirst(depth) { node = node?.child(name.string) }
    return node
  }

  private static func node(of object: ObjectReference, in world: World) -> StateNode? {
    let noun = object.collection.noun
    return world.members(of: object).map { members in
      .branch({ [noun] + members.names { _ in true } }, itemCount: { world.itemCount(of: object) }) { name in
        name == noun ? .leaf { $0.value(object.id) } : members.member(name).map { StateNode($0.value, $0.shape) }
      }
    }
  }

  /// The members of an object whose changes may be sent as steps.
  package static func lists(of object: ObjectReference, in world: World) -> [(name: String, node: StateNode)] {
    guard let members = world.members(of: object) else { return [] }
    return members.names { $0 != .whole }.compactMap { name in
      members.member(name).map { (name, StateNode($0.value, $0.shape)) }
    }
  }

  /// Every node whose path matches a pattern, in order.
  package static func matches(of pattern: StatePattern, in world: World) -> [(path: ModelPath, node: StateNode)] {
    Array(StateMatches(of: pattern, in: world))
  }

  private static func member(_ name: String, of object: ObjectReference, in world: World) -> StateNode? {
    world.members(of: object)?.member(name).map { StateNode($0.value, $0.shape) }
  }
}

extension StateNode {
  package init(_ value: MemberValue, _ shape: MemberShape) {
    switch (value, shape) {
    case (.ids(let ids), _): self = .ids(ids)
    case (.graphics(let store), _): self = .graphics(store)
    case (.layerViewStates(let states), _): self = .layerStates(states)
    case (.value(.array), _), (_, .list): self = .list { value.encode(to: &$0) }
    case (.value(let value), .parts) where value.members != nil: self = .value(value)
    case (_, .parts): self = .parts { value.encode(to: &$0) }
    case (_, .whole), (_, .any): self = .leaf { value.encode(to: &$0) }
    }
  }
}
