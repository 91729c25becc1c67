// The thread that a session lives on, seen from below: time, turns and helpers, so that a session needs no clock of its own
// and tests need no sleep.

/// One thread of execution, in turns. Everything of a session happens on it.
public protocol Loop: AnyObject, Sendable {
  /// A monotonic clock.
  var nanoseconds: UInt64 { get }
  /// Whether the caller runs on this loop.
  var isCurrent: Bool { get }
  /// Runs `work` in a later turn. From any thread.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` in a later turn, when what has come in meanwhile has been read. From any thread.
  func executeBehindInput(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` in a turn at least so many nanoseconds from now. From any thread.
  @discardableResult
  func schedule(after nanoseconds: UInt64, _ work: @escaping @Sendable () -> Void) -> LoopTimer
  /// Runs `work` on another thread. Each lane has its own, so that long work never holds up parsing.
  func offload(to lane: LoopLane, _ work: @escaping @Sendable () -> Void)
}

/// Kinds of work off the loop.
public enum LoopLane: Sendable {
  /// Parsing, and giving back, of large messages: one at a time, in order.
  case parsing
  /// The application's, several at a time.
  case work
}

/// Something that will happen unless cancelled.
public struct LoopTimer: Sendable {
  private let onCancel: @Sendable () -> Void
  public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
  public func cancel() { onCancel() }
}

/// Carries what belongs to a loop through closures that run elsewhere in between.
// Safe: the value can be put in and taken out on its loop only, and both are checked.
public struct LoopBound<Value>: @unchecked Sendable {
  private let loop: any Loop
  private let stored: Value

  public init(_ value: Value, on loop: any Loop) {
    precondition(loop.isCurrent, "a value is bound on its own loop")
    self.loop = loop
    stored = value
  }

  public var value: Value {
    precondition(loop.isCurrent, "a bound value is used on its own loop")
    return stored
  }
}
