// The readers used by generated decoders. Their errors state the exact expected form.

import JSON

extension JSONValue {
  /// Params: absent, null and `[]` all mean "none".
  package func requireParams() throws(JSONError) {
    switch kind {
    case .object, .absent, .null: return
    case .array where count == 0: return
    default: throw typeError(expected: "object")
    }
  }

  /// Whether params ask for the result in parts. A value that is not a token counts as absent.
  package var wantsParts: Bool {
    [self["meta"]["partialResultToken"], self["partialResultToken"]].contains {
      $0.kind == .string || $0.kind == .integer
    }
  }

  /// Throws if a list of members to clear names a member that is set in the same request: one of them would be silently ignored.
  ///
  /// A name `a.b` stands for the member `b` of the member `a`.
  package func requireUnset(namedIn list: StaticString) throws(JSONError) {
    let names = self[list]
    for index in 0..<names.count {
      let name = try names[index].string()
      let parts = name.split(separator: ".", maxSplits: 1)
      guard member(name).isPresent || parts.count == 2 && member(String(parts[0])).member(String(parts[1])).isPresent
      else { continue }
      throw names[index].error(expected: "a member that is not set at the same time")
    }
  }

  @inline(__always)
  package func double(_ expected: StaticString, _ isValid: (Double) -> Bool) throws(JSONError) -> Double {
    guard let number else { throw typeError(expected: "\(expected)") }
    guard isValid(number) else { throw error(expected: "\(expected)") }
    return number
  }

  @inline(__always)
  package func integer(_ expected: StaticString, _ isValid: (Int) -> Bool) throws(JSONError) -> Int {
    guard number != nil else { throw typeError(expected: "\(expected)") }
    guard let whole = try? integer(), isValid(whole) else { throw error(expected: "\(expected)") }
    return whole
  }

  @inline(__always)
  package func string(_ expected: StaticString, _ isValid: (String) -> Bool) throws(JSONError) -> String {
    guard kind == .string else { throw typeError(expected: "\(expected)") }
    let text = try string()
    guard isValid(text) else { throw error(expected: "\(expected)") }
    return text
  }

  /// A value that its handler reads; null counts as absent.
  package func opaque(_ expected: StaticString) throws(JSONError) -> JSONOpaque {
    guard isPresent else { throw typeError(expected: "\(expected)") }
    return .parsed(self)
  }

  /// A value of several types that its handler reads. `lengths` limits strings, in code points.
  package func opaque(
    _ expected: StaticString, _ kinds: Set<Kind>, _ lengths: ClosedRange<Int>
  ) throws(JSONError) -> JSONOpaque {
    // 1.0 is an integer.
    guard kinds.contains(kind) || kind == .real && kinds.contains(.integer) && (try? integer()) != nil else {
      throw typeError(expected: "\(expected)")
    }
    if kind == .string, !lengths.contains(withUTF8 { String(decoding: $0, as: UTF8.self) }.unicodeScalars.count) {
      throw error(expected: "\(expected)")
    }
    return .parsed(self)
  }

  /// An array with limits of its number of elements.
  package func array<T>(
    _ expected: StaticString, _ counts: some RangeExpression<Int>, _ read: (JSONValue) throws(JSONError) -> T
  ) throws(JSONError) -> [T] {
    guard kind == .array else { throw typeError(expected: "\(expected)") }
    guard counts.contains(count) else { throw error(expected: "\(expected)") }
    return try array(read)
  }

  package func numbers() throws(JSONError) -> [Double] {
    var result: [Double] = []
    result.reserveCapacity(count)
    try appendNumbers(to: &result)
    return result
  }

  /// The tag of a union.
  package func tag(_ expected: StaticString) throws(JSONError) -> String {
    guard kind == .object else { throw typeError(expected: "object with a \"type\"") }
    let tag = self["type"]
    guard tag.kind == .string else { throw tag.typeError(expected: "\(expected)") }
    return try tag.string()
  }
}

/// An enumeration on the wire.
public protocol WireEnum: RawRepresentable, CaseIterable, JSONDecodable, JSONEncodable, Sendable
where RawValue == String {}

extension WireEnum {
  public init(from json: JSONValue) throws(JSONError) {
    guard json.kind == .string, let known = Self(rawValue: try json.string()) else {
      let all = Self.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw json.error(expected: "one of " + all)
    }
    self = known
  }

  public func encode(to writer: inout JSONWriter) { writer.value(rawValue) }
}

extension JSONWriter {
  /// An object with its members sorted by name, so that equal values have equal texts.
  package mutating func map<T>(_ members: [String: T], _ write: (T, inout JSONWriter) -> Void) {
    beginObject()
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      key(name)
      write(value, &self)
    }
    endObject()
  }
}
