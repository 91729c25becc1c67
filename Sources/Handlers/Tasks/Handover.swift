// Passes a value from a worker to the loop or back without keeping a reference: a value with two owners is copied when changed,
// and freed by the last owner.

import Synchronization

package final class Handover<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  package init(_ value: Value) { self.value = Mutex(value) }

  /// The value at the first call; nil afterwards.
  package func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
