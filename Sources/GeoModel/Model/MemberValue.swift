// Values of members, one case per type. Wire coding switches over these cases once.

import Expressions
import FeatureStore
import Geometry

/// The value of a member.
public enum MemberValue: Sendable {
  case null
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case text(String)
  /// An ordered list of unique ids.
  case ids(TextList)
  /// Any JSON value.
  case value(Value)
  case values([String: Value])
  case objects([String: ViewModelID])
  case expression(Expression)
  case basemap(Basemap)
  case bookmarks([Bookmark])
  case entityCounts(EntityCounts)
  case entityStatus(EntityStatus)
  case cameraController(CameraController)
  case envelope(Envelope)
  case featureReduction(FeatureReduction)
  case fenceSequence(FenceSequence)
  case fields([Field])
  case geometry(Geometry)
  /// Indirect, because a store has 350 bytes, which would otherwise be the size of every value.
  indirect case graphics(FeatureStore)
  case jobStatus(JobStatus)
  case labels([LabelDefinition])
  /// Indirect, because it holds the world.
  indirect case layerViewStates(ViewLayerStates)
  case loadStatus(LoadStatus)
  case location(Location)
  case locationDisplay(LocationDisplay)
  case locationStatus(LocationStatus)
  case maxExtent(MaxExtent)
  case numbers([Double])
  case point(Point)
  case popup(PopupDefinition)
  case properties([PropertyDefinition])
  case rasterInfo(RasterInfo)
  case rasterRenderer(RasterRenderer)
  case renderer(Renderer)
  case sourceLayers([SourceLayer])
  case sourceStatus(SourceStatus)
  case surface(BaseSurface)
  case time(LayerTime)
  case trackDisplay(TrackDisplay)
  case viewpoint(Viewpoint)

  // Values in commands; `World` converts them to values of the cases above.
  case basemapName(Text?)
  case newBookmarks([NewBookmark])
  case surfaceUpdate(BaseSurfaceUpdate)
  case viewpointTarget(ViewpointTarget)

  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The value as its own type, if commands set it as a whole; nil for types that have readers of their own, and for those that no
  /// command sets.
  var whole: (any MemberSettable)? {
    switch self {
    case .basemap(let basemap): basemap
    case .bookmarks(let bookmarks): bookmarks
    case .featureReduction(let reduction): reduction
    case .fenceSequence(let sequence): sequence
    case .ids(let ids): ids[0..<ids.count]
    case .labels(let labels): labels
    case .maxExtent(let extent): extent
    case .numbers(let numbers): numbers
    case .popup(let popup): popup
    case .rasterRenderer(let renderer): renderer
    case .renderer(let renderer): renderer
    case .surface(let surface): surface
    case .time(let time): time
    case .trackDisplay(let display): display
    case .viewpoint(let viewpoint): viewpoint
    case .null, .cameraController, .flag, .integer, .number, .text, .value, .values, .objects, .expression, .entityCounts, .entityStatus,
      .envelope, .fields, .geometry, .graphics, .jobStatus, .layerViewStates, .loadStatus, .location, .locationDisplay, .locationStatus, .point,
      .properties, .rasterInfo, .sourceLayers, .sourceStatus, .basemapName, .newBookmarks, .surfaceUpdate, .viewpointTarget:
      nil
    }
  }
}

/// How deltas represent changes of a member: as the whole value, elements of its list, members of its object, or whichever of
/// these suits the current value.
public enum MemberShape: Sendable { case whole, list, parts, any }

/// A type of members.
public protocol MemberReadable: Sendable {
  static var shape: MemberShape { get }
  var memberValue: MemberValue { get }
  func differs(from other: Self) -> Bool
}

/// A type of members that commands can set.
public protocol MemberSettable: MemberReadable {
  /// The value after `clear`; nil if the type has none.
  static var null: Self? { get }
  /// - Parameter path: JSON Pointer of the value in the request, for errors.
  /// - Returns: nil if the value has another type.
  static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Self?
}

extension MemberReadable {
  public static var shape: MemberShape { .whole }
}

extension MemberReadable where Self: Equatable {
  public func differs(from other: Self) -> Bool { self != other }
}

extension MemberSettable {
  public static var null: Self? { nil }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Self? {
    value.whole as? Self
  }
}

extension Optional: MemberReadable where Wrapped: MemberReadable {
  public static var shape: MemberShape { Wrapped.shape }
  public var memberValue: MemberValue { self?.memberValue ?? .null }
  public func differs(from other: Self) -> Bool {
    switch (self, other) {
    case (let own?, let other?): own.differs(from: other)
    case (nil, nil): false
    default: true
    }
  }
}

extension Optional: MemberSettable where Wrapped: MemberSettable {
  public static var null: Self? { .some(nil) }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Self? {
    try Wrapped.read(value, at: path).map { .some($0) }
  }
}
