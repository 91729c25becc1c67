// The only functions that change, insert and remove objects: each adds an undo record and records the change.

extension World {
  /// Changes an object and records the observed members that differ. Equal values record nothing.
  ///
  /// - Parameters:
  ///   - origin: the author of the change; the command's own when nil.
  ///   - body: changes its argument only; may throw.
  /// - Throws: `unknownID`, or what `body` throws; the world is then unchanged.
  mutating func change<E: Entity>(
    _ id: ID<E>, by origin: Origin? = nil, _ body: (inout E) throws(ModelError) -> Void
  ) throws(ModelError) {
    let (old, number) = try self[keyPath: E.registry].requireNumbered(id)
    var new = old
    try body(&new)
    recordUndo(Changed(memento: old.memento))
    if E.collection == .environments { hasEnvironmentChanged = true }
    self[keyPath: E.registry].replace(at: number, by: new)
    references.update(old, new, at: number)
    var hasChanged = false
    for member in E.members where member.differs?(old, new) == true {
      guard let property = member.property else { continue }
      record(.changed(new.reference, property), by: origin)
      // A change of the group changes the inherited environment, and so does a change of a view's map.
      if property == .group || E.collection == .views && (property == .map || property == .scene) {
        hasEnvironmentChanged = true
      }
      hasChanged = true
    }
    if hasChanged { touch(id) }
    if E.collection == .locationDisplays, let old = old as? SharedLocationDisplay, let new = new as? SharedLocationDisplay,
      old.settings != new.settings
    {
      tellViews(showing: new.id, by: origin)
    }
  }

  /// Changes an object by a body that cannot fail. Does nothing if there is no such object.
  mutating func changeKnown<E: Entity>(_ id: ID<E>, by origin: Origin? = nil, _ body: (inout E) -> Void) {
    try? change(id, by: origin) { (element) throws(ModelError) in body(&element) }
  }

  /// - Parameter number: its number in the order of creation; a new one if nil.
  /// - Returns: the inserted object, with its revision.
  @discardableResult
  mutating func insert<E: Entity>(_ element: E, at number: Int? = nil) -> E {
    let number = number ?? makeNumber()
    record(.created(element.reference), number: number)
    var inserted = element
    inserted.revision = revision
    self[keyPath: E.registry].insert(inserted, at: number)
    references.update(nil, inserted, at: number)
    recordUndo(Inserted(id: inserted.id, place: number))
    addDependents(of: inserted, at: number)
    if let parent = inserted.parent { touch(parent) }
    return inserted
  }

  mutating func remove<E: Entity>(_ id: ID<E>) {
    guard let requirements = self[keyPath: E.registry].read(id, { $0.pointee.requirements }) else { return }
    let required = requirements.map { (object: $0, number: self.number(of: $0)) }
    release(ObjectReference(E.collection, id.rawValue))
    guard let (element, number) = self[keyPath: E.registry].remove(id) else { return }
    references.update(element, nil, at: number)
    dropDependents(of: element, at: number)
    recordUndo(Removed(element: element, place: number, required: required))
    record(.closed(element.reference), number: number)
    if let parent = element.parent { touch(parent) }
  }

  /// Sets the revision of an object and its ancestors: a change also counts for all ancestors.
  mutating func touch<E: Entity>(_ id: ID<E>) {
    let now = revision
    let (old, parent) =
      self[keyPath: E.registry].modify(id) { (element) -> (Int, ObjectReference?) in
        defer { element.revision = now }
        return (element.revision, element.parent)
      } ?? (now, nil)
    if old != now { recordUndo(Touched(id: id, revision: old)) }
    if let parent { touch(parent) }
  }

  mutating func touch(_ object: ObjectReference) { object.collection.kind.touch(object.id, in: &self) }
}
