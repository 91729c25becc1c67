// The protocol as an OpenRPC 1.3.2 document, for other tools and for rpc.discover.

struct OpenRPC {
  let definition: Definition
  let schemas: Schemas

  init(definition: Definition) {
    self.definition = definition
    schemas = Schemas(definition: definition)
  }

  var document: Tree {
    .object([
      "openrpc": .string("1.3.2"),
      "info": .object([
        "title": .string("geomodel-server"), "version": .string(definition.version),
        "description": .string(
          "A headless server that owns maps, scenes, views and overlays. Any client drives, observes and cancels through it, by JSON-RPC 2.0 on standard input and output."
        ),
        "x-hash": .string(definition.hash),
      ]),
      "methods": .array(definition.methods.map(method)),
      "components": .object([
        "schemas": .object(definition.types.map { .init(name: $0.name, value: schemas.schema($0)) }),
        "errors": .object(definition.errors.map { .init(name: $0.kind, value: error($0)) }),
      ]),
      "x-commonErrors": .strings(definition.commonErrors),
      "x-notifications": .array(definition.notifications.map(notification)),
      "x-state": .array(definition.statePaths.map(statePath)),
    ])
  }

  private func method(_ method: Method) -> Tree {
    let about = method.about
    // Inline instead of $ref: the specification allows both, but existing readers only support inline errors.
    let errors = definition.errors.filter { method.errors.contains($0.kind) }.map { error in
      Tree.object([
        "code": .integer(error.code), "message": .string(Prose.summary(error.about.doc)),
        "data": .object(["kind": .string(error.kind)]),
      ])
    }
    return .object([
      "name": .string(method.name), "summary": .string(Prose.summary(about.doc)), "description": .string(about.doc),
      "tags": .array([.object(["name": .string(method.domain)])]), "paramStructure": .string("by-name"),
      "params": .array(descriptors(method.params, extra: [Examples.meta(since: about)])),
      "result": .object(["name": .string(Prose.resultName(method)), "schema": schemas.schema(method.result)]),
      "x-part": method.part.isEmpty
        ? nil
        : .object(["name": .string(Prose.partName(method)), "schema": schemas.schema(.properties(method.part))]),
      "errors": errors.isEmpty ? nil : .array(errors),
      "examples": .array([
        .object([
          "name": .string("example"), "params": .array(values(method.exampleParams)),
          "result": .object(["name": .string("result"), "value": method.exampleResult ?? .null]),
        ])
      ]),
      "deprecated": about.deprecated.map { _ in .bool(true) }, "x-shape": .string(method.shape.rawValue),
      "x-since": .string(about.since), "x-experimental": about.isExperimental ? .bool(true) : nil,
    ])
  }

  /// Optional params come last, as OpenRPC requires.
  private func descriptors(_ payload: Payload, extra: [Property]) -> [Tree] {
    let properties = payload.properties + extra
    return (properties.filter { !$0.mayBeAbsent } + properties.filter(\.mayBeAbsent)).map { property in
      .object([
        "name": .string(property.name), "description": .string(property.about.doc),
        "required": .bool(!property.mayBeAbsent),
        "schema": schemas.schema(
          property.type, property.constraints,
          annotations: ["default": property.defaultValue, "examples": property.example.map { .array([$0]) }]),
        "deprecated": property.about.deprecated.map { _ in .bool(true) },
        "x-unit": property.unit.map { .string($0) },
      ])
    }
  }

  private func values(_ params: Tree?) -> [Tree] {
    (params?.members ?? []).map { .object(["name": .string($0.name), "value": $0.value]) }
  }

  private func notification(_ item: Notification) -> Tree {
    .object([
      "name": .string(item.name), "description": .string(item.about.doc), "direction": .string(item.direction.rawValue),
      "coalescing": item.coalescing.map { .string($0.rawValue) }, "paramStructure": .string("by-name"),
      "params": .array(descriptors(item.params, extra: [])), "example": item.exampleParams,
      "x-since": .string(item.about.since), "x-experimental": item.about.isExperimental ? .bool(true) : nil,
    ])
  }

  private func statePath(_ item: StatePath) -> Tree {
    .object([
      "path": .string(item.path), "description": .string(item.about.doc), "schema": schemas.schema(item.type),
      "coalescing": .string(item.coalescing.rawValue),
    ])
  }

  private func error(_ error: ErrorDefinition) -> Tree {
    let kind = Tree.Member(name: "kind", value: .string(error.kind))
    let example = (error.example?.members ?? []).filter { $0.name != "kind" }
    return .object([
      "code": .integer(error.code), "message": .string(Prose.summary(error.about.doc)),
      "data": .object([kind] + example),
      "x-data": error.data.isEmpty ? nil : schemas.object(error.data), "x-since": .string(error.about.since),
    ])
  }

  // MARK: Swift

  /// The compact document as a Swift literal of many lines, so that a change of the protocol changes only a few of them.
  var swift: String {
    let text = document.compact
    var marks = "#"
    while text.contains("\\" + marks) || text.contains("\"\"\"" + marks) { marks += "#" }
    return """
      \(SwiftTypes.header)
      /// What rpc.discover answers.
      public enum OpenRPCDocument {
        /// One line of JSON.
        public static let text: StaticString = \(marks)\"""
      \(text.replacing("},", with: "},\\\(marks)\n"))
      \"""\(marks)
      }

      """
  }
}
