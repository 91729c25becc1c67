// The types that members of objects have.

import Expressions
import Geometry

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

extension Int: MemberSettable {
  public var memberValue: MemberValue { .integer(self) }
  public static func read(_ value: MemberValue, at path: String) -> Int? {
    if case .integer(let number) = value { number } else { nil }
  }
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

/// Enumerations use their raw values on the wire.
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

extension Text: MemberElement {
  /// A list of texts has each once.
  public static func memberValue(of list: [Text]) -> MemberValue { .ids(TextList(list)) }
}

extension Double: MemberElement {
  public static func memberValue(of list: [Double]) -> MemberValue { .numbers(list) }
}

extension MaxExtent: MemberSettable {
  public var memberValue: MemberValue { .maxExtent(self) }
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

extension Geometry: MemberReadable {
  public var memberValue: MemberValue { .geometry(self) }
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

extension CameraController: MemberReadable {
  public var memberValue: MemberValue { .cameraController(self) }
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
