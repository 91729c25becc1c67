// The one way in which objects come, change and go: what was is noted, what happens is recorded.

import Query

extension World {
  /// Changes an object and records which of its observed members differ; equal values record nothing.
  ///
  /// - Parameters:
  ///   - origin: who does it; the command's own when nil.
  ///   - body: may throw, having changed nothing but its argument.
  /// - Throws: `unknownID`, or what `body` throws; the world is then unchanged.
  mutating func change<E: Entity>(
    _ id: ID<E>, by origin: Origin? = nil, _ body: (inout E) throws(ModelError) -> Void
  ) throws(ModelError) {
    let old = try self[keyPath: E.registry].require(id)
    var new = old
    try body(&new)
    note(Changed(memento: old.memento))
    if E.collection == .environments { hasEnvironmentChanged = true }
    _ = self[keyPath: E.registry].modify(id) { $0 = new }
    var hasChanged = false
    let members = E.members
    // By index: a line of the table is not copied to compare two states.
    for index in members.indices where members[index].differs?(old, new) == true {
      let property = members[index].property
      record(.changed(new.reference, property), by: origin)
      // What lies in another group sees another environment.
      if property == .group { hasEnvironmentChanged = true }
      hasChanged = true
    }
    if hasChanged { touch(id) }
  }

  /// The same for what cannot fail; without the object it does nothing.
  mutating func changeKnown<E: Entity>(_ id: ID<E>, by origin: Origin? = nil, _ body: (inout E) -> Void) {
    try? change(id, by: origin) { (element) throws(ModelError) in body(&element) }
  }

  /// - Parameter index: the place among its kind; last when nil.
  mutating func insert<E: Entity>(_ element: E, at index: Int? = nil) {
    self[keyPath: E.registry].insert(element, at: index)
    note(Inserted(id: element.id))
    flowHas(element)
    record(.created(element.reference))
    touch(element.id)
  }

  mutating func remove<E: Entity>(_ id: ID<E>) {
    guard let known = self[keyPath: E.registry][id] else { return }
    release(known.reference)
    guard let (element, index) = self[keyPath: E.registry].remove(id) else { return }
    flowHasNot(element)
    note(Removed(element: element, index: index))
    record(.closed(element.reference))
    if let parent = element.parent { touch(parent) }
  }

  /// An object's revision is its own or any descendant's last: a change counts for what the object lies in.
  mutating func touch<E: Entity>(_ id: ID<E>) {
    let now = revision
    let (old, parent) =
      self[keyPath: E.registry].modify(id) { (element) -> (Int, ObjectReference?) in
        defer { element.revision = now }
        return (element.revision, element.parent)
      } ?? (now, nil)
    if old != now { note(Touched(id: id, revision: old)) }
    if let parent { touch(parent) }
  }

  mutating func touch(_ object: ObjectReference) {
    touch(object.id, of: object.collection.kind)
  }
  private mutating func touch<E: Entity>(_ id: String, of kind: E.Type) { touch(ID<E>(id)) }
}
