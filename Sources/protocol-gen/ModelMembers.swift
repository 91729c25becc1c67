// Tables of members for the model: names, and which members of each kind of object are published, saved and settable.

struct ModelMembers {
  let definition: Definition

  func file() -> String {
    var lines = Lines()
    lines.add(SwiftTypes.header)
    lines.add("/// A member of an object in the state tree, by its name there.")
    lines.block("public enum Property: String, CaseIterable, Hashable, Sendable {") { lines in
      lines.list("case", names.map(Names.swiftCase), "", width: 104)
    }
    lines.add()
    lines.block("extension Collection {") { lines in
      lines.add("/// What the protocol says of a member of these objects; empty for one that it does not list.")
      lines.block("package func traits(of property: Property) -> MemberTraits {") { lines in
        lines.add("switch self {")
        for type in objects { traits(type, &lines) }
        lines.add("default: []")
        lines.add("}")
      }
    }
    return lines.text
  }

  /// The commands that set members of objects by name, for writing by path. Their handlers are in `<Domain>Service`.
  func updates() -> String {
    var lines = Lines(imports: ["GeoModel", "Handlers"])
    lines.block("extension PathWriting {") { lines in
      lines.add("/// The command that sets members of the objects of a collection by name.")
      lines.block("static let updates: [Collection: Command] = [", "]") { lines in
        for type in objects {
          guard let collection = type.collection, let method = definition.update(of: type) else { continue }
          let service = Names.upperCamel(method.domain) + "Service"
          lines.add(".\(collection): Command(\(service).\(Names.swiftCase(Names.verb(method.name)))),")
        }
      }
    }
    return lines.text
  }

  private var objects: [TypeDefinition] { definition.types.filter { $0.collection != nil } }

  /// All members except the id, which always comes first, and the revision.
  private func members(_ type: TypeDefinition) -> [Property] {
    type.properties.dropFirst().filter { $0.name != "revision" }
  }

  private var names: [String] {
    var seen: Set<String> = []
    let paths = definition.statePaths.map { $0.path.split(separator: "/").map(String.init) }
    let all = objects.flatMap { members($0).map(\.name) } + paths.flatMap { $0.dropFirst() }.filter { $0 != "*" }
    return all.filter { seen.insert($0).inserted }
  }

  private func traits(_ type: TypeDefinition, _ lines: inout Lines) {
    guard let collection = type.collection else { return }
    var groups: [(traits: String, names: [String])] = []
    for member in members(type) {
      let traits = Self.traits(member)
      let name = "." + Names.swiftCase(member.name)
      if let index = groups.firstIndex(where: { $0.traits == traits }) {
        groups[index].names.append(name)
      } else {
        groups.append((traits, [name]))
      }
    }
    lines.add("case .\(collection):")
    lines.block("  switch property {", "  }") { lines in
      for group in groups {
        let rows = packed(group.names, width: 100)
        for (index, row) in rows.enumerated() {
          lines.add((index == 0 ? "case " : "  ") + row + (index == rows.count - 1 ? ":" : ""))
        }
        lines.add("  [\(group.traits)]")
      }
      lines.add("default: []")
    }
  }

  private static func traits(_ member: Property) -> String {
    let all: [(String, Bool)] = [
      (".observed", member.coalescing != nil), (".settable", member.settable != nil),
      (".clearable", member.isClearable),
      (".written", member.isInDocuments),
      (".modifies", member.saved == .written || member.saved == .elsewhere),
      (".refers", member.type.names == ["ObjectId"]),
    ]
    return ([".returned"] + all.filter(\.1).map(\.0)).joined(separator: ", ")
  }
}
