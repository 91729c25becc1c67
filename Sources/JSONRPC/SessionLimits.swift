// The bounds that keep one client from taking the whole machine; the first four can be set by flags.

/// What a session bears. Sizes are in bytes.
public struct SessionLimits: Sendable {
  /// A longer message is refused and skipped.
  public var messageBytes = 64 << 20
  /// A message with more JSON values is refused.
  public var values = 4_000_000
  /// A batch with more entries is refused as a whole.
  public var batch = 1_000
  /// A longer header block, or line of it, ends the session.
  public var headerBytes = 8 << 10

  /// A longer message is parsed off the loop.
  public var inlineParseBytes = 1 << 20
  /// Reading pauses while so much waits behind a message that is being parsed.
  public var backlogBytes = 64 << 20
  /// A single result, or one batch's answers, may be as long.
  public var resultBytes = 64 << 20
  /// With more unread the session is congested: applications should coalesce what they tell.
  public var congestionBytes = 1 << 20
  /// With more unread, requests are refused.
  public var busyBytes = 64 << 20
  /// With more unread, the session ends.
  public var unreadBytes = 128 << 20

  public init() {}
}
