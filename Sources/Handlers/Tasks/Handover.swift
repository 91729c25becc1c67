// Hands a value from a worker to the loop, or back, without leaving a reference behind: what has two owners is copied when it is
// changed, and freed by the last of them.

import Synchronization

package final class Handover<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  package init(_ value: Value) { self.value = Mutex(value) }

  /// The value, the first time.
  package func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
