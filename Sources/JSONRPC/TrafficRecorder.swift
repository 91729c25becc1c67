// What a session tells about its traffic: a seam, so that the session knows nothing of files.

/// One event of a session's traffic. Bytes are lent for the call.
public enum Traffic {
  /// A message of the client's, without its frame. It may be no JSON.
  case received(UnsafeRawBufferPointer)
  /// Bytes of the client's out of which no message could be cut, as they came: the headers of a message that is too large, or what
  /// ended the session as a framing error.
  case unframed(UnsafeRawBufferPointer)
  /// So many bytes of a message that is too large. Nobody looked at them, but for a line's end.
  case skipped(Int, endsLine: Bool)
  /// A message of the session's. It is late when it was not written while a message was being run, so that something else than
  /// the client's order decided when it came.
  case sent(UnsafeRawBufferPointer, isLate: Bool)
  /// Nothing more will come from the client.
  case inputEnded
  /// The session is over, with that status; nil when it was cut short by what is no traffic.
  case ended(code: Int32?)
}

/// Hears everything, in the order in which it arrived or was written. On the session's loop.
public protocol TrafficRecorder {
  /// - Parameter framing: the session's; lines before it is known, as the session itself writes then.
  func record(_ traffic: Traffic, in framing: Framing)
}
