// Sends what subscriptions have recorded: in turns, within rate limits, after the replies that have to precede it.

import GeoModel
import GeoProtocol
import JSONRPC

extension Subscribers {
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

  /// Notifies the client that a subscription has ended, once all its recorded changes have been sent.
  private mutating func endIfSent(_ entry: Entry, _ world: World, _ session: Session) {
    guard let end = entry.end, !entry.isDelivering, !entry.subscriber.isDirty else { return }
    session.notify(
      StateProtocol.Ended.name,
      StateProtocol.Ended.Params(
        subscription: entry.subscriber.id, revision: world.revision, reason: end.reason, object: end.object.id))
    forget(entry)
  }

  /// Releases the last sent worlds of subscriptions whose rate limit has passed: their next change is sent at once.
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
      result.sentWorlds += entry.subscriber.takeSentWorlds()
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
    // The last changes before the end ignore the rate limit.
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
