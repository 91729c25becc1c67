// Undo records: each reverts one change when a command fails or a step is undone.

import FeatureStore
import Geometry

/// The inverse of one change, made from the state before it.
protocol UndoRecord: Sendable {
  /// Memory of the record, in bytes, estimated.
  var byteCount: Int { get }
  /// The changed object.
  var object: ObjectReference { get }
  var kind: UndoRecordKind { get }
  /// The object's number in the order of creation, which distinguishes it from others with the same id; in records of insertions
  /// and removals.
  var number: Int? { get }
  /// Revision of the object before the change, in records of kind `revision`.
  var revisionBefore: Int? { get }
  /// Of a removed object: the object without which it cannot be restored.
  var requiredParent: ObjectReference? { get }
  /// Whether undo has anything to do in `world`, in which the change has been made.
  func isUndoable(in world: World) -> Bool
  /// Whether this record also reverts a later change, whose record is then unnecessary.
  func covers(_ later: any UndoRecord) -> Bool
  /// Whether the member has the value from before the change; nil if the record does not hold that value.
  func isUnchanged(_ member: String, in world: World) -> Bool?
  /// Whether the change inserts, removes or moves objects.
  func changesStructure(in world: World) -> Bool
  /// The record in the form that a step keeps, made when the step ends and it is known which values of the object the step has
  /// changed. Nil if the record need not change.
  func settled(in world: World) -> (any UndoRecord)?
  /// The record that takes the change back alone, although later steps with these records have been made since; nil if they changed
  /// the same, or what this one made.
  ///
  /// - Parameters:
  ///   - later: the records of later steps that are in effect.
  ///   - all: those of all later steps.
  func alone(after later: [any UndoRecord], among all: [any UndoRecord], in world: World) -> (any UndoRecord)?
  /// Adds the changes of a later record of the object, whose earlier state this one holds.
  mutating func cover(_ later: any UndoRecord)
  /// Adds the values that the change has set to `live`.
  func note(in live: inout LiveWrites)
  /// The record without the values that live writes have set.
  func without(_ live: LiveWrites) -> any UndoRecord
  /// Merges with the next record, if one record can revert both changes. False if it cannot.
  mutating func absorb(_ next: any UndoRecord) -> Bool
  /// Restores the earlier state exactly, without change records, as if the command had not happened.
  func rollBack(_ world: inout World)
  /// Restores the earlier state as a recorded change; values that are never undone stay.
  func undo(_ world: inout World)
}

extension UndoRecord {
  func covers(_ later: any UndoRecord) -> Bool { false }
  func isUnchanged(_ member: String, in world: World) -> Bool? { nil }
  func changesStructure(in world: World) -> Bool { kind.isStructure }
  func settled(in world: World) -> (any UndoRecord)? { nil }
  func alone(after later: [any UndoRecord], among all: [any UndoRecord], in world: World) -> (any UndoRecord)? {
    later.contains { world.isWithin($0.object, object) || $0.requiredParent == object } ? nil : self
  }
  mutating func cover(_ later: any UndoRecord) {}
  func note(in live: inout LiveWrites) {}
  func without(_ live: LiveWrites) -> any UndoRecord { self }
  mutating func absorb(_ next: any UndoRecord) -> Bool { false }
  var number: Int? { nil }
  var revisionBefore: Int? { nil }
  var requiredParent: ObjectReference? { nil }
  /// The object whose members have changed; for an environment scope, its node.
  var bearer: ObjectReference { kind == .members ? requiredParent ?? object : object }
}

enum UndoRecordKind {
  case insertion, removal, members, revision, contents

  /// Whether the change inserts or removes the object.
  var isStructure: Bool { self == .insertion || self == .removal }
}

/// Reverts the insertion of an object.
struct Inserted<Element: Entity>: UndoRecord {
  let id: ID<Element>
  /// Its number in the order of creation.
  let place: Int
  var number: Int? { place }
  var byteCount: Int { 64 }
  var object: ObjectReference { ObjectReference(Element.collection, id.rawValue) }
  var kind: UndoRecordKind { .insertion }

  func isUndoable(in world: World) -> Bool { Element.isUndoable }
  /// Environment scopes exist only while they have values.
  func changesStructure(in world: World) -> Bool { Element.collection != .environments }
  func settled(in world: World) -> (any UndoRecord)? {
    guard Element.collection == .environments, let scope = world.environments[EnvironmentID(id.rawValue)] else {
      return nil
    }
    return Changed(memento: EnvironmentScope(scope.node)).settling(in: world)
  }
  func rollBack(_ world: inout World) {
    guard let (element, number) = world[keyPath: Element.registry].remove(id) else { return }
    world.dropDependents(of: element, at: number)
  }
  func undo(_ world: inout World) {
    Element.undoInsertion(of: id, at: place, in: &world)
  }
}

/// Reverts the removal of an object.
struct Removed<Element: Entity>: UndoRecord {
  let element: Element
  /// Its number in the order of creation.
  let place: Int
  var number: Int? { place }
  /// The numbers of the objects that it requires: later objects with the same ids do not satisfy the requirement.
  let required: [(object: ObjectReference, number: Int?)]
  var byteCount: Int { element.byteCount }
  var object: ObjectReference { element.reference }
  var kind: UndoRecordKind { .removal }
  var requiredParent: ObjectReference? { element.parent }

  func isUndoable(in world: World) -> Bool {
    guard Element.isUndoable, let parent = element.parent else { return Element.isUndoable }
    // A closed view cannot be restored, and neither can its overlays.
    return parent.collection.kind.isUndoable || world.revision(of: parent) != nil
  }
  func changesStructure(in world: World) -> Bool { Element.collection != .environments }
  func settled(in world: World) -> (any UndoRecord)? {
    guard Element.collection == .environments, let scope = element as? EnvironmentScope else { return nil }
    return Changed(memento: scope).settling(in: world)
  }
  func rollBack(_ world: inout World) {
    world[keyPath: Element.registry].insert(element, at: place)
    world.addDependents(of: element, at: place)
  }
  func undo(_ world: inout World) {
    guard isUndoable(in: world), Element.number(of: element.id.rawValue, in: world) == nil,
      required.allSatisfy({ $0.number != nil && world.number(of: $0.object) == $0.number })
    else { return }
    Element.undoRemoval(of: element, at: place, in: &world)
  }
}

/// Reverts changes of an object's own members.
struct Changed<Element: Entity>: UndoRecord {
  let memento: Element
  /// Names of the individually settable values that were changed; nil before the step ends.
  private var names: Set<Text>?
  var byteCount: Int { memento.byteCount }
  var object: ObjectReference { memento.reference }
  var kind: UndoRecordKind { .members }
  /// A step keeps the removal of an environment scope as a change of its values, which undo restores only if the node exists.
  var requiredParent: ObjectReference? { Element.collection == .environments ? memento.parent : nil }

  init(memento: Element) { self.memento = memento }

  func isUndoable(in world: World) -> Bool {
    // The removal of the object has a record of its own, which undo applies first.
    guard let now = Element.current(memento.id, in: world) else { return Element.isUndoable }
    return Element.differ(now, earlier(than: now))
  }
  func changesStructure(in world: World) -> Bool {
    guard let now = world[keyPath: Element.registry][memento.id] else { return false }
    return Element.collection != .environments
      && Element.members.contains {
        ($0.copy == nil || $0.property == .bookmarks) && $0.traits.contains(.modifies)
          && $0.differs?(memento, now) == true
      }
  }
  func settled(in world: World) -> (any UndoRecord)? { names == nil ? settling(in: world) : nil }
  func settling(in world: World) -> Changed {
    var result = self
    let empty = (memento as? EnvironmentScope).flatMap { EnvironmentScope($0.node) as? Element }
    if let now = Element.current(memento.id, in: world) ?? empty {
      result.names = Element.settableChanges(from: memento, to: now)
    }
    return result
  }
  mutating func cover(_ later: any UndoRecord) {
    if let later = later as? Changed, let more = later.names { names?.formUnion(more) }
  }
  func note(in live: inout LiveWrites) { live.add(names ?? [], of: object) }
  func without(_ live: LiveWrites) -> any UndoRecord {
    changed(self) { $0.names?.subtract(live.names[object] ?? []) }
  }
  /// The state that undo restores.
  private func earlier(than now: Element) -> Element {
    (names.map { memento.keepingSettable(of: now, except: $0) } ?? memento).undone(from: now)
  }
  func alone(after later: [any UndoRecord], among all: [any UndoRecord], in world: World) -> (any UndoRecord)? {
    // What others have set and taken back is in the state before their change, too.
    let others = all.filter { $0.object == object && $0.kind != .revision && $0.kind != .contents }
    guard let next = others.first else { return self }
    // Of each state only what its own step changed counts.
    guard Element.collection != .environments, let after = next as? Changed, others.allSatisfy({ $0.kind == .members }),
      let now = Element.current(memento.id, in: world)
    else { return nil }
    let own = Element.members.filter { $0.differs?(memento, after.memento) == true }
    guard own.allSatisfy({ $0.copy != nil && $0.differs?(after.memento, now) != true }) else { return nil }
    var back = now.memento
    for member in own { member.copy?(&back, memento) }
    return Changed(memento: back)
  }
  func isUnchanged(_ member: String, in world: World) -> Bool? {
    // Derived members are not in the memento.
    guard let member = Element.members.first(where: { $0.name == member }), member.traits.contains(.modifies),
      let differs = member.differs, let now = world[keyPath: Element.registry][memento.id]
    else { return nil }
    return !differs(memento, now)
  }
  func rollBack(_ world: inout World) {
    _ = world[keyPath: Element.registry].modify(memento.id) { $0 = memento.rolledBack(from: $0) }
  }
  func undo(_ world: inout World) {
    if let scope = memento as? EnvironmentScope { world.insertScope(of: scope.node) }
    guard let now = world[keyPath: Element.registry][memento.id] else { return }
    let back = earlier(than: now).withoutDanglingReferences(in: world)
    world.changeKnown(memento.id) { $0 = back }
  }
}

/// Reverts a change of an object's revision alone.
struct Touched<Element: Entity>: UndoRecord {
  let id: ID<Element>
  let revision: Int
  var revisionBefore: Int? { revision }
  var byteCount: Int { 0 }
  var object: ObjectReference { ObjectReference(Element.collection, id.rawValue) }
  var kind: UndoRecordKind { .revision }

  func isUndoable(in world: World) -> Bool { false }
  func rollBack(_ world: inout World) {
    _ = world[keyPath: Element.registry].modify(id) { $0.revision = revision }
  }
  func undo(_ world: inout World) {}
}

/// Derived properties of all graphics of an overlay.
struct ContentsSummary: Sendable {
  let count: Int
  let selectedCount: Int
  let extent: Envelope?

  init(_ overlay: Overlay) {
    count = overlay.store.count
    selectedCount = overlay.selectedCount
    extent = overlay.store.extent
  }

  /// The properties whose value differs from the earlier one.
  func changes(since earlier: ContentsSummary) -> [Property] {
    (count == earlier.count ? [] : [.graphicCount])
      + (selectedCount == earlier.selectedCount ? [] : [.selectedCount]) + (extent == earlier.extent ? [] : [.extent])
  }
}

/// Reverts edits of the graphics of an overlay.
struct Edited: UndoRecord {
  let id: OverlayID
  private(set) var undoRecord: StoreUndoRecord
  /// Derived properties before the change; nil if they are unchanged.
  var summary: ContentsSummary?
  /// Whether undo reverts the change; false for selections, which only the rollback of a failed command restores.
  let isUndone: Bool
  /// Number of edits that the record reverts.
  private(set) var calls = 1
  var byteCount: Int { undoRecord.byteCount }
  var object: ObjectReference { ObjectReference(.overlays, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { isUndone }
  func covers(_ later: any UndoRecord) -> Bool {
    guard let later = later as? Edited, later.id == id else { return false }
    return undoRecord.covers(later.undoRecord)
  }
  func isUnchanged(_ member: String, in world: World) -> Bool? {
    guard ["graphicCount", "selectedCount", "extent"].contains(member), let summary,
      let now = world.overlays[id].map(ContentsSummary.init)
    else { return nil }
    return !now.changes(since: summary).contains { $0.rawValue == member }
  }
  mutating func absorb(_ next: any UndoRecord) -> Bool {
    guard let next = next as? Edited, next.id == id, next.isUndone == isUndone, undoRecord.absorb(next.undoRecord)
    else { return false }
    calls += next.calls
    return true
  }
  func rollBack(_ world: inout World) {
    _ = world.overlays.modify(id) { overlay in
      overlay.store.rollBack(undoRecord)
      overlay.selectedCount = overlay.store.selectedCount
    }
  }
  func alone(after later: [any UndoRecord], among all: [any UndoRecord], in world: World) -> (any UndoRecord)? {
    let own = undoRecord
    let isTouched = later.contains { other in
      guard other.object == object else { return false }
      guard let edited = other as? Edited else { return other.kind.isStructure }
      return own.meets(edited.undoRecord)
    }
    return isTouched ? nil : self
  }
  func undo(_ world: inout World) { world.undoGraphics(undoRecord, of: id) }
  func note(in live: inout LiveWrites) { live.add(undoRecord, of: id) }
  func without(_ live: LiveWrites) -> any UndoRecord {
    guard let cells = live.cells[id] else { return self }
    return changed(self) { $0.undoRecord = undoRecord.without(cells) }
  }
}
