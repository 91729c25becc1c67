// Where the objects of one kind are held. What is done to them is noted by what takes it back.

import Query

/// Objects of one kind, by id and in the order of their creation.
public struct Registry<Element: Entity>: Sendable {
  public private(set) var ids: [ID<Element>] = []
  // Visible to the modules that ask for objects, which are then compiled for the kind they ask for.
  @usableFromInline private(set) var elements: [ID<Element>: Element] = [:]

  public var count: Int { ids.count }
  @inlinable public var values: [Element] { ids.compactMap { elements[$0] } }

  /// Whether there is such an object; quicker than a look at ``values``, which is a list of copies.
  @inlinable public func contains(where isMeant: (Element) -> Bool) -> Bool { elements.values.contains(where: isMeant) }

  @inlinable public subscript(id: ID<Element>) -> Element? { elements[id] }

  /// The object, or an error that names what was asked for.
  @inlinable public func require(_ id: ID<Element>) throws(ModelError) -> Element {
    guard let element = elements[id] else { throw .unknownID(Element.collection, id.rawValue) }
    return element
  }

  // Only `World+Change` and reversals call these: whoever changes an object has to note what was.

  mutating func insert(_ element: Element, at index: Int? = nil) {
    ids.insert(element.id, at: min(index ?? ids.count, ids.count))
    elements[element.id] = element
  }

  /// - Returns: the object and its place.
  /// - Complexity: linear in the objects of the kind.
  mutating func remove(_ id: ID<Element>) -> (Element, at: Int)? {
    guard let element = elements.removeValue(forKey: id), let index = ids.firstIndex(of: id) else { return nil }
    ids.remove(at: index)
    return (element, index)
  }

  /// Changes the object in place; without one it does nothing.
  mutating func modify<R, E: Error>(_ id: ID<Element>, _ body: (inout Element) throws(E) -> R) throws(E) -> R? {
    guard let index = elements.index(forKey: id) else { return nil }
    return try body(&elements.values[index])
  }
}
