// All subscriptions of a client: which ones a change concerns, which have changes to send, and which replies wait for them.

import GeoModel
import GeoProtocol
import JSONRPC

/// All subscriptions, in the order they were made.
package struct Subscribers {
  package init() {}

  final class Entry {
    let subscriber: any Subscriber
    let number: Int
    /// Whether the reply with its handle has been sent; no notification precedes it.
    var isAnnounced = false
    /// Earliest time of the next send; nil before the first one.
    var notBefore: SendTime?
    /// Values of ``clock`` at the oldest recorded change, and at the oldest change in the delivery in progress.
    var recordedAt: Int?
    var deliveringSince: Int?
    var isDelivering = false
    /// Reason and object of the subscription's end, which follows all recorded changes.
    var end: (reason: StateProtocol.EndReason, object: ObjectReference)?
    /// The closed object without which the subscription has nothing to follow; it may come back.
    var closed: ObjectReference?

    init(_ subscriber: any Subscriber, _ number: Int) {
      self.subscriber = subscriber
      self.number = number
    }
  }

  var entries: [Int: Entry] = [:]
  private var numbers: [String: Int] = [:]
  private var interests = InterestTree()
  var lists = SentLists()
  /// Numbers of subscriptions with changes to send, ascending.
  var dirty: [Int] = []
  /// Numbers of subscriptions that end unless their object comes back: by redo after an undo has closed it, or by cancelling the
  /// edit in which it was closed.
  private var closedByUndo: Set<Int> = []
  private var closedInEdit: Set<Int> = []
  /// Rate-limited subscriptions that have sent: changes until the next send are coalesced.
  var rateLimited: Set<Int> = []
  private var lastID = 0
  /// Number of subscriptions ever made, and the number of the newest one.
  package private(set) var made = 0
  /// Number of batches of changes recorded.
  package private(set) var clock = 0
  /// Changes merged into later ones before they were sent.
  package private(set) var coalesced = 0
  package internal(set) var resyncs = 0
  /// Whether an edit is in progress whose changes some subscriptions defer.
  package private(set) var isEditing = false

  package var count: Int { entries.count }
  /// Whether a flush has nothing to do.
  package var isIdle: Bool { dirty.isEmpty && rateLimited.isEmpty && lists.isComplete }

  /// Maximum number of subscriptions.
  package var limit = SessionLimits().subscriptions

  /// The id of a new subscription. Throws if there are as many as may be.
  package mutating func makeID() throws(RPCError) -> String {
    guard count < limit else { throw .limitReached("subscriptions", limit: limit) }
    lastID += 1
    return "sub\(lastID)"
  }

  package mutating func add(_ subscriber: any Subscriber, _ world: World) {
    made += 1
    let number = made
    entries[number] = Entry(subscriber, number)
    numbers[subscriber.id] = number
    for pattern in subscriber.interests { interests.add(number, pattern) }
    lists.keep(subscriber.interests, world)
    if isEditing, subscriber.defersEdits { subscriber.compare(with: world) }
    // A snapshot in parts may follow the reply.
    markDirty(number)
  }

  /// Marks the handles of subscriptions as sent to the client.
  package mutating func announce(_ numbers: ClosedRange<Int>) {
    for number in numbers { entries[number]?.isAnnounced = true }
  }

  package mutating func remove(_ id: String) {
    guard let number = numbers[id], let entry = entries[number] else { return }
    dirty.removeAll { $0 == number }
    forget(entry)
  }

  mutating func forget(_ entry: Entry) {
    let number = entry.number
    numbers[entry.subscriber.id] = nil
    entries[number] = nil
    for pattern in entry.subscriber.interests { interests.remove(number, pattern) }
    rateLimited.remove(number)
    if entries.isEmpty { lists.drop() }
  }

  package mutating func removeAll() {
    for id in numbers.keys.sorted() { remove(id) }
  }

  mutating func markDirty(_ number: Int) {
    guard let last = dirty.last, last >= number else { return dirty.append(number) }
    let index = dirty.firstIndex { $0 >= number } ?? dirty.endIndex
    if dirty[index] != number { dirty.insert(number, at: index) }
  }

  // MARK: Recording

  /// Lists kept for the previous document's objects, to be freed on another thread.
  package mutating func takeReplacedLists() -> some Sendable { lists.takeReplaced() }

  /// - Parameter isReplaced: whether another document has replaced all objects.
  package mutating func record(_ changes: [Change], _ world: World, isReplaced: Bool = false) {
    guard !entries.isEmpty, !changes.isEmpty else { return }
    clock += 1
    for change in changes {
      let path = change.event.path
      let concerned = interests.subscribers(of: path)
      let list = concerned.isEmpty ? nil : lists.list(at: path)
      for number in concerned {
        guard let entry = entries[number] else { continue }
        coalesced += entry.subscriber.record(change, path, list, world)
        guard entry.subscriber.isDirty else { continue }
        if entry.recordedAt == nil, !entry.subscriber.needsResync { entry.recordedAt = clock }
        markDirty(number)
      }
      guard case .closed(let object) = change.event else { continue }
      for number in concerned {
        guard let entry = entries[number], entry.end == nil, entry.subscriber.ends(with: object, in: world) else {
          continue
        }
        if isReplaced {
          end(entry, .replaced, object)
        } else if change.origin == .undo, object.collection.isUndoable {
          entry.closed = object
          closedByUndo.insert(number)
        } else if world.isEditing, object.collection.isUndoable || entry.subscriber.defersEdits {
          entry.closed = object
          closedInEdit.insert(number)
        } else {
          end(entry, .closed, object)
        }
      }
    }
    if !closedByUndo.isEmpty, !world.history.hasUndone { closedByUndo = endClosed(closedByUndo, world) }
    if !closedInEdit.isEmpty, !world.isEditing { closedInEdit = endClosed(closedInEdit, world) }
    lists.update(changes, world)
  }

  /// Records taps, which are no changes of the model.
  package mutating func record(_ taps: [Tap], _ world: World) {
    guard !entries.isEmpty else { return }
    clock += 1
    for tap in taps {
      for number in interests.subscribers(of: TapSubscriber.path(of: tap.view)) {
        guard let entry = entries[number], let subscriber = entry.subscriber as? TapSubscriber else { continue }
        subscriber.record(tap)
        if entry.recordedAt == nil { entry.recordedAt = clock }
        markDirty(number)
      }
    }
  }

  private mutating func end(_ entry: Entry, _ reason: StateProtocol.EndReason, _ object: ObjectReference) {
    entry.end = (reason, object)
    markDirty(entry.number)
  }

  /// Ends subscriptions whose object has not come back.
  ///
  /// - Returns: none of them.
  private mutating func endClosed(_ numbers: Set<Int>, _ world: World) -> Set<Int> {
    for number in numbers.sorted() {
      guard let entry = entries[number], let object = entry.closed else { continue }
      entry.closed = nil
      if entry.end == nil, entry.subscriber.ends(with: object, in: world) { end(entry, .closed, object) }
    }
    return []
  }

  /// An edit has begun and earlier changes have been sent: subscriptions that defer edits compare with this world.
  package mutating func beginEdit(_ world: World) {
    guard !isEditing else { return }
    isEditing = true
    for entry in entries.values where entry.subscriber.defersEdits { entry.subscriber.compare(with: world) }
  }

  /// The edit has ended and its last change is recorded: deferred changes can be sent.
  package mutating func endEdit(_ world: World) {
    isEditing = false
    for entry in entries.values where entry.subscriber.defersEdits { entry.subscriber.stopComparing() }
  }

  /// Sends only differences from `world`: the changes recorded next replace many objects by equal ones.
  package func compare(with world: World) {
    for entry in entries.values { entry.subscriber.compare(with: world) }
  }

  package func endComparison() {
    for entry in entries.values
    where !(isEditing && entry.subscriber.defersEdits) && !rateLimited.contains(entry.number) {
      entry.subscriber.stopComparing()
    }
  }
}
