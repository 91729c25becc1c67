// The check by which long work is cancelled.

/// A callback that long work calls every few milliseconds with the finished fraction, which is in 0...1 and never decreases. It
/// throws to cancel the work.
public typealias CancellationCheck = (Double) throws -> Void
