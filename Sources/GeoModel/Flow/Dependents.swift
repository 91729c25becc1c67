// Who follows which places of the tree: derived properties their inputs, links their ends. Only what changed is looked at.

/// Something that has to be done because a place changed.
public enum Dependent: Hashable, Sendable {
  /// A derived property is to be computed.
  case derived(ViewModelID, String)
  /// A link is to carry over what stands at its first, or its second end.
  case link(LinkID, fromFirst: Bool)
}

/// The watchers by the objects that they look at.
struct Dependents: Sendable {
  fileprivate struct Head: Hashable {
    let collection: String
    let id: String
    init(_ path: ModelPath) {
      collection = path.names.first ?? ""
      id = path.names.dropFirst().first ?? ""
    }
  }
  private var byObject: [Head: [(path: ModelPath, dependent: Dependent)]] = [:]

  var isEmpty: Bool { byObject.isEmpty }

  /// - Parameter environment: the one that the view model sees.
  mutating func add(_ model: ViewModel, seeing environment: ModelPath) {
    for (name, sources) in model.derived {
      // A constant expression is computed once, when its view model comes.
      add(ModelPath(ObjectReference(.viewModels, model.id.rawValue), name), .derived(model.id, name), isOwn: true)
      for (_, path) in sources { add(path, .derived(model.id, name)) }
      // What it is written by is a source as well.
      if (try? model.property(name))?.derivation?.expression.isWrittenByConventions == true {
        add(environment, .derived(model.id, name))
      }
    }
  }

  mutating func add(_ link: Link) {
    add(link.first, .link(link.id, fromFirst: true))
    if link.isTwoWay { add(link.second, .link(link.id, fromFirst: false)) }
  }

  private mutating func add(_ path: ModelPath, _ dependent: Dependent, isOwn: Bool = false) {
    byObject[Head(path), default: []].append((path, dependent))
  }

  /// Who follows the place, something above it or something below it.
  ///
  /// - Complexity: linear in the watchers of the place's object.
  func dependents(_ path: ModelPath, _ body: (Dependent) -> Void) {
    guard let here = byObject[Head(path)] else { return }
    for (own, dependent) in here where own.overlaps(path) { body(dependent) }
  }
}

/// What undo has changed, looked at only where something follows it.
private struct RestoredPaths {
  private let changes: ArraySlice<Change>
  private lazy var paths = Dictionary(
    grouping: changes.lazy.filter { $0.origin == .undo }.map(\.event.path), by: Dependents.Head.init)

  init(_ changes: ArraySlice<Change>) { self.changes = changes }

  mutating func has(_ path: ModelPath) -> Bool {
    paths[Dependents.Head(path)]?.contains { $0.overlaps(path) } ?? false
  }
}

extension World {
  /// Whether there are links or derived properties at all.
  public mutating func isFollowed() -> Bool { !currentDependents().isEmpty }

  /// What is due because of what was recorded since the last call: each once, in the order in which it came up. Of a link whose
  /// both ends changed the later one counts.
  ///
  /// - Parameter madeBy: the link that made the change at an index, if any: it does not follow itself.
  public mutating func takeDue(madeBy link: (Int) -> LinkID?) -> [Dependent] {
    let dependents = currentDependents()
    guard !dependents.isEmpty else {
      propagated = recordedCount
      return []
    }
    recordEnvironmentChanges()
    recordDerived()
    let changes = recorded
    guard propagated < changes.count else { return [] }
    var restored = RestoredPaths(changes)
    var due: [Dependent] = []
    var seen: Set<Dependent> = []
    for (index, change) in changes.enumerated().dropFirst(propagated) {
      let maker = link(index)
      func add(_ dependent: Dependent) {
        if case .link(let id, let fromFirst) = dependent {
          if id == maker { return }
          if let link = links[id], change.origin == .undo || isDerivedAgain(link.first),
            hasComeBack(link) || isBack(link, &restored)
          {
            return
          }
          if seen.remove(.link(id, fromFirst: !fromFirst)) != nil {
            due.removeAll { $0 == .link(id, fromFirst: !fromFirst) }
          }
        }
        if seen.insert(dependent).inserted { due.append(dependent) }
      }
      if case .created(let object) = change.event, let link = links[LinkID(object.id)], object == link.reference,
        change.origin != .undo || mayHaveMoved(link)
      {
        due.append(.link(link.id, fromFirst: true))
        seen.insert(.link(link.id, fromFirst: true))
      }
      dependents.dependents(change.event.path, add)
    }
    propagated = changes.count
    return due
  }

  /// Does something that follows from another change: it has the origin `binding`.
  public mutating func following<R>(_ body: (inout World) throws -> R) rethrows -> R {
    let before = origin
    origin = .binding
    defer { origin = before }
    return try body(&self)
  }

  /// Whether a link has just come back with the step in which it was made, or with one that had taken it away: it finds what it left.
  private func hasComeBack(_ link: Link) -> Bool { oldestReverted != nil && link.revision == revision }

  /// Whether an end of a link that comes back may stand elsewhere than the link left it: one that undo leaves alone. The second end
  /// of a one-way link may have been set to something else than the first says.
  private func mayHaveMoved(_ link: Link) -> Bool {
    !isUndone(link.first) || link.isTwoWay && !isUndone(link.second)
  }

  /// Whether both ends of a link are again what they were while it stood, so that neither has to follow: the second may have been set
  /// to something else than the first says.
  private func isBack(_ link: Link, _ restored: inout RestoredPaths) -> Bool {
    guard let oldestReverted, link.revision < oldestReverted else { return false }
    if !link.isTwoWay, isUndone(link.second) { return true }
    return restored.has(link.first) && restored.has(link.second)
  }

  /// Whether undo has brought back all that a derived property at a place follows, so that it is again what it was.
  private func isDerivedAgain(_ path: ModelPath) -> Bool {
    guard oldestReverted != nil, let object = path.object, object.collection == .viewModels, path.names.count > 2,
      let property = try? viewModels[ViewModelID(object.id)]?.property(path.names[2])
    else { return false }
    return property.derivation != nil && isUndone(path)
  }

  /// Whether undo brings back what stands at a place, or all that it follows.
  private func isUndone(_ path: ModelPath) -> Bool {
    guard let object = path.object else { return false }
    guard object.collection == .viewModels, path.names.count > 2 else {
      return object.collection.kind.isUndoable || object.collection == .environments
    }
    guard let model = viewModels[ViewModelID(object.id)], let property = try? model.property(path.names[2]) else {
      return false
    }
    return property.derivation == nil
      ? property.isUndone : model.sources(of: property.name).allSatisfy { isUndone($0.path) }
  }

  /// How much has been recorded since ``begin(origin:)``.
  public var recordedCount: Int { recorded.count }

  private mutating func currentDependents() -> Dependents {
    if let dependents { return dependents }
    var made = Dependents()
    for model in viewModels.values { made.add(model, seeing: environmentPath(of: model)) }
    for link in links.values { made.add(link) }
    dependents = made
    return made
  }

  // MARK: Loops of derived properties

  /// Refuses a view model with derived properties that would follow themselves, directly or around a corner.
  func checkLoops(with model: ViewModel) throws(ModelError) {
    var done: Set<ModelPath> = []
    for (name, _) in model.derived {
      var way: [ModelPath] = []
      try visit(ModelPath(model.reference, name), with: model, &way, &done)
    }
  }

  private func visit(
    _ place: ModelPath, with model: ViewModel, _ way: inout [ModelPath], _ done: inout Set<ModelPath>
  ) throws(ModelError) {
    if let start = way.firstIndex(of: place) {
      throw .flow(.cycle((way[start...] + [place]).map(\.description)))
    }
    guard !done.contains(place), let object = place.object, way.count < 1000 else { return }
    let here = object.id == model.id.rawValue ? model : viewModels[ViewModelID(object.id)]
    guard let here, let name = place.names.last, let derivation = (try? here.property(name))?.derivation else { return }
    way.append(place)
    for (_, path) in derivation.sources(in: here.id) {
      for below in derived(at: path, with: model) { try visit(below, with: model, &way, &done) }
    }
    way.removeLast()
    done.insert(place)
  }

  /// The derived properties that a path leads to or into, or that lie below it.
  private func derived(at path: ModelPath, with model: ViewModel) -> [ModelPath] {
    guard let object = path.object, object.collection == .viewModels else { return [] }
    guard let here = object.id == model.id.rawValue ? model : viewModels[ViewModelID(object.id)] else { return [] }
    return here.derived.map { ModelPath(here.reference, $0.name) }.filter { $0.overlaps(path) }
  }
}

extension World {
  /// An object has come; what follows others is followed from now on.
  mutating func flowHas<E: Entity>(_ element: E) {
    if E.collection == .environments { hasEnvironmentChanged = true }
    if let model = element as? ViewModel, dependents != nil {
      let environment = environmentPath(of: model)
      dependents?.add(model, seeing: environment)
    }
    if let link = element as? Link { dependents?.add(link) }
  }

  /// Where it is told that a view model sees another environment. Its owner stays what it is.
  fileprivate func environmentPath(of model: ViewModel) -> ModelPath {
    let node = environmentNode(of: model.owner)
    return ModelPath(
      node ?? ObjectReference(.environments, EnvironmentScope.session.rawValue), Property.environment.rawValue)
  }

  mutating func flowHasNot<E: Entity>(_ element: E) {
    switch E.collection {
    case .environments: hasEnvironmentChanged = true
    case .viewModels, .links: dependents = nil
    default: break
    }
  }
}
