// A large value that copies of its owner share.

/// Holds a value that is replaced, never changed in place: a copy costs one reference count, whatever its size.
final class Shared<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

extension Shared<Portrayal> {
  /// The portrayal of a new layer.
  static let portrayal = Shared(Portrayal())
}
