// Swift tables of the members that params may have, to check the params of strict clients.

struct ParamMembers {
  let definition: Definition
  let imports: [String]

  func file() -> String {
    var lines = Lines(imports: imports.filter { $0 != "JSON" })
    lines.add("/// The members that params may have, by method, and those of the types in them.")
    lines.block("package enum ParamMembers {") { lines in
      lines.block("package static let params: [String: ParamShape] = [", "]") { lines in
        for method in definition.methods where method.name != "initialize" {
          guard case .properties(let properties) = method.params else { continue }
          let token = method.part.isEmpty ? [] : ["\"partialResultToken\""]
          add("\"\(method.name)\": params([", properties.map(member) + token, "]),", &lines)
        }
      }
      lines.add()
      lines.add(
        "/// With the members that any params may have; `workDoneToken` is of LSP's libraries."
      )
      lines.block("private static func params(_ members: [ParamShape.Member]) -> ParamShape {") { lines in
        lines.add(".object(members + [.init(\"meta\", .named { meta }), \"workDoneToken\"])")
      }
      for type in reachable { add(type, &lines) }
    }
    return lines.text
  }

  private func add(_ type: TypeDefinition, _ lines: inout Lines) {
    lines.add()
    let head = "package static let \(constant(type.name)): ParamShape = "
    switch type.kind {
    case .object(let properties): add(head + ".object([", properties.map(member), "])", &lines)
    case .union(let variants):
      lines.block(head + ".union([", "])") { lines in
        for variant in variants {
          add("(\"\(variant.tag)\", [", ["\"type\""] + variant.properties.map(member), "]),", &lines)
        }
      }
    case .opaque(let schema):
      let members = (schema["properties"]?.members ?? []).map { member in
        let shape = member.value["$ref"].flatMap { _ in member.value.references.first }.flatMap(named)
        return self.member(member.name, shape)
      }
      add(head + (type.strictness == .untagged ? ".untagged([" : ".object(["), members, "])", &lines)
    case .enumeration, .scalar: break
    }
  }

  private func add(_ opening: String, _ members: [String], _ closing: String, _ lines: inout Lines) {
    let line = opening + members.joined(separator: ", ") + closing
    guard line.count + lines.indentation > 118 else { return lines.add(line) }
    lines.list(opening, members, closing, width: 116 - lines.indentation)
  }

  private func member(_ property: Property) -> String { member(property.name, shape(property.type)) }

  private func member(_ name: String, _ shape: String?) -> String {
    shape.map { ".init(\"\(name)\", \($0))" } ?? "\"\(name)\""
  }

  /// The shape of a type's values as a Swift expression; nil if there are no members to check.
  private func shape(_ type: TypeExpression) -> String? {
    switch type {
    case .string, .number, .integer, .boolean, .json: nil
    case .array(let element, _), .map(let element): shape(element).map { ".elements(\($0))" }
    case .named(let name): named(name)
    }
  }

  private func named(_ name: String) -> String? {
    guard let type = definition.typesByName[name], hasMembers(type) else { return nil }
    return ".named { \(constant(name)) }"
  }

  private func hasMembers(_ type: TypeDefinition) -> Bool {
    switch type.kind {
    case .object, .union: true
    case .opaque: type.strictness != nil
    case .enumeration, .scalar: false
    }
  }

  private func constant(_ type: String) -> String { Names.swiftCase(Names.lowerCamel(type)) }

  /// The types in params whose members are checked.
  private var reachable: [TypeDefinition] {
    let methods = definition.methods.filter { $0.shape != .lifecycle }
    let found = definition.reachable(from: ["Meta"] + methods.flatMap { $0.params.properties.flatMap(\.type.names) }) {
      hasMembers($0) ? $0.references : []
    }
    return definition.types.filter { found.contains($0.name) && hasMembers($0) }
  }
}
