// Values of members in commands: an enumeration of the members' wire types, and for each command's params the list of the members
// that they set.

struct MemberPayloads {
  let coding: SwiftCoding

  /// The file; nil if no method has members.
  func file(imports: [String]) -> String? {
    let members = coding.definition.methods.flatMap(coding.definition.settableMembers)
    guard !members.isEmpty else { return nil }
    let types = Dictionary(members.map { (name($0.type), payload($0.type)) }, uniquingKeysWith: { first, _ in first })
    var lines = Lines(imports: imports)
    lines.add(
      "/// The value of a member as a command carries it, by its wire type; enumerations and named strings are strings."
    )
    lines.block("public enum MemberPayload: Sendable {") { lines in
      for (name, type) in types.sorted(by: { $0.key < $1.key }) { lines.add("case \(name)(\(type))") }
    }
    return lines.text
  }

  /// Generates the list of members that params set.
  func list(_ members: [Property], hasClear: Bool, _ lines: inout Lines) {
    lines.add()
    lines.add("/// The members that are set, and those to set to null as nil.")
    lines.block("public var members: [(name: String, value: MemberPayload?)] {") { lines in
      lines.add("var members: [(name: String, value: MemberPayload?)] = []")
      for member in members {
        let value = isEnumeration(member.type) ? "\(member.name).rawValue" : member.name
        let add = "members.append((\"\(member.name)\", .\(name(member.type))(\(value))))"
        lines.add(member.isOptional ? "if let \(member.name) { \(add) }" : add)
      }
      if hasClear { lines.add("for name in clear ?? [] { members.append((name, nil)) }") }
      lines.add("return members")
    }
  }

  private func isEnumeration(_ type: TypeExpression) -> Bool {
    guard case .named(let name) = type, case .enumeration? = coding.types[name]?.kind else { return false }
    return true
  }

  private func payload(_ type: TypeExpression) -> String { isEnumeration(type) ? "String" : coding.swiftType(type) }

  /// The name of the case for a type: `number`, `renderer`, `labelDefinitions`.
  private func name(_ type: TypeExpression) -> String {
    switch type {
    case .string: "string"
    case .number: "number"
    case .integer: "integer"
    case .boolean: "boolean"
    case .json: "json"
    case .map(let element): name(element) + "Map"
    case .array(let element, _): name(element) + "s"
    case .named(let type):
      switch coding.types[type]?.kind {
      case .scalar(let base, _): name(base)
      case .enumeration: "string"
      case .object, .union, .opaque, nil: Names.lowerCamel(type)
      }
    }
  }
}
