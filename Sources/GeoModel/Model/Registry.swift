// The store of all objects of one kind.

import OrderedCollections

/// Objects of one kind, by id and in the order of creation.
public struct Registry<Element: Entity>: Sendable {
  // Usable from inline code, so that generic callers in other modules are specialized.
  @usableFromInline private(set) var elements: OrderedDictionary<ID<Element>, Element> = [:]

  public var count: Int { elements.count }
  public var ids: [ID<Element>] { elements.keys.elements }
  @inlinable public var values: [Element] { elements.values.elements }

  /// Whether an object satisfies the predicate. Unlike ``values``, copies no objects.
  @inlinable public func contains(where predicate: (Element) -> Bool) -> Bool {
    elements.values.contains(where: predicate)
  }

  @inlinable public subscript(id: ID<Element>) -> Element? { elements[id] }

  /// Finds an object, or throws `unknownID`.
  @inlinable public func require(_ id: ID<Element>) throws(ModelError) -> Element {
    guard let element = elements[id] else { throw .unknownID(Element.collection, id.rawValue) }
    return element
  }

  // Only `World+Change` and undo records call these: every change needs an undo record.

  mutating func insert(_ element: Element, at index: Int? = nil) {
    elements.updateValue(element, forKey: element.id, insertingAt: min(index ?? count, count))
  }

  /// - Returns: the object and its index.
  /// - Complexity: O(n).
  mutating func remove(_ id: ID<Element>) -> (Element, at: Int)? {
    guard let index = elements.index(forKey: id) else { return nil }
    return (elements.remove(at: index).value, index)
  }

  /// Changes an object in place. Does nothing if there is none.
  mutating func modify<R, E: Error>(_ id: ID<Element>, _ body: (inout Element) throws(E) -> R) throws(E) -> R? {
    guard let index = elements.index(forKey: id) else { return nil }
    return try body(&elements.values[index])
  }
}
