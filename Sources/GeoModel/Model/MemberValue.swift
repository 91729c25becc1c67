// Values of members, one case per type. Wire coding switches over these cases once.

import Geometry
import Query

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
  case envelope(Envelope)
  case featureReduction(FeatureReduction)
  case fields([Field])
  /// Indirect: a store has 350 bytes, which every value would take otherwise.
  indirect case graphics(FeatureStore)
  case labels([LabelDefinition])
  case layerViewStates([(layer: LayerID, state: LayerViewState)])
  case loadStatus(LoadStatus)
  case location(Location)
  case locationDisplay(LocationDisplay)
  case locationStatus(LocationStatus)
  case point(Point)
  case popup(PopupDefinition)
  case properties([PropertyDefinition])
  case renderer(Renderer)
  case sourceLayers([SourceLayer])
  case sourceStatus(SourceStatus)
  case surface(BaseSurface)
  case time(LayerTime)
  case viewpoint(Viewpoint)

  // Values that commands give; `World` turns them into values of the cases above.
  case basemapName(Text?)
  case newBookmarks([NewBookmark])
  case surfaceUpdate(BaseSurfaceUpdate)
  case viewpointTarget(ViewpointTarget)

  public var isNull: Bool { if case .null = self { true } else { false } }
}

/// How deltas represent changes of a member: the whole value, elements of its list, members of its object, or as the
/// value at hand allows.
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
  /// - Returns: nil for a value of another type.
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
    switch value {
    case .basemap(let basemap): basemap as? Self
    case .bookmarks(let bookmarks): bookmarks as? Self
    case .featureReduction(let reduction): reduction as? Self
    case .labels(let labels): labels as? Self
    case .popup(let popup): popup as? Self
    case .renderer(let renderer): renderer as? Self
    case .surface(let surface): surface as? Self
    case .time(let time): time as? Self
    case .viewpoint(let viewpoint): viewpoint as? Self
    default: nil
    }
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

extension Bool: MemberSettable {
  public var memberValue: MemberValue { .flag(self) }
  public static func read(_ value: MemberValue, at path: String) -> Bool? {
    if case .flag(let flag) = value { flag } else { nil }
  }
}

extension Text: MemberSettable {
  public var memberValue: MemberValue { .text(string) }
  public static func read(_ value: MemberValue, at path: String) -> Text? {
    if case .text(let text) = value { Text(text) } else { nil }
  }
}

extension Int: MemberReadable {
  public var memberValue: MemberValue { .integer(self) }
}

extension Double: MemberSettable {
  public var memberValue: MemberValue { .number(self) }
  public static func read(_ value: MemberValue, at path: String) -> Double? {
    if case .number(let number) = value { number } else { nil }
  }
}

extension String: MemberSettable {
  public var memberValue: MemberValue { .text(self) }
  public func differs(from other: String) -> Bool { Text(self) != Text(other) }
  public static func read(_ value: MemberValue, at path: String) -> String? {
    if case .text(let text) = value { text } else { nil }
  }
}

/// Enumerations have the same names on the wire.
extension MemberSettable where Self: RawRepresentable, RawValue == String {
  public var memberValue: MemberValue { .text(rawValue) }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Self? {
    if case .text(let text) = value { Self(rawValue: text) } else { nil }
  }
}

extension GroupVisibilityMode: MemberSettable {}
extension Layer.Kind: MemberSettable {}
extension RenderingMode: MemberSettable {}

extension ID: MemberReadable {
  public var memberValue: MemberValue { .text(rawValue) }
}

extension Array: MemberReadable where Element: MemberElement {
  public static var shape: MemberShape { .list }
  public var memberValue: MemberValue { Element.memberValue(of: self) }
  public func differs(from other: Self) -> Bool { self != other }
}

extension Array: MemberSettable where Element: MemberElement {}

/// An element type of members that are lists.
public protocol MemberElement: Equatable, Sendable {
  static func memberValue(of list: [Self]) -> MemberValue
}

extension Field: MemberElement {
  public static func memberValue(of list: [Field]) -> MemberValue { .fields(list) }
}

extension LabelDefinition: MemberElement {
  public static func memberValue(of list: [LabelDefinition]) -> MemberValue { .labels(list) }
}

extension Color: MemberSettable {
  public var memberValue: MemberValue { .text(text) }
  public static func read(_ value: MemberValue, at path: String) -> Color? {
    if case .text(let text) = value { Color(text) } else { nil }
  }
}

extension SpatialReference: MemberReadable {
  public var memberValue: MemberValue { .text(definition) }
}

extension Envelope: MemberReadable {
  public var memberValue: MemberValue { .envelope(self) }
}

extension LoadStatus: MemberReadable {
  public var memberValue: MemberValue { .loadStatus(self) }
}

extension Renderer: MemberSettable {
  public var memberValue: MemberValue { .renderer(self) }
}

extension FeatureReduction: MemberSettable {
  public var memberValue: MemberValue { .featureReduction(self) }
}

extension PopupDefinition: MemberSettable {
  public var memberValue: MemberValue { .popup(self) }
}

extension LayerTime: MemberSettable {
  public var memberValue: MemberValue { .time(self) }
}

/// A condition.
extension Expression: MemberSettable {
  public var memberValue: MemberValue { .expression(self) }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Expression? {
    switch value {
    case .text(let text): return try condition(text, at: path)
    case .expression(let expression):
      do throws(ExpressionError) { return try expression.checkedCondition() } catch {
        throw .expression(error, path: path)
      }
    default: return nil
    }
  }
}

extension Basemap: MemberSettable {
  public static var shape: MemberShape { .parts }
  public var memberValue: MemberValue { .basemap(self) }
}

extension BaseSurface: MemberSettable {
  public static var shape: MemberShape { .parts }
  public var memberValue: MemberValue { .surface(self) }
}

extension Viewpoint: MemberSettable {
  public var memberValue: MemberValue { .viewpoint(self) }
}

extension Bookmark: MemberElement {
  public static func memberValue(of list: [Bookmark]) -> MemberValue { .bookmarks(list) }
}

extension SourceLayer: MemberElement {
  public static func memberValue(of list: [SourceLayer]) -> MemberValue { .sourceLayers(list) }
}

extension SourceStatus: MemberReadable {
  public var memberValue: MemberValue { .sourceStatus(self) }
}

extension Location: MemberReadable {
  public var memberValue: MemberValue { .location(self) }
}

extension LocationStatus: MemberReadable {
  public var memberValue: MemberValue { .locationStatus(self) }
}

extension LocationDisplay: MemberReadable {
  public var memberValue: MemberValue { .locationDisplay(self) }
}

extension Dictionary: MemberReadable where Key == String, Value: MemberMapElement {
  public var memberValue: MemberValue { Value.memberValue(of: self) }
}

/// A value type of members that are dictionaries by name.
public protocol MemberMapElement: Equatable, Sendable {
  static func memberValue(of map: [String: Self]) -> MemberValue
}

extension Value: MemberMapElement {
  public static func memberValue(of map: [String: Value]) -> MemberValue { .values(map) }
}

extension ID<ViewModel>: MemberMapElement {
  public static func memberValue(of map: [String: ViewModelID]) -> MemberValue { .objects(map) }
}

extension Value: MemberReadable {
  public static var shape: MemberShape { .any }
  public var memberValue: MemberValue { isNull ? .null : .value(self) }
}

extension PropertyDefinition: MemberElement {
  public static func memberValue(of list: [PropertyDefinition]) -> MemberValue { .properties(list) }
}

extension ModelPath: MemberReadable {
  public var memberValue: MemberValue { .text(description) }
}
