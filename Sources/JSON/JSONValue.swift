// A cursor on one value of a document. It copies nothing until asked to, and knows its position.

import CJansson

/// A value in a ``JSONDocument``, or the position where one is missing. Valid only while the document lives.
///
/// Readers treat absent and null alike (see ``isPresent``); ``isNull`` distinguishes them.
///
/// ```swift
/// let title = try params["title"].string()      // throws JSONError with the path if not a string
/// let scale = try params["viewpoint"]["scale"].double()
/// ```
// Safe to send: the tree is immutable, and is read only while its document lives.
public struct JSONValue: @unchecked Sendable {
  let node: UnsafeMutablePointer<json_t>?
  /// Jansson shares `true`, `false` and `null`, so only container and step identify a value.
  let container: UnsafeMutablePointer<json_t>?
  let step: JSONStep

  public enum Kind: String, Sendable { case object, array, string, integer, real, bool, null, absent }

  public var kind: Kind {
    guard let node else { return .absent }
    return switch node.pointee.type {
    case JSON_OBJECT: .object
    case JSON_ARRAY: .array
    case JSON_STRING: .string
    case JSON_INTEGER: .integer
    case JSON_REAL: .real
    case JSON_TRUE, JSON_FALSE: .bool
    default: .null
    }
  }

  /// Whether there is a value other than null.
  public var isPresent: Bool {
    guard let node else { return false }
    return node.pointee.type != JSON_NULL
  }

  public var isNull: Bool { node != nil && !isPresent }

  /// An error about this value, for checks beyond its type.
  public func error(expected: String) -> JSONError {
    let found: String =
      switch kind {
      case .integer: "\(json_integer_value(node))"
      case .real: "\(json_real_value(node))"
      case .string where json_string_length(node) <= 64:
        "\"" + withUTF8({ String(decoding: $0, as: UTF8.self) }) + "\""
      default: kind.rawValue
      }
    return JSONError(expected: expected, found: found, value: self)
  }

  /// An error about this value's type.
  public func typeError(expected: String) -> JSONError {
    // A reference to bytes stands for their base64.
    JSONError(expected: expected, found: Attached(node) == nil ? kind.rawValue : Kind.string.rawValue, value: self)
  }
}

// MARK: - Scalars

extension JSONValue {
  public func bool() throws(JSONError) -> Bool {
    guard let node else { throw typeError(expected: "boolean") }
    switch node.pointee.type {
    case JSON_TRUE: return true
    case JSON_FALSE: return false
    default: throw typeError(expected: "boolean")
    }
  }

  /// Whether it is `true`; false for any other value.
  public var isTrue: Bool { node?.pointee.type == JSON_TRUE }

  /// A number, integer or not.
  public func double() throws(JSONError) -> Double {
    guard let number else { throw typeError(expected: "number") }
    return number
  }

  /// The number, or nil for any other value: the fast path for well-formed data.
  @inline(__always)
  public var number: Double? { Self.number(node) }

  @inline(__always)
  private static func number(_ node: UnsafeMutablePointer<json_t>?) -> Double? {
    guard let node else { return nil }
    switch node.pointee.type {
    case JSON_REAL: return json_real_value(node)
    case JSON_INTEGER: return Double(json_integer_value(node))
    default: return nil
    }
  }

  /// An integer. `3.0` is accepted: some clients write integers so.
  public func integer() throws(JSONError) -> Int {
    guard let node else { throw typeError(expected: "integer") }
    switch node.pointee.type {
    case JSON_INTEGER: return Int(json_integer_value(node))
    case JSON_REAL:
      guard let whole = Int(exactly: json_real_value(node)) else { throw error(expected: "integer") }
      return whole
    default: throw typeError(expected: "integer")
    }
  }

  /// The integer, or 0 for any other value: for callers that have checked ``kind``.
  @inline(__always)
  public var int64: Int64 { Int64(json_integer_value(node)) }

  public func string() throws(JSONError) -> String {
    guard let node, node.pointee.type == JSON_STRING else { throw typeError(expected: "string") }
    return withUTF8 { String(decoding: $0, as: UTF8.self) }
  }

  /// The string's bytes without a copy; empty if it is not a string.
  @inline(__always)
  public func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    guard let node, let start = json_string_value(node) else {
      return try body(UnsafeBufferPointer(start: nil, count: 0))
    }
    let count = json_string_length(node)
    return try start.withMemoryRebound(to: UInt8.self, capacity: count) {
      try body(UnsafeBufferPointer(start: $0, count: count))
    }
  }
}

// MARK: - Containers

extension JSONValue {
  /// The member of that name; absent if there is none or this is not an object.
  public subscript(name: StaticString) -> JSONValue {
    let count = name.utf8CodeUnitCount
    return JSONValue(
      node: child(named: UnsafeBufferPointer(start: name.utf8Start, count: count)), container: node,
      step: .member(name.utf8Start, count: count))
  }

  /// The member of a name known only at run time. Errors about it name the object.
  public func member(_ name: String) -> JSONValue {
    var name = name
    return JSONValue(node: name.withUTF8 { child(named: $0) }, container: node, step: .root)
  }

  @inline(__always)
  func child(named name: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
    guard let start = name.baseAddress else { return nil }
    return json_object_getn(node, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), name.count)
  }

  /// The element at `index`; absent if there is none or this is not an array.
  public subscript(index: Int) -> JSONValue {
    JSONValue(node: index < 0 ? nil : json_array_get(node, index), container: node, step: .element(index))
  }

  /// The number of elements or members; 0 for other values.
  public var count: Int {
    switch kind {
    case .array: json_array_size(node)
    case .object: json_object_size(node)
    default: 0
    }
  }

  /// Requires an object. An empty array passes: some languages encode empty objects so.
  public func requireObject() throws(JSONError) {
    guard kind == .object || (kind == .array && count == 0) else { throw typeError(expected: "object") }
  }

  /// - Parameter members: the names of those that it must have.
  public func requireObject(with members: StaticString) throws(JSONError) {
    guard kind == .object || (kind == .array && count == 0) else {
      throw typeError(expected: "object with \(members)")
    }
  }

  public func requireArray() throws(JSONError) {
    guard kind == .array else { throw typeError(expected: "array") }
  }

  /// The elements of the array, each read by `read`.
  public func array<T>(_ read: (JSONValue) throws(JSONError) -> T) throws(JSONError) -> [T] {
    try requireArray()
    var result: [T] = []
    let count = json_array_size(node)
    result.reserveCapacity(count)
    for index in 0..<count { result.append(try read(self[index])) }
    return result
  }

  /// Calls `body` with each member in order: its name, as UTF-8 valid as long as the document, and its value.
  @inline(__always)
  public func forEachMember<E: Error>(
    _ body: (UnsafeBufferPointer<UInt8>, JSONValue) throws(E) -> Void
  ) throws(E) {
    var iterator = json_object_iter(node)
    while let current = iterator {
      let count = json_object_iter_key_len(current)
      if let start = json_object_iter_key(current) {
        let name = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
        let value = JSONValue(node: json_object_iter_value(current), container: node, step: .member(name, count: count))
        try body(UnsafeBufferPointer(start: name, count: count), value)
      }
      iterator = json_object_iter_next(node, current)
    }
  }

  /// The members of an object in order; none for other values. ``forEachMember(_:)`` makes no texts of the names.
  package var members: [(name: String, value: JSONValue)] {
    var members: [(name: String, value: JSONValue)] = []
    forEachMember { members.append((String(decoding: $0, as: UTF8.self), $1)) }
    return members
  }

  /// The members by name, each read by `read`.
  public func dictionary<T>(_ read: (JSONValue) throws(JSONError) -> T) throws(JSONError) -> [String: T] {
    try requireObject()
    var result: [String: T] = [:]
    result.reserveCapacity(count)
    try forEachMember { (name, value) throws(JSONError) in
      let name = String(decoding: name, as: UTF8.self)
      // Here names are text: canonically equivalent names count as the same name.
      guard result.updateValue(try read(value), forKey: name) == nil else {
        throw value.error(expected: "no two names that differ only in how their accents are written")
      }
    }
    return result
  }
}

extension JSONValue {
  /// The deepest nesting of arrays and objects in the value.
  ///
  /// - Complexity: O(n).
  public var depth: Int {
    switch kind {
    case .array: return (0..<count).reduce(0) { max($0, self[$1].depth + 1) }
    case .object:
      var deepest = 0
      forEachMember { _, value in deepest = max(deepest, value.depth + 1) }
      return deepest
    default: return 0
    }
  }
}

// MARK: - Numbers in bulk

extension JSONValue {
  /// Reads an array of numbers without a cursor for each, for coordinates.
  ///
  /// - Complexity: O(n), one append for each number.
  @inline(__always)
  public func appendNumbers(to numbers: inout [Double]) throws(JSONError) {
    try requireArray()
    let count = json_array_size(node)
    for index in 0..<count {
      guard let number = Self.number(json_array_get(node, index)) else {
        throw self[index].typeError(expected: "number")
      }
      numbers.append(number)
    }
  }

  /// Passes the strings of an array as UTF-8, in order, to `body`, which must not keep them. Returns nil, without a
  /// call, if any element is not a string.
  ///
  /// - Complexity: O(n).
  public func withTexts<R, E: Error>(_ body: ([UnsafeRawBufferPointer]) throws(E) -> R) throws(E) -> R? {
    let count = json_array_size(node)
    var texts: [UnsafeRawBufferPointer] = []
    texts.reserveCapacity(count)
    for index in 0..<count {
      guard let element = json_array_get(node, index), let start = json_string_value(element) else { return nil }
      texts.append(UnsafeRawBufferPointer(start: start, count: json_string_length(element)))
    }
    return try body(texts)
  }
}
