// Recording of a session's traffic, as a protocol: the session knows nothing of files.

/// One event of a session's traffic. Bytes are valid during the call.
public enum Traffic {
  /// A message of the client without its frame. It may not be JSON.
  case received(UnsafeRawBufferPointer)
  /// Bytes of the client that form no message: the headers of an oversized message, or the input that ended the session
  /// with a framing error.
  case unframed(UnsafeRawBufferPointer)
  /// Bytes skipped of an oversized message.
  case skipped(Int, endsLine: Bool)
  /// A message of the session. `isLate` if it was not written while a message was being run: its position then does not
  /// follow from the client's order.
  case sent(UnsafeRawBufferPointer, isLate: Bool)
  /// The client has closed its output.
  case inputEnded
  /// The session ended with that status; nil if it was aborted.
  case ended(code: Int32?)
}

/// Receives all events in the order in which they arrived or were written, on the session's loop.
public protocol TrafficRecorder {
  /// - Parameter framing: the session's; lines before it is detected, as the session itself writes then.
  func record(_ traffic: Traffic, in framing: Framing)
}
