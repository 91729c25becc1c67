// From the files' trees to the typed definition; strict, so that a misspelt member cannot be silently ignored.

struct Loader {
  let problems: Problems

  func domain(_ tree: Tree, at place: Place) -> Domain? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    _ = reader.string("$schema")
    let name = reader.requiredString("domain")
    var domain = Domain(name: name, about: about(reader, since: ""))
    let since = domain.about.since
    domain.file = reader.string("file")
    domain.types = reader.list("types").compactMap { type($0, at: $1, domain: name, since: since) }
    domain.methods = reader.list("methods").compactMap { method($0, at: $1, domain: name, since: since) }
    domain.notifications = reader.list("notifications").compactMap {
      notification($0, at: $1, domain: name, since: since)
    }
    domain.statePaths = reader.list("state").compactMap { statePath($0, at: $1, domain: name, since: since) }
    return domain
  }

  /// errors.json: the kinds, those common to all methods, and the types that their data needs, as the domain "errors".
  func errors(_ tree: Tree, at place: Place) -> (domain: Domain, errors: [ErrorDefinition], common: [String])? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    _ = reader.string("$schema")
    var domain = Domain(name: "errors", about: about(reader, since: ""))
    let since = domain.about.since
    domain.types = reader.list("types").compactMap { type($0, at: $1, domain: "errors", since: since) }
    let errors = reader.list("errors", isRequired: true).compactMap { error($0, at: $1, since: since) }
    return (domain, errors, reader.strings("common", isRequired: true))
  }

  private func about(_ reader: ObjectReader, since inherited: String) -> About {
    let doc = Prose.unfolded(reader.requiredString("doc"))
    let since = reader.string("since") ?? inherited
    if since.isEmpty { problems.expected("version", at: reader.place.appending("since"), found: nil) }
    return About(
      place: reader.place, doc: doc, since: since, isExperimental: reader.flag("experimental"),
      deprecated: reader.string("deprecated"))
  }

  // MARK: Messages

  private func method(_ tree: Tree, at place: Place, domain: String, since: String) -> Method? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    let shape = reader.choice("shape", Shape.self)
    if !reader.has("shape") { problems.expected("shape", at: place.appending("shape"), found: nil) }
    let example = example(reader, hasResult: true)
    return Method(
      name: reader.requiredString("name"), domain: domain, about: about, shape: shape ?? .query,
      params: payload("params", reader, since: about.since), members: reader.string("members"),
      result: payload("result", reader, since: about.since),
      errors: reader.strings("errors"), exampleParams: example.params, exampleResult: example.result)
  }

  private func notification(_ tree: Tree, at place: Place, domain: String, since: String) -> Notification? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    let direction = reader.choice("direction", Direction.self)
    if !reader.has("direction") { problems.expected("direction", at: place.appending("direction"), found: nil) }
    return Notification(
      name: reader.requiredString("name"), domain: domain, about: about, direction: direction ?? .serverToClient,
      coalescing: reader.choice("coalescing", Coalescing.self), params: payload("params", reader, since: about.since),
      exampleParams: example(reader, hasResult: false).params)
  }

  private func example(_ reader: ObjectReader, hasResult: Bool) -> (params: Tree?, result: Tree?) {
    guard let value = reader.required("example", "object"),
      let inner = ObjectReader(value, at: reader.place.appending("example"), problems: problems)
    else { return (nil, nil) }
    defer { inner.finish() }
    return (
      inner.required("params", "example of the params"),
      hasResult ? inner.required("result", "example of the result") : nil
    )
  }

  private func payload(_ name: String, _ reader: ObjectReader, since: String) -> Payload {
    if case .string(let text)? = reader.optional(name) { return .type(Self.named(text)) }
    return .properties(properties(reader.list(name, isRequired: true), since: since))
  }

  private func statePath(_ tree: Tree, at place: Place, domain: String, since: String) -> StatePath? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    let coalescing = reader.choice("coalescing", Coalescing.self)
    if !reader.has("coalescing") { problems.expected("coalescing", at: place.appending("coalescing"), found: nil) }
    return StatePath(
      path: reader.requiredString("path"), domain: domain, about: about,
      type: expression(reader.required("type", "type"), at: place.appending("type")), coalescing: coalescing ?? .every)
  }

  private func error(_ tree: Tree, at place: Place, since: String) -> ErrorDefinition? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    if !reader.has("code") { problems.expected("integer", at: place.appending("code"), found: nil) }
    return ErrorDefinition(
      kind: reader.requiredString("kind"), code: reader.integer("code") ?? 0, about: about,
      data: properties(reader.list("data"), since: about.since), example: reader.required("example", "object"))
  }

  // MARK: Types

  private func type(_ tree: Tree, at place: Place, domain: String, since: String) -> TypeDefinition? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    let name = reader.requiredString("name")
    let kind: TypeDefinition.Kind
    var unit: String?
    var python: String?
    var pythonArray: String?
    var strictness: Strictness?
    switch reader.requiredString("kind") {
    case "object": kind = .object(properties(reader.list("properties", isRequired: true), since: about.since))
    case "union":
      kind = .union(reader.list("variants", isRequired: true).compactMap { variant($0, at: $1, since: about.since) })
    case "enum":
      kind = .enumeration(
        reader.list("values", isRequired: true).compactMap { enumValue($0, at: $1, since: about.since) })
    case "string":
      kind = .scalar(.string, constraints(reader))
      python = reader.string("python")
    case "integer":
      unit = reader.string("unit")
      kind = .scalar(.integer, constraints(reader))
    case "number":
      unit = reader.string("unit")
      kind = .scalar(.number, constraints(reader))
    case "opaque":
      kind = .opaque(schema: reader.required("schema", "JSON Schema") ?? .object([]))
      strictness = reader.choice("strict", Strictness.self)
      pythonArray = reader.string("pythonArray")
      python = reader.string("python") ?? "Any"
    case let other:
      problems.expected(
        "one of \"object\", \"union\", \"enum\", \"string\", \"integer\", \"number\", \"opaque\"",
        at: place.appending("kind"), found: .string(other))
      return nil
    }
    return TypeDefinition(
      name: name, domain: domain, about: about, kind: kind, unit: unit, python: python, pythonArray: pythonArray,
      strictness: strictness, collection: reader.string("collection"), members: reader.string("members"),
      example: reader.required("example", "a value of the type"))
  }

  private func variant(_ tree: Tree, at place: Place, since: String) -> TypeDefinition.Variant? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    let about = about(reader, since: since)
    return .init(
      tag: reader.requiredString("tag"), about: about,
      properties: properties(reader.list("properties"), since: about.since))
  }

  private func enumValue(_ tree: Tree, at place: Place, since: String) -> TypeDefinition.EnumValue? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    return .init(value: reader.requiredString("value"), about: about(reader, since: since))
  }

  private func properties(_ list: [(Tree, Place)], since: String) -> [Property] {
    list.compactMap { property($0, at: $1, since: since) }
  }

  private func property(_ tree: Tree, at place: Place, since: String) -> Property? {
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return nil }
    defer { reader.finish() }
    var type = expression(reader.required("type", "type"), at: place.appending("type"))
    var constraints = constraints(reader)
    // The same bound may stand beside the type or in it.
    if case .array(let element, var bounds) = type {
      bounds.minItems = bounds.minItems ?? constraints.minItems
      bounds.maxItems = bounds.maxItems ?? constraints.maxItems
      (constraints.minItems, constraints.maxItems) = (nil, nil)
      type = .array(element, bounds)
    }
    return Property(
      name: reader.requiredString("name"), type: type, about: about(reader, since: since),
      isOptional: reader.flag("optional"), isForeign: reader.flag("foreign"), defaultValue: reader.optional("default"),
      unit: reader.string("unit"), constraints: constraints, coalescing: reader.choice("coalescing", Coalescing.self),
      settable: settable(reader, type), isClearable: reader.flag("clearable"),
      saved: reader.choice("saved", Saved.self),
      example: reader.optional("example"))
  }

  /// `true`, or the type that commands take for the member.
  private func settable(_ reader: ObjectReader, _ type: TypeExpression) -> TypeExpression? {
    switch reader.optional("settable") {
    case nil: nil
    case .bool(true): type
    case let other: expression(other, at: reader.place.appending("settable"))
    }
  }

  private func constraints(_ reader: ObjectReader) -> Constraints {
    Constraints(
      minimum: reader.number("minimum"), maximum: reader.number("maximum"),
      exclusiveMinimum: reader.number("exclusiveMinimum"), exclusiveMaximum: reader.number("exclusiveMaximum"),
      minLength: reader.integer("minLength"), maxLength: reader.integer("maxLength"),
      minItems: reader.integer("minItems"), maxItems: reader.integer("maxItems"), pattern: reader.string("pattern"))
  }

  private static func named(_ text: String) -> TypeExpression {
    switch text {
    case "string": .string
    case "number": .number
    case "integer": .integer
    case "boolean": .boolean
    case "json": .json
    default: .named(text)
    }
  }

  private func expression(_ tree: Tree?, at place: Place) -> TypeExpression {
    guard let tree else { return .json }
    if let text = tree.string { return Self.named(text) }
    guard let reader = ObjectReader(tree, at: place, problems: problems) else { return .json }
    defer { reader.finish() }
    if reader.has("map") { return .map(expression(reader.optional("map"), at: place.appending("map"))) }
    let element = expression(reader.required("array", "type of the elements"), at: place.appending("array"))
    return .array(element, Constraints(minItems: reader.integer("minItems"), maxItems: reader.integer("maxItems")))
  }
}
