// The one clock: real, or moved by hand.

/// Time, and the ticks on which everything that moves is moved.
public struct Clock: Hashable, Sendable {
  public enum Mode: Hashable, Sendable { case real, manual }
  public internal(set) var mode = Mode.real
  /// The time that the model has been advanced to.
  public internal(set) var now: Instant
  /// Ticks a second.
  public internal(set) var tickRate = 30.0
  /// Where ticks are counted from, and how many have been.
  var tickOrigin: Instant
  var ticks = 0
  /// Where manual time stood when it was last left, or begins.
  var manualTime = Instant.manualStart

  init(now: Instant) {
    self.now = now
    tickOrigin = now
  }

  /// When the next tick is due.
  public var nextTick: Instant { tickOrigin.advanced(by: Double(ticks + 1) / tickRate) }
}

extension World {
  /// Changes the clock; what runs goes on from where it stands. Nil leaves alone.
  ///
  /// - Parameter realTime: where real time stands.
  public mutating func setClock(mode: Clock.Mode?, now: Instant?, tickRate: Double?, realTime: Instant) {
    var new = clock
    if let tickRate, tickRate != new.tickRate {
      new.tickRate = tickRate
      new.tickOrigin = new.now
      new.ticks = 0
    }
    if let mode, mode != new.mode {
      new.mode = mode
      if mode == .real { new.manualTime = new.now }
      new.now = mode == .manual ? new.manualTime : realTime
      new.tickOrigin = new.now
      new.ticks = 0
    }
    if let now, new.mode == .manual, now != new.now {
      new.now = now
      new.tickOrigin = now
      new.ticks = 0
    }
    guard new != clock else { return }
    let old = clock
    clock = new
    // More than 292 years wrap around, and with the sum back again.
    shiftRunning(by: new.now.nanoseconds &- old.now.nanoseconds)
    if new.mode != old.mode { record(.clock(.mode)) }
    if new.tickRate != old.tickRate { record(.clock(.tickRate)) }
  }

  /// What runs keeps its distance to now, whatever now is called.
  private mutating func shiftRunning(by nanoseconds: Int64) {
    guard nanoseconds != 0 else { return }
    for id in views.ids {
      changeKnown(id) { view in
        view.animation?.start.nanoseconds &+= nanoseconds
      }
    }
    for id in locationSources.ids {
      changeKnown(id) { $0.resumedAt?.nanoseconds &+= nanoseconds }
    }
  }

  /// Whether anything moves by itself, so that ticks are worth their while.
  // Visible to whoever asks after each command, so that only the two registries are looked at and no world is copied.
  @inlinable public var isMoving: Bool {
    mayMove && (views.contains(where: \.isNavigating) || locationSources.contains(where: \.isRunning))
  }

  /// How many ticks come due on the way to `instant`.
  public func ticksDue(until instant: Instant) -> Int {
    let elapsed = instant.seconds(since: clock.tickOrigin)
    var total = Int((elapsed * clock.tickRate).rounded(.down))
    // Ticks are kept to the nanosecond, so the division may be off by one.
    while clock.tickOrigin.advanced(by: Double(total + 1) / clock.tickRate) <= instant { total += 1 }
    while total > 0, clock.tickOrigin.advanced(by: Double(total) / clock.tickRate) > instant { total -= 1 }
    return max(0, total - clock.ticks)
  }

  /// Carries out one tick: moves everything on to its time.
  public mutating func tick() {
    let due = clock.nextTick
    clock.ticks += 1
    advance(to: due)
  }

  /// Moves everything on to `instant`, one step.
  public mutating func advance(to instant: Instant) {
    clock.now = max(clock.now, instant)
    for id in locationSources.ids { advance(id) }
    for id in views.ids { advanceAnimation(of: id) }
  }

  /// With a real clock: forgets ticks that nobody needed.
  public mutating func skipTicks(to instant: Instant) {
    clock.now = max(clock.now, instant)
    clock.ticks += ticksDue(until: instant)
  }
}
