// All subscriptions: which of them a change concerns, which have something to tell, and what answers have to wait for them.

import GeoModel
import JSONRPC

/// All subscriptions, in the order they were made.
struct Subscribers {
  private final class Entry {
    let subscriber: any Subscriber
    let number: Int
    /// Whether the client knows the handle; nothing is said before.
    var isAnnounced = false
    /// When it may speak again, in the loop's nanoseconds.
    var notBefore: UInt64 = 0
    /// When that was noted which is waiting, and that which is on its way: by ``clock``.
    var noted: Int?
    var telling: Int?
    var isOnItsWay = false

    init(_ subscriber: any Subscriber, _ number: Int) {
      self.subscriber = subscriber
      self.number = number
    }
  }

  private var entries: [Int: Entry] = [:]
  private var numbers: [String: Int] = [:]
  private var interests = InterestTree()
  private var lists = SentLists()
  /// Those that have something to tell, ascending.
  private var busy: [Int] = []
  /// Those with a rate that have told something: what comes before they may tell again is told net.
  private var waiting: [Int] = []
  private var made = 0
  private var added = 0
  /// How often changes have been noted.
  private(set) var clock = 0
  /// Changes folded into later ones before they were told.
  private(set) var coalesced = 0
  private(set) var resyncs = 0
  /// Those whose handle the client has not been told.
  private(set) var unannounced: [String] = []
  /// Whether an edit is going on that some do not tell of yet.
  private(set) var isEditing = false

  var count: Int { entries.count }
  /// Whether none has something to tell, or to let go of.
  var isIdle: Bool { busy.isEmpty && waiting.isEmpty }

  mutating func makeID() -> String {
    made += 1
    return "sub\(made)"
  }

  mutating func add(_ subscriber: any Subscriber, _ world: World) {
    added += 1
    let number = added
    entries[number] = Entry(subscriber, number)
    numbers[subscriber.id] = number
    for pattern in subscriber.interests { interests.add(number, pattern) }
    unannounced.append(subscriber.id)
    lists.keep(world)
    if isEditing, subscriber.defersEdits { subscriber.compare(with: world) }
    // A long snapshot may be on its way.
    wake(number)
  }

  /// The client knows the handles.
  mutating func announce(_ ids: [String]) {
    unannounced.removeAll { ids.contains($0) }
    for id in ids {
      if let number = numbers[id] { entries[number]?.isAnnounced = true }
    }
  }

  mutating func remove(_ id: String) {
    guard let number = numbers.removeValue(forKey: id), let entry = entries.removeValue(forKey: number) else { return }
    for pattern in entry.subscriber.interests { interests.remove(number, pattern) }
    busy.removeAll { $0 == number }
    waiting.removeAll { $0 == number }
    unannounced.removeAll { $0 == id }
    if entries.isEmpty { lists.drop() }
  }

  mutating func removeAll() {
    for id in numbers.keys.sorted() { remove(id) }
  }

  private mutating func wake(_ number: Int) {
    guard let last = busy.last, last >= number else { return busy.append(number) }
    let place = busy.firstIndex { $0 >= number } ?? busy.endIndex
    if busy[place] != number { busy.insert(number, at: place) }
  }

  // MARK: Noting

  mutating func note(_ changes: [Change], _ world: World) {
    guard !entries.isEmpty, !changes.isEmpty else { return }
    clock += 1
    for change in changes {
      let place = change.event.place
      let followers = interests.followers(of: place)
      let list = followers.isEmpty ? nil : lists.list(at: place)
      for number in followers {
        guard let entry = entries[number] else { continue }
        coalesced += entry.subscriber.note(change, place, list, world)
        guard entry.subscriber.isDirty else { continue }
        if entry.noted == nil, !entry.subscriber.isLost { entry.noted = clock }
        wake(number)
      }
      guard case .closed(let object) = change.event else { continue }
      for number in followers {
        if let subscriber = entries[number]?.subscriber, subscriber.scope == object { remove(subscriber.id) }
      }
    }
    lists.follow(changes, world)
  }

  /// An edit is going on, and what came before it has been told: those that defer edits start from there.
  mutating func beginEdit(_ world: World) {
    guard !isEditing else { return }
    isEditing = true
    for entry in entries.values where entry.subscriber.defersEdits { entry.subscriber.compare(with: world) }
  }

  /// It has ended, and its last change is noted: nobody waits any more.
  mutating func endEdit() {
    isEditing = false
    for entry in entries.values where entry.subscriber.defersEdits { entry.subscriber.stopComparing() }
  }

  /// What is noted next replaces much by what is equal: of that, only what differs from `world` is told.
  func compare(with world: World) {
    for entry in entries.values { entry.subscriber.compare(with: world) }
  }

  func endComparison() {
    for entry in entries.values
    where !(isEditing && entry.subscriber.defersEdits) && !waiting.contains(entry.number) {
      entry.subscriber.stopComparing()
    }
  }

  // MARK: Delivery

  struct Told {
    /// When the next of those may speak whose rate says later.
    var next: UInt64?
    /// Whether there is more that can be told at once.
    var hasMore = false
    /// Whether the client has to read first.
    var isFull = false
    /// Whether something long has taken what one turn has room for.
    var isSpent = false
  }

  /// Lets subscriptions tell what they have noted, except those whose rate says later or that wait for an edit's end.
  ///
  /// It comes back after about ``SendLimits/turnBytes``: the loop has others to serve.
  ///
  /// - Parameter goesOn: whether to go on with what is long and on its way; when not, that counts as `hasMore`.
  mutating func flush(_ world: World, to session: Session, goesOn: Bool) -> Told {
    var told = Told()
    var texts = PatchTexts()
    let start = session.written
    for number in busy {
      guard let entry = entries[number], entry.isAnnounced else { continue }
      guard !told.isSpent, session.written - start <= SendLimits.turnBytes, goesOn || !entry.isOnItsWay else {
        told.hasMore = true
        continue
      }
      if goOn(entry, session, &told), entry.subscriber.isDirty { begin(entry, world, session, &texts, &told) }
    }
    busy.removeAll { number in
      guard let entry = entries[number] else { return true }
      guard entry.isAnnounced, !entry.isOnItsWay, !entry.subscriber.isDirty else { return false }
      entry.noted = nil
      return true
    }
    if !waiting.isEmpty { stopWaiting(session.loop.nanoseconds) }
    return told
  }

  /// Lets go of the world as it was told where it is no longer needed: what is noted next is told at once.
  private mutating func stopWaiting(_ now: UInt64) {
    waiting.removeAll { number in
      guard let entry = entries[number] else { return true }
      guard entry.notBefore <= now, !entry.subscriber.isDirty, !(isEditing && entry.subscriber.defersEdits) else {
        return false
      }
      entry.subscriber.stopComparing()
      return true
    }
  }

  /// Goes on with what is on its way; whether that has been told.
  private func goOn(_ entry: Entry, _ session: Session, _ told: inout Told) -> Bool {
    let progress = entry.subscriber.goOn(session)
    entry.isOnItsWay = progress != .done
    switch progress {
    case .done: entry.telling = nil
    case .more:
      told.hasMore = true
      told.isSpent = true
    case .full: told.isFull = true
    }
    return progress == .done
  }

  private mutating func begin(
    _ entry: Entry, _ world: World, _ session: Session, _ texts: inout PatchTexts, _ told: inout Told
  ) {
    if isEditing, entry.subscriber.defersEdits { return }
    guard SendLimits.hasRoom(session) else {
      told.isFull = true
      return
    }
    let (allowed, written) = (entry.notBefore, session.written)
    if let rate = entry.subscriber.maxRate {
      let now = session.loop.nanoseconds
      if entry.notBefore > now {
        told.next = min(told.next ?? entry.notBefore, entry.notBefore)
        return
      }
      // A rate may be as small as a number can be.
      entry.notBefore = now + UInt64(min(1e9 / rate, 1e18))
    }
    entry.telling = entry.noted
    entry.noted = nil
    entry.subscriber.flush(world, to: session, &texts)
    if entry.subscriber.maxRate != nil {
      entry.subscriber.compare(with: world)
      if !waiting.contains(entry.number) { waiting.append(entry.number) }
    }
    _ = goOn(entry, session, &told)
    // Where it all came to nothing, nothing has been told.
    if session.written == written, !entry.isOnItsWay { entry.notBefore = allowed }
  }

  /// When the earliest of that was noted which has to be told before an answer that states it; nil when nothing is owed.
  ///
  /// A subscription with a rate owes nothing, nor does one that waits for an edit's end or that the client does not know yet.
  var oldestUnsent: Int? {
    var earliest: Int?
    for number in busy {
      guard let entry = entries[number], entry.isAnnounced, entry.subscriber.maxRate == nil,
        let due = entry.telling ?? (isEditing && entry.subscriber.defersEdits ? nil : entry.noted)
      else { continue }
      earliest = min(earliest ?? due, due)
    }
    return earliest
  }

  /// The client has not read for too long: from here on memory is kept in proportion to the state.
  ///
  /// - Returns: whether any subscription has lost deltas by it.
  mutating func giveUp() -> Bool {
    let before = resyncs
    for number in busy {
      guard let entry = entries[number], entry.subscriber.isDirty, entry.subscriber.giveUp() else { continue }
      resyncs += 1
      entry.noted = nil
    }
    return resyncs > before
  }
}
