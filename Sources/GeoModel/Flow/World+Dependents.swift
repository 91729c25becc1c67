// Collects the derived properties and links that depend on changes, each once.

/// Dependents to be updated, each once, in the order in which changes reached them.
private struct DueDependents {
  private var list: [Dependent?] = []
  private var indexes: [Dependent: Int] = [:]

  var all: [Dependent] { list.compactMap { $0 } }

  mutating func add(_ dependent: Dependent) {
    guard indexes[dependent] == nil else { return }
    indexes[dependent] = list.count
    list.append(dependent)
  }

  mutating func remove(_ dependent: Dependent) {
    if let index = indexes.removeValue(forKey: dependent) { list[index] = nil }
  }
}

/// The values that a link last saw at its ends. A one-way link only compares the first.
struct LinkEnds: Sendable {
  let first: Value?
  let second: Value?
}

/// The ends of a link whose values have changed.
private struct ChangedEnds: OptionSet {
  let rawValue: UInt8
  static let first = ChangedEnds(rawValue: 1)
  static let second = ChangedEnds(rawValue: 2)

  func contains(_ isFirst: Bool) -> Bool { contains(isFirst ? .first : .second) }
}

/// The paths that undo has changed, indexed on first use.
private struct RestoredPaths {
  private let changes: ArraySlice<Change>
  private lazy var paths = Dictionary(
    grouping: changes.lazy.filter { $0.origin == .undo }.map(\.event.path), by: \.object)

  init(_ changes: ArraySlice<Change>) { self.changes = changes }

  mutating func has(_ path: ModelPath) -> Bool {
    paths[path.object]?.contains { $0.overlaps(path) } ?? false
  }
}

extension World {
  /// Whether there are links or derived properties.
  public mutating func hasDependents() -> Bool { !currentDependents().isEmpty }

  /// The dependents of the changes since the last call, each once, in the order of the changes. If both paths of a link have
  /// changed, the later change wins.
  ///
  /// Changes are recorded by member, but a link may lead to a part of a value. So a link is updated only if the value at its own
  /// path differs from the one it last saw, and links to different parts of one value do not undo each other's writes.
  ///
  /// - Parameters:
  ///   - value: reads the value at a path.
  ///   - author: the link that made the change at an index, with the only part of the value that it changed; nil for other
  ///     changes. A link does not react to its own changes.
  public mutating func takeDependents(
    _ value: (ModelPath, World) -> Value?, madeBy author: (Int) -> (link: LinkID, part: ModelPath?)?
  ) -> [Dependent] {
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
    var changedEnds: [LinkID: ChangedEnds] = [:]
    var due = DueDependents()
    for index in propagated..<changes.count {
      let change = changes[changes.startIndex + index]
      let author = author(index)
      func add(_ dependent: Dependent) {
        if case .link(let id, let fromFirst) = dependent {
          guard let link = links[id], endsChanged(of: link).contains(fromFirst), id != author?.link else { return }
          if change.origin == .undo || isDerivedRestored(link.first),
            isRestored(link) || isConsistent(link, &restored)
          {
            return
          }
          due.remove(.link(id, fromFirst: !fromFirst))
        }
        due.add(dependent)
      }
      func endsChanged(of link: Link) -> ChangedEnds {
        if let known = changedEnds[link.id] { return known }
        let changed = noteEnds(of: link, value)
        changedEnds[link.id] = changed
        return changed
      }
      if case .created(let object) = change.event, let link = links[LinkID(object.id)], object == link.reference {
        _ = endsChanged(of: link)
        if change.origin != .undo || mayDiffer(link) { due.add(.link(link.id, fromFirst: true)) }
      }
      let path = change.event.path
      let changed = author?.part.flatMap { $0.isBelow(path) ? $0 : nil } ?? path
      dependents.dependents(changed, number: change.number, in: viewModels, add)
    }
    propagated = changes.count
    refollow(due.all)
    return due.all
  }

  /// Updates the dependencies of dependents whose paths lead through ids, which may have changed.
  private mutating func refollow(_ due: [Dependent]) {
    guard var changed = dependents.take() else { return }
    for dependent in due {
      switch dependent {
      case .derived(let number, _):
        guard changed.isReferring(number), let model = viewModels[number: number] else { continue }
        changed.remove(model, at: number)
        changed.add(model, at: number, seeing: environmentPath(of: model), trailThroughIDs)
      case .link(let id, _):
        guard let link = links[id], let number = links.number(of: id), changed.isReferring(number) else { continue }
        changed.remove(link, at: number)
        changed.add(link, at: number, trailThroughIDs)
      }
    }
    dependents = changed
  }

  /// Stores the values at the ends of a link.
  ///
  /// - Returns: the ends whose value differs from the one stored before; both if none was stored.
  private mutating func noteEnds(of link: Link, _ value: (ModelPath, World) -> Value?) -> ChangedEnds {
    let now = LinkEnds(first: value(link.first, self), second: link.isTwoWay ? value(link.second, self) : nil)
    guard let before = linkEnds.updateValue(now, forKey: link.id) else { return [.first, .second] }
    var changed: ChangedEnds = []
    if before.first != now.first { changed.insert(.first) }
    if before.second != now.second { changed.insert(.second) }
    return changed
  }

  /// Makes changes with the origin `binding`.
  public mutating func propagating<R>(_ body: (inout World) throws -> R) rethrows -> R {
    let before = origin
    origin = .binding
    defer { origin = before }
    return try body(&self)
  }

  /// Whether undo has just restored a link, by undoing its removal or redoing its creation. Undo restores its values, too.
  private func isRestored(_ link: Link) -> Bool { oldestReverted != nil && link.revision == revision }

  /// Whether a value at a path of a restored link may be current rather than restored, because it is never undone. The second
  /// path of a one-way link may differ intentionally.
  private func mayDiffer(_ link: Link) -> Bool {
    !isUndone(link.first) || link.isTwoWay && !isUndone(link.second)
  }

  /// Whether both paths have values from a time at which the link existed, so that neither has to follow. The second path may
  /// differ from the first intentionally.
  private func isConsistent(_ link: Link, _ restored: inout RestoredPaths) -> Bool {
    guard let oldestReverted, link.revision < oldestReverted else { return false }
    if !link.isTwoWay, isUndone(link.second) { return true }
    return restored.has(link.first) && restored.has(link.second)
  }

  /// Whether undo has restored all inputs of a derived property, and so its value.
  private func isDerivedRestored(_ path: ModelPath) -> Bool {
    guard oldestReverted != nil, let object = path.object, object.collection == .viewModels, path.names.count > 2,
      let property = try? viewModels[ViewModelID(object.id)]?.property(path.names[2].string)
    else { return false }
    return property.derivation != nil && isUndone(path)
  }

  /// Whether undo restores the value at a path, or all inputs of a derived one.
  private func isUndone(_ path: ModelPath) -> Bool {
    guard let object = path.object else { return false }
    guard object.collection == .viewModels, path.names.count > 2 else {
      return object.collection.kind.isUndoable || object.collection == .environments
    }
    guard let model = viewModels[ViewModelID(object.id)], let property = try? model.property(path.names[2].string)
    else {
      return false
    }
    return property.derivation == nil
      ? property.isUndone : property.derivation?.sources(in: model.id).allSatisfy(isUndone) == true
  }

  /// Number of records since ``begin(origin:)``.
  public var recordedCount: Int { recorded.count }

  private mutating func currentDependents() -> Dependents {
    if let dependents { return dependents }
    var made = Dependents()
    for model in viewModels.values {
      made.add(model, at: viewModels.number(of: model.id) ?? 0, seeing: environmentPath(of: model), trailThroughIDs)
    }
    for link in links.values { made.add(link, at: links.number(of: link.id) ?? 0, trailThroughIDs) }
    dependents = made
    return made
  }
}

extension World {
  /// Updates the index for an inserted object.
  ///
  /// - Parameter number: the object's number in the order of creation.
  mutating func addDependents<E: Entity>(of element: E, at number: Int) {
    if E.collection == .environments { hasEnvironmentChanged = true }
    // Moved out and back: computing `environmentPath` reads the world during the change.
    if let model = element as? ViewModel, var changed = dependents.take() {
      changed.add(model, at: number, seeing: environmentPath(of: model), trailThroughIDs)
      dependents = changed
    }
    if let link = element as? Link, var changed = dependents.take() {
      changed.add(link, at: number, trailThroughIDs)
      dependents = changed
    }
  }

  /// The path at which changes of the environment that a view model inherits are recorded. It never changes, as owners do not.
  fileprivate func environmentPath(of model: ViewModel) -> ModelPath {
    let node = environmentNode(of: model.owner)
    return ModelPath(
      node ?? ObjectReference(.environments, EnvironmentScope.session.rawValue), Property.environment.rawValue)
  }

  /// Updates the index for an object that was removed.
  mutating func dropDependents<E: Entity>(of element: E, at number: Int) {
    if E.collection == .environments { hasEnvironmentChanged = true }
    if let model = element as? ViewModel { dependents?.remove(model, at: number) }
    if let link = element as? Link {
      dependents?.remove(link, at: number)
      linkEnds[link.id] = nil
    }
  }
}
