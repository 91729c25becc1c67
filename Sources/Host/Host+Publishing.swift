// Work after every change: publishes it to subscriptions, answers requests that waited for a process, and schedules the next tick.

import GeoModel
import GeometryEngine
import Handlers
import JSONRPC
import Links

extension Host {
  /// Publishes the changes since the last call. Runs before the reply that states the revision.
  ///
  /// - Parameter canWait: whether changes may be coalesced while a client is slow. False if a reply depends on them.
  func publish(canWait: Bool = false) {
    // Objects of the new document may be equal to earlier ones: only differences are sent.
    var before = world.takeReplaced()
    if let before { for each in clients { each.client.subscribers.compare(with: before) } }
    let changes = world.takeChanges()
    Recordings.add(changes, in: &world)
    let ended = world.takeEndedProcesses()
    let taps = located(world.takeTaps())
    for each in clients {
      let changes = before.map { each.client.subscribers.expanded(changes, from: $0, to: world) } ?? changes
      each.client.publish(changes, ended: ended, taps, canWait: canWait, isReplaced: before != nil)
    }
    for change in changes {
      switch change.event {
      case .replaced:
        for each in clients { each.client.endScopedTasks() }
        trimLater(Self.bulk)
      case .closed(let object):
        for each in clients { each.client.endTasks(of: object) }
        if object.collection == .overlays || object.collection == .layers { trimLater(Self.bulk) }
      case .graphics(_, let edit): trimLater(edit.ids.count)
      case .changed(let object, .status) where object.collection == .locationSources: readReplay(of: LocationSourceID(object.id))
      case .created, .changed, .member, .entities, .clock, .history, .document: break
      }
    }
    // Ending the tasks of a closed object may change the world again.
    if world.hasChanges { publish() }
    for each in clients { each.client.published(ended: ended, isComparison: before != nil) }
    if let old = before.map(Handover.init) {
      // The worker gets the last references: freeing many objects takes long.
      before = nil
      let lists = clients.map { Handover($0.client.subscribers.takeReplacedLists()) }
      loop.offload(to: .parsing) {
        _ = old.take()
        for list in lists { _ = list.take() }
      }
    }
    // Only a change can start an animation.
    if !changes.isEmpty {
      scheduleTick()
      matchFeeds()
      matchJobs(changes)
    }
  }

  /// Makes a change that no request causes, and publishes it.
  func perform(_ origin: Origin, canWait: Bool = false, _ body: (inout World) -> Void) {
    RelationAllowance(nanoseconds: RelationAllowance.onLoop).hold {
      world.begin(origin: origin)
      body(&world)
      propagateOrUnlink()
      publish(canWait: canWait)
    }
  }

  /// Makes a step of history of the changes. Links that follow history run after the step and cannot fail it; their changes are
  /// not part of it.
  func commit(_ step: String) {
    world.commit(step)
    repeat { propagateOrUnlink() } while world.commitPropagation()
  }

  /// Propagates after changes that are not commands and cannot be refused. Links that cannot propagate are closed.
  func propagateOrUnlink() {
    for _ in 0...world.links.count {
      do { return try Propagation.propagate(&world, isByTime: true) } catch {
        let links = Propagation.links(at: error, in: world)
        warn(closing: links, after: error)
        for link in links { try? world.close(link) }
      }
    }
  }

  /// Notifies clients of links that are about to be closed, with the reason.
  func warn(closing links: Set<LinkID>, after error: any Error) {
    let reason = RPCError(error, in: nil, at: "")?.message ?? "\(error)"
    for link in links.compactMap({ world.links[$0] }) {
      for each in clients {
        each.client.warn("Link \"\(link.id)\" of \(link.first) and \(link.second) is closed: \(reason)")
      }
    }
  }

  /// Reads the features of a replay that is starting.
  private func readReplay(of source: LocationSourceID) {
    guard let reading = world.reading(of: source) else { return }
    // A trace cannot say when it was read.
    if isTraced || world.clock.isReplayed { return perform(.location) { $0.take(reading.outcome(), of: reading) } }
    readings += 1
    if world.clock.mode == .manual { holdInput() }
    let bound = LoopBound(self, on: loop)
    let loop = loop
    loop.offload(to: .work(.userInitiated)) {
      let outcome = reading.outcome()
      loop.execute {
        let host = bound.value
        host.readings -= 1
        host.turn { host.perform(.location) { $0.take(outcome, of: reading) } }
        if host.isInputHeld, !host.isAdvancing { host.releaseInput() }
      }
    }
  }

  // MARK: Taps

  /// Maximum number of taps that wait; beyond it the oldest are dropped.
  private static let tapLimit = 1000

  /// The taps whose place is known. Those of scenes whose ground has to be read, and those after them, follow in order.
  private func located(_ taps: [Tap]) -> [Tap] {
    var known: [Tap] = []
    for tap in taps {
      if waitingTaps.isEmpty, let tap = tap.located(world.transformer, onlyKept: true) {
        known.append(tap)
      } else {
        if waitingTaps.count == Self.tapLimit { waitingTaps.remove(at: 1) }
        waitingTaps.append(tap)
        if waitingTaps.count == 1 { locateNext() }
      }
    }
    return known
  }

  private func locateNext() {
    guard let tap = waitingTaps.first else { return }
    let bound = LoopBound(self, on: loop)
    let (loop, transformer) = (loop, world.transformer)
    loop.offload(to: .waiting(.userInitiated)) {
      let located = tap.located(transformer, onlyKept: false)
      loop.execute {
        let host = bound.value
        host.waitingTaps.removeFirst()
        host.turn {
          let taps = located.map { [$0] } ?? []
          for each in host.clients { each.client.publish([], ended: [], taps, canWait: false, isReplaced: false) }
        }
        host.locateNext()
      }
    }
  }

  // MARK: Memory

  /// Minimum number of features of a bulk edit.
  private static let bulk = 50_000
  /// What a client leaves is as much as that of some features.
  static let featuresOfClient = 100

  /// Trims the allocator's memory after bulk edits and many clients. Delayed while further ones arrive, since they reuse the memory.
  func trimLater(_ count: Int) {
    untrimmed += count
    guard untrimmed >= Self.bulk else { return }
    isTrimmingPutOff = trimming != nil
    trimSoon()
  }

  /// Returns unused memory to the system after 100 ms.
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
      // Not on the loop: it takes tens of milliseconds.
      host.loop.offload(to: .parsing, host.configuration.trimMemory)
    }
  }

  // MARK: The clock

  /// Schedules the next tick while a real clock drives an animation or a location source.
  func scheduleTick() {
    if isAdvancing, world.advance == nil, !isInputHeld { return continueAdvanceLater() }
    guard ticking == nil, world.clock.mode == .real, world.isMoving, !world.clock.isReplayed else { return }
    // Other work comes between.
    let isJudging = world.isJudging
    let wait = isJudging ? 0.001 : world.clock.wait(at: configuration.now())
    if isJudging, world.isFarBehind { holdInput() }
    let bound = LoopBound(self, on: loop)
    ticking = loop.schedule(after: UInt64(wait * 1e9)) { bound.value.tick() }
  }

  private func tick() {
    ticking = nil
    if isInputHeld, !isAdvancing, !world.isFarBehind { releaseInput() }
    guard world.clock.mode == .real, world.isMoving else { return }
    guard !putsStepsOff else {
      let bound = LoopBound(self, on: loop)
      ticking = loop.schedule(after: 10_000_000) { bound.value.tick() }
      return
    }
    turn {
      let now = configuration.now()
      tracePassing(to: now) { perform(.animation, canWait: true) { $0.pass(realTime: now) } }
    }
    scheduleTick()
  }

  /// Time for ticks of an advance before other work of the loop, in nanoseconds; and that of one within a batch.
  private static let advanceSlice: UInt64 = 5_000_000
  private static let ticksInSlice = 10_000
  private static let batchSlice: UInt64 = 1_000_000_000

  /// Makes the ticks of the advance of a manual clock that has begun. When there are many, the loop does other work in between:
  /// writes output, cancels. Other input waits, so that what it does happens at the end of the advance.
  ///
  /// - Parameter isInBatch: whether other requests of a batch follow, which are run before the end of an advance of more than a
  ///   second.
  func continueAdvance(isInBatch: Bool = false) {
    let start = loop.nanoseconds
    var ticks = 0
    isInputHeld = true
    while isAdvancing {
      let elapsed = loop.nanoseconds &- start
      if elapsed > Self.batchSlice || !isInBatch && (elapsed > Self.advanceSlice || ticks == Self.ticksInSlice || isBehind) {
        return continueAdvanceLater()
      }
      perform(.animation) { $0.continueAdvance() }
      ticks += 1
    }
    releaseInput()
  }

  /// Whether an advance is under way, or judgements are that come before anything else.
  private var isAdvancing: Bool { world.advance != nil || world.clock.mode == .manual && world.isJudging }

  private func holdInput() {
    isInputHeld = true
    for each in clients { each.client.session?.holdInput() }
  }

  private func releaseInput() {
    // Under a manual clock input waits for what is read, so that it finds the same each time.
    guard readings == 0 || world.clock.mode == .real else { return }
    isInputHeld = false
    for each in clients { each.client.session?.releaseInput() }
  }

  /// Whether the only client has much to read. Several do not wait for one another.
  private var isBehind: Bool { clients.count == 1 && clients.contains { $0.client.isBehind } }

  private func continueAdvanceLater() {
    holdInput()
    let bound = LoopBound(self, on: loop)
    let go: @Sendable () -> Void = {
      let host = bound.value
      host.turn { host.continueAdvance() }
    }
    // Behind what was sent meanwhile, which may be a cancel.
    if isBehind { loop.schedule(after: 1_000_000, go) } else { loop.executeBehindInput(go) }
  }

  /// Ends animations and location sources at the end of input, and thereby answers the requests that wait for them.
  func endLiveSources() {
    ticking?.cancel()
    ticking = nil
    world.begin(origin: .client(nil))
    world.interruptAllAnimations()
    world.stopAllLocationSources()
    world.stopStartingGeotriggers()
    publish()
    endFeeds()
    world.stopRecording(nil)
    endJobs()
  }
}
