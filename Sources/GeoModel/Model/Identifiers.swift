// Object ids: one type per kind of object, so that a view's id cannot be passed as a map's.

import Geometry

/// The id of an object of one kind. Ids are unique among all objects of the session.
public struct ID<Entity>: Hashable, Sendable, CustomStringConvertible {
  /// What it is compared by.
  @usableFromInline let text: Text
  public init(_ rawValue: String) { text = Text(rawValue) }
  public var rawValue: String { text.string }
  public var description: String { rawValue }
}

public typealias SourceID = ID<Source>
public typealias MapID = ID<Map>
public typealias LayerID = ID<Layer>
public typealias SceneID = ID<Scene>
public typealias ViewID = ID<View>
public typealias OverlayID = ID<Overlay>
public typealias LocationSourceID = ID<LocationSource>

/// A process that runs in model time until an event ends it: an animation, or the start of a location source.
public struct ProcessID: Hashable, Sendable {
  let rawValue: Int
}

/// The members of the state tree's root that hold objects by id.
public enum Collection: String, Hashable, Sendable, CaseIterable {
  case sources, maps, layers, scenes, views, overlays, locationSources
  case viewModelTypes, viewModels, bindings, links, environmentKeys, environments

  /// The type of the objects.
  var kind: any Entity.Type {
    switch self {
    case .sources: Source.self
    case .maps: Map.self
    case .layers: Layer.self
    case .scenes: Scene.self
    case .views: View.self
    case .overlays: Overlay.self
    case .locationSources: LocationSource.self
    case .viewModelTypes: ViewModelType.self
    case .viewModels: ViewModel.self
    case .bindings: Binding.self
    case .links: Link.self
    case .environmentKeys: EnvironmentKey.self
    case .environments: EnvironmentScope.self
    }
  }

  /// Whether undo restores the objects.
  public var isUndoable: Bool { kind.isUndoable }

  /// The name of one object in errors, which is also the wire member that holds its id.
  public var noun: String {
    switch self {
    case .environmentKeys: "key"
    case .environments: "node"
    default: String(rawValue.dropLast())
    }
  }

  /// Whether the ids are unique in the session. Other kinds have names as ids, or the ids of other objects.
  var hasUniqueIDs: Bool {
    switch self {
    case .viewModelTypes, .environmentKeys, .environments: false
    default: true
    }
  }

  /// Whether documents contain the objects.
  var isSaved: Bool {
    switch self {
    case .locationSources, .bindings, .links: false
    default: true
    }
  }
}

/// A reference to an object of any kind.
public struct ObjectReference: Hashable, Sendable {
  public let collection: Collection
  let text: Text
  public init(_ collection: Collection, _ id: String) {
    self.collection = collection
    text = Text(id)
  }
  public var id: String { text.string }

  /// Ids alone nearly always differ, and the collection would be hashed as the text that it is on the wire.
  public func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}
