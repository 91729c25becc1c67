// Checks that examples and defaults match the definition.

struct Examples {
  let definition: Definition
  let problems: Problems
  let types: [String: TypeDefinition]

  init(definition: Definition, problems: Problems) {
    self.definition = definition
    self.problems = problems
    types = Dictionary(definition.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func run() {
    for method in definition.methods {
      let place = method.about.place.appending("example")
      let meta = [Self.meta(since: method.about)]
      if let params = method.exampleParams { check(params, method.params, extra: meta, at: place.appending("params")) }
      if let result = method.exampleResult { check(result, method.result, extra: [], at: place.appending("result")) }
      each(method.params)
      each(method.result)
    }
    for notification in definition.notifications {
      if let params = notification.exampleParams {
        check(
          params, notification.params, extra: [], at: notification.about.place.appending("example").appending("params"))
      }
      each(notification.params)
    }
    for type in definition.types {
      if let example = type.example { check(example, .named(type.name), at: type.about.place.appending("example")) }
      for property in type.properties { check(property) }
    }
    for error in definition.errors {
      if let example = error.example { check(error, example) }
      for property in error.data { check(property) }
    }
  }

  /// The member `meta` of all params.
  static func meta(since about: About) -> Property {
    Property(
      name: "meta", type: .named("Meta"),
      about: About(
        place: about.place, doc: "Control fields: origin, expected revision, progress, task.", since: about.since),
      isOptional: true)
  }

  private func each(_ payload: Payload) { for property in payload.properties { check(property) } }

  private func check(_ property: Property) {
    if let example = property.example { check(example, property, at: property.about.place.appending("example")) }
    if let value = property.defaultValue { check(value, property, at: property.about.place.appending("default")) }
  }

  /// An error's example is its whole data, or only the members beyond kind, path and expected.
  private func check(_ error: ErrorDefinition, _ example: Tree) {
    let place = error.about.place.appending("example")
    let common = ["kind", "path", "expected"].map {
      Property(name: $0, type: .string, about: error.about, isOptional: true)
    }
    check(example, error.data + common, at: place)
    if let kind = example["kind"], kind != .string(error.kind) {
      problems.expected("\"\(error.kind)\"", at: place.appending("kind"), found: kind)
    }
  }

  private func check(_ value: Tree, _ payload: Payload, extra: [Property], at place: Place) {
    switch payload {
    case .properties(let list): check(value, list + extra, at: place)
    case .type(let type): check(value, type, at: place)
    }
  }

  private func check(_ value: Tree, _ properties: [Property], at place: Place, tag: Bool = false) {
    guard case .object(let members) = value else {
      problems.expected("object", at: place, found: value)
      return
    }
    for member in members where !(tag && member.name == "type") {
      guard let property = properties.first(where: { $0.name == member.name }) else {
        problems.report(place.appending(member.name), "the definition has no such member")
        continue
      }
      check(member.value, property, at: place.appending(member.name))
    }
    for property in properties where !property.mayBeAbsent && value[property.name] == nil {
      problems.report(place, "\(property.name) is missing")
    }
  }

  private func check(_ value: Tree, _ property: Property, at place: Place) {
    if value == .null && property.isOptional { return }
    check(value, property.type, property.constraints, at: place)
  }

  private func check(_ value: Tree, _ type: TypeExpression, _ constraints: Constraints = Constraints(), at place: Place)
  {
    switch type {
    case .string:
      guard let text = value.string, fits(text, constraints) else {
        problems.expected(constraints.expectation(of: "string"), at: place, found: value)
        return
      }
    case .integer:
      guard let number = value.integer, fits(Double(number), constraints) else {
        problems.expected(constraints.expectation(of: "integer"), at: place, found: value)
        return
      }
    case .number:
      guard let number = value.number, fits(number, constraints) else {
        problems.expected(constraints.expectation(of: "number"), at: place, found: value)
        return
      }
    case .boolean: if case .bool = value {} else { problems.expected("boolean", at: place, found: value) }
    case .json: break
    case .array(let element, let bounds):
      guard case .array(let elements) = value,
        elements.count >= bounds.minItems ?? 0, elements.count <= bounds.maxItems ?? .max
      else {
        problems.expected(bounds.expectation(of: "array"), at: place, found: value)
        return
      }
      for (index, item) in elements.enumerated() { check(item, element, at: place.appending(index)) }
    case .map(let element):
      guard case .object(let members) = value else {
        problems.expected("object", at: place, found: value)
        return
      }
      for member in members { check(member.value, element, at: place.appending(member.name)) }
    case .named(let name): check(value, named: name, at: place)
    }
  }

  private func check(_ value: Tree, named name: String, at place: Place) {
    switch types[name]?.kind {
    case .object(let list): check(value, list, at: place)
    case .scalar(let base, let constraints): check(value, base, constraints, at: place)
    case .enumeration(let values):
      if !values.contains(where: { .string($0.value) == value }) {
        problems.expected("one of " + values.map { "\"\($0.value)\"" }.joined(separator: ", "), at: place, found: value)
      }
    case .union(let variants):
      guard let variant = variants.first(where: { .string($0.tag) == value["type"] }) else {
        problems.expected(
          "one of " + variants.map { "\"\($0.tag)\"" }.joined(separator: ", "), at: place.appending("type"),
          found: value["type"])
        return
      }
      check(value, variant.properties, at: place, tag: true)
    case .opaque(let schema): checkOutline(value, schema, at: place)
    case nil: break
    }
  }

  /// Checks of a JSON Schema: the type, required members and a first-level enum.
  private func checkOutline(_ value: Tree, _ schema: Tree, at place: Place) {
    let allowed = schema["type"].map { $0.string.map { [$0] } ?? $0.elements.compactMap(\.string) }
    if let allowed, !allowed.contains(where: { Self.matches(value, $0) }) {
      problems.expected(allowed.joined(separator: " or "), at: place, found: value)
    }
    guard case .object = value else { return }
    for name in schema["required"]?.elements.compactMap(\.string) ?? [] where value[name] == nil {
      problems.report(place, "\(name) is missing")
    }
    for property in schema["properties"]?.members ?? [] {
      guard let choices = property.value["enum"]?.elements, let found = value[property.name], !choices.contains(found)
      else { continue }
      problems.expected(
        "one of " + choices.map(\.compact).joined(separator: ", "), at: place.appending(property.name), found: found)
    }
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
