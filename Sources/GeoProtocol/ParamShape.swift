// Strict params: compares JSON with generated tables of member names, since decoders ignore unknown members.

import JSON

/// The members that a value on the wire may have, at every depth.
///
///     let shape: ParamShape = .object(["map", .init("center", .object(["x", "y"]))])
///     try shape.check(params)  // {"map": "m", "center": {"x": 1, "z": 2}}: `z` is unknown
package indirect enum ParamShape: Sendable {
  /// A member's name and the shape of its value; nil allows any value.
  package struct Member: Sendable, ExpressibleByStringLiteral {
    let name: StaticString
    let shape: ParamShape?

    package init(_ name: StaticString, _ shape: ParamShape) {
      self.name = name
      self.shape = shape
    }

    package init(stringLiteral name: StaticString) {
      self.name = name
      shape = nil
    }

    fileprivate func isNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      name.withUTF8Buffer { $0.elementsEqual(bytes) }
    }
  }

  case object([Member])
  /// An object that may have any members if it has a member `type`: GeoJSON, which allows foreign members.
  case untagged([Member])
  /// The members of each variant, by the member `type`.
  case union([(tag: StaticString, members: [Member])])
  /// Elements of an array, or values of a map with client-defined keys.
  case elements(ParamShape)
  /// A type by reference, since it may contain itself.
  case named(@Sendable () -> ParamShape)

  /// Throws for the first member that is not in the shape. A value of another JSON type passes, since its decoder refuses it.
  ///
  /// - Complexity: linear in the members of `json` times the number of names in their object's shape. Allocates nothing.
  package func check(_ json: JSONValue) throws(UnknownMember) {
    switch self {
    case .object(let members): try Self.check(json, members)
    case .untagged(let members): if !json["type"].isPresent { try Self.check(json, members) }
    case .union(let variants):
      let tag = json["type"]
      for variant in variants where variant.tag.withUTF8Buffer({ name in tag.withUTF8 { $0.elementsEqual(name) } }) {
        return try Self.check(json, variant.members)
      }
    case .elements(let shape):
      for index in 0..<(json.kind == .array ? json.count : 0) { try shape.check(json[index]) }
      try json.forEachMember { (_, value) throws(UnknownMember) in try shape.check(value) }
    case .named(let shape): try shape().check(json)
    }
  }

  private static func check(_ json: JSONValue, _ members: [Member]) throws(UnknownMember) {
    try json.forEachMember { (name, value) throws(UnknownMember) in
      // Null counts as absent.
      guard value.isPresent else { return }
      guard let member = members.first(where: { $0.isNamed(name) }) else {
        throw UnknownMember(
          name: String(decoding: name, as: UTF8.self), known: members.map { "\($0.name)" }, value: value)
      }
      try member.shape?.check(value)
    }
  }
}
