// The clock of the model: real time, or manual time that only commands advance.

/// The current time and the ticks that advance animations and location sources.
///
/// Ticks have a constant rate. With a manual clock, `clock/advance` makes the ticks up to a time at once, so that tests
/// and replays are deterministic.
public struct Clock: Hashable, Sendable {
  public enum Mode: Hashable, Sendable { case real, manual }
  public internal(set) var mode = Mode.real
  /// The time to which the model has been advanced.
  public internal(set) var now: Instant
  /// Ticks per second.
  public internal(set) var tickRate = 30.0
  /// Ticks are counted from `tickOrigin`; `ticks` is their number so far.
  var tickOrigin: Instant
  var ticks = 0
  /// The manual time when manual mode was last left; initially its start.
  var manualTime = Instant.manualStart

  init(now: Instant) {
    self.now = now
    tickOrigin = now
  }

  /// Time of the next tick.
  public var nextTick: Instant { tickOrigin.advanced(by: Double(ticks + 1) / tickRate) }
}

extension World {
  /// Changes the clock; nil keeps a value. Animations and location sources continue from their current state.
  ///
  /// - Parameter realTime: the current real time.
  public mutating func setClock(mode: Clock.Mode?, now: Instant?, tickRate: Double?, realTime: Instant) {
    let old = clock
    var new = clock
    if let tickRate { new.tickRate = tickRate }
    if let mode, mode != old.mode {
      new.mode = mode
      if mode == .real { new.manualTime = old.now }
      new.now = mode == .manual ? old.manualTime : realTime
    }
    if let now, new.mode == .manual { new.now = now }
    guard new != old else { return }
    (new.tickOrigin, new.ticks) = (new.now, 0)
    clock = new
    // A difference of more than 292 years overflows; the wrapping addition gives the right sum nevertheless.
    shiftRunning(by: new.now.nanoseconds &- old.now.nanoseconds)
    if new.mode != old.mode { record(.clock(.mode)) }
    if new.tickRate != old.tickRate { record(.clock(.tickRate)) }
  }

  /// Shifts start times with the clock, so that elapsed times are unchanged.
  private mutating func shiftRunning(by nanoseconds: Int64) {
    guard nanoseconds != 0 else { return }
    for id in moving(View.self) {
      changeKnown(id) { view in
        view.animation?.start.nanoseconds &+= nanoseconds
      }
    }
    for id in moving(LocationSource.self) {
      changeKnown(id) { $0.shift(by: nanoseconds) }
    }
  }

  /// Number of ticks up to `instant`.
  public func pendingTicks(until instant: Instant) -> Int {
    let elapsed = instant.seconds(since: clock.tickOrigin)
    var total = Int((elapsed * clock.tickRate).rounded(.down))
    // Rounding to nanoseconds may make the quotient wrong by one.
    while clock.tickOrigin.advanced(by: Double(total + 1) / clock.tickRate) <= instant { total += 1 }
    while total > 0, clock.tickOrigin.advanced(by: Double(total) / clock.tickRate) > instant { total -= 1 }
    return max(0, total - clock.ticks)
  }

  /// Makes one tick.
  public mutating func tick() {
    let time = clock.nextTick
    clock.ticks += 1
    advance(to: time)
  }

  /// Advances everything to `instant` in one step.
  public mutating func advance(to instant: Instant) {
    clock.now = max(clock.now, instant)
    for id in moving(LocationSource.self) { advance(id) }
    for id in moving(View.self) { advanceAnimation(of: id) }
    for id in moving(GeotriggerMonitor.self) { advanceGeotrigger(id) }
  }

  /// Advances a real clock without ticks, while nothing moves.
  public mutating func skipTicks(to instant: Instant) {
    clock.now = max(clock.now, instant)
    clock.ticks += pendingTicks(until: instant)
  }
}
