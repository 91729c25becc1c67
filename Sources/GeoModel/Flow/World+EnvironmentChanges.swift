// Who sees another environment than before: told of by looking back at what was noted, so that undo tells it as well.

extension World {
  /// What was when the first of some notes was made, of what has changed since.
  private struct Before {
    /// What was set in scopes.
    var values: [EnvironmentID: [String: Value]] = [:]
    /// In which groups layers lay.
    var groups: [LayerID: LayerID?] = [:]

    init(_ notes: some Sequence<any UndoRecord>) {
      // The first note of an object tells how it was.
      for undoRecord in notes {
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

  /// Records for everything that sees another value than when this was called last, or the command began, that it does: who follows
  /// it may have followed that.
  mutating func recordEnvironmentChanges() {
    guard hasEnvironmentChanged else { return }
    hasEnvironmentChanged = false
    for node in nodesSeeingAnother(since: Before(takeUnpublishedRecords())) { record(.changed(node, .environment)) }
  }

  /// Everything that sees another value than when the command began.
  func nodesSeeingAnotherEnvironment() -> [ObjectReference] { nodesSeeingAnother(since: Before(journal)) }

  private func nodesSeeingAnother(since before: Before) -> [ObjectReference] {
    var before = before
    before.groups = before.groups.filter { id, group in layers[id].map { $0.group != group } ?? false }
    let keys = keysInQuestion(before)
    guard !keys.isEmpty else { return [] }
    return environmentNodes.filter { node in
      let object = node.collection == .environments ? nil : node
      let now = chain(above: object, [:])
      let then = before.groups.isEmpty ? now : chain(above: object, before.groups)
      guard now != then || now.contains(where: { before.values[$0] != nil }) else { return false }
      return differs(keys, now, then, before)
    }
  }

  private func differs(
    _ keys: Set<String>, _ now: [EnvironmentID], _ then: [EnvironmentID], _ before: Before
  ) -> Bool {
    keys.contains { key in
      let fallback = environmentKeys[EnvironmentKeyID(key)]?.definition.defaultValue
      let new = now.lazy.compactMap { environments[$0]?.values[key] }.first
      let old = then.lazy.compactMap { (before.values[$0] ?? environments[$0]?.values)?[key] }.first
      return (new ?? fallback) != (old ?? fallback)
    }
  }

  /// The scopes that count for a node, nearest first.
  private func chain(above node: ObjectReference?, _ groups: [LayerID: LayerID?]) -> [EnvironmentID] {
    ancestors(of: node, groups: groups).map { EnvironmentID($0.id) } + [EnvironmentScope.session]
  }

  /// The keys of which somebody may see another value.
  private func keysInQuestion(_ before: Before) -> Set<String> {
    var keys: Set<String> = []
    for (id, old) in before.values {
      let new = environments[id]?.values ?? [:]
      keys.formUnion(Set(old.keys).union(new.keys).filter { old[$0] != new[$0] })
    }
    // Who has come from one group to another may see anything else that is set somewhere.
    guard !before.groups.isEmpty else { return keys }
    for scope in environments.values { keys.formUnion(scope.values.keys) }
    return keys.union(before.values.values.flatMap(\.keys))
  }
}
