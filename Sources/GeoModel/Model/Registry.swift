// The store of all objects of one kind.

import Geometry
import HashTreeCollections

/// Objects of one kind, by id and in the order of creation.
///
/// Each object has a number, which orders all objects of the world by creation. Undo restores an object with its number, and so
/// at its position.
public struct Registry<Element: Entity>: Sendable {
  // A persistent tree, because tasks keep snapshots, and the first write after a snapshot would copy a whole dictionary.
  // Visible to inline code, so that generic callers in other modules are specialized. Keys are texts, not typed ids, so that the
  // tree's code is specialized even where the caller does not know the kind of object.
  @usableFromInline private(set) var numbers: TreeDictionary<Text, Int> = [:]
  @usableFromInline private(set) var elements = Numbered<Element>()

  public var count: Int { elements.count }
  /// - Complexity: O(n).
  public var ids: [ID<Element>] { elements.map { $0.id } }
  /// The ids of the next objects in the order of creation, and the number of the last of them.
  func ids(after number: Int, limit: Int) -> (ids: [ID<Element>], last: Int) {
    let (ids, last) = elements.map(after: number, limit: limit) { $0.id }
    return (ids, last)
  }
  /// In the order of creation.
  @inlinable public var values: Numbered<Element>.Elements { elements.elements }

  @inlinable public subscript(id: ID<Element>) -> Element? { numbers[id.text].flatMap { elements[$0] } }

  /// The object with a number. Faster than access by id.
  public subscript(number number: Int) -> Element? { elements[number] }

  /// Finds an object, or throws `unknownID`.
  @inlinable public func require(_ id: ID<Element>) throws(ModelError) -> Element {
    guard let element = self[id] else { throw .unknownID(Element.collection, id.rawValue) }
    return element
  }

  /// Finds an object and its number, or throws `unknownID`.
  func requireNumbered(_ id: ID<Element>) throws(ModelError) -> (element: Element, number: Int) {
    guard let number = numbers[id.text], let element = elements[number] else {
      throw .unknownID(Element.collection, id.rawValue)
    }
    return (element, number)
  }

  /// The object's number in the order of creation.
  func number(of id: ID<Element>) -> Int? { numbers[id.text] }

  // Only `World+Change` and undo records call these: every change needs an undo record.

  mutating func insert(_ element: Element, at number: Int) {
    if let old = numbers.updateValue(number, forKey: element.id.text), old != number { _ = elements.remove(old) }
    elements.insert(element, at: number)
  }

  /// - Returns: the object and its number.
  mutating func remove(_ id: ID<Element>) -> (Element, at: Int)? {
    guard let number = numbers.removeValue(forKey: id.text), let element = elements.remove(number) else { return nil }
    return (element, number)
  }

  /// Replaces the object with a number by another state of it.
  mutating func replace(at number: Int, by element: Element) { _ = elements.modify(number) { $0 = element } }

  mutating func modifyAll(_ body: (inout Element) -> Void) { elements.modifyAll(body) }

  /// Reads an object in place; nil if there is none.
  public func read<R>(_ id: ID<Element>, _ body: (UnsafePointer<Element>) -> R) -> R? {
    numbers[id.text].flatMap { elements.read($0, body) }
  }

  /// Reads the object with a number in place, which is faster than by id; nil if there is none.
  func read<R>(at number: Int, _ body: (UnsafePointer<Element>) -> R) -> R? { elements.read(number, body) }

  /// Changes an object in place. Does nothing if there is none.
  mutating func modify<R, E: Error>(_ id: ID<Element>, _ body: (inout Element) throws(E) -> R) throws(E) -> R? {
    guard let number = numbers[id.text] else { return nil }
    return try elements.modify(number, body)
  }
}
