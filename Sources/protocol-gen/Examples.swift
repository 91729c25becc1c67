// Checks that examples and defaults match the definition.

struct Examples {
  let definition: Definition
  let problems: Problems
  var types: [String: TypeDefinition] { definition.typesByName }

  func run() {
    for method in definition.methods {
      let path = method.about.path / "example"
      check(method.exampleParams, method.params, extra: [Self.meta(since: method.about)], at: path / "params")
      check(method.exampleResult, method.result, at: path / "result")
      for property in method.part { check(property) }
    }
    for item in definition.notifications {
      check(item.exampleParams, item.params, at: item.about.path / "example" / "params")
    }
    for type in definition.types {
      if let example = type.example { check(example, .named(type.name), at: type.about.path / "example") }
      for property in type.properties { check(property) }
    }
    for error in definition.errors {
      if let example = error.example { check(error, example) }
      for property in error.data { check(property) }
    }
  }

  /// The member `meta`, which all params have.
  static func meta(since about: About) -> Property {
    Property(
      name: "meta", type: .named("Meta"),
      about: About(
        path: about.path, doc: "Control fields: origin, expected revision, progress, task.", since: about.since),
      isOptional: true)
  }

  private func check(_ property: Property) {
    if let example = property.example { check(example, property, at: property.about.path / "example") }
    if let value = property.defaultValue { check(value, property, at: property.about.path / "default") }
  }

  /// The example of an error is its whole data, or only the members other than kind, path and expected.
  private func check(_ error: ErrorDefinition, _ example: Tree) {
    let path = error.about.path / "example"
    let common = ["kind", "path", "expected"].map {
      Property(name: $0, type: .string, about: error.about, isOptional: true)
    }
    check(example, error.data + common, at: path)
    if let kind = example["kind"], kind != .string(error.kind) {
      problems.expected("\"\(error.kind)\"", at: path / "kind", found: kind)
    }
  }

  private func check(_ example: Tree?, _ payload: Payload, extra: [Property] = [], at path: Path) {
    for property in payload.properties { check(property) }
    switch (payload, example) {
    case (.properties(let list), let example?): check(example, list + extra, at: path)
    case (.type(let type), let example?): check(example, type, at: path)
    case (_, nil): break
    }
  }

  private func check(_ value: Tree, _ properties: [Property], at path: Path, tag: Bool = false) {
    guard Self.matches(value, "object") else { return problems.expected("object", at: path, found: value) }
    for member in value.members where !(tag && member.name == "type") {
      guard let property = properties.first(where: { $0.name == member.name }) else {
        problems.report(path / member.name, "the definition has no such member")
        continue
      }
      check(member.value, property, at: path / member.name)
    }
    for property in properties where !property.mayBeAbsent && value[property.name] == nil {
      problems.report(path, "\(property.name) is missing")
    }
  }

  private func check(_ value: Tree, _ property: Property, at path: Path) {
    if value == .null && property.isOptional { return }
    check(value, property.type, property.constraints, at: path)
  }

  private func check(_ value: Tree, _ type: TypeExpression, _ constraints: Constraints = Constraints(), at path: Path) {
    func expect(_ isRight: Bool?, _ expectation: String) {
      if isRight != true { problems.expected(expectation, at: path, found: value) }
    }
    switch type {
    case .string: expect(value.string.map { fits($0, constraints) }, constraints.expectation(of: "string"))
    case .integer: expect(value.integer.map { fits(Double($0), constraints) }, constraints.expectation(of: "integer"))
    case .number: expect(value.number.map { fits($0, constraints) }, constraints.expectation(of: "number"))
    case .boolean: expect(Self.matches(value, "boolean"), "boolean")
    case .json: break
    case .array(let element, let bounds):
      let counts = (bounds.minItems ?? 0)...(bounds.maxItems ?? .max)
      expect(Self.matches(value, "array") && counts.contains(value.elements.count), bounds.expectation(of: "array"))
      for (index, item) in value.elements.enumerated() { check(item, element, at: path / index) }
    case .map(let element):
      expect(Self.matches(value, "object"), "object")
      for member in value.members { check(member.value, element, at: path / member.name) }
    case .named(let name): check(value, named: name, at: path)
    }
  }

  private func check(_ value: Tree, named name: String, at path: Path) {
    switch types[name]?.kind {
    case .object(let list): check(value, list, at: path)
    case .scalar(let base, let constraints): check(value, base, constraints, at: path)
    case .enumeration(let values):
      checkChoice(value, of: values.map { .string($0.value) }, at: path)
    case .union(let variants):
      checkChoice(value["type"], of: variants.map { .string($0.tag) }, at: path / "type")
      guard let variant = variants.first(where: { .string($0.tag) == value["type"] }) else { return }
      check(value, variant.properties, at: path, tag: true)
    case .opaque(let schema): checkOutline(value, schema, at: path)
    case nil: break
    }
  }

  /// Checks some rules of a JSON Schema: the type, required members and an enum at the first level.
  private func checkOutline(_ value: Tree, _ schema: Tree, at path: Path) {
    let allowed = schema["type"].map { $0.string.map { [$0] } ?? $0.elements.compactMap(\.string) }
    if let allowed, !allowed.contains(where: { Self.matches(value, $0) }) {
      problems.expected(allowed.joined(separator: " or "), at: path, found: value)
    }
    guard case .object = value else { return }
    for name in schema["required"]?.elements.compactMap(\.string) ?? [] where value[name] == nil {
      problems.report(path, "\(name) is missing")
    }
    for property in schema["properties"]?.members ?? [] {
      guard let choices = property.value["enum"]?.elements, let found = value[property.name] else { continue }
      checkChoice(found, of: choices, at: path / property.name)
    }
  }

  private func checkChoice(_ value: Tree?, of choices: [Tree], at path: Path) {
    if let value, choices.contains(value) { return }
    problems.expected("one of " + choices.map(\.compact).joined(separator: ", "), at: path, found: value)
  }

  private static func matches(_ value: Tree, _ type: String) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("null", .null): true
    case ("number", _): value.number != nil
    case ("integer", _): value.integer != nil
    default: false
    }
  }

  private func fits(_ text: String, _ constraints: Constraints) -> Bool {
    let count = text.unicodeScalars.count
    guard count >= constraints.minLength ?? 0, count <= constraints.maxLength ?? .max else { return false }
    guard let pattern = constraints.wholePattern, let regex = try? Regex(pattern) else { return true }
    return text.wholeMatch(of: regex) != nil
  }

  private func fits(_ number: Double, _ constraints: Constraints) -> Bool {
    number >= constraints.minimum?.number ?? -.infinity && number <= constraints.maximum?.number ?? .infinity
      && number > constraints.exclusiveMinimum?.number ?? -.infinity
      && number < constraints.exclusiveMaximum?.number ?? .infinity
  }
}
