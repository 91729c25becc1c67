// The content that maps and scenes share: layers and tables, bookmarks, scale range, initial viewpoint.

import Geometry

/// Layers for orientation, drawn below and above the operational layers.
public struct Basemap: Hashable, Sendable {
  public internal(set) var name: Text? = nil
  /// In drawing order, below all others.
  public internal(set) var baseLayers: IDList<Layer> = []
  /// In drawing order, above the operational layers.
  public internal(set) var referenceLayers: IDList<Layer> = []
}

/// A named viewpoint.
public struct Bookmark: Hashable, Sendable {
  /// Unique in its map or scene.
  public let id: Text
  public let name: Text
  public let viewpoint: Viewpoint
}

/// The content of a map or a scene.
public struct MapContent: Hashable, Sendable {
  public internal(set) var title: Text? = nil
  public internal(set) var basemap: Basemap?
  /// In drawing order.
  public internal(set) var operationalLayers: IDList<Layer> = []
  public internal(set) var tables: IDList<Layer> = []
  public internal(set) var bookmarks: [Bookmark] = []
  /// The viewpoint of new views that are created without one.
  public internal(set) var initialViewpoint: Viewpoint?
  /// The scale denominator at which symbols have their defined size; nil if symbols have the same size at all scales.
  public internal(set) var referenceScale: Double?
  /// Maximum scale denominator of views.
  public internal(set) var minScale: Double?
  /// Minimum scale denominator of views.
  public internal(set) var maxScale: Double?
  /// What views are kept inside.
  public internal(set) var maxExtent: MaxExtent?
  /// Scale denominators to which gestures snap when they end.
  public internal(set) var scaleLevels: [Double]?
  /// Degrees from north within which gestures snap to it when they end.
  public internal(set) var rotationSnap: Double?
  public internal(set) var backgroundColor: Color?

  init(title: String?) { self.title = Text(title) }

  func checkScaleRange() throws(ModelError) {
    if let far = minScale, let near = maxScale, far <= near { throw .invalidScaleRange }
  }

  /// The magnification of symbols at a scale denominator: 1 at the reference scale, 2 at half of it.
  public func symbolScale(at scale: Double) -> Double {
    guard let referenceScale, scale > 0 else { return 1 }
    return referenceScale / scale
  }

  /// The nearest scale denominator in the range of views.
  func clamped(_ scale: Double) -> Double {
    let limits = Camera.scales
    return min(max(min(scale, minScale ?? .infinity), maxScale ?? 0, limits.lowerBound), limits.upperBound)
  }

  /// The layers at the top level, in drawing order.
  public var topLayers: some Sequence<LayerID> { topLists.joined() }

  /// The layers at the top level, and the tables.
  var directLayers: some Sequence<LayerID> { (topLists + [tables]).joined() }

  private var topLists: [IDList<Layer>] {
    [basemap?.baseLayers ?? [], operationalLayers, basemap?.referenceLayers ?? []]
  }

  /// A list at the top level; empty for a group's.
  subscript(list: LayerList) -> IDList<Layer> {
    get {
      switch list {
      case .role(.operational): operationalLayers
      case .role(.base): basemap?.baseLayers ?? []
      case .role(.reference): basemap?.referenceLayers ?? []
      case .tables: tables
      case .group: []
      }
    }
    set {
      switch list {
      case .role(.operational): operationalLayers = newValue
      case .role(.base): basemap = basemap(newValue) { $0.baseLayers = newValue }
      case .role(.reference): basemap = basemap(newValue) { $0.referenceLayers = newValue }
      case .tables: tables = newValue
      case .group: break
      }
    }
  }

  /// Adding a layer to a basemap creates the basemap.
  private func basemap(_ layers: IDList<Layer>, _ change: (inout Basemap) -> Void) -> Basemap? {
    guard basemap != nil || !layers.isEmpty else { return nil }
    var result = basemap ?? Basemap()
    change(&result)
    return result
  }
}

/// The role of a layer in a map or a scene.
public enum LayerRole: Hashable, Sendable { case operational, base, reference }

/// A list that holds layers: at the top level, or of a group.
enum LayerList: Hashable, Sendable {
  case role(LayerRole)
  case tables
  case group(LayerID)
}

/// The values of a bookmark to create.
public struct NewBookmark: Sendable {
  /// Nil to mint one.
  public var id: String?
  public var name: String
  public var viewpoint: ViewpointTarget

  public init(id: String?, name: String, viewpoint: ViewpointTarget) {
    self.id = id
    self.name = name
    self.viewpoint = viewpoint
  }
}
