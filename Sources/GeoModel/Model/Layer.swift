// Layers: feature layers, groups, tables and rasters.

import Expressions
import FeatureStore
import Geometry

/// A layer of a map or a scene.
public struct Layer: Sendable {
  public enum Kind: String, Hashable, Sendable { case feature, group, table, raster }

  /// Maximum length of a name, in code points, as in the protocol; names in files may be longer.
  static let nameLimit = 1024

  public let id: LayerID
  public var revision = 0
  /// The map or scene that contains the layer.
  public let container: ViewContent
  /// The group that contains the layer; nil at the top level.
  public internal(set) var group: LayerID?
  public internal(set) var name: String
  public internal(set) var appearance = Appearance()
  // Shared, because copying a layer, which finding one does, would otherwise move 1,700 bytes.
  private var sharedPortrayal = Shared.portrayal
  private var sharedFeatures: Shared<LayerFeatures>?
  private var sharedRaster: Shared<LayerRaster>?
  /// Nil except for groups.
  public internal(set) var grouping: LayerGrouping?

  init(
    id: LayerID, container: ViewContent, group: LayerID?, name: String, features: LayerFeatures? = nil,
    raster: LayerRaster? = nil, grouping: LayerGrouping? = nil
  ) {
    self.id = id
    self.container = container
    self.group = group
    self.name = name
    self.grouping = grouping
    self.features = features
    self.raster = raster
  }

  /// Groups do not use it.
  public internal(set) var portrayal: Portrayal {
    _read { yield sharedPortrayal.value }
    set { sharedPortrayal = Shared(newValue) }
  }

  /// Nil for a group and a raster.
  public internal(set) var features: LayerFeatures? {
    get { sharedFeatures?.value }
    set { sharedFeatures = newValue.map(Shared.init) }
  }

  /// Nil except for rasters.
  public internal(set) var raster: LayerRaster? {
    get { sharedRaster?.value }
    set { sharedRaster = newValue.map(Shared.init) }
  }

  public var kind: Kind { features.map { $0.isTable ? .table : .feature } ?? (sharedRaster == nil ? .group : .raster) }

  /// Nil for a group, whose status follows from its layers.
  public internal(set) var ownLoadStatus: LoadStatus? {
    get { features?.loadStatus ?? raster?.loadStatus }
    set {
      guard let newValue else { return }
      features?.loadStatus = newValue
      raster?.loadStatus = newValue
    }
  }

  public var schema: SourceLayer? { features?.schema }
  /// The features, once loaded.
  public var store: FeatureStore? { features?.store }
  /// The reference of the features or pixels; WGS 84 for groups and for rasters that are not loaded.
  public var reference: SpatialReference { features?.reference ?? raster?.info?.reference ?? .wgs84 }
  public var featureCount: Int? { store?.count ?? schema?.featureCount }
  public var extent: Envelope? { kind == .table ? nil : store.map { $0.extent } ?? schema?.extent ?? raster?.info?.extent }

  /// Throws `wrongKind` for a group and a raster.
  public func requireFeatures() throws(ModelError) -> LayerFeatures {
    guard let features else { throw .wrongKind(id.rawValue, kind, expected: [.feature, .table]) }
    return features
  }
}

/// The features of a layer or a table, with their source and filters.
public struct LayerFeatures: Sendable {
  public fileprivate(set) var source: SourceID
  /// The number of the source, which distinguishes it from a later source with the same id.
  public let sourceNumber: Int
  /// Initially the source's schema; after loading, that of the features.
  public internal(set) var schema: SourceLayer
  /// The origin of the features, kept because the source may be closed.
  public internal(set) var origin: SourceOrigin
  /// The format of the source.
  public let driver: String
  /// Whether geometries are left out.
  public let isTable: Bool
  public internal(set) var loadStatus = LoadStatus.notLoaded
  /// The features, once loaded.
  public internal(set) var store: FeatureStore?
  /// Number of visible selected features. Hidden ones stay selected, and count again when the filters match them.
  public internal(set) var selectedCount = 0
  /// Features are visible if it is true; nil makes all visible.
  public internal(set) var definitionExpression: Expression?
  public internal(set) var time: LayerTime?
  public internal(set) var isTimeFilterEnabled = true
  /// The entity source whose entities are the features; ``store`` is then set only in a layer from ``World/live(_:)``.
  public internal(set) var entitySource: EntitySourceID?
  /// Nil unless it has an entity source.
  public internal(set) var trackDisplay: TrackDisplay?

  /// The reference of the features: stated by the source, else implied by its format, else unknown.
  var reference: SpatialReference {
    if let stated = schema.reference { return stated }
    if case .file(let file) = origin, !file.isInDegrees, !isTable { return .unknown }
    return .wgs84
  }
}

/// The fields with the time of features, and the extent to which features are filtered.
public struct LayerTime: Hashable, Sendable {
  public var startField: Text
  /// Nil if features have a single instant.
  public var endField: Text? = nil
  public var extent: TimeExtent?

  public init(startField: String, endField: String?, extent: TimeExtent?) {
    self.startField = Text(startField)
    self.endField = Text(endField)
    self.extent = extent
  }
}

/// A time extent, both ends included. A nil end is unbounded.
public struct TimeExtent: Hashable, Sendable {
  public var start: Instant?
  public var end: Instant?

  public init(start: Instant?, end: Instant?) {
    self.start = start
    self.end = end
  }

  /// Whether a span intersects the extent. A span that ends before it begins does not.
  func meets(from first: Instant, to last: Instant) -> Bool {
    guard first <= last else { return false }
    if let start, last < start { return false }
    if let end, first > end { return false }
    return true
  }
}

/// How a group shows its layers.
public enum GroupVisibilityMode: String, Hashable, Sendable {
  /// Each layer by its own visibility, if the group is visible.
  case independent
  /// All layers, if the group is visible; their own visibility is ignored.
  case inherited
  /// One layer: the last visible one in drawing order.
  case exclusive
}

/// The layers of a group.
public struct LayerGrouping: Hashable, Sendable {
  /// In drawing order.
  public internal(set) var layers: IDList<Layer> = []
  public internal(set) var visibilityMode = GroupVisibilityMode.independent
}

/// The list and index to which a layer is added or moved.
public struct LayerPosition: Sendable {
  public var role: LayerRole?
  public var group: LayerID?
  /// Nil for the top.
  public var index: Int?

  /// - Parameter role: of a layer at the top level; nil for operational, or for the current role.
  public init(role: LayerRole? = nil, group: LayerID? = nil, index: Int? = nil) {
    self.role = role
    self.group = group
    self.index = index
  }
}

/// The state of a layer in a view. Empty for a layer that is not loaded.
public struct LayerViewState: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One flag of the state.
  public enum Flag: UInt8, CaseIterable, Sendable {
    /// Loaded, visible and within the scale range. For a group: any of its layers is.
    case active = 1
    /// Hidden, by itself or by a group.
    case notVisible = 2
    /// The scale of the view is outside the layer's range, or a group's.
    case outOfScale = 4
    case loading = 8
    case error = 16
    /// Only for a group: some of its layers, but not all, have failed to load.
    case warning = 32
  }
  public init(_ flag: Flag) { rawValue = flag.rawValue }

  public static let active = LayerViewState(.active)
  public static let notVisible = LayerViewState(.notVisible)
  public static let outOfScale = LayerViewState(.outOfScale)
  public static let loading = LayerViewState(.loading)
  public static let error = LayerViewState(.error)
  public static let warning = LayerViewState(.warning)
}

extension String {
  /// The first `count` code points.
  func shortened(to count: Int) -> String { String(unicodeScalars.prefix(count)) }
}

extension Layer {
  /// The layer for a document in which its source has another id.
  public func under(_ source: SourceID) -> Layer {
    changed(self) { $0.features?.source = source }
  }
}
