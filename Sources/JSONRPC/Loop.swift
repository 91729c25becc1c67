// The thread of a session: time, turns and background work. A session needs no clock of its own, and tests need no
// sleep.

/// One thread of execution, in turns. All work of a session runs on it.
public protocol Loop: AnyObject, Sendable {
  /// A monotonic clock.
  var nanoseconds: UInt64 { get }
  /// Whether the caller runs on this loop.
  var isCurrent: Bool { get }
  /// Runs `work` in a later turn. Callable from any thread.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` in a later turn, after input that arrived meanwhile has been read. Callable from any thread.
  func executeBehindInput(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` in a turn at least the given nanoseconds from now. Callable from any thread.
  @discardableResult
  func schedule(after nanoseconds: UInt64, _ work: @escaping @Sendable () -> Void) -> LoopTimer
  /// Runs `work` on another thread. Each lane has its own threads, so that long work never delays parsing.
  func offload(to lane: LoopLane, _ work: @escaping @Sendable () -> Void)
}

/// Kinds of background work.
public enum LoopLane: Hashable, Sendable {
  /// Parsing and freeing of large messages: one at a time, in order.
  case parsing
  /// The application's work, several at a time.
  case work(WorkPriority)
  /// Work that mostly waits for another process, on threads of its own: however many wait, other work begins at once.
  case waiting(WorkPriority)
  /// Writing of files: one at a time, in order, independent of other background work.
  case saving
}

/// How urgent work is, beside other work.
public enum WorkPriority: CaseIterable, Sendable {
  /// Begins after other work, and yields to it.
  case background
  /// Yields to other work once it takes long.
  case utility
  /// A request waits for it: begins before other work, and yields to none.
  case userInitiated
}

/// A cancellable timer.
public struct LoopTimer: Sendable {
  private let onCancel: @Sendable () -> Void
  public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
  public func cancel() { onCancel() }
}

/// Carries a value confined to a loop through closures that run elsewhere in between.
// Safe: the value is accessible only on its loop, which is checked.
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
