// The change from one document's objects to another's, object by object, for those who observe objects.

extension World {
  /// The changes that lead from the objects of the world before another document to the current ones: everything closes,
  /// then everything is created. Types of view models and keys of the environment stay.
  ///
  /// - Parameters:
  ///   - change: the change that replaced them.
  ///   - isObserved: the kinds of objects that matter.
  /// - Complexity: linear in the objects of these kinds.
  public func replacement(
    of before: World, by change: Change, where isObserved: (Collection) -> Bool
  ) -> [Change] {
    var events: [Change.Event] = []
    let observed = Collection.allCases.filter(isObserved)
    // Views and their overlays close first.
    let order = [.overlays, .views] + observed.filter { $0 != .overlays && $0 != .views }
    for collection in order where isObserved(collection) { events += closings(collection.kind, in: before) }
    for collection in observed { events += creations(collection.kind, since: before) }
    return events.map { Change(revision: change.revision, origin: change.origin, event: $0) }
  }

  private func closings<E: Entity>(_ kind: E.Type, in before: World) -> [Change.Event] {
    before[keyPath: E.registry].ids.reversed().filter { isReplaced($0) }
      .map { .closed(ObjectReference(E.collection, $0.rawValue)) }
  }

  private func creations<E: Entity>(_ kind: E.Type, since before: World) -> [Change.Event] {
    let registry = before[keyPath: E.registry]
    let created = self[keyPath: E.registry].ids.filter { isReplaced($0) || registry[$0] == nil }
    let events = created.map { Change.Event.created(ObjectReference(E.collection, $0.rawValue)) }
    return E.collection == .environments ? events + sessionChanges(since: before) : events
  }

  /// Whether an object belongs to a document, not to the session.
  private func isReplaced<E: Entity>(_ id: ID<E>) -> Bool {
    switch E.collection {
    case .viewModelTypes, .environmentKeys: false
    case .environments: id.rawValue != EnvironmentScope.session.rawValue
    default: true
    }
  }

  private func sessionChanges(since before: World) -> [Change.Event] {
    let id = EnvironmentScope.session
    guard let old = before.environments[id], let new = environments[id] else { return [] }
    var events = EnvironmentScope.members.filter { $0.differs?(old, new) == true }
      .compactMap { $0.property.map { Change.Event.changed(new.reference, $0) } }
    // A new key's default is a new value, too.
    let names = (environmentKeys.ids + before.environmentKeys.ids).map(\.rawValue)
    if names.contains(where: { environment($0, at: nil) != before.environment($0, at: nil) }) {
      events.append(.changed(new.reference, .environment))
    }
    return events
  }
}
