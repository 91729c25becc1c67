// Checks of types: each is used, and none contains itself without end.

extension Checks {
  func unusedTypes() {
    var waiting: [String] = ["Meta"] + definition.domains.compactMap(\.file)
    func add(_ payload: Payload) {
      switch payload {
      case .properties(let list): waiting += list.flatMap(\.type.names)
      case .type(let type): waiting += type.names
      }
    }
    for method in definition.methods {
      add(method.params)
      add(method.result)
    }
    for notification in definition.notifications { add(notification.params) }
    for path in definition.statePaths { waiting += path.type.names }
    for error in definition.errors { waiting += error.data.flatMap(\.type.names) }
    var used: Set<String> = []
    while let name = waiting.popLast() {
      guard used.insert(name).inserted, let type = types[name] else { continue }
      waiting += type.properties.flatMap(\.type.names)
      if case .opaque(let schema) = type.kind { waiting += Self.references(schema) }
    }
    for type in definition.types where !used.contains(type.name) {
      problems.report(type.about.place, "type \(type.name) is never used")
    }
  }

  /// The types referenced by a JSON Schema.
  static func references(_ schema: Tree) -> [String] {
    let prefix = "#/components/schemas/"
    return schema.members.flatMap { member -> [String] in
      if member.name == "$ref", let target = member.value.string, target.hasPrefix(prefix) {
        return [String(target.dropFirst(prefix.count))]
      }
      return references(member.value)
    } + schema.elements.flatMap(references)
  }

  /// An object that contains itself could never end; a union can, and is `indirect` in Swift.
  func recursion() {
    for type in definition.types {
      guard case .object = type.kind else { continue }
      if Self.contains(
        type.name, itself: type.name, types, through: { if case .object? = types[$0]?.kind { true } else { false } })
      {
        problems.report(type.about.place, "\(type.name) contains itself; put an array, a map or a union between")
      }
    }
  }

  /// The unions that contain themselves.
  static func indirectUnions(_ definition: Definition) -> Set<String> {
    let types = Dictionary(definition.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return Set(
      definition.types.filter { type in
        guard case .union = type.kind else { return false }
        return contains(type.name, itself: type.name, types, through: { _ in true })
      }.map(\.name))
  }

  private static func contains(
    _ start: String, itself target: String, _ types: [String: TypeDefinition], through isOpen: (String) -> Bool
  ) -> Bool {
    var waiting = [start]
    var seen: Set<String> = []
    while let name = waiting.popLast() {
      for property in types[name]?.properties ?? [] {
        guard case .named(let next) = property.type else { continue }
        if next == target { return true }
        if isOpen(next), seen.insert(next).inserted { waiting.append(next) }
      }
    }
    return false
  }
}
