// Converts view models, bindings and the environment between the wire and the model.

import Expressions
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

extension Wire {
  // MARK: Definitions

  /// - Parameter path: the JSON Pointer of the definitions, for errors.
  package static func properties(
    _ definitions: [ViewModelProtocol.PropertyDefinition], at path: String
  ) throws -> [PropertyDefinition] {
    try definitions.enumerated().map { index, it in
      PropertyDefinition(
        name: it.name, type: .init(it.type), isNullable: it.isNullable,
        defaultValue: try it.defaultValue.map(value),
        doc: it.doc,
        derivation: try it.derived.map { try derivation($0, at: "\(path)/\(index)/derived") },
        limits: try limits(it, it.cases, it.valueType), access: .init(it.access))
    }
  }

  /// The definitions in a client's params, whose paths have to be possible ones. Documents keep what earlier versions accepted.
  package static func newProperties(
    _ definitions: [ViewModelProtocol.PropertyDefinition], at path: String
  ) throws -> [PropertyDefinition] {
    for (index, definition) in definitions.enumerated() {
      let derived = definition.derived
      let inputs = (derived?.inputs ?? [:]).sorted(by: { $0.key < $1.key }).map {
        ("inputs/\(jsonPointerEscaped($0.key))", $0.value)
      }
      for (member, input) in inputs + (derived?.each.map { [("each", $0)] } ?? []) {
        guard let names = ModelPath(pointer: input)?.names.map(\.string) else { continue }
        try checkStatePath(names, at: "\(path)/\(index)/derived/\(member)")
      }
    }
    return try properties(definitions, at: path)
  }

  private static func limits(
    _ it: some LimitedValues, _ cases: [ViewModelProtocol.UnionCase]? = nil, _ valueType: ViewModelProtocol.ValueType? = nil
  ) throws -> ValueLimits {
    var limits = ValueLimits()
    (limits.minimum, limits.maximum, limits.step) = (it.minimum, it.maximum, it.step)
    limits.values = try (it.values ?? []).map { try value($0) }
    let parts: [ValueParts?] = [
      try cases.map { .cases(try $0.map { UnionCase(name: $0.name, doc: $0.doc, fields: try fields($0.properties ?? [])) }) },
      try it.fields.map { .fields(try fields($0)) },
      try valueType.map { each in
        .values(
          PropertyDefinition(
            name: "", type: .init(each.type), isNullable: each.isNullable, defaultValue: nil, doc: nil, derivation: nil,
            limits: try Self.limits(each, each.cases)))
      },
    ]
    let given = parts.compactMap { $0 }
    guard given.count <= 1 else {
      let expected = "one of `cases`, `fields` and `valueType`"
      throw RPCError(.invalidDefinition, "A property has \(expected).", path: "/params/properties", expected: expected)
    }
    limits.parts = given.first ?? .any
    return limits
  }

  private static func fields(_ list: [ViewModelProtocol.PayloadProperty]) throws -> ValueFields {
    let required = list.filter { $0.defaultValue == nil && !$0.isNullable && $0.type != .json }
    let properties = try list.map { it in
      PropertyDefinition(
        name: it.name, type: .init(it.type), isNullable: it.isNullable, defaultValue: try it.defaultValue.map(value),
        doc: it.doc, derivation: nil, limits: try limits(it, it.cases, it.valueType))
    }
    return ValueFields(properties, required: Set(required.map { Text($0.name) }))
  }

  private static func derivation(_ it: ViewModelProtocol.Derivation, at path: String) throws -> Derivation {
    let expression = try parsed(it.expression, at: "\(path)/expression")
    guard it.each != nil || it.whereClause == nil && it.orderBy == nil else {
      throw RPCError(
        .invalidDefinition, "whereClause and orderBy are for items of `each`.", path: "\(path)/each",
        expected: "a path to a list")
    }
    let each = try it.each.map { list in
      Derivation.Each(
        path: list, condition: try it.whereClause.map { try parsed($0, at: "\(path)/whereClause") },
        order: (it.orderBy ?? []).map { .init(name: $0.field, isDescending: $0.order == .descending) })
    }
    let derivation: Derivation
    do throws(Derivation.InputFault) {
      derivation = try Derivation(expression: expression, inputs: it.inputs ?? [:], each: each)
    } catch { throw RPCError(error, at: error.name == "each" ? path : "\(path)/inputs") }
    try checkMembers(derivation, it.inputs ?? [:], at: path)
    return derivation
  }

  /// Throws if expressions about the objects of a collection have names that no such object has.
  private static func checkMembers(_ derivation: Derivation, _ inputs: [String: String], at path: String) throws {
    guard let each = derivation.each, let collection = derivation.listedCollection,
      case .object(let members)? = try? StateShapes.root.shapes(at: [collection.rawValue, "*"]).first?.resolved
    else { return }
    let names = members.map(\.name) + [Derivation.itemName]
    for (expression, member) in [(derivation.expression, "expression"), (each.condition, "whereClause")] {
      do { try expression?.check(names: names + inputs.keys.sorted()) } catch {
        throw RPCError(error, at: "\(path)/\(member)")
      }
    }
    for (index, order) in each.order.enumerated() where !names.contains(order.name) {
      throw RPCError(
        .unknownField, "The objects have no `\(order.name)`\(Suggestion(for: order.name, among: names).end)",
        path: "\(path)/orderBy/\(index)/field", expected: names.joined(separator: ", "))
    }
  }

  /// - Parameter path: the JSON Pointer of the expression, for errors.
  package static func parsed(_ given: JSONOpaque, at path: String) throws -> Expression {
    do throws(ExpressionError) { return try expression(given) } catch { throw RPCError(error, at: path) }
  }

  /// An expression as text or as CQL2 JSON.
  package static func expression(_ given: JSONOpaque) throws(ExpressionError) -> Expression {
    if let value = given.value { return try Expression(value) }
    // The server itself has written the value, so it parses.
    guard let document = try? JSONDocument(given.jsonText) else { return try Expression("") }
    return try document.read { (value) throws(ExpressionError) in try Expression(value) }
  }

  /// An expression in the form for clients, which is text.
  package static func opaque(_ expression: Expression) -> JSONOpaque { .written { $0.value(expression.text) } }

  package static func property(_ it: PropertyDefinition) -> ViewModelProtocol.PropertyDefinition {
    .init(
      name: it.name, type: it.type.wire, defaultValue: present(it.defaultValue), isNullable: it.isNullable,
      doc: it.doc?.string,
      derived: it.derivation.map {
        .init(
          expression: opaque($0.expression),
          inputs: $0.inputs.isEmpty
            ? nil : Dictionary(uniqueKeysWithValues: $0.inputs.map { ($0.string, $1.string) }),
          each: $0.each?.path, whereClause: ($0.each?.condition).map(opaque),
          orderBy: ($0.each?.order).flatMap { order in
            order.isEmpty
              ? nil : order.map { .init(field: $0.name, order: $0.isDescending ? .descending : .ascending) }
          })
      },
      minimum: it.limits.minimum, maximum: it.limits.maximum, step: it.limits.step, values: values(it.limits),
      cases: cases(it.limits), fields: fields(it.limits), valueType: valueType(it.limits), access: it.access.wire)
  }

  private static func values(_ limits: ValueLimits) -> [JSONOpaque]? {
    limits.values.isEmpty ? nil : limits.values.map(opaque)
  }

  private static func cases(_ limits: ValueLimits) -> [ViewModelProtocol.UnionCase]? {
    guard case .cases(let cases) = limits.parts else { return nil }
    return cases.map { .init(name: $0.name, doc: $0.doc?.string, properties: list($0.fields)) }
  }

  private static func fields(_ limits: ValueLimits) -> [ViewModelProtocol.PayloadProperty]? {
    if case .fields(let fields) = limits.parts { list(fields) } else { nil }
  }

  private static func valueType(_ limits: ValueLimits) -> ViewModelProtocol.ValueType? {
    guard case .values(let each) = limits.parts else { return nil }
    return .init(
      type: each.type.wire, isNullable: each.isNullable, minimum: each.limits.minimum, maximum: each.limits.maximum,
      step: each.limits.step, values: values(each.limits), cases: cases(each.limits), fields: fields(each.limits))
  }

  private static func list(_ fields: ValueFields) -> [ViewModelProtocol.PayloadProperty] {
    fields.properties.map {
      .init(
        name: $0.name, type: $0.type.wire,
        defaultValue: fields.required.contains(Text($0.name)) ? nil : present($0.defaultValue),
        isNullable: $0.isNullable, doc: $0.doc?.string, minimum: $0.limits.minimum, maximum: $0.limits.maximum,
        step: $0.limits.step, values: values($0.limits), cases: cases($0.limits), fields: Self.fields($0.limits), valueType: valueType($0.limits))
    }
  }

  /// An optional value in the form of the wire; null becomes absent.
  package static func present(_ value: Value?) -> JSONOpaque? { value.flatMap { $0.isNull ? nil : opaque($0) } }

  // MARK: View models

  package static func viewModel(_ model: ViewModel, withProperties: Bool = false) -> ViewModelProtocol.ViewModel {
    .init(
      viewModel: model.id.rawValue, revision: model.revision, type: model.type?.rawValue, owner: model.owner?.id,
      author: model.author?.string,
      values: .made { $0.object(model.properties.map { ($0.name, model.values[$0.name] ?? .null) }) },
      properties: withProperties ? model.properties.map(property) : nil)
  }

  // MARK: Bindings

  package static func link(_ link: Link) -> BindingProtocol.BindingLink {
    .init(
      link: link.id.rawValue, revision: link.revision, first: link.first.description, second: link.second.description,
      direction: link.direction.wire, transform: link.transform?.text, inverse: link.inverse?.text,
      owner: link.owner?.id)
  }

  // MARK: The environment

  package static func environmentKey(_ key: EnvironmentKey) -> EnvironmentProtocol.EnvironmentKey {
    .init(
      key: key.id.rawValue, type: key.definition.type.wire, isNullable: key.definition.isNullable,
      defaultValue: present(key.definition.defaultValue), doc: key.definition.doc?.string, isBuiltIn: key.isBuiltIn)
  }

  package static func environmentValue(
    _ key: EnvironmentKey, at node: ObjectReference?, in world: World
  ) -> EnvironmentProtocol.EnvironmentValue {
    let set = world.environmentSource(key.id.rawValue, at: node)
    let source: EnvironmentProtocol.EnvironmentSource =
      switch set?.scope.node {
      case let node?: .node(node.id)
      case nil: set == nil ? .registered : .session
      }
    return .init(
      key: key.id.rawValue, value: present(set?.value ?? key.definition.defaultValue), source: source)
  }

  // MARK: Objects by id

  /// The object with an id; nil, which stands for the session, if no id is given.
  ///
  /// - Parameter member: the name of the param, for errors.
  package static func object(_ id: String?, _ member: String, in world: World) throws -> ObjectReference? {
    guard let id else { return nil }
    guard let object = world.find(id) else {
      throw RPCError(.unknownId, "There is no object \"\(id)\".", path: "/params/\(member)").with("id", id)
    }
    return object
  }

  /// A path in the state tree to one value, which may be absent today but has to be possible.
  ///
  /// - Parameter member: the name of the param, for errors.
  package static func statePath(_ text: String, _ member: String) throws -> ModelPath {
    let path = try path(text, member)
    try checkStatePath(path.names.map(\.string), at: "/params/\(member)")
    return path
  }

  /// Throws `invalidPath` if no value can ever be at a path of the state tree; `*` matches any name.
  ///
  /// - Parameters:
  ///   - path: the JSON Pointer of the param, for errors.
  ///   - followsReferences: whether the path may go on below the id of an object.
  package static func checkStatePath(
    _ names: [String], at path: String, followsReferences: Bool = true
  ) throws {
    do throws(StateShape.Fault) {
      _ = try StateShapes.root.shapes(at: names[...], followsReferences: followsReferences)
    } catch {
      let (message, expected) = error.described(names)
      throw RPCError(.invalidPath, message, path: path, expected: expected)
    }
  }

  /// A JSON Pointer to one value.
  ///
  /// - Parameter member: the name of the param, for errors.
  package static func path(_ text: String, _ member: String) throws -> ModelPath {
    guard let path = ModelPath(pointer: text) else {
      throw RPCError(
        .invalidPath, "\"\(text.prefix(200))\" is not a path to a single value.", path: "/params/\(member)",
        expected: "a JSON Pointer without wildcards, such as /layers/l1/opacity")
    }
    return path
  }
}

/// A definition with limits, on the wire.
private protocol LimitedValues {
  var minimum: Double? { get }
  var maximum: Double? { get }
  var step: Double? { get }
  var values: [JSONOpaque]? { get }
  var fields: [ViewModelProtocol.PayloadProperty]? { get }
}

extension ViewModelProtocol.PropertyDefinition: LimitedValues {}
extension ViewModelProtocol.PayloadProperty: LimitedValues {}
extension ViewModelProtocol.ValueType: LimitedValues {}
