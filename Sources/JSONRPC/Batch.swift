// The answers of one batch, gathered until the last is there.

import JSON

/// A batch in progress. Its array is written behind its last answer and holds up nothing meanwhile.
final class Batch {
  /// The array so far, without its end.
  var answers = JSONWriter(capacity: 1024)
  /// Requests not answered yet, and one for the batch itself while it is being run.
  var remaining = 1
  /// All ids of it: they are in flight until the array is written.
  var ids: [RequestID] = []
  /// Whether `exit` came in it: what is behind that is not run.
  var exits = false
  /// What is to happen behind the array.
  var afterwards: [() -> Void] = []

  init() { answers.beginArray() }
}
