// Swift code for one value: its type, expressions that decode and encode it, and its default.

struct SwiftCoding {
  let definition: Definition
  var types: [String: TypeDefinition] { definition.typesByName }

  static func namespace(_ domain: String) -> String { Names.upperCamel(domain) + "Protocol" }

  func name(of type: TypeDefinition) -> String { Self.namespace(type.domain) + "." + type.name }

  func swiftType(_ type: TypeExpression) -> String {
    switch type {
    case .string: "String"
    case .number: "Double"
    case .integer: "Int"
    case .boolean: "Bool"
    case .json: "JSONOpaque"
    case .array(let element, _): "[\(swiftType(element))]"
    case .map(let element): "[String: \(swiftType(element))]"
    case .named(let name):
      switch types[name]?.kind {
      case .scalar(let base, _): swiftType(base)
      case .opaque, nil: "JSONOpaque"
      // Objects of the state tree are written from the model's tables of members.
      case .object where types[name]?.collection != nil: "JSONOpaque"
      case .object, .union, .enumeration: types[name].map(self.name(of:)) ?? name
      }
    }
  }

  func swiftType(_ property: Property) -> String { swiftType(property.type) + (property.isOptional ? "?" : "") }

  // MARK: Decoding

  /// The function that reads a scalar type, in its domain's namespace.
  func reader(of type: TypeDefinition) -> String { "read\(type.name)" }

  /// Code that decodes `value`, which is an expression; the caller writes `try`.
  func decode(
    _ type: TypeExpression, _ constraints: Constraints = Constraints(), typeName: String? = nil, from value: String
  ) -> String {
    switch type {
    case .string: scalar("string", constraints, from: value, check: stringCheck(constraints, typeName: typeName))
    case .integer: scalar("integer", constraints, from: value, check: numberCheck(constraints, isInteger: true))
    case .number: scalar("number", constraints, from: value, check: numberCheck(constraints, isInteger: false))
    case .boolean: "\(value).bool()"
    case .json: "\(value).opaque(\"any value but null\")"
    case .array(let element, let bounds): array(element, bounds, from: value)
    case .map(let element): "\(value).dictionary\(reading(element))"
    case .named(let name):
      switch types[name]?.kind {
      case .opaque(let schema):
        boundedOpaque(schema, from: value) == nil
          ? "\(value).opaque(\(literal(schema["type"]?.string ?? name)))" : "\(readerName(name))(\(value))"
      case .scalar: "\(readerName(name))(\(value))"
      default: "\(swiftType(type))(from: \(value))"
      }
    }
  }

  /// Lines of code that read a value of several types; nil for a value that only its handler checks.
  func boundedOpaque(_ schema: Tree, from value: String) -> [String]? {
    let types = schema["type"]?.elements.compactMap(\.string) ?? []
    guard let last = types.last else { return nil }
    let (least, most) = (schema["minLength"]?.integer ?? 0, schema["maxLength"]?.integer)
    func words(_ type: String) -> String {
      guard type == "string", let most else { return type }
      return "string of \(least) to \(most) characters"
    }
    let kinds = types.map { $0 == "boolean" ? ".bool" : ".\($0)" }.joined(separator: ", ")
    return [
      "\(value).opaque(",
      "  \(literal(types.dropLast().map(words).joined(separator: ", ") + " or " + words(last))),",
      "  [\(kinds)], \(least)...\(most.map(String.init) ?? "Int.max"))",
    ]
  }

  private func readerName(_ name: String) -> String {
    types[name].map { "\(Self.namespace($0.domain)).\(reader(of: $0))" } ?? name
  }

  private func scalar(_ noun: String, _ constraints: Constraints, from value: String, check: String?) -> String {
    let reader = noun == "number" ? "double" : noun
    guard let check else { return "\(value).\(reader)()" }
    return "\(value).\(reader)(\(literal(constraints.expectation(of: noun)))) { \(check) }"
  }

  /// The last argument for a reader of elements, with the preceding arguments.
  private func reading(_ element: TypeExpression, after arguments: [String] = []) -> String {
    func call(_ function: String) -> String { "(" + (arguments + [function]).joined(separator: ", ") + ")" }
    if case .named(let name) = element {
      switch types[name]?.kind {
      case .scalar: return call(readerName(name))
      case .object, .union, .enumeration: return call("\(swiftType(element)).init(from:)")
      case .opaque, nil: break
      }
    }
    let before = arguments.isEmpty ? "" : "(" + arguments.joined(separator: ", ") + ")"
    return before + " { (e) throws(JSONError) in try \(decode(element, from: "e")) }"
  }

  private func array(_ element: TypeExpression, _ bounds: Constraints, from value: String) -> String {
    if bounds.isEmpty { return element == .number ? "\(value).numbers()" : "\(value).array\(reading(element))" }
    let range = "\(bounds.minItems ?? 0)..." + (bounds.maxItems.map(String.init) ?? "")
    return "\(value).array" + reading(element, after: [literal(bounds.expectation(of: "array")), range])
  }

  private func numberCheck(_ constraints: Constraints, isInteger: Bool) -> String? {
    func bound(_ value: Tree?) -> String? {
      value.map { isInteger ? String($0.integer ?? 0) : $0.compact }
    }
    let tests = [
      bound(constraints.minimum).map { "$0 >= \($0)" }, bound(constraints.exclusiveMinimum).map { "$0 > \($0)" },
      bound(constraints.maximum).map { "$0 <= \($0)" }, bound(constraints.exclusiveMaximum).map { "$0 < \($0)" },
    ].compactMap(\.self)
    return tests.isEmpty ? nil : tests.joined(separator: " && ")
  }

  private func stringCheck(_ constraints: Constraints, typeName: String?) -> String? {
    if constraints.pattern != nil, let typeName { return "StringChecks.\(Names.lowerCamel(typeName))($0)" }
    switch (constraints.minLength, constraints.maxLength) {
    case (nil, nil), (0, nil): return nil
    case (let least, nil): return "$0.unicodeScalars.count >= \(least ?? 0)"
    case (let least, let most?): return "(\(least ?? 0)...\(most)).contains($0.unicodeScalars.count)"
    }
  }

  // MARK: Encoding

  func encode(_ type: TypeExpression, _ value: String, to writer: String, isInOut: Bool) -> String {
    switch type {
    case .string, .number, .integer, .boolean: return "\(writer).value(\(value))"
    case .array(let element, _): return "\(writer).array(\(value)) { \(encodeElement(element)) }"
    case .map(let element): return "\(writer).map(\(value)) { \(encodeElement(element)) }"
    case .named(let name):
      if case .scalar(let base, _)? = types[name]?.kind { return encode(base, value, to: writer, isInOut: isInOut) }
      return "\(value).encode(to: &\(writer))"
    case .json: return "\(value).encode(to: &\(writer))"
    }
  }

  private func encodeElement(_ element: TypeExpression) -> String { encode(element, "$0", to: "$1", isInOut: true) }

  // MARK: Literals

  func literal(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    return "\"\(escaped)\""
  }

  /// A default as a Swift expression; nil if the definition language does not allow it.
  func defaultLiteral(_ value: Tree, of type: TypeExpression) -> String? {
    switch (type, value) {
    case (.string, .string(let text)): return literal(text)
    case (.integer, _): return value.integer.map(String.init)
    case (.number, _): return value.number == nil ? nil : value.compact
    case (.boolean, .bool(let flag)): return flag ? "true" : "false"
    case (.array(let element, _), .array(let elements)):
      let literals = elements.map { defaultLiteral($0, of: element) }
      return literals.contains(nil) ? nil : "[" + literals.compactMap(\.self).joined(separator: ", ") + "]"
    case (.map, .object(let members)) where members.isEmpty: return "[:]"
    case (.named(let name), _):
      switch (types[name]?.kind, value) {
      case (.scalar(let base, _), _): return defaultLiteral(value, of: base)
      case (.enumeration(let values), .string(let text)) where values.contains { $0.value == text }:
        return "." + Names.swiftCase(text)
      case (.union(let variants), .object(let members)) where members.count == 1:
        guard let tag = value["type"]?.string, variants.contains(where: { $0.tag == tag && $0.properties.isEmpty })
        else { return nil }
        return "." + Names.swiftCase(tag)
      default: return nil
      }
    default: return nil
    }
  }
}
