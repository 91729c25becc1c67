// Sends what a client's subscriptions have recorded, as fast as the client reads.

import GeoModel
import Handlers
import JSONRPC
import Subscriptions

extension Client {
  /// Records changes, and sends them unless they can wait for a slow client.
  ///
  /// - Parameter isReplaced: whether another document has replaced all objects.
  func publish(
    _ changes: [Change], ended: [(ProcessID, ProcessEnd)], _ taps: [Tap], canWait: Bool, isReplaced: Bool
  ) {
    // A reply that states the revision follows, so changes cannot wait.
    let canWait = canWait && !ended.contains { waits[$0.0] != nil }
    let hasEditEnded = subscribers.isEditing && !host.world.isEditing
    if !changes.isEmpty, subscribers.count > 0 { subscribers.record(changes, host.world, isReplaced: isReplaced) }
    if !taps.isEmpty { subscribers.record(taps, host.world) }
    if hasEditEnded { subscribers.endEdit(host.world) }
    // Rate-limited subscriptions may be due when a manual clock has advanced, even if nothing else has changed.
    let clock = host.world.clock
    let hasClockMoved = clock.mode == .manual && clock.now != publishedAt
    publishedAt = clock.now
    guard !changes.isEmpty || !taps.isEmpty || hasEditEnded || hasClockMoved else { return }
    if canWait, session?.isCongested == true { isHeldBack = true } else { flush() }
  }

  /// Runs after all clients' subscriptions have recorded the changes.
  func published(ended: [(ProcessID, ProcessEnd)], isComparison: Bool) {
    if isComparison { subscribers.endComparison() }
    // The change that began the edit has been sent; later changes are deferred.
    if host.world.isEditing { subscribers.beginEdit(host.world) }
    for (process, end) in ended { waits.removeValue(forKey: process)?.end(end) }
  }

  /// Sends changes that were held back, before a reply that states the revision.
  func flushHeldBack() {
    if isHeldBack { flush() }
  }

  /// Sends what subscriptions have recorded.
  ///
  /// - Parameter resumes: whether to send further parts of deliveries in progress.
  func flush(resumes: Bool = false) {
    guard let session else { return }
    isHeldBack = false
    if subscribers.isIdle {
      // Passing the world to `flush` would copy it.
    } else if SendLimits.hasRoom(session) {
      var result = subscribers.flush(host.world, to: session, resumes: resumes)
      isHeldBack = result.isFull
      if result.hasMore { resumeLater() }
      if let due = result.nextDue { flushLater(due) }
      if !result.sentWorlds.isEmpty {
        let worlds = Handover(result.sentWorlds)
        // The worker gets the last references and frees the worlds.
        result.sentWorlds = []
        loop.offload(to: .parsing) { _ = worlds.take() }
      }
    } else {
      if subscribers.discardRecorded() {
        session.logMessage(
          .warning, "So much is unread that subscriptions will get a fresh snapshot in place of deltas.")
      }
      isHeldBack = true
    }
    // Replies that state an unsent change wait until it is sent.
    session.holdAnswers(from: subscribers.oldestUnsent, marking: subscribers.clock)
    sendParts()
  }

  /// Whether ticks should wait until the client has read more. Not if it reads nothing as long as its input is not read, or has
  /// ended its input.
  var isBehind: Bool {
    guard let session, session.ending == nil else { return false }
    return session.isCongested && session.wantsInput && !session.hasInputEnded
  }

  /// Sends a message to the client's user, for problems that belong to no request.
  func warn(_ message: String) { session?.logMessage(.warning, message) }

  private func flushLater(_ due: UInt64) {
    flushing?.cancel()
    let now = loop.nanoseconds
    let bound = LoopBound(self, on: loop)
    flushing = loop.schedule(after: due > now ? due - now : 0) {
      let client = bound.value
      client.session?.turn { client.flush() }
    }
  }

  /// Sends further parts after the loop has handled all other input.
  private func resumeLater() {
    guard !isResumeScheduled else { return }
    isResumeScheduled = true
    let bound = LoopBound(self, on: loop)
    loop.executeBehindInput {
      let client = bound.value
      client.isResumeScheduled = false
      if client.isReading() { return client.resumeLater() }
      client.session?.turn { client.flush(resumes: true) }
      client.unreadBefore = client.session?.unread ?? 0
    }
  }

  /// Whether the client has read some of its output since the last call, but not all of it. Then it gets the rest first: a pipe
  /// takes 64 KiB at a time, and answers behind a part of 1 MiB would be delayed by many turns of the loop.
  private func isReading() -> Bool {
    let unread = session?.unread ?? 0
    defer { unreadBefore = unread }
    return unread > 0 && unread < unreadBefore
  }

  /// Called when the client has read the output buffer: sends changes that were held back.
  func drained() {
    if isHeldBack { resumeLater() }
    sendParts()
  }
}
