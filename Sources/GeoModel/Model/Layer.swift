// Layers: of features, of groups, and tables; what they hold and how groups show what is in them.

import Geometry
import Query

/// A layer of a map or a scene.
public struct Layer: Sendable {
  public enum Kind: String, Hashable, Sendable { case feature, group, table }

  public let id: LayerID
  public var revision = 0
  /// The map or scene it lies in.
  public let container: ViewContent
  /// The group it lies in; nil at the top level.
  public internal(set) var group: LayerID?
  public internal(set) var name: String
  public internal(set) var appearance = Appearance()
  /// Of no account for a group.
  public internal(set) var portrayal = Portrayal()
  /// Nil for a group.
  public internal(set) var features: LayerFeatures?
  /// Nil for all but groups.
  public internal(set) var grouping: LayerGrouping?

  init(id: LayerID, in container: ViewContent, group: LayerID?, name: String, features: LayerFeatures) {
    self.id = id
    self.container = container
    self.group = group
    self.name = name
    self.features = features
  }

  init(id: LayerID, in container: ViewContent, group: LayerID?, name: String, grouping: LayerGrouping) {
    self.id = id
    self.container = container
    self.group = group
    self.name = name
    self.grouping = grouping
  }

  public var kind: Kind { features.map { $0.isTable ? .table : .feature } ?? .group }

  public var schema: SourceLayer? { features?.schema }
  /// The features, once loaded.
  public var store: FeatureStore? { features?.store }
  /// That of the features; WGS 84 where the source does not say, and for a group.
  public var reference: SpatialReference { schema?.reference ?? .wgs84 }
  public var featureCount: Int? { store?.count ?? schema?.featureCount }
  public var extent: Envelope? { kind == .table ? nil : store.map { $0.extent } ?? schema?.extent }

  /// What holds features, or an error that says what kind it is.
  public func requireFeatures() throws(ModelError) -> LayerFeatures {
    guard let features else { throw .wrongKind(id.rawValue, kind, expected: [.feature, .table]) }
    return features
  }
}

/// The features of a layer or a table: where they come from, and which of them count.
public struct LayerFeatures: Sendable {
  public let source: SourceID
  /// As the source's schema tells; what was read once the layer is loaded.
  public internal(set) var schema: SourceLayer
  /// Where features are read from; the source may be closed by then.
  public let origin: SourceOrigin
  /// The source's format.
  public let driver: String
  /// Whether geometries are left out.
  public let isTable: Bool
  public internal(set) var loadStatus = LoadStatus.notLoaded
  /// The features, once loaded.
  public internal(set) var store: FeatureStore?
  /// Of the features that count; others may be selected, too, and count again once the filters let them through.
  public internal(set) var selectedCount = 0
  /// Only features for which it is true count; all when nil.
  public internal(set) var definitionExpression: Expression?
  public internal(set) var time: LayerTime?
  public internal(set) var isTimeFilterEnabled = true

  init(source: SourceID, schema: SourceLayer, origin: SourceOrigin, driver: String, isTable: Bool) {
    self.source = source
    self.schema = schema
    self.origin = origin
    self.driver = driver
    self.isTable = isTable
  }
}

/// Which fields of a layer say when a feature is, and which features are wanted.
public struct LayerTime: Hashable, Sendable {
  public var startField: Text
  /// Features are moments when nil.
  public var endField: Text? = nil
  public var extent: TimeExtent?

  public init(startField: String, endField: String?, extent: TimeExtent?) {
    self.startField = Text(startField)
    self.endField = Text(endField)
    self.extent = extent
  }
}

/// A span of time, both ends included; nil for no end.
public struct TimeExtent: Hashable, Sendable {
  public var start: Instant?
  public var end: Instant?

  public init(start: Instant?, end: Instant?) {
    self.start = start
    self.end = end
  }

  /// Whether a span meets it; one that ends before it begins meets nothing.
  func meets(from first: Instant, to last: Instant) -> Bool {
    guard first <= last else { return false }
    if let start, last < start { return false }
    if let end, first > end { return false }
    return true
  }
}

/// How a group shows its layers.
public enum GroupVisibilityMode: String, Hashable, Sendable {
  /// Each by its own visibility, where the group is visible.
  case independent
  /// All, where the group is visible; their own visibility does not count.
  case inherited
  /// One: of those that are visible the last drawn.
  case exclusive
}

/// What is in a group.
public struct LayerGrouping: Hashable, Sendable {
  /// First drawn first.
  public internal(set) var layers: [LayerID] = []
  public internal(set) var visibilityMode = GroupVisibilityMode.independent
}

/// Where a layer is to be.
public struct LayerPosition: Sendable {
  public var role: LayerRole?
  public var group: LayerID?
  /// On top when nil.
  public var index: Int?

  /// - Parameter role: at the top level; operational, or what it is now, when nil.
  public init(role: LayerRole? = nil, group: LayerID? = nil, index: Int? = nil) {
    self.role = role
    self.group = group
    self.index = index
  }
}

/// How a layer stands in a view. None of them for one that is not loaded yet.
public struct LayerViewState: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Loaded, visible and within its scale range; of a group, when anything in it is.
  public static let active = LayerViewState(rawValue: 1)
  /// Hidden, by itself or by a group.
  public static let notVisible = LayerViewState(rawValue: 2)
  /// The view's scale is out of its range, or of a group's.
  public static let outOfScale = LayerViewState(rawValue: 4)
  public static let loading = LayerViewState(rawValue: 8)
  public static let error = LayerViewState(rawValue: 16)
  /// Of a group: some of what is in it has failed to load, but not all.
  public static let warning = LayerViewState(rawValue: 32)
}
