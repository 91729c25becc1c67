// After every change: publish it to subscriptions, reply to requests that waited for a process, and schedule the next tick.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Host {
  /// Publishes the changes since the last call. Runs before the reply that states the revision.
  ///
  /// - Parameters:
  ///   - canWait: whether no reply depends on it, so that changes may be coalesced while the client is slow.
  ///   - before: the previous world, when many objects were replaced by equal ones; only differences from it are sent.
  func publish(canWait: Bool = false, comparedWith before: World? = nil) {
    if let before { subscribers.compare(with: before) }
    let changes = world.takeChanges()
    let ended = world.takeEndedProcesses()
    // A reply that states the revision follows.
    let canWait = canWait && !ended.contains { waits[$0.0] != nil }
    let hasEditEnded = subscribers.isEditing && !world.isEditing
    if !changes.isEmpty, subscribers.count > 0 { subscribers.record(changes, world) }
    if hasEditEnded { subscribers.endEdit() }
    if !changes.isEmpty || hasEditEnded {
      if canWait, session?.isCongested == true { isHeldBack = true } else { flush() }
      for change in changes {
        switch change.event {
        case .closed(let object):
          endTasks(of: object)
          if object.collection == .overlays || object.collection == .layers { trimLater(Self.bulk) }
        case .graphics(_, let edit): trimLater(edit.count)
        case .created, .changed, .member, .clock, .history, .document: break
        }
      }
      // Ending the tasks of a closed object may change the world again.
      if world.hasChanges { publish() }
    }
    if before != nil { subscribers.endComparison() }
    // The change that began the edit has been sent; later ones are deferred.
    if world.isEditing { subscribers.beginEdit(world) }
    for (process, end) in ended { waits.removeValue(forKey: process)?.end(end) }
    // Only a change can start an animation.
    if !changes.isEmpty { scheduleTick() }
  }

  /// Sends what was held back, before a reply that states the revision.
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
      let result = subscribers.flush(world, to: session, resumes: resumes)
      isHeldBack = result.isFull
      if result.hasMore { resumeLater() }
      if let due = result.nextDue { flushLater(due) }
    } else {
      if subscribers.discardRecorded() {
        session.logMessage(
          .warning, "So much is unread that subscriptions will get a fresh snapshot in place of deltas.")
      }
      isHeldBack = true
    }
    // Replies that state an unsent change wait for it.
    session.holdAnswers(from: subscribers.oldestUnsent, marking: subscribers.clock)
  }

  private func flushLater(_ due: UInt64) {
    flushing?.cancel()
    let now = loop.nanoseconds
    let bound = LoopBound(self, on: loop)
    flushing = loop.schedule(after: due > now ? due - now : 0) {
      let host = bound.value
      host.session?.turn { host.flush() }
    }
  }

  /// Sends further parts after the loop has served all other input.
  private func resumeLater() {
    guard !isResumeScheduled else { return }
    isResumeScheduled = true
    let bound = LoopBound(self, on: loop)
    loop.executeBehindInput {
      let host = bound.value
      host.isResumeScheduled = false
      host.session?.turn { host.flush(resumes: true) }
    }
  }

  /// The client has read the output buffer: sends what was held back.
  func drained() {
    if isHeldBack { resumeLater() }
  }

  // MARK: Memory

  /// Minimum number of features of a bulk edit.
  private static let bulk = 50_000

  /// Trims the allocator's memory after bulk edits, delayed while further ones arrive, as they reuse it.
  private func trimLater(_ count: Int) {
    untrimmed += count
    guard untrimmed >= Self.bulk else { return }
    isTrimmingPutOff = trimming != nil
    trimSoon()
  }

  /// Returns unused memory to the system in 100 ms.
  func trimSoon() {
    guard trimming == nil else { return }
    let bound = LoopBound(self, on: loop)
    trimming = loop.schedule(after: 100_000_000) {
      let host = bound.value
      host.trimming = nil
      guard !host.isTrimmingPutOff else {
        host.isTrimmingPutOff = false
        return host.trimSoon()
      }
      host.untrimmed = 0
      host.configuration.trimMemory()
    }
  }

  // MARK: The clock

  /// Schedules the next tick while a real clock drives an animation or a location source.
  func scheduleTick() {
    guard ticking == nil, world.clock.mode == .real, world.isMoving else { return }
    let wait = max(0, world.clock.nextTick.seconds(since: configuration.now()))
    let bound = LoopBound(self, on: loop)
    ticking = loop.schedule(after: UInt64(wait * 1e9)) { bound.value.tick() }
  }

  private func tick() {
    ticking = nil
    guard world.clock.mode == .real, world.isMoving else { return }
    session?.turn {
      let now = configuration.now()
      world.begin(origin: .animation)
      world.skipTicks(to: now)
      world.advance(to: now)
      propagateOrUnlink()
      publish(canWait: true)
    }
    scheduleTick()
  }

  /// Ends animations and location sources at the end of input, which answers the requests that wait for them.
  func endLiveSources() {
    ticking?.cancel()
    ticking = nil
    world.begin(origin: .client(nil))
    world.interruptAllAnimations()
    world.stopAllLocationSources()
    publish()
  }
}
