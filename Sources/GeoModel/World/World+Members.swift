// Setting members: one function for all kinds of objects, which checks before it changes.

import Geometry

/// A request to set or clear a member.
public struct MemberChange: Sendable {
  public let name: String
  /// Nil to clear.
  public let value: MemberValue?

  public init(_ name: String, _ value: MemberValue?) {
    self.name = name
    self.value = value
  }

  public init(_ property: Property, _ value: (any MemberReadable)?) {
    self.init(property.rawValue, value?.memberValue)
  }
}

extension World {
  /// Sets members of an object.
  ///
  /// - Parameter finish: checks the new state as a whole, given the old state and the members that were set.
  /// - Throws: also if the object does not have a member or cannot clear it; the world is then unchanged.
  mutating func update<E: Entity>(
    _ id: ID<E>, _ changes: [MemberChange],
    _ finish: (_ new: inout E, _ old: E, _ members: [Member<E>]) throws(ModelError) -> Void
  ) throws(ModelError) {
    let old = try self[keyPath: E.registry].require(id)
    let members = try changes.map { (change) throws(ModelError) in try old.settableMember(change) }
    try self.change(id) { (object) throws(ModelError) in
      for (member, change) in zip(members, changes) { try member.set(change.value, of: &object) }
      try finish(&object, old, members)
    }
  }
}

extension Entity {
  /// A copy of the object with members set; the world is unchanged.
  func setting(_ changes: [MemberChange]) throws(ModelError) -> Self {
    var result = self
    for change in changes { try settableMember(change).set(change.value, of: &result) }
    return result
  }

  fileprivate func settableMember(_ change: MemberChange) throws(ModelError) -> Member<Self> {
    let wanted: MemberTraits = change.value == nil ? .clearable : .settable
    guard let member = Self.members.first(where: { $0.traits.contains(wanted) && Text($0.name) == Text(change.name) }),
      change.value != nil || member.isMember(of: self)
    else {
      let allowed = Self.members.filter { $0.traits.contains(wanted) && $0.isMember(of: self) }
      throw .unknownMember(change.name, allowed: allowed.map(\.name))
    }
    guard member.isMember(of: self) else { throw refusal(of: member.name) }
    return member
  }
}
