// Finds the nodes whose environment has changed, by comparing with the undo records. Undo goes the same way, so it is
// notified as well.

extension World {
  /// The earlier state of changed scopes and groups, from undo records.
  private struct EarlierEnvironment {
    /// Values of changed scopes.
    var values: [EnvironmentID: [String: Value]] = [:]
    /// Groups of changed layers.
    var groups: [LayerID: LayerID?] = [:]

    init(_ undoRecords: some Sequence<any UndoRecord>) {
      // The first record of an object holds its earlier state.
      for undoRecord in undoRecords {
        let id = EnvironmentID(undoRecord.object.id)
        switch undoRecord {
        case let changed as Changed<Layer> where groups[changed.memento.id] == nil:
          groups[changed.memento.id] = .some(changed.memento.group)
        case let changed as Changed<EnvironmentScope> where values[id] == nil: values[id] = changed.memento.values
        case let removed as Removed<EnvironmentScope> where values[id] == nil: values[id] = removed.element.values
        case is Inserted<EnvironmentScope> where values[id] == nil: values[id] = [:]
        default: break
        }
      }
    }
  }

  /// Records an environment change for each node with another value than at the last call, or at the beginning of the
  /// command. Dependents may have followed the values in between.
  mutating func recordEnvironmentChanges() {
    guard hasEnvironmentChanged else { return }
    hasEnvironmentChanged = false
    for node in nodesWithChangedEnvironment(since: EarlierEnvironment(takeUnpublishedRecords())) {
      record(.changed(node, .environment))
    }
  }

  /// Nodes with another value than at the beginning of the command.
  func nodesWithChangedEnvironment() -> [ObjectReference] {
    nodesWithChangedEnvironment(since: EarlierEnvironment(journal))
  }

  private func nodesWithChangedEnvironment(since before: EarlierEnvironment) -> [ObjectReference] {
    var before = before
    before.groups = before.groups.filter { id, group in layers[id].map { $0.group != group } ?? false }
    let keys = changedKeys(before)
    guard !keys.isEmpty else { return [] }
    return environmentNodes.filter { node in
      let object = node.collection == .environments ? nil : node
      let now = scopeIDs(of: object, [:])
      let then = before.groups.isEmpty ? now : scopeIDs(of: object, before.groups)
      guard now != then || now.contains(where: { before.values[$0] != nil }) else { return false }
      return differs(keys, now, then, before)
    }
  }

  private func differs(
    _ keys: Set<String>, _ now: [EnvironmentID], _ then: [EnvironmentID], _ before: EarlierEnvironment
  ) -> Bool {
    keys.contains { key in
      let fallback = environmentKeys[EnvironmentKeyID(key)]?.definition.defaultValue
      let new = now.lazy.compactMap { environments[$0]?.values[key] }.first
      let old = then.lazy.compactMap { (before.values[$0] ?? environments[$0]?.values)?[key] }.first
      return (new ?? fallback) != (old ?? fallback)
    }
  }

  /// The scopes that count for a node, nearest first.
  private func scopeIDs(of node: ObjectReference?, _ groups: [LayerID: LayerID?]) -> [EnvironmentID] {
    ancestors(of: node, groups: groups).map { EnvironmentID($0.id) } + [EnvironmentScope.session]
  }

  /// Keys whose value may differ at some node.
  private func changedKeys(_ before: EarlierEnvironment) -> Set<String> {
    var keys: Set<String> = []
    for (id, old) in before.values {
      let new = environments[id]?.values ?? [:]
      keys.formUnion(Set(old.keys).union(new.keys).filter { old[$0] != new[$0] })
    }
    // A layer in another group may inherit any other value that is set somewhere.
    guard !before.groups.isEmpty else { return keys }
    for scope in environments.values { keys.formUnion(scope.values.keys) }
    return keys.union(before.values.values.flatMap(\.keys))
  }
}
