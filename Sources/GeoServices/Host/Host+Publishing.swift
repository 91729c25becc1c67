// After every change: tell those who watch, answer those who waited, and keep the clock going.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Host {
  /// Below this, deltas are written before a reply however slow the client is.
  private static let patience = 16 << 20

  /// Tells what has happened since the last call. Runs before the reply that states the revision.
  ///
  /// - Parameter canWait: whether nobody waits for it, so that it may be folded into later news when the client is slow.
  func publish(canWait: Bool = false) {
    let changes = world.takeChanges()
    let ended = world.takeEndedProcesses()
    if !changes.isEmpty {
      subscribers.note(changes)
      if canWait, session?.isCongested == true { isHeldBack = true } else { flush() }
      for change in changes {
        if case .closed(let object) = change.event { endTasks(of: object) }
      }
      // What tasks leave behind when they end with their object is told like any other change.
      if world.hasChanges { publish() }
    }
    for (process, end) in ended { waits.removeValue(forKey: process)?.end(end) }
    scheduleTick()
  }

  /// Writes what subscriptions have noted.
  func flush() {
    guard let session else { return }
    isHeldBack = false
    if session.unread > Self.patience {
      subscribers.giveUp()
      isHeldBack = true
      return
    }
    guard let due = subscribers.flush(world, to: session) else { return }
    flushing?.cancel()
    let now = loop.nanoseconds
    let bound = LoopBound(self, on: loop)
    flushing = loop.schedule(after: due > now ? due - now : 0) {
      let host = bound.value
      host.session?.turn { host.flush() }
    }
  }

  /// The client has read what it had not: what was held back is told now.
  func drained() {
    guard isHeldBack else { return }
    session?.turn { flush() }
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
      publish(canWait: true)
    }
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
