// What a session tells about its traffic: a seam, so that the session knows nothing of files.

/// Hears every message, in the order in which it was run or written. On the session's loop.
public protocol TrafficRecorder {
  /// The client sent it.
  func received(_ text: UnsafeRawBufferPointer, isJSON: Bool)
  /// The session wrote it.
  func sent(_ text: UnsafeRawBufferPointer)
}
