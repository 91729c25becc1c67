// Names of objects: a type for each kind, so that a view's id is never taken for a map's.

/// The id of an object of one kind, unique among all objects of the session.
public struct ID<Entity>: Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
}

public typealias SourceID = ID<Source>
public typealias MapID = ID<Map>
public typealias LayerID = ID<Layer>
public typealias SceneID = ID<Scene>
public typealias ViewID = ID<View>
public typealias OverlayID = ID<Overlay>
public typealias LocationSourceID = ID<LocationSource>

/// Something that runs in model time until an event ends it: an animation, a start.
public struct ProcessID: Hashable, Sendable {
  let rawValue: Int
}

/// The members of the state tree's root that hold objects by id.
public enum Collection: String, Hashable, Sendable, CaseIterable {
  case sources, maps, layers, scenes, views, overlays, locationSources

  /// What one of them is called, and the member that holds its id.
  public var noun: String {
    switch self {
    case .sources: "source"
    case .maps: "map"
    case .layers: "layer"
    case .scenes: "scene"
    case .views: "view"
    case .overlays: "overlay"
    case .locationSources: "locationSource"
    }
  }
}

/// One object, whatever its kind.
public struct ObjectReference: Hashable, Sendable {
  public let collection: Collection
  public let id: String
  public init(_ collection: Collection, _ id: String) {
    self.collection = collection
    self.id = id
  }
}

/// An object that has an id and remembers the revision of its last change, or of one below it.
public protocol Entity: Sendable {
  static var collection: Collection { get }
  var id: ID<Self> { get }
  var revision: Int { get set }
}

/// Objects of one kind, by id and in the order of their creation.
public struct Registry<Element: Entity>: Sendable {
  public private(set) var ids: [ID<Element>] = []
  private var elements: [ID<Element>: Element] = [:]

  public var count: Int { ids.count }
  public var values: [Element] { ids.compactMap { elements[$0] } }

  public subscript(id: ID<Element>) -> Element? { elements[id] }

  /// The object, or an error that names what was asked for.
  public func require(_ id: ID<Element>) throws(ModelError) -> Element {
    guard let element = elements[id] else { throw .unknownID(Element.collection, id.rawValue) }
    return element
  }

  mutating func insert(_ element: Element) {
    ids.append(element.id)
    elements[element.id] = element
  }

  /// - Complexity: linear in the objects of the kind.
  mutating func remove(_ id: ID<Element>) {
    guard elements.removeValue(forKey: id) != nil else { return }
    ids.removeAll { $0 == id }
  }

  /// Changes the object in place; without one it does nothing.
  mutating func modify<R, E: Error>(_ id: ID<Element>, _ body: (inout Element) throws(E) -> R) throws(E) -> R? {
    guard let index = elements.index(forKey: id) else { return nil }
    return try body(&elements.values[index])
  }
}
