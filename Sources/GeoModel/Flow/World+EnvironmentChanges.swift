// Finds the nodes whose environment has changed, by comparing with the undo records. Undo and redo are covered, as they write
// undo records, too.

extension World {
  /// The earlier state of changed scopes, groups and views, from undo records.
  private struct EarlierEnvironment {
    /// Values of changed scopes.
    var values: [EnvironmentID: [String: Value]] = [:]
    /// Earlier containers of changed layers and views.
    var inheritance = Inheritance()

    init(_ undoRecords: some Sequence<any UndoRecord>) {
      // The first record of an object holds its earlier state.
      for undoRecord in undoRecords {
        let id = EnvironmentID(undoRecord.object.id)
        switch undoRecord {
        case let changed as Changed<Layer> where inheritance.groups[changed.memento.id] == nil:
          inheritance.groups[changed.memento.id] = .some(changed.memento.group)
        case let changed as Changed<View> where inheritance.contents[changed.memento.id] == nil:
          inheritance.contents[changed.memento.id] = changed.memento.content
        case let changed as Changed<EnvironmentScope> where values[id] == nil: values[id] = changed.memento.values
        case let removed as Removed<EnvironmentScope> where values[id] == nil: values[id] = removed.element.values
        case is Inserted<EnvironmentScope> where values[id] == nil: values[id] = [:]
        default: break
        }
      }
    }
  }

  /// Records an environment change for each node whose value differs from that at the last call, or at the beginning of the
  /// command. Between calls, dependents may have read the values.
  mutating func recordEnvironmentChanges() {
    guard hasEnvironmentChanged else { return }
    hasEnvironmentChanged = false
    for node in nodesWithChangedEnvironment(since: EarlierEnvironment(journal.takeUnpublishedRecords())) {
      record(.changed(node, .environment))
    }
  }

  /// Nodes with another value than at the beginning of the command.
  func nodesWithChangedEnvironment() -> [ObjectReference] {
    // A new key changes the value at every node.
    if journal.records.contains(where: { $0.kind == .insertion && $0.object.collection == .environmentKeys }) {
      return environmentNodes
    }
    return nodesWithChangedEnvironment(since: EarlierEnvironment(journal.records))
  }

  private func nodesWithChangedEnvironment(since before: EarlierEnvironment) -> [ObjectReference] {
    var before = before
    before.inheritance = before.inheritance.differing(from: self)
    return nodes(below: before).filter { node in
      let object = node.collection == .environments ? nil : node
      let now = scopeIDs(of: object)
      let then = before.inheritance.isEmpty ? now : scopeIDs(of: object, assuming: before.inheritance)
      guard now != then || now.contains(where: { before.values[$0] != nil }) else { return false }
      return environmentKeys.values.contains { key in
        let name = key.definition.name
        let new = now.lazy.compactMap { environments[$0]?.values[name] }.first
        let old = then.lazy.compactMap { (before.values[$0] ?? environments[$0]?.values)?[name] }.first
        return (new ?? key.definition.defaultValue) != (old ?? key.definition.defaultValue)
      }
    }
  }

  /// The nodes that inherit from changed scopes, groups and contents, in the order of ``environmentNodes``.
  ///
  /// - Complexity: linear in these nodes, plus sorting.
  private func nodes(below changed: EarlierEnvironment) -> [ObjectReference] {
    if changed.values[EnvironmentScope.session] != nil { return environmentNodes }
    var nodes: Set<ObjectReference> = []
    for id in changed.values.keys { if let node = find(id.rawValue) { addNodes(below: node, to: &nodes) } }
    for id in changed.inheritance.groups.keys { addNodes(below: ObjectReference(.layers, id.rawValue), to: &nodes) }
    for id in changed.inheritance.contents.keys { addNodes(below: ObjectReference(.views, id.rawValue), to: &nodes) }
    return nodes.map { (node: $0, order: order(ofNode: $0)) }.sorted { $0.order < $1.order }.map(\.node)
  }

  private func addNodes(below node: ObjectReference, to nodes: inout Set<ObjectReference>) {
    guard nodes.insert(node).inserted else { return }
    switch node.collection {
    case .maps, .scenes:
      let content: ViewContent = node.collection == .maps ? .map(MapID(node.id)) : .scene(SceneID(node.id))
      for layer in allLayers(of: content) { nodes.insert(layer.reference) }
      for view in referrers(to: node, of: View.self) {
        addNodes(below: ObjectReference(.views, view.rawValue), to: &nodes)
      }
    case .views:
      for overlay in views[ViewID(node.id)]?.overlays ?? [] {
        nodes.insert(ObjectReference(.overlays, overlay.rawValue))
      }
    case .layers: for layer in layers(from: [LayerID(node.id)]) { nodes.insert(layer.reference) }
    default: break
    }
  }

  private func order(ofNode node: ObjectReference) -> (kind: Int, number: Int) {
    (Self.nodeCollections.firstIndex(of: node.collection) ?? 0, number(of: node) ?? 0)
  }
}

/// Assumed containers of layers and views, from which they inherit environments, in place of their own.
struct Inheritance {
  /// A nil value means that the layer is in no group.
  var groups: [LayerID: LayerID?] = [:]
  var contents: [ViewID: ViewContent] = [:]

  var isEmpty: Bool { groups.isEmpty && contents.isEmpty }

  /// The entries that differ from the containers in a world, for objects that exist there.
  func differing(from world: World) -> Inheritance {
    Inheritance(
      groups: groups.filter { id, group in world.layers[id].map { $0.group != group } ?? false },
      contents: contents.filter { id, content in world.views[id].map { $0.content != content } ?? false })
  }
}
