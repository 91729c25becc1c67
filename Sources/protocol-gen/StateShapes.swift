// Swift tables of the members that values of the state tree may have, to refuse paths that can never lead to a value.

struct StateShapes {
  let definition: Definition
  let imports: [String]

  func file() -> String {
    var lines = Lines(imports: imports.filter { $0 != "JSON" })
    lines.add("/// The members that values of the state tree may have: of its root, and of the types in it.")
    lines.block("package enum StateShapes {") { lines in
      add("root", members(at: []), &lines)
      for name in collections { add(name, members(at: [name, "*"]), &lines) }
      for type in types { add(Names.lowerCamel(type.name), typeMembers(type), &lines) }
    }
    return lines.text
  }

  private func add(_ name: String, _ members: [String], _ lines: inout Lines) {
    lines.list("package static let \(Names.swiftCase(name)): StateShape = .object([", members, "])", width: 110)
  }

  /// The collections whose objects have members of the definition.
  private var collections: [String] { definition.kinds.map(\.collection).filter { !members(at: [$0, "*"]).isEmpty } }

  private func entry(at path: [String]) -> StatePath? {
    definition.statePaths.first { $0.path == "/" + path.joined(separator: "/") }
  }

  /// The names that continue a path in the list of state paths, each once.
  private func next(_ path: [String]) -> [String] {
    var seen: Set<String> = []
    return definition.statePaths.compactMap { entry in
      let names = entry.path.dropFirst().split(separator: "/").map(String.init)
      return names.count > path.count && names.starts(with: path) ? names[path.count] : nil
    }.filter { seen.insert($0).inserted }
  }

  private func members(at path: [String]) -> [String] {
    let entry = entry(at: path)
    var result: [(name: String, shape: String)] = entry?.members.map { ($0, ".any") } ?? []
    if case .named(let name) = entry?.type, let type = definition.typesByName[name], type.collection != nil {
      result = type.properties.filter { $0.name != "revision" }.map { ($0.name, shape($0.type, reference: ".reference")) }
    }
    for name in next(path) where name != "*" && !result.contains(where: { $0.name == name }) {
      result.append((name, shape(at: path + [name])))
    }
    return result.map { "(\"\($0.name)\", \($0.shape))" }
  }

  private func shape(at path: [String]) -> String {
    if path.count == 2, path[1] == "*", collections.contains(path[0]) { return named(path[0]) }
    guard next(path).isEmpty else {
      return next(path) == ["*"]
        ? ".map(\(shape(at: path + ["*"])))" : ".object([\(members(at: path).joined(separator: ", "))])"
    }
    return entry(at: path).map { shape($0.type) } ?? ".any"
  }

  private func named(_ name: String) -> String { ".named { \(Names.swiftCase(name)) }" }

  /// - Parameter reference: the shape of an id. Paths go on only below the ids that are members of objects.
  private func shape(_ type: TypeExpression, reference: String = ".string") -> String {
    switch type {
    case .string: ".string"
    case .number: ".number"
    case .integer: ".integer"
    case .boolean: ".boolean"
    case .json: ".any"
    case .array(let element, _): ".list(\(shape(element, reference: reference)))"
    case .map(let element): ".map(\(shape(element, reference: reference)))"
    case .named("ObjectId"): reference
    case .named(let name): definition.typesByName[name].map(shape) ?? ".any"
    }
  }

  private func shape(_ type: TypeDefinition) -> String {
    switch type.kind {
    case .object, .union: named(Names.lowerCamel(type.name))
    case .enumeration: ".string"
    case .scalar(let base, _): shape(base)
    case .opaque: ".any"
    }
  }

  /// The members of all variants: which one a value will be is not known.
  private func typeMembers(_ type: TypeDefinition) -> [String] {
    var shapes: [String: Set<String>] = [:]
    var names: [String] = []
    var all = type.properties.map { ($0.name, shape($0.type)) }
    if case .union = type.kind { all.insert(("type", ".string"), at: 0) }
    for (name, shape) in all {
      if shapes[name] == nil { names.append(name) }
      shapes[name, default: []].insert(shape)
    }
    return names.map { name in
      let found = shapes[name] ?? []
      return "(\"\(name)\", \(found.count == 1 ? found.first ?? ".any" : ".any"))"
    }
  }

  /// The types of values in the tree that have members.
  private var types: [TypeDefinition] {
    let start = definition.types.filter { $0.collection != nil }
    let names = start.flatMap { $0.properties.flatMap(\.type.names) } + definition.statePaths.flatMap(\.type.names)
    let found = definition.reachable(from: names.filter { definition.typesByName[$0]?.collection == nil })
    return definition.types.filter { type in
      guard found.contains(type.name), type.collection == nil else { return false }
      switch type.kind {
      case .object, .union: return true
      case .enumeration, .scalar, .opaque: return false
      }
    }
  }
}
