// Hands a value from a worker to the loop without leaving a reference behind: what has two owners is copied when it is changed.

import Synchronization

final class Handover<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  /// The value, the first time.
  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
