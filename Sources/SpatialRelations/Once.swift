// What takes long with constants: computed once for all features.

import GeometryEngine
import Synchronization

/// A value that is computed when it is first needed, by the thread that needs it.
package final class Once<Value: Sendable>: Sendable {
  private final class Found: Sendable {
    let value: Value?
    init(_ value: Value?) { self.value = value }
  }

  private let found = AtomicLazyReference<Found>()
  private let turn = Mutex(())
  private let compute: @Sendable () -> Value?

  /// - Parameter compute: nil where there is no such value. What fails by the thread's ``RelationAllowance`` is asked for again.
  package init(_ compute: @escaping @Sendable () -> Value?) { self.compute = compute }

  /// Nil where there is none, and where the thread may not spend what it costs: its allowance has the failure then.
  package var value: Value? {
    if let found = found.load() { return found.value }
    return turn.withLock { _ in
      if let found = found.load() { return found.value }
      guard RelationAllowance.current?.failure == nil else { return nil }
      let value = compute()
      guard RelationAllowance.current?.failure == nil else { return nil }
      return found.storeIfNil(Found(value)).value
    }
  }

  /// The value if it takes little on this thread; nil also where it is left for whoever needs it first.
  package var quickly: Value? { RelationAllowance.attempt { value } ?? nil }
}
