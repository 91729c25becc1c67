// Members of objects: one line per member in the table of its kind, from which state tree, deltas, results, undo,
// documents and updates follow.

/// The traits of a member in the protocol. `protocol-gen` writes ``Collection/traits(of:)`` from the schema.
public struct MemberTraits: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Results of `get`, `list`, `create` and `update` contain it.
  public static let returned = MemberTraits(rawValue: 1)
  /// Its changes are published.
  public static let observed = MemberTraits(rawValue: 2)
  public static let settable = MemberTraits(rawValue: 4)
  /// `clear` sets it to null, or to its default.
  public static let clearable = MemberTraits(rawValue: 8)
  /// Documents contain it as a member of the object.
  public static let written = MemberTraits(rawValue: 16)
  /// Changing it modifies the document.
  public static let modifies = MemberTraits(rawValue: 32)
  /// The id of an object, or several: a path may go on into that object.
  public static let refers = MemberTraits(rawValue: 64)
}

/// A member of objects of one kind. A class, since every command walks tables of them: a copy costs one reference count.
///
///     Member(.kind) { $0.kind }
///     Member(.name, { $0.name }, set: { $0.name = $1 })
///     Member(.labels, default: [], { $0.portrayal.labels }, set: { $0.portrayal.labels = $1 })
///     Member(derived: .graphicCount) { overlay, _ in overlay.store.count.memberValue }
public final class Member<Object: Entity>: Sendable {
  typealias Difference = @Sendable (_ old: Object, _ new: Object) -> Bool
  typealias Condition = @Sendable (Object) -> Bool
  private typealias Setting = @Sendable (inout Object, MemberValue?, _ path: String) throws(ModelError) -> Bool

  /// Nil for a member that never changes and that no command sets.
  let property: Property?
  public let name: String
  public let traits: MemberTraits
  public let shape: MemberShape
  private let read: Reading
  /// Compares two states of an object; nil if changes are recorded elsewhere, as for values derived from other objects.
  let differs: Difference?
  private let put: Setting?
  /// Sets the member to that of another state; nil if commands cannot set it.
  let copy: (@Sendable (_ object: inout Object, _ other: Object) -> Void)?
  /// Whether the value is a default that documents leave out.
  private let isDefault: Condition?
  /// Whether an object has the member; nil if all objects do.
  private let isPresent: Condition?

  private enum Reading: Sendable {
    case own(@Sendable (Object) -> MemberValue)
    case derived(@Sendable (Object, World) -> MemberValue)
  }

  private init(
    _ property: Property?, name: String, shape: MemberShape, _ read: Reading, differs: Difference? = nil,
    put: Setting? = nil, copy: (@Sendable (inout Object, Object) -> Void)? = nil, isDefault: Condition? = nil,
    isPresent: Condition? = nil
  ) {
    self.property = property
    self.name = name
    self.shape = shape
    self.read = read
    self.put = put
    self.copy = copy
    self.isDefault = isDefault
    self.isPresent = isPresent
    traits = property.map(Object.collection.traits) ?? []
    self.differs = traits.contains(.observed) ? differs : nil
  }

  /// Makes a member that never changes, of objects that the protocol describes as JSON.
  convenience init<V: MemberReadable>(constant name: String, _ get: @escaping @Sendable (Object) -> V) {
    self.init(nil, name: name, shape: V.shape, .own { get($0).memberValue })
  }

  /// Makes a member that commands cannot set directly.
  convenience init<V: MemberReadable>(_ property: Property, _ get: @escaping @Sendable (Object) -> V) {
    self.init(
      property, name: property.rawValue, shape: V.shape, .own { get($0).memberValue },
      differs: { get($0).differs(from: get($1)) })
  }

  /// Makes a member that commands can set.
  ///
  /// - Parameter default: the value after `clear`, if that is not null. Documents leave it out.
  convenience init<V: MemberSettable>(
    _ property: Property, default: V? = nil, _ get: @escaping @Sendable (Object) -> V,
    set: @escaping @Sendable (inout Object, V) -> Void
  ) {
    let cleared = `default` ?? V.null
    let put: Setting = { (object, value, path) throws(ModelError) in
      guard let new = try value.map({ (value) throws(ModelError) in try V.read(value, at: path) }) ?? cleared else {
        return false
      }
      set(&object, new)
      return true
    }
    var isDefault: Condition?
    if let `default` { isDefault = { !get($0).differs(from: `default`) } }
    self.init(
      property, name: property.rawValue, shape: V.shape, .own { get($0).memberValue },
      differs: { get($0).differs(from: get($1)) }, put: put, copy: { set(&$0, get($1)) }, isDefault: isDefault)
  }

  /// Makes a member whose value depends on other objects, too.
  ///
  /// - Parameter differs: compares the part that depends on the object itself; other changes are recorded elsewhere.
  convenience init(
    _ property: Property, differs: @escaping Difference, _ get: @escaping @Sendable (Object, World) -> MemberValue
  ) {
    self.init(property, name: property.rawValue, shape: .whole, .derived(get), differs: differs)
  }

  /// Makes a member that depends only on contents or other objects. Its changes are recorded elsewhere.
  convenience init(derived property: Property, _ get: @escaping @Sendable (Object, World) -> MemberValue) {
    self.init(property, name: property.rawValue, shape: .whole, .derived(get))
  }

  /// Limits the member to objects that satisfy a condition; others do not have it.
  func only(where isPresent: @escaping Condition) -> Member {
    Member(
      property, name: name, shape: shape, read, differs: differs, put: put, copy: copy, isDefault: isDefault,
      isPresent: isPresent)
  }

  var isSettable: Bool { put != nil }

  public func isMember(of object: Object) -> Bool { isPresent?(object) ?? true }

  /// The value of the member; nil if the object does not have it.
  public func value(of object: Object, in world: World) -> MemberValue? {
    guard isMember(of: object) else { return nil }
    return switch read {
    case .own(let get): get(object)
    case .derived(let get): get(object, world)
    }
  }

  /// The stored value; nil if the object does not have the member, or if the value depends on other objects.
  func ownValue(of object: Object) -> MemberValue? {
    if isMember(of: object), case .own(let get) = read { get(object) } else { nil }
  }

  /// The value in documents; nil for null and for values that they leave out.
  public func savedValue(of object: Object, in world: World) -> MemberValue? {
    guard traits.contains(.written), isDefault?(object) != true, let value = value(of: object, in: world) else {
      return nil
    }
    return value.isNull ? nil : value
  }

  /// - Parameter value: nil clears.
  /// - Throws: if the value is not valid by itself.
  func set(_ value: MemberValue?, of object: inout Object) throws(ModelError) {
    guard try put?(&object, value, "/" + name) == true else { throw .unknownMember(name, allowed: []) }
  }
}

extension Array {
  /// Limits the members to objects that satisfy a condition.
  func only<Object>(where isPresent: @escaping @Sendable (Object) -> Bool) -> [Member<Object>]
  where Element == Member<Object> { map { $0.only(where: isPresent) } }
}
