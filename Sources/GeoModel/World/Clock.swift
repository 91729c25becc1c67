// The clock of the model: real time, or manual time that only commands advance.

/// The current time and the ticks that advance animations and location sources.
///
/// Ticks have a constant rate. With a manual clock, `clock/advance` makes the ticks up to a time at once, so that tests
/// and replays are deterministic.
public struct Clock: Sendable {
  public enum Mode: Hashable, Sendable { case real, manual }
  public internal(set) var mode = Mode.real
  /// The time to which the model has been advanced.
  public internal(set) var now: Instant
  /// Ticks per second.
  public internal(set) var tickRate = 30.0
  /// Ticks per second that running animations ask for, if they are more.
  private(set) var frameRate: Double?
  /// Whether real time passes only by ``World/beginAdvance(by:)``: a trace is replayed.
  public internal(set) var isReplayed = false
  /// Seconds of the model that pass in a real second in real mode.
  public internal(set) var factor = 1.0
  /// A real time and the model's time then, from which scaled time is counted.
  var scaledFrom: (real: Instant, model: Instant)
  /// Ticks are counted from `tickOrigin`; `ticks` is their number so far.
  var tickOrigin: Instant
  var ticks = 0
  /// Number of ticks of the last advance.
  public internal(set) var lastAdvanced = 0
  /// The manual time when manual mode was last left; initially its start.
  var manualTime = Instant.manualStart

  init(now: Instant) {
    self.now = now
    tickOrigin = now
    scaledFrom = (now, now)
  }

  /// Ticks per second of the model.
  private var rate: Double {
    let rate = max(tickRate, frameRate ?? 0)
    return mode == .real ? rate / factor : rate
  }

  /// Time of the tick with a number.
  func tick(_ number: Int) -> Instant { tickOrigin.advanced(by: Double(number) / rate) }

  /// Time of the next tick.
  public var nextTick: Instant { tick(ticks + 1) }

  /// The model's time at a real time; with a manual clock its own.
  public func time(at real: Instant) -> Instant {
    guard mode == .real else { return now }
    guard factor != 1 else { return real }
    return scaledFrom.model.advanced(by: real.seconds(since: scaledFrom.real) * factor)
  }

  /// Real seconds from a real time to the next tick.
  public func wait(at real: Instant) -> Double { max(0, nextTick.seconds(since: time(at: real)) / factor) }

  /// Sets the rate that animations ask for, if it is higher than the present one; nil for that of the clock.
  mutating func raise(frameRate wanted: Double?) {
    if let wanted, wanted <= max(tickRate, frameRate ?? 0) { return }
    (frameRate, tickOrigin, ticks) = (wanted, now, 0)
  }

  /// Number of ticks up to `instant`.
  func pendingTicks(until instant: Instant) -> Int {
    var total = Int((instant.seconds(since: tickOrigin) * rate).rounded(.down))
    // Rounding to nanoseconds may make the quotient wrong by one.
    while tick(total + 1) <= instant { total += 1 }
    while total > 0, tick(total) > instant { total -= 1 }
    return max(0, total - ticks)
  }
}

/// An advance of a manual clock, made tick by tick: by the million, it takes long.
public struct ClockAdvance: Sendable {
  static let maxTicks = 1_000_000
  let process: ProcessID
  let end: Instant
  let ticks: Int
}

extension World {
  /// Changes the clock; nil keeps a value. Animations and location sources continue from their current state.
  ///
  /// - Parameters:
  ///   - now: the time from which a manual or scaled clock continues.
  ///   - realTime: the current real time.
  public mutating func setClock(
    mode: Clock.Mode?, now: Instant?, tickRate: Double?, factor: Double? = nil, realTime: Instant
  ) {
    let old = clock
    var new = clock
    if let tickRate { new.tickRate = tickRate }
    if let factor { new.factor = factor }
    if let mode { new.mode = mode }
    if new.mode != old.mode {
      if new.mode == .real { new.manualTime = old.now }
      new.now = new.mode == .manual ? old.manualTime : realTime
    } else if new.factor != old.factor, new.mode == .real {
      // Time goes on from where it is, and only a factor of 1 leads back to real time.
      new.now = new.factor == 1 ? realTime : old.time(at: realTime)
    }
    if let now, new.mode == .manual || new.factor != 1 { new.now = now }
    guard new.mode != old.mode || new.tickRate != old.tickRate || new.factor != old.factor || new.now != old.now else {
      return
    }
    new.scaledFrom = (realTime, new.now)
    (new.tickOrigin, new.ticks) = (new.now, 0)
    clock = new
    // A difference of more than 292 years overflows; the wrapping addition gives the right sum nevertheless.
    shiftRunning(by: new.now.nanoseconds &- old.now.nanoseconds)
    if new.mode != old.mode { record(.clock(.mode)) }
    if new.tickRate != old.tickRate { record(.clock(.tickRate)) }
    if new.factor != old.factor { record(.clock(.factor)) }
  }

  /// Shifts start times with the clock, so that elapsed times are unchanged.
  private mutating func shiftRunning(by nanoseconds: Int64) {
    guard nanoseconds != 0 else { return }
    for id in moving(View.self) {
      changeKnown(id) { view in
        view.animation?.start.nanoseconds &+= nanoseconds
        view.steering?.turnedAt.nanoseconds &+= nanoseconds
      }
    }
    for id in moving(LocationSource.self) {
      changeKnown(id) { $0.shift(by: nanoseconds) }
    }
    for id in moving(EntitySource.self) {
      changeKnown(id) { source in
        source.reconnecting?.next.nanoseconds &+= nanoseconds
        source.replay?.resumed?.nanoseconds &+= nanoseconds
      }
    }
  }

  /// Number of ticks up to `instant`.
  public func pendingTicks(until instant: Instant) -> Int { clock.pendingTicks(until: instant) }

  /// Makes one tick.
  public mutating func tick() {
    let time = clock.nextTick
    clock.ticks += 1
    advance(to: time)
  }

  /// Begins to advance a manual clock, or real time in a replay; ``continueAdvance()`` makes the ticks.
  public mutating func beginAdvance(by seconds: Double) throws(ModelError) -> ProcessID {
    let isReal = clock.mode == .real
    guard !isReal || clock.isReplayed else { throw .clockIsReal }
    let end = (isReal ? realTime : clock.now).advanced(by: seconds)
    guard end < .latest, advance == nil else { throw .tooManyTicks }
    let ticks = isReal ? 0 : clock.pendingTicks(until: end)
    guard ticks <= ClockAdvance.maxTicks else { throw .tooManyTicks }
    let process = makeProcess()
    advance = ClockAdvance(process: process, end: end, ticks: ticks)
    return process
  }

  /// Makes the tick of a real clock that is due, if anything moves.
  public mutating func pass(realTime now: Instant) {
    realTime = now
    guard isMoving else { return }
    let time = clock.time(at: now)
    let isTick = time >= clock.nextTick
    skipTicks(to: time)
    // Judgements that wait go on between ticks.
    if isTick || !isJudging { advance(to: time) } else { continueJudging() }
  }

  /// Makes the next tick of the advance, behind judgements that wait; when nothing moves or no tick is left, goes to its end.
  public mutating func continueAdvance() {
    if clock.mode == .manual, isJudging { return continueJudging() }
    guard let advance else { return }
    if clock.mode == .real {
      pass(realTime: advance.end)
      return end(process: advance, .completed)
    }
    if isMoving, clock.nextTick <= advance.end { return tick() }
    skipTicks(to: advance.end)
    self.advance(to: advance.end)
    end(process: advance, .completed)
  }

  /// Ends the advance where it is.
  mutating func end(process advance: ClockAdvance, _ outcome: ProcessEnd) {
    self.advance = nil
    clock.lastAdvanced = advance.ticks
    end(advance.process, outcome)
  }

  /// Advances everything to `instant` in one step.
  public mutating func advance(to instant: Instant) {
    clock.now = max(clock.now, instant)
    for id in moving(LocationSource.self) { advance(id) }
    for id in moving(EntitySource.self) { advanceEntities(of: id) }
    for id in moving(View.self) {
      guard let view = views[id] else { continue }
      if let animation = view.animation { advance(animation, of: view) } else { advanceController(of: view) }
    }
    continueJudging()
  }

  /// Advances a real clock without ticks, while nothing moves.
  public mutating func skipTicks(to instant: Instant) {
    clock.now = max(clock.now, instant)
    clock.ticks += pendingTicks(until: instant)
  }
}
