// Members of the objects of the state tree. Each is declared once, with its object's type; its state path, the params that set
// it, and its form in documents are derived.

extension Definition {
  /// Adds derived elements; explicitly defined ones are unchanged.
  mutating func expandMembers(_ problems: Problems) {
    let objects = typesByName
    func members(_ name: String, at path: Path) -> [Property] {
      guard let type = objects[name], type.collection != nil else {
        problems.report(path / "members", "there is no type \(name) with a collection")
        return []
      }
      return type.properties
    }
    for index in domains.indices {
      let explicit = Set(domains[index].statePaths.map(\.path))
      let derived = domains[index].types.flatMap(Self.statePaths).filter { !explicit.contains($0.path) }
      domains[index].statePaths = derived + domains[index].statePaths
      for number in domains[index].methods.indices {
        let method = domains[index].methods[number]
        guard let name = method.members, case .properties(let own) = method.params else { continue }
        domains[index].methods[number].params = .properties(
          own + Self.params(members(name, at: method.about.path), beside: own, of: method))
      }
      for number in domains[index].types.indices {
        let type = domains[index].types[number]
        guard let name = type.members, case .object(let own) = type.kind else { continue }
        let saved = members(name, at: type.about.path).filter(\.isInDocuments)
        domains[index].types[number].kind = .object(own + Self.optional(saved, beside: own))
      }
    }
  }

  /// The command that sets members of objects of a type, by name.
  func update(of type: TypeDefinition) -> Method? {
    methods.first { $0.members == type.name && $0.shape == .command && Names.verb($0.name) != "create" }
  }

  /// The members that can be set by a method's params.
  func settableMembers(of method: Method) -> [Property] {
    guard let name = method.members else { return [] }
    let settable = Set(typesByName[name]?.properties.filter { $0.settable != nil }.map(\.name) ?? [])
    return method.params.properties.filter { settable.contains($0.name) }
  }

  private static func statePaths(of type: TypeDefinition) -> [StatePath] {
    guard let collection = type.collection else { return [] }
    let object = StatePath(
      path: "/\(collection)/*", domain: type.domain, about: type.about, type: .named(type.name), coalescing: .every)
    return [object]
      + type.properties.compactMap { property in
        property.coalescing.map {
          StatePath(
            path: object.path + "/" + property.name, domain: type.domain, about: property.about, type: property.type,
            coalescing: $0)
        }
      }
  }

  private static func params(_ members: [Property], beside own: [Property], of method: Method) -> [Property] {
    let settable = members.compactMap { member in
      member.settable.map { type in
        var param = member
        param.type = type
        return param
      }
    }
    // A new object has no members to clear.
    let clearable = Names.verb(method.name) == "create" ? [] : members.filter(\.isClearable)
    guard let first = clearable.first else { return optional(settable, beside: own) }
    var about = first.about
    about.doc = "Members to set to null: " + clearable.map { "`\($0.name)`" }.joined(separator: ", ") + "."
    let clear = Property(
      name: "clear", type: .array(.named("MemberName"), Constraints()), about: about, isOptional: true)
    return optional(settable + [clear], beside: own)
  }

  /// Members as optional properties; an absent one means unchanged.
  private static func optional(_ members: [Property], beside own: [Property]) -> [Property] {
    let explicit = Set(own.map(\.name))
    return members.filter { !explicit.contains($0.name) }.map { member in
      var property = member
      property.isOptional = true
      property.defaultValue = nil
      property.coalescing = nil
      return property
    }
  }
}
