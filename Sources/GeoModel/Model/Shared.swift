// A long value that copies of its owner share.

/// Holds a value that is replaced, never changed: a copy costs one reference count, whatever its length.
final class Shared<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

extension Shared<Portrayal> {
  /// That of a new layer.
  static let portrayal = Shared(Portrayal())
}
