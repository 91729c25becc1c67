// After every change: tell those who watch, answer those who waited, and keep the clock going.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Host {
  /// Tells what has happened since the last call. Runs before the reply that states the revision.
  ///
  /// - Parameters:
  ///   - canWait: whether nobody waits for it, so that it may be folded into later news when the client is slow.
  ///   - before: the world as it was, where much was replaced by what is equal: of that, only what differs is told.
  func publish(canWait: Bool = false, comparedWith before: World? = nil) {
    if let before { subscribers.compare(with: before) }
    let changes = world.takeChanges()
    let ended = world.takeEndedProcesses()
    // An answer that states the revision is about to follow.
    let canWait = canWait && !ended.contains { waits[$0.0] != nil }
    let hasEditEnded = subscribers.isEditing && !world.isEditing
    if !changes.isEmpty, subscribers.count > 0 { subscribers.note(changes, world) }
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
      // What tasks leave behind when they end with their object is told like any other change.
      if world.hasChanges { publish() }
    }
    if before != nil { subscribers.endComparison() }
    // What its beginning told is told; from here on those wait that asked for it.
    if world.isEditing { subscribers.beginEdit(world) }
    for (process, end) in ended { waits.removeValue(forKey: process)?.end(end) }
    // Nothing begins to move without being told.
    if !changes.isEmpty { scheduleTick() }
  }

  /// Tells what was held back, before an answer that states the revision.
  func flushHeldBack() {
    if isHeldBack { flush() }
  }

  /// Writes what subscriptions have noted.
  ///
  /// - Parameter goesOn: whether to go on with what is long and on its way, too.
  func flush(goesOn: Bool = false) {
    guard let session else { return }
    isHeldBack = false
    if subscribers.isIdle {
      // Handing on the world would cost more than finding that out.
    } else if SendLimits.hasRoom(session) {
      let told = subscribers.flush(world, to: session, goesOn: goesOn)
      isHeldBack = told.isFull
      if told.hasMore { goOnLater() }
      if let due = told.next { flushLater(due) }
    } else {
      if subscribers.giveUp() {
        session.logMessage(
          .warning, "So much is unread that subscriptions will get a fresh snapshot in place of deltas.")
      }
      isHeldBack = true
    }
    // Answers that state what is not told yet wait for it.
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

  /// Goes on telling when the loop has looked after everything else.
  private func goOnLater() {
    guard !isGoingOn else { return }
    isGoingOn = true
    let bound = LoopBound(self, on: loop)
    loop.executeBehindInput {
      let host = bound.value
      host.isGoingOn = false
      host.session?.turn { host.flush(goesOn: true) }
    }
  }

  /// The client has read what it had not: what was held back is told now.
  func drained() {
    if isHeldBack { goOnLater() }
  }

  // MARK: Memory

  /// So many features make an edit a bulk edit.
  private static let bulk = 50_000

  /// After bulk edits, gives back what they left over, once no further one has come for a while: what one leaves the next one uses.
  private func trimLater(_ count: Int) {
    untrimmed += count
    guard untrimmed >= Self.bulk else { return }
    isTrimmingPutOff = trimming != nil
    trimSoon()
  }

  /// Gives memory back that nobody uses any more.
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

  /// With a real clock and something moving, sees to it that the next tick comes.
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

  /// Nothing more will be asked: what lives by the clock ends, and those who wait for it are answered.
  func endLiveSources() {
    ticking?.cancel()
    ticking = nil
    world.begin(origin: .client(nil))
    world.interruptAllAnimations()
    world.stopAllLocationSources()
    publish()
  }
}
