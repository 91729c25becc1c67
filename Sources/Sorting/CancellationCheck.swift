// How long work learns that nobody waits for it any more.

/// A callback that long work calls every few milliseconds with the fraction done, in 0...1 and never decreasing. It throws to cancel
/// the work.
public typealias CancellationCheck = (Double) throws -> Void
