// What takes one change back: noted with every change, read when a command fails and when a step is undone.

import Geometry
import Query

/// A change, by what was before it.
protocol UndoRecord: Sendable {
  /// Memory that it holds, in bytes, roughly.
  var byteCount: Int { get }
  /// The object it concerns.
  var object: ObjectReference { get }
  var kind: UndoRecordKind { get }
  /// The revision that the object had, of a note that says so alone.
  var revisionBefore: Int? { get }
  /// Of something removed: the object without which it does not come back.
  var requiredParent: ObjectReference? { get }
  /// Whether undo has something to do about it in a world where the change has been made.
  func isUndoable(in world: World) -> Bool
  /// Whether this takes a later change back as well, which then need not be kept.
  func covers(_ later: any UndoRecord) -> Bool
  /// Whether a member has again the value that it had before the change; nil where this does not know what it was.
  func isAgain(_ member: RecordedMember, in world: World) -> Bool?
  /// Becomes what takes this and then the next change back, where one note can say both.
  mutating func absorb(_ next: any UndoRecord) -> Bool
  /// Makes it as it was, wholly and without a record: the change never happened.
  func rollBack(_ world: inout World)
  /// Makes it as it was, as a change like any other, and leaves alone what is not undone.
  func undo(_ world: inout World)
}

extension UndoRecord {
  func covers(_ later: any UndoRecord) -> Bool { false }
  func isAgain(_ member: RecordedMember, in world: World) -> Bool? { nil }
  mutating func absorb(_ next: any UndoRecord) -> Bool { false }
  var revisionBefore: Int? { nil }
  var requiredParent: ObjectReference? { nil }
}

enum UndoRecordKind {
  case coming, going, members, revision, contents

  /// Whether the object is another before and after.
  var isStructure: Bool { self == .coming || self == .going }
}

/// An object came.
struct Inserted<Element: Entity>: UndoRecord {
  let id: ID<Element>
  var byteCount: Int { 64 }
  var object: ObjectReference { ObjectReference(Element.collection, id.rawValue) }
  var kind: UndoRecordKind { .coming }

  func isUndoable(in world: World) -> Bool { Element.isUndoable }
  func rollBack(_ world: inout World) { _ = world[keyPath: Element.registry].remove(id) }
  func undo(_ world: inout World) {
    world.closeViews(showing: object)
    world.remove(id)
  }
}

/// An object went, with all it had.
struct Removed<Element: Entity>: UndoRecord {
  let element: Element
  let index: Int
  var byteCount: Int { element.byteCount }
  var object: ObjectReference { element.reference }
  var kind: UndoRecordKind { .going }
  var requiredParent: ObjectReference? { element.parent }

  func isUndoable(in world: World) -> Bool {
    guard Element.isUndoable, let parent = element.parent else { return Element.isUndoable }
    // What lay on a view that was closed does not come back, as the view does not.
    return parent.collection.kind.isUndoable || world.revision(of: parent) != nil
  }
  func rollBack(_ world: inout World) { world[keyPath: Element.registry].insert(element, at: index) }
  func undo(_ world: inout World) {
    guard isUndoable(in: world), element.canReturn(to: world) else { return }
    world.insert(element.restoredAfterRemoval.withoutDanglingReferences(in: world), at: index)
  }
}

/// An object's own members were others.
struct Changed<Element: Entity>: UndoRecord {
  let memento: Element
  var byteCount: Int { memento.byteCount }
  var object: ObjectReference { memento.reference }
  var kind: UndoRecordKind { .members }

  func isUndoable(in world: World) -> Bool {
    // Of an object that is gone nothing can be said; what brings it back comes before this.
    guard let now = world[keyPath: Element.registry][memento.id] else { return Element.isUndoable }
    let back = memento.undone(from: now)
    return Element.members.contains { $0.differs?(now, back) == true }
  }
  func isAgain(_ member: RecordedMember, in world: World) -> Bool? {
    // What follows from contents is not in the memento.
    guard case .property(let property) = member, Element.collection.traits(of: property).contains(.modifies),
      let differs = Element.members.first(where: { $0.property == property })?.differs,
      let now = world[keyPath: Element.registry][memento.id]
    else { return nil }
    return !differs(memento, now)
  }
  func rollBack(_ world: inout World) {
    _ = world[keyPath: Element.registry].modify(memento.id) { $0 = memento.rolledBack(from: $0) }
  }
  func undo(_ world: inout World) {
    guard let now = world[keyPath: Element.registry][memento.id] else { return }
    let back = memento.undone(from: now).withoutDanglingReferences(in: world)
    world.changeKnown(memento.id) { $0 = back }
  }
}

/// Only the revision was another.
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

/// What is told of the graphics of an overlay as a whole.
struct ContentsSummary: Sendable {
  let count: Int
  let selectedCount: Int
  let extent: Envelope?

  init(_ overlay: Overlay) {
    count = overlay.store.count
    selectedCount = overlay.selectedCount
    extent = overlay.store.extent
  }
}

/// Contents were others: the graphics of an overlay, the selection of a layer.
struct Edited<Element: Entity>: UndoRecord {
  let id: ID<Element>
  private(set) var undoRecord: StoreUndoRecord
  /// What is told of the contents as a whole, as it was before; nil where it stays.
  var outline: ContentsSummary?
  /// False for what is put back only when the command fails, such as a selection.
  let isUndone: Bool
  /// How many edits it takes back.
  private(set) var calls = 1
  var byteCount: Int { undoRecord.byteCount }
  var object: ObjectReference { ObjectReference(Element.collection, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { isUndone }
  func covers(_ later: any UndoRecord) -> Bool {
    guard let later = later as? Edited<Element>, later.id == id else { return false }
    return undoRecord.covers(later.undoRecord)
  }
  func isAgain(_ member: RecordedMember, in world: World) -> Bool? {
    guard let outline, let now = world.overlays[OverlayID(id.rawValue)].map(ContentsSummary.init) else { return nil }
    return switch member {
    case .property(.graphicCount): now.count == outline.count
    case .property(.selectedCount): now.selectedCount == outline.selectedCount
    case .property(.extent): now.extent == outline.extent
    default: nil
    }
  }
  mutating func absorb(_ next: any UndoRecord) -> Bool {
    guard let next = next as? Edited<Element>, next.id == id, next.isUndone == isUndone else { return false }
    guard undoRecord.absorb(next.undoRecord) else { return false }
    calls += next.calls
    return true
  }
  func rollBack(_ world: inout World) {
    _ = world[keyPath: Element.registry].modify(id) { $0.rollBackContents(undoRecord) }
  }
  func undo(_ world: inout World) {
    // Those of layers are selections, which are not undone.
    if Element.collection == .overlays { world.undoGraphics(undoRecord, of: OverlayID(id.rawValue)) }
  }
}
