// What maps and scenes have in common: their layers and tables, bookmarks, scale range, and where they start.

import Geometry

/// Layers that orient: drawn below the operational ones, and above them.
public struct Basemap: Hashable, Sendable {
  public internal(set) var name: Text? = nil
  /// First drawn first, below all else.
  public internal(set) var baseLayers: [LayerID] = []
  /// First drawn first, above the operational layers.
  public internal(set) var referenceLayers: [LayerID] = []
}

/// A place to come back to.
public struct Bookmark: Hashable, Sendable {
  /// Unique in its map or scene.
  public let id: Text
  public let name: Text
  public let viewpoint: Viewpoint
}

/// What a map or a scene is made of.
public struct MapContent: Hashable, Sendable {
  public internal(set) var title: Text? = nil
  public internal(set) var basemap: Basemap?
  /// First drawn first.
  public internal(set) var operationalLayers: [LayerID] = []
  public internal(set) var tables: [LayerID] = []
  public internal(set) var bookmarks: [Bookmark] = []
  /// Where views that are created without a viewpoint start.
  public internal(set) var initialViewpoint: Viewpoint?
  /// The scale's denominator at which symbols have their own size; nil when they have it at every scale.
  public internal(set) var referenceScale: Double?
  /// Views are not zoomed out beyond this denominator.
  public internal(set) var minScale: Double?
  /// Views are not zoomed in beyond this denominator.
  public internal(set) var maxScale: Double?
  public internal(set) var backgroundColor: Color?

  init(title: String?) { self.title = Text(title) }

  func checkScaleRange() throws(ModelError) {
    if let far = minScale, let near = maxScale, far <= near { throw .invalidScaleRange }
  }

  /// By how much symbols grow at a scale: 1 at the reference scale, 2 when zoomed in to half its denominator.
  public func symbolScale(at scale: Double) -> Double {
    guard let referenceScale, scale > 0 else { return 1 }
    return referenceScale / scale
  }

  /// The nearest scale that views may have.
  func clamped(_ scale: Double) -> Double { max(min(scale, minScale ?? .infinity), maxScale ?? 0) }

  /// The layers at the top level, in drawing order.
  public var topLayers: [LayerID] {
    (basemap?.baseLayers ?? []) + operationalLayers + (basemap?.referenceLayers ?? [])
  }

  subscript(list: TopList) -> [LayerID] {
    get {
      switch list {
      case .operational: operationalLayers
      case .base: basemap?.baseLayers ?? []
      case .reference: basemap?.referenceLayers ?? []
      case .tables: tables
      }
    }
    set {
      switch list {
      case .operational: operationalLayers = newValue
      case .tables: tables = newValue
      case .base: basemap = basemap(newValue) { $0.baseLayers = newValue }
      case .reference: basemap = basemap(newValue) { $0.referenceLayers = newValue }
      }
    }
  }

  /// A layer of a basemap makes one where there is none.
  private func basemap(_ layers: [LayerID], _ change: (inout Basemap) -> Void) -> Basemap? {
    guard basemap != nil || !layers.isEmpty else { return nil }
    var result = basemap ?? Basemap()
    change(&result)
    return result
  }
}

/// The part that a layer plays in a map or a scene.
public enum LayerRole: Hashable, Sendable { case operational, base, reference }

/// A list at the top level.
enum TopList: Hashable, Sendable {
  case operational, base, reference, tables

  init(_ role: LayerRole) {
    switch role {
    case .operational: self = .operational
    case .base: self = .base
    case .reference: self = .reference
    }
  }
}

/// Changes to a basemap; nil leaves alone.
public struct BasemapUpdate: Sendable {
  public var name: String?
  public init(name: String?) { self.name = name }
}

/// A bookmark as it is asked for.
public struct NewBookmark: Sendable {
  /// Minted when nil.
  public var id: String?
  public var name: String
  public var viewpoint: ViewpointTarget

  public init(id: String?, name: String, viewpoint: ViewpointTarget) {
    self.id = id
    self.name = name
    self.viewpoint = viewpoint
  }
}
