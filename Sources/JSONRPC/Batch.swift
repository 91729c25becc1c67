// Collects the answers of one batch.

import JSON

/// A batch in progress. Its array is written after the last answer; other messages do not wait for it.
final class Batch {
  /// The array so far, without its end.
  var answers = JSONWriter(capacity: 1024)
  /// Unanswered requests, plus one while the batch itself is being run.
  var remaining = 1
  /// All ids of the batch: in flight until the array is written.
  var ids: [RequestID] = []
  /// Whether the batch contained `exit`; later messages are not run.
  var exits = false
  /// Work that runs after the array has been written.
  var afterwards: [() -> Void] = []

  init() { answers.beginArray() }
}
