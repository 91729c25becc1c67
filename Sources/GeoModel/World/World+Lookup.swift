// Finding objects of any kind.

extension World {
  /// Revision of the last change of an object; nil if there is no such object.
  public func revision(of object: ObjectReference) -> Int? { object.collection.kind.revision(of: object.id, in: self) }

  /// The number of an object in the order of creation, which distinguishes it from a later one with the same id.
  func number(of object: ObjectReference) -> Int? { object.collection.kind.number(of: object.id, in: self) }

  /// The members of an object; nil if there is no such object.
  public func members(of object: ObjectReference) -> ObjectMembers? {
    object.collection.kind.members(of: object.id, in: self)
  }

  /// The number of graphics or other items of an object that are sent in portions.
  public func itemCount(of object: ObjectReference) -> Int {
    object.collection.kind.itemCount(of: object.id, in: self)
  }

  /// The number of such items in all objects of a collection.
  public func itemCount(of collection: Collection) -> Int { collection.kind.itemCount(of: nil, in: self) }

  /// The ids of all objects of a kind, in the order of creation.
  public func ids(of collection: Collection) -> [String] { ids(of: collection.kind) }

  /// The number of objects of a collection.
  public func count(of collection: Collection) -> Int { count(of: collection.kind) }

  private func count<E: Entity>(of kind: E.Type) -> Int { self[keyPath: kind.registry].count }

  private func ids<E: Entity>(of kind: E.Type) -> [String] { self[keyPath: kind.registry].ids.map(\.rawValue) }

  /// Lists the ids of a collection in portions, since listing all at once could block the loop.
  ///
  /// - Complexity: O(log n + k) for each portion of k ids.
  public struct IDCursor: Sendable {
    public let collection: Collection
    private var last = Int.min

    public init(_ collection: Collection) { self.collection = collection }

    /// The next ids in the order of creation; none at the end.
    public mutating func next(_ limit: Int, in world: World) -> [String] {
      let (ids, last) = world.ids(of: collection.kind, after: last, limit)
      self.last = last
      return ids
    }
  }

  private func ids<E: Entity>(of kind: E.Type, after number: Int, _ limit: Int) -> (ids: [String], last: Int) {
    let (ids, last) = self[keyPath: kind.registry].ids(after: number, limit: limit)
    return (ids.map(\.rawValue), last)
  }

  /// Finds an object of any kind by its id.
  public func find(_ id: String) -> ObjectReference? {
    Collection.allCases.lazy.filter(\.hasUniqueIDs).map { ObjectReference($0, id) }.first { revision(of: $0) != nil }
  }
}
