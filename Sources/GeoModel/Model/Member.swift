// A member of an object: one line in the table of its kind. State tree, deltas, results, undo, documents and the commands that set
// members read that line.

/// What the protocol says of a member; `protocol-gen` writes ``Collection/traits(of:)`` from the type that lists it.
public struct MemberTraits: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Results of `get`, `list`, `create` and `update` have it.
  public static let returned = MemberTraits(rawValue: 1)
  /// Its changes are published.
  public static let observed = MemberTraits(rawValue: 2)
  public static let settable = MemberTraits(rawValue: 4)
  /// `clear` sets it to null, or to its default.
  public static let clearable = MemberTraits(rawValue: 8)
  /// Documents have it as a member of the object.
  public static let written = MemberTraits(rawValue: 16)
  /// A change of it makes the document another.
  public static let modifies = MemberTraits(rawValue: 32)
}

/// A member of objects of one kind.
///
///     Member(.name) { $0.name } set: { $0.name = $1 }
///     Member(.labels, default: []) { $0.portrayal.labels } set: { $0.portrayal.labels = $1 }
///     Member(derived: .graphicCount) { overlay, _ in overlay.store.count.memberValue }
public struct Member<Object: Entity>: Sendable {
  public let property: Property
  public let name: String
  public let traits: MemberTraits
  public let shape: MemberShape
  private let read: Reading
  /// Whether two states of an object differ in it; nil for what is recorded otherwise, such as what follows from other objects.
  let differs: (@Sendable (Object, Object) -> Bool)?
  private var put: (@Sendable (inout Object, MemberValue?, String) throws(ModelError) -> Bool)?
  /// Whether documents leave it out.
  private var isDefault: @Sendable (Object) -> Bool = { _ in false }
  private var isPresent: @Sendable (Object) -> Bool = { _ in true }

  private enum Reading: Sendable {
    case own(@Sendable (Object) -> MemberValue)
    case derived(@Sendable (Object, World) -> MemberValue)
  }

  private init(
    _ property: Property, shape: MemberShape = .whole, differs: (@Sendable (Object, Object) -> Bool)?,
    _ read: Reading
  ) {
    self.property = property
    self.shape = shape
    self.read = read
    name = property.rawValue
    traits = Object.collection.traits(of: property)
    self.differs = traits.contains(.observed) ? differs : nil
  }

  /// A member that commands do not set by itself.
  init<V: MemberReadable>(_ property: Property, _ get: @escaping @Sendable (Object) -> V) {
    self.init(property, shape: V.shape, differs: { get($0).differs(from: get($1)) }, .own { get($0).memberValue })
  }

  /// A member that commands set.
  ///
  /// - Parameter default: what `clear` sets where that is not null; documents leave it out.
  init<V: MemberSettable>(
    _ property: Property, default: V? = nil, _ get: @escaping @Sendable (Object) -> V,
    set: @escaping @Sendable (inout Object, V) -> Void
  ) {
    self.init(property, get)
    let cleared = `default` ?? V.null
    put = { (object, value, path) throws(ModelError) in
      guard let new = try value.map({ (value) throws(ModelError) in try V.read(value, at: path) }) ?? cleared else {
        return false
      }
      set(&object, new)
      return true
    }
    if let `default` { isDefault = { !get($0).differs(from: `default`) } }
  }

  /// A member whose value follows from other objects as well.
  ///
  /// - Parameter differs: whether the object itself has become another in it; other changes are recorded where they are made.
  init(
    _ property: Property, differs: @escaping @Sendable (Object, Object) -> Bool,
    _ get: @escaping @Sendable (Object, World) -> MemberValue
  ) {
    self.init(property, differs: differs, .derived(get))
  }

  /// A member that follows from contents or from other objects alone: its changes are recorded where they are made.
  init(derived property: Property, _ get: @escaping @Sendable (Object, World) -> MemberValue) {
    self.init(property, differs: nil, .derived(get))
  }

  /// The same of some objects only; others do not have it.
  func only(where isPresent: @escaping @Sendable (Object) -> Bool) -> Member {
    var result = self
    result.isPresent = isPresent
    return result
  }

  var isSettable: Bool { put != nil }

  public func isMember(of object: Object) -> Bool { isPresent(object) }

  /// Nil where the object has no such member.
  public func value(of object: Object, in world: World) -> MemberValue? {
    guard isPresent(object) else { return nil }
    return switch read {
    case .own(let get): get(object)
    case .derived(let get): get(object, world)
    }
  }

  /// The value of a member that commands set; nil where the object has no such member, and for one that follows from others.
  func ownValue(of object: Object) -> MemberValue? {
    if isPresent(object), case .own(let get) = read { get(object) } else { nil }
  }

  /// As documents have it: nil for null and for what they leave out.
  public func savedValue(of object: Object, in world: World) -> MemberValue? {
    guard traits.contains(.written), !isDefault(object), let value = value(of: object, in: world) else { return nil }
    return value.isNull ? nil : value
  }

  /// - Parameter value: nil clears.
  /// - Throws: what is wrong with the value by itself.
  func set(_ value: MemberValue?, of object: inout Object) throws(ModelError) {
    guard try put?(&object, value, "/" + name) == true else { throw .unknownMember(name, allowed: []) }
  }
}

extension Array {
  /// The same members, of some objects only.
  func only<Object>(where isPresent: @escaping @Sendable (Object) -> Bool) -> [Member<Object>]
  where Element == Member<Object> { map { $0.only(where: isPresent) } }
}
