// The tables of the members of bindings, links, types of view models and the environment.

extension ViewModelType {
  public static let members: [Member<ViewModelType>] = [
    Member(constant: "doc") { $0.doc },
    Member(constant: "properties") { $0.properties },
  ]
}

extension Binding {
  public static let members: [Member<Binding>] = [
    Member(constant: "path") { $0.path },
    Member(constant: "constant") { $0.constant },
    Member(constant: "access") { $0.access },
    Member(constant: "owner") { $0.owner?.id },
  ]

  /// Permitted operations, by their names on the wire.
  public enum Access: String, MemberSettable { case readOnly, readWrite }

  public var access: Access { isReadOnly || path == nil ? .readOnly : .readWrite }

  var constant: Value? { if case .constant(let value) = target { value } else { nil } }
}

extension Link {
  /// Which ends of a link follow the other end.
  public enum Direction: String, MemberSettable { case twoWay, firstToSecond }

  public var direction: Direction { isTwoWay ? .twoWay : .firstToSecond }

  public static let members: [Member<Link>] = [
    Member(constant: "first") { $0.first },
    Member(constant: "second") { $0.second },
    Member(constant: "direction") { $0.direction },
    Member(constant: "transform") { $0.transform },
    Member(constant: "inverse") { $0.inverse },
    Member(constant: "owner") { $0.owner?.id },
  ]
}

extension EnvironmentKey {
  public static let members: [Member<EnvironmentKey>] = [
    Member(constant: "type") { $0.definition.type.rawValue },
    Member(constant: "isNullable") { $0.definition.isNullable },
    Member(constant: "defaultValue") { $0.definition.defaultValue },
    Member(constant: "doc") { $0.definition.doc },
    Member(constant: "isBuiltIn") { $0.isBuiltIn },
  ]
}

extension EnvironmentScope {
  public static let members: [Member<EnvironmentScope>] = [
    Member(.values) { $0.values },
    Member(.objects) { $0.objects },
    Member(derived: .environment) { .value($1.environment(seenBy: $0.node)) }.only { $0.node == nil },
  ]
}
