// Names of objects: a type for each kind, so that a view's id is never taken for a map's.

import Geometry

/// The id of an object of one kind, unique among all objects of the session.
public struct ID<Entity>: Hashable, Sendable, CustomStringConvertible {
  private let text: Text
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

/// Something that runs in model time until an event ends it: an animation, a start.
public struct ProcessID: Hashable, Sendable {
  let rawValue: Int
}

/// The members of the state tree's root that hold objects by id.
public enum Collection: String, Hashable, Sendable, CaseIterable {
  case sources, maps, layers, scenes, views, overlays, locationSources
  case viewModelTypes, viewModels, bindings, links, environmentKeys, environments

  /// The type of its objects.
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
    case .viewModelTypes: "viewModelType"
    case .viewModels: "viewModel"
    case .bindings: "binding"
    case .links: "link"
    case .environmentKeys: "key"
    case .environments: "node"
    }
  }

  /// Whether its ids are object ids, each unique in the session; others are names of their own, or other objects' ids.
  var hasUniqueIDs: Bool {
    switch self {
    case .viewModelTypes, .environmentKeys, .environments: false
    default: true
    }
  }

  /// Whether a document keeps its objects.
  var isSaved: Bool {
    switch self {
    case .locationSources, .bindings, .links: false
    default: true
    }
  }
}

/// One object, whatever its kind.
public struct ObjectReference: Hashable, Sendable {
  public let collection: Collection
  private let text: Text
  public init(_ collection: Collection, _ id: String) {
    self.collection = collection
    text = Text(id)
  }
  public var id: String { text.string }
}
