// Unions in Swift: an enum with the payload of each variant, and `type` as tag on the wire.

extension SwiftTypes {
  func union(_ type: TypeDefinition, _ variants: [TypeDefinition.Variant], _ lines: inout Lines) {
    // A union that contains itself.
    let isIndirect = definition.reachable(from: type.contained, \.contained).contains(type.name)
    lines.block("public \(isIndirect ? "indirect " : "")enum \(type.name): JSONDecodable, JSONEncodable, Sendable {") {
      lines in
      for variant in variants {
        doc(variant.about, nil, &lines)
        lines.add("case \(Names.swiftCase(variant.tag))\(payloadType(variant).map { "(\($0))" } ?? "")")
      }
      for variant in variants where variant.properties.count > 1 {
        lines.add()
        doc(variant.about, nil, &lines)
        lines.block("public struct \(Names.upperCamel(variant.tag)): Sendable {") { lines in
          fields(variant.properties, &lines)
          lines.add()
          lines.block("init(members json: JSONValue) throws(JSONError) {") { lines in
            decodeFields(variant.properties, &lines)
          }
          lines.add()
          lines.block("func encodeMembers(to writer: inout JSONWriter) {") { lines in
            encodeFields(variant.properties, &lines)
          }
        }
      }
      lines.add()
      decodeUnion(variants, &lines)
      lines.add()
      encodeUnion(variants, &lines)
    }
  }

  private func payloadType(_ variant: TypeDefinition.Variant) -> String? {
    switch variant.properties.count {
    case 0: nil
    case 1: coding.swiftType(variant.properties[0])
    default: Names.upperCamel(variant.tag)
    }
  }

  private func decodeUnion(_ variants: [TypeDefinition.Variant], _ lines: inout Lines) {
    let expected = coding.literal("one of " + variants.map { "\"\($0.tag)\"" }.joined(separator: ", "))
    lines.block("public init(from json: JSONValue) throws(JSONError) {") { lines in
      lines.fitting("let expected: StaticString =", [expected])
      lines.add("switch try json.tag(expected) {")
      for variant in variants {
        let name = Names.swiftCase(variant.tag)
        let label = "case \"\(variant.tag)\":"
        switch variant.properties.count {
        case 0: lines.add("\(label) self = .\(name)")
        case 1:
          let property = variant.properties[0]
          let member = "json[\"\(property.name)\"]"
          let read = coding.decode(property.type, property.constraints, from: member)
          let fallback = property.defaultValue.flatMap { coding.defaultLiteral($0, of: property.type) } ?? "nil"
          lines.add(
            "\(label) self = .\(name)(try "
              + (property.mayBeAbsent ? "\(member).isPresent ? \(read) : \(fallback))" : "\(read))"))
        default: lines.add("\(label) self = .\(name)(try \(Names.upperCamel(variant.tag))(members: json))")
        }
      }
      lines.add("default: throw json[\"type\"].error(expected: \"\\(expected)\")")
      lines.add("}")
    }
  }

  private func encodeUnion(_ variants: [TypeDefinition.Variant], _ lines: inout Lines) {
    lines.block("public func encode(to writer: inout JSONWriter) {") { lines in
      lines.add("writer.beginObject()")
      lines.add("writer.key(\"type\")")
      lines.add("switch self {")
      for variant in variants {
        let name = Names.swiftCase(variant.tag)
        let tag = "writer.value(\"\(variant.tag)\" as StaticString)"
        if variant.properties.isEmpty {
          lines.add("case .\(name): \(tag)")
          continue
        }
        let payload = variant.properties.count == 1 ? variant.properties[0].name : "payload"
        lines.block("case .\(name)(let \(payload)):", "") { lines in
          lines.add(tag)
          if variant.properties.count == 1 {
            encodeFields(variant.properties, &lines)
          } else {
            lines.add("payload.encodeMembers(to: &writer)")
          }
        }
      }
      lines.add("}")
      lines.add("writer.endObject()")
    }
  }
}
