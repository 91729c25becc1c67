// The changes from one document's objects to another's, object by object, for subscriptions that observe objects.

extension World {
  /// Which objects of a collection are observed.
  public enum ObservedObjects {
    case none
    case named(Set<String>)
    case all
  }

  /// The changes from the objects before another document replaced them to the current ones: all earlier objects close, then all
  /// new ones are created. Types of view models and keys of the environment stay.
  ///
  /// - Parameters:
  ///   - change: the change that replaced them.
  ///   - observed: the objects to include.
  /// - Complexity: linear in these objects.
  public func replacement(
    of before: World, by change: Change, _ observed: (Collection) -> ObservedObjects
  ) -> [Change] {
    var events: [Change.Event] = []
    // Views and their overlays close first.
    let order = [.overlays, .views] + Collection.allCases.filter { $0 != .overlays && $0 != .views }
    for collection in order { events += closings(collection.kind, in: before, observed(collection)) }
    for collection in Collection.allCases { events += creations(collection.kind, since: before, observed(collection)) }
    return events.map { Change(revision: change.revision, origin: change.origin, event: $0) }
  }

  /// The ids of observed objects, in order; if only some are observed, in the order of their names.
  private func ids<E: Entity>(_ kind: E.Type, _ observed: ObservedObjects) -> [ID<E>] {
    switch observed {
    case .none: []
    case .named(let names): names.sorted().map(ID.init).filter { self[keyPath: E.registry][$0] != nil }
    case .all: Array(self[keyPath: E.registry].ids)
    }
  }

  private func closings<E: Entity>(_ kind: E.Type, in before: World, _ observed: ObservedObjects) -> [Change.Event] {
    before.ids(kind, observed).reversed().filter { isReplaced($0) }
      .map { .closed(ObjectReference(E.collection, $0.rawValue)) }
  }

  private func creations<E: Entity>(_ kind: E.Type, since before: World, _ observed: ObservedObjects) -> [Change.Event]
  {
    if case .none = observed { return [] }
    let registry = before[keyPath: E.registry]
    let created = ids(kind, observed).filter { isReplaced($0) || registry[$0] == nil }
    let events = created.map { Change.Event.created(ObjectReference(E.collection, $0.rawValue)) }
    return E.collection == .environments ? events + sessionChanges(since: before) : events
  }

  /// Whether an object belongs to a document, not to the session.
  private func isReplaced<E: Entity>(_ id: ID<E>) -> Bool {
    switch E.collection {
    case .viewModelTypes, .environmentKeys, .clients: false
    case .environments: id.rawValue != EnvironmentScope.session.rawValue
    default: true
    }
  }

  private func sessionChanges(since before: World) -> [Change.Event] {
    let id = EnvironmentScope.session
    guard let old = before.environments[id], let new = environments[id] else { return [] }
    var events = EnvironmentScope.members.filter { $0.differs?(old, new) == true }
      .compactMap { $0.property.map { Change.Event.changed(new.reference, $0) } }
    // The default of a new key is a new value, too.
    let names = (environmentKeys.ids + before.environmentKeys.ids).map(\.rawValue)
    if names.contains(where: { environment($0, at: nil) != before.environment($0, at: nil) }) {
      events.append(.changed(new.reference, .environment))
    }
    return events
  }
}
