// All subscriptions of a client: which of them a change concerns, which have changes to send, and which replies wait for them.

import GeoModel
import GeoProtocol
import JSONRPC

/// All subscriptions, in the order they were made.
package struct Subscribers {
  package init() {}

  final class Entry {
    let subscriber: any Subscriber
    let number: Int
    /// Whether the reply with its handle was sent; no notification precedes that.
    var isAnnounced = false
    /// Earliest time of the next send; nil before the first one.
    var notBefore: SendTime?
    /// Value of ``clock`` at the oldest change that is recorded, and at the oldest one in the delivery in progress.
    var recordedAt: Int?
    var deliveringSince: Int?
    var isDelivering = false
    /// Why it ends once all that is recorded has been sent, and with which object.
    var end: (reason: StateProtocol.EndReason, object: ObjectReference)?
    /// An object that may come back, with whose closing nothing that it follows is left.
    var closed: ObjectReference?

    init(_ subscriber: any Subscriber, _ number: Int) {
      self.subscriber = subscriber
      self.number = number
    }
  }

  private(set) var entries: [Int: Entry] = [:]
  private var numbers: [String: Int] = [:]
  private var interests = InterestTree()
  private var lists = SentLists()
  /// Numbers of subscriptions with changes to send, ascending.
  private(set) var dirty: [Int] = []
  /// Numbers of subscriptions that end unless an object comes back: by redo what undo has closed, by its cancel what was closed amid
  /// an edit.
  private var closedByUndo: Set<Int> = []
  private var closedInEdit: Set<Int> = []
  /// Rate-limited subscriptions that have sent: changes until the next send are coalesced.
  private var rateLimited: Set<Int> = []
  private var lastID = 0
  /// Number of subscriptions ever made, and the number of the newest one.
  package private(set) var made = 0
  /// How many batches of changes have been recorded.
  package private(set) var clock = 0
  /// Changes merged into later ones before they were sent.
  package private(set) var coalesced = 0
  package internal(set) var resyncs = 0
  /// Whether an edit is under way whose changes some subscriptions defer.
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

  private mutating func forget(_ entry: Entry) {
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

  /// What was kept of another document's objects, to be freed elsewhere.
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

  // MARK: Sending

  /// The result of a flush.
  package struct FlushResult {
    /// Earliest time at which a rate-limited subscription may send again.
    package var nextDue: UInt64?
    /// Whether more can be sent in the next turn of the loop.
    package var hasMore = false
    /// Whether the client has to read first.
    package var isFull = false
    /// Worlds whose snapshots have been sent, to be freed elsewhere.
    package var sentWorlds: [World] = []
    /// Whether a delivery in parts has used this turn's share of bytes.
    var isTurnUsed = false
  }

  /// Sends what the subscriptions have recorded, except rate-limited ones before their time and ones that wait for an edit's end.
  ///
  /// Returns after about ``SendLimits/turnBytes``, as the loop serves requests in between.
  ///
  /// - Parameter resumes: whether to send further parts of deliveries in progress; if not, these count as `hasMore`.
  package mutating func flush(_ world: World, to session: Session, resumes: Bool) -> FlushResult {
    var result = FlushResult()
    var texts = PatchTexts()
    let start = session.written
    if !lists.isComplete {
      lists.keepMore(world)
      result.hasMore = !lists.isComplete
    }
    for number in dirty {
      guard let entry = entries[number], entry.isAnnounced else { continue }
      guard !result.isTurnUsed, session.written - start <= SendLimits.turnBytes, resumes || !entry.isDelivering else {
        result.hasMore = true
        continue
      }
      if resume(entry, session, &result), entry.subscriber.isDirty { begin(entry, world, session, &texts, &result) }
      endIfSent(entry, world, session)
    }
    dirty.removeAll { number in
      guard let entry = entries[number] else { return true }
      guard entry.isAnnounced, !entry.isDelivering, !entry.subscriber.isDirty else { return false }
      entry.recordedAt = nil
      return true
    }
    if !rateLimited.isEmpty { endRateLimits(SendTime(world.clock, session.loop)) }
    return result
  }

  /// Notifies the client that a subscription has ended, after all that it had to send.
  private mutating func endIfSent(_ entry: Entry, _ world: World, _ session: Session) {
    guard let end = entry.end, !entry.isDelivering, !entry.subscriber.isDirty else { return }
    session.notify(
      StateProtocol.Ended.name,
      StateProtocol.Ended.Params(
        subscription: entry.subscriber.id, revision: world.revision, reason: end.reason, object: end.object.id))
    forget(entry)
  }

  /// Releases the last sent world where the rate limit has passed: the next change is sent at once.
  private mutating func endRateLimits(_ now: SendTime) {
    rateLimited = rateLimited.filter { number in
      guard let entry = entries[number] else { return false }
      guard !(entry.notBefore.map(now.isBefore) ?? false), !entry.subscriber.isDirty,
        !(isEditing && entry.subscriber.defersEdits)
      else {
        return true
      }
      entry.subscriber.stopComparing()
      return false
    }
  }

  /// Sends further parts of a delivery in progress.
  ///
  /// - Returns: whether it is complete.
  private func resume(_ entry: Entry, _ session: Session, _ result: inout FlushResult) -> Bool {
    let progress = entry.subscriber.resume(session)
    entry.isDelivering = progress != .done
    switch progress {
    case .done:
      entry.deliveringSince = nil
      if let world = entry.subscriber.takeSentWorld() { result.sentWorlds.append(world) }
    case .more:
      result.hasMore = true
      result.isTurnUsed = true
    case .full: result.isFull = true
    }
    return progress == .done
  }

  private mutating func begin(
    _ entry: Entry, _ world: World, _ session: Session, _ texts: inout PatchTexts, _ result: inout FlushResult
  ) {
    if isEditing, entry.subscriber.defersEdits, entry.end == nil { return }
    guard SendLimits.hasRoom(session) else {
      result.isFull = true
      return
    }
    let (previousNotBefore, written) = (entry.notBefore, session.written)
    // The last changes before the end wait for nothing.
    if let rate = entry.subscriber.maxRate, entry.end == nil {
      let now = SendTime(world.clock, session.loop)
      if let due = entry.notBefore, now.isBefore(due) {
        if let due = due.onLoop { result.nextDue = min(result.nextDue ?? due, due) }
        return
      }
      entry.notBefore = now.next(rate)
    }
    entry.deliveringSince = entry.recordedAt
    entry.recordedAt = nil
    entry.subscriber.flush(world, to: session, &texts)
    if entry.subscriber.maxRate != nil {
      entry.subscriber.compare(with: world)
      rateLimited.insert(entry.number)
    }
    _ = resume(entry, session, &result)
    // Changes that cancel out send nothing and do not count against the rate.
    if session.written == written, !entry.isDelivering { entry.notBefore = previousNotBefore }
  }
}
