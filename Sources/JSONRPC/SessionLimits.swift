// Limits that keep one client from exhausting the machine; flags set the first five.

/// Limits of a session, in bytes unless said otherwise.
public struct SessionLimits: Sendable {
  /// Longer messages are refused and skipped.
  public var messageBytes = 64 << 20
  /// Messages with more JSON values are refused.
  public var values = 4_000_000
  /// Batches with more entries are refused as a whole.
  public var batch = 1_000
  /// A longer header block, or a longer line in it, ends the session.
  public var headerBytes = 8 << 10
  /// Requests that still run this long after the end of input are cancelled; in nanoseconds.
  public var exitNanoseconds: UInt64 = 10_000_000_000

  /// Longer messages are parsed off the loop.
  public var inlineParseBytes = 1 << 20
  /// Reading pauses while more waits after a message that is being parsed.
  public var backlogBytes = 64 << 20
  /// Maximum size of one result, or of the answers of one batch.
  public var resultBytes = 64 << 20
  /// Above it the session is congested: applications should coalesce changes.
  public var congestionBytes = 1 << 20
  /// Above it requests are refused.
  public var busyBytes = 64 << 20
  /// Above it the session ends.
  public var unreadBytes = 128 << 20

  /// Maximum number of unanswered requests; further requests that would have to wait are refused.
  public var requests = 1_000_000
  /// Maximum number of tasks, for the application.
  public var tasks = 100_000
  /// Maximum number of subscriptions, for the application.
  public var subscriptions = 100_000

  public init() {}
}
