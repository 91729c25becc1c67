// Recording of a session's traffic: the session knows nothing of files.

/// One event of a session's traffic.
public enum Traffic: Sendable {
  /// A message of the client without its frame. It may not be JSON.
  case received([UInt8])
  /// Bytes of the client that form no message: the headers of an oversized message, or the input that ended the session
  /// with a framing error.
  case unframed([UInt8])
  /// Bytes skipped of an oversized message.
  case skipped(Int, endsLine: Bool)
  /// A message of the session. `isLate` if it was not written while a message was being run: its position then does not
  /// follow from the client's order.
  case sent([UInt8], isLate: Bool)
  /// The client has closed its output.
  case inputEnded
  /// The session ended with that status; nil if it was aborted.
  case ended(code: Int32?)

  /// Approximate size in bytes.
  var size: Int {
    switch self {
    case .received(let bytes), .unframed(let bytes), .sent(let bytes, _): bytes.count + 64
    case .skipped, .inputEnded, .ended: 64
    }
  }
}

/// Receives all events in the order in which they arrived or were written, on the session's loop, with the session's framing.
/// Before the framing is detected it is `lines`, in which the session itself writes then.
public typealias TrafficRecorder = (Traffic, Framing) -> Void
