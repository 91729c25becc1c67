// The definition's types as JSON Schema, for OpenRPC and validation of messages.

struct Schemas {
  let definition: Definition

  func schema(
    _ type: TypeExpression, _ constraints: Constraints = Constraints(), annotations: KeyValuePairs<String, Tree?> = [:]
  ) -> Tree {
    let core: Tree =
      switch type {
      case .json: .object([])
      case .string: scalar("string", constraints)
      case .number: scalar("number", constraints)
      case .integer: scalar("integer", constraints)
      case .boolean: scalar("boolean", constraints)
      case .named(let name): .object(["$ref": .string("#/components/schemas/" + name)])
      case .array(let element, let bounds):
        .object([
          "type": .string("array"), "items": schema(element), "minItems": bounds.minItems.map { .integer($0) },
          "maxItems": bounds.maxItems.map { .integer($0) },
        ])
      case .map(let element): .object(["type": .string("object"), "additionalProperties": schema(element)])
      }
    return .object(core.members + Tree.object(annotations).members)
  }

  private func scalar(_ name: String, _ constraints: Constraints) -> Tree {
    .object([
      "type": .string(name), "minimum": constraints.minimum, "maximum": constraints.maximum,
      "exclusiveMinimum": constraints.exclusiveMinimum, "exclusiveMaximum": constraints.exclusiveMaximum,
      "minLength": constraints.minLength.map { .integer($0) }, "maxLength": constraints.maxLength.map { .integer($0) },
      "pattern": constraints.wholePattern.map { .string("^" + $0 + "$") },
    ])
  }

  /// The schema of an object. A variant of a union begins with its tag.
  func object(_ properties: [Property], tag: String? = nil, doc: String? = nil) -> Tree {
    let tagMember = tag.map { Tree.Member(name: "type", value: .object(["const": .string($0)])) }
    let members = properties.map { Tree.Member(name: $0.name, value: schema($0)) }
    let required = (tag == nil ? [] : ["type"]) + properties.filter { !$0.mayBeAbsent }.map(\.name)
    return .object([
      "type": .string("object"), "description": doc.map { .string($0) },
      "required": required.isEmpty ? nil : .strings(required),
      "properties": .object([tagMember].compactMap(\.self) + members),
    ])
  }

  /// The schema of a member, with all limits.
  func schema(_ property: Property) -> Tree {
    schema(
      property.type, property.constraints,
      annotations: [
        "description": .string(property.about.doc), "default": property.defaultValue,
        "deprecated": property.about.deprecated.map { _ in .bool(true) },
        "examples": property.example.map { .array([$0]) }, "x-unit": property.unit.map { .string($0) },
        "x-coalescing": property.coalescing.map { .string($0.rawValue) },
        "x-experimental": property.about.isExperimental ? .bool(true) : nil,
      ])
  }

  func schema(_ payload: Payload) -> Tree {
    switch payload {
    case .properties(let list): object(list)
    case .type(let type): schema(type)
    }
  }

  func schema(_ type: TypeDefinition) -> Tree {
    let core: Tree =
      switch type.kind {
      case .object(let properties): object(properties)
      case .union(let variants):
        .object(["oneOf": .array(variants.map { object($0.properties, tag: $0.tag, doc: $0.about.doc) })])
      case .enumeration(let values):
        .object([
          "type": .string("string"), "enum": .strings(values.map(\.value)),
          "x-enum-descriptions": .object(values.map { .init(name: $0.value, value: .string($0.about.doc)) }),
        ])
      case .scalar(let base, let constraints): schema(base, constraints)
      case .opaque(let schema): schema
      }
    let about = type.about
    let head = Tree.object(["title": .string(type.name), "description": .string(about.doc)]).members
    let tail = Tree.object([
      "examples": type.example.map { .array([$0]) }, "deprecated": about.deprecated.map { _ in .bool(true) },
      "x-unit": type.unit.map { .string($0) }, "x-since": .string(about.since), "x-domain": .string(type.domain),
      "x-experimental": about.isExperimental ? .bool(true) : nil,
    ]).members
    let own = Set(core.members.map(\.name))
    return .object(head.filter { !own.contains($0.name) } + core.members + tail.filter { !own.contains($0.name) })
  }
}
