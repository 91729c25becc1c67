// The JSON Schema of a file format, for editors and for validation without a server.

struct FileSchema {
  let definition: Definition
  /// The type of the whole file.
  let root: String

  var tree: Tree {
    let schemas = Schemas(definition: definition)
    guard let rootType = definition.typesByName[root] else { return .object([]) }
    let used = definition.reachable(from: [root])
    let parts = definition.types.filter { $0.name != root && used.contains($0.name) }
    let head = Tree.object([
      "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
      "$id": .string("https://geomodel-server.invalid/protocol/\(rootType.domain).schema.json"),
    ])
    let definitions = Tree.Member(
      name: "$defs", value: .object(parts.map { .init(name: $0.name, value: Self.local(schemas.schema($0))) }))
    return .object(head.members + Self.local(schemas.schema(rootType)).members + [definitions])
  }

  /// Replaces references to OpenRPC's components by references to `$defs`.
  private static func local(_ tree: Tree) -> Tree {
    switch tree {
    case .string(let text) where text.hasPrefix("#/components/schemas/"):
      .string("#/$defs/" + text.dropFirst("#/components/schemas/".count))
    case .array(let elements): .array(elements.map(local))
    case .object(let members): .object(members.map { .init(name: $0.name, value: local($0.value)) })
    default: tree
    }
  }
}
