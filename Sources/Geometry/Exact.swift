// What makes texts equal in the model: that they are written alike. Swift's `==` is more than that: it takes an e with an accent as
// one code point and as two for equal, and what a client gave would be kept for what it gives now.

import Platform

extension String {
  /// Whether both are written alike, by their code points.
  ///
  /// - Complexity: O(n), a comparison of bytes.
  @inlinable
  public func isWritten(as other: String) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    // Short texts lie in the value itself: to lend their bytes is slower than to compare them. Of two with as many bytes, one of which
    // is ASCII, `==` says whether they are the same: whatever else equals an ASCII character has more bytes.
    if count <= 15, utf16.count == count { return self == other }
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let left = left.baseAddress, let start = right.baseAddress else { return true }
        return memcmp(left, start, right.count) == 0
      }
    }
    // Only what a foreign framework lends is not in one piece.
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

extension String {
  /// No text is written as what is not there.
  @inlinable
  public func isWritten(as other: String?) -> Bool { other.map { isWritten(as: $0) } ?? false }
}

extension StringProtocol {
  /// Whether it begins as the other is written. `hasPrefix` is less than that, for a mark that combines with the last character hides
  /// it, and more, as `==` is.
  @inlinable
  public func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

/// A value with texts in it that can be told apart by how they are written.
public protocol ExactlyComparable: Sendable {
  func isWritten(as other: Self) -> Bool
  func hashWritten(into hasher: inout Hasher)
}

extension String: ExactlyComparable {
  @inlinable
  public func hashWritten(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Optional: ExactlyComparable where Wrapped: ExactlyComparable {
  @inlinable
  public func isWritten(as other: Wrapped?) -> Bool {
    guard let left = self else { return other == nil }
    guard let right = other else { return false }
    return left.isWritten(as: right)
  }

  @inlinable
  public func hashWritten(into hasher: inout Hasher) {
    hasher.combine(self == nil)
    self?.hashWritten(into: &hasher)
  }
}

extension Array: ExactlyComparable where Element: ExactlyComparable {
  @inlinable
  public func isWritten(as other: [Element]) -> Bool {
    guard count == other.count else { return false }
    for index in indices where !self[index].isWritten(as: other[index]) { return false }
    return true
  }

  @inlinable
  public func hashWritten(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { element.hashWritten(into: &hasher) }
  }
}

/// A member with texts in a struct whose `==` and hash the compiler makes: `@Exact var name: String`. It is read and set as if it
/// were not wrapped, and two are equal where they are written alike.
///
/// What cannot be wrapped, a dictionary's key or what a case of an enum carries, is an ``ExactText``, or its type's `==` is written
/// by hand.
@propertyWrapper
public struct Exact<Value: ExactlyComparable>: Hashable, Sendable {
  public var wrappedValue: Value
  @inlinable public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.wrappedValue.isWritten(as: right.wrappedValue) }
  @inlinable
  public func hash(into hasher: inout Hasher) { wrappedValue.hashWritten(into: &hasher) }
}

/// A text that is equal to those that are written alike: a key of dictionaries and sets.
public struct ExactText: Hashable, Sendable {
  public let text: String

  @inlinable public init(_ text: String) { self.text = text }
  @inlinable
  public static func == (left: ExactText, right: ExactText) -> Bool { left.text.isWritten(as: right.text) }
  @inlinable
  public func hash(into hasher: inout Hasher) { text.hashWritten(into: &hasher) }
}
