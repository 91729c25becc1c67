// Converts the files' trees to the typed definition. Strict, so that a misspelt member is an error.

extension Domain {
  init(_ reader: ObjectReader) {
    _ = reader.string("$schema")
    let name = reader.requiredString("domain")
    self.init(name: name, about: reader.about, file: reader.string("file"))
    kinds = reader.objects("kinds") { Kind($0, domain: name) }
    types = reader.objects("types") { TypeDefinition($0, domain: name) }
    groups = reader.objects("groups") { ParamGroup($0, domain: name) }
    methods = reader.objects("methods") { Method($0, domain: name) }
    notifications = reader.objects("notifications") { Notification($0, domain: name) }
    statePaths = reader.objects("state") { StatePath($0, domain: name) }
  }

  /// Makes the domain "errors" from the types in errors.json.
  init(errors reader: ObjectReader) {
    _ = reader.string("$schema")
    self.init(name: "errors", about: reader.about)
    types = reader.objects("types") { TypeDefinition($0, domain: "errors") }
  }
}

// MARK: - Messages

extension Method {
  init(_ reader: ObjectReader, domain: String) {
    let example = reader.object("example") { ($0.required("params", "any value"), $0.required("result", "any value")) }
    self.init(
      name: reader.requiredString("name"), domain: domain, about: reader.about,
      shape: reader.choice("shape", Shape.self, isRequired: true) ?? .query, params: Payload("params", reader),
      includes: reader.strings("include"), members: reader.string("members"), result: Payload("result", reader),
      part: reader.objects("part") { Property($0) }, errors: reader.strings("errors"),
      exampleParams: example?.0, exampleResult: example?.1)
  }
}

extension Notification {
  init(_ reader: ObjectReader, domain: String) {
    self.init(
      name: reader.requiredString("name"), domain: domain, about: reader.about,
      direction: reader.choice("direction", Direction.self, isRequired: true) ?? .serverToClient,
      coalescing: reader.choice("coalescing", Coalescing.self), params: Payload("params", reader),
      exampleParams: reader.object("example") { $0.required("params", "any value") })
  }
}

extension Payload {
  init(_ name: String, _ reader: ObjectReader) {
    if let text = reader.optional(name)?.string {
      self = .type(TypeExpression(named: text))
    } else {
      self = .properties(reader.objects(name, isRequired: true) { Property($0) })
    }
  }
}

extension StatePath {
  init(_ reader: ObjectReader, domain: String) {
    self.init(
      path: reader.requiredString("path"), domain: domain, about: reader.about, type: reader.type("type"),
      members: reader.strings("members"),
      coalescing: reader.choice("coalescing", Coalescing.self, isRequired: true) ?? .every)
  }
}

extension ErrorDefinition {
  init(_ reader: ObjectReader) {
    self.init(
      kind: reader.requiredString("kind"), code: reader.requiredInteger("code"), about: reader.about,
      data: reader.objects("data") { Property($0) }, example: reader.required("example", "object"))
  }
}

// MARK: - Types

extension TypeDefinition {
  init?(_ reader: ObjectReader, domain: String) {
    guard let word = reader.choice("kind", KindName.self, isRequired: true) else { return nil }
    let kind: Kind =
      switch word {
      case .object: .object(reader.objects("properties", isRequired: true) { Property($0) })
      case .union: .union(reader.objects("variants", isRequired: true) { Variant($0) })
      case .enum: .enumeration(reader.objects("values", isRequired: true) { EnumValue($0) })
      case .string: .scalar(.string, Constraints(reader))
      case .integer: .scalar(.integer, Constraints(reader))
      case .number: .scalar(.number, Constraints(reader))
      case .opaque: .opaque(schema: reader.required("schema", "JSON Schema") ?? .object([]))
      }
    self.init(
      name: reader.requiredString("name"), domain: domain, about: reader.about, kind: kind,
      example: reader.required("example", "a value of the type"))
    switch word {
    case .object: (collection, members) = (reader.string("collection"), reader.string("members"))
    case .enum: model = reader.model("model")
    case .union: break
    case .string: python = reader.string("python")
    case .integer, .number: unit = reader.string("unit")
    case .opaque:
      strictness = reader.choice("strict", Strictness.self)
      pythonArray = reader.string("pythonArray")
      python = reader.string("python") ?? "Any"
    }
  }

  private enum KindName: String, CaseIterable { case object, union, `enum`, string, integer, number, opaque }
}

extension TypeDefinition.Variant {
  init(_ reader: ObjectReader) {
    self.init(
      tag: reader.requiredString("tag"), about: reader.about, properties: reader.objects("properties") { Property($0) })
  }
}

extension TypeDefinition.EnumValue {
  init(_ reader: ObjectReader) { self.init(value: reader.requiredString("value"), about: reader.about) }
}

extension Property {
  init(_ reader: ObjectReader) {
    var type = reader.type("type")
    var constraints = Constraints(reader)
    // Limits may be given beside the type or inside it.
    if case .array(let element, var bounds) = type {
      bounds.minItems = bounds.minItems ?? constraints.minItems
      bounds.maxItems = bounds.maxItems ?? constraints.maxItems
      (constraints.minItems, constraints.maxItems) = (nil, nil)
      type = .array(element, bounds)
    }
    self.init(
      name: reader.requiredString("name"), type: type, about: reader.about, isOptional: reader.flag("optional"),
      isForeign: reader.flag("foreign"), isUsual: reader.flag("usual"), defaultValue: reader.optional("default"),
      unit: reader.string("unit"),
      constraints: constraints, coalescing: reader.choice("coalescing", Coalescing.self),
      isClearable: reader.flag("clearable"), saved: reader.choice("saved", Saved.self),
      example: reader.optional("example"), form: reader.choice("form", Form.self))
    switch reader.optional("settable") {
    case nil: break
    case .bool(true): settable = type
    default: settable = reader.type("settable")
    }
  }
}

extension Constraints {
  init(_ reader: ObjectReader) {
    self.init(
      minimum: reader.number("minimum"), maximum: reader.number("maximum"),
      exclusiveMinimum: reader.number("exclusiveMinimum"), exclusiveMaximum: reader.number("exclusiveMaximum"),
      minLength: reader.integer("minLength"), maxLength: reader.integer("maxLength"),
      minItems: reader.integer("minItems"), maxItems: reader.integer("maxItems"), pattern: reader.string("pattern"))
  }
}

extension TypeExpression {
  init(named text: String) {
    self =
      switch text {
      case "string": .string
      case "number": .number
      case "integer": .integer
      case "boolean": .boolean
      case "json": .json
      default: .named(text)
      }
  }
}
