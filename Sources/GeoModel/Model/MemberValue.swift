// Values of members: what tables read and commands set, one case a type. How each is written on the wire is said once, by case.

import Geometry
import Query

/// The value of a member.
public enum MemberValue: Sendable {
  case null
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case text(String)
  /// An ordered list of ids, each of which is in it once.
  case ids([String])
  /// JSON of any shape.
  case value(Value)
  case expression(Expression)
  case envelope(Envelope)
  case fields([Field])
  case graphics(FeatureStore)
  case labels([LabelDefinition])
  case loadStatus(LoadStatus)
  case popup(PopupDefinition)
  case renderer(Renderer)
  case time(LayerTime)

  public var isNull: Bool { if case .null = self { true } else { false } }
}

/// A type that members have.
public protocol MemberReadable: Sendable {
  var memberValue: MemberValue { get }
  func differs(from other: Self) -> Bool
}

/// A type of members that commands set.
public protocol MemberSettable: MemberReadable {
  /// What `clear` sets; nil where nothing stands for null.
  static var null: Self? { get }
  /// - Parameter path: where the value stands, for errors.
  /// - Returns: nil for a value of another type.
  static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Self?
}

extension MemberReadable where Self: Equatable {
  public func differs(from other: Self) -> Bool { self != other }
}

extension MemberSettable {
  public static var null: Self? { nil }
}

extension Optional: MemberReadable where Wrapped: MemberReadable {
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

extension Text: MemberReadable {
  public var memberValue: MemberValue { .text(string) }
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

/// Enumerations are named on the wire as in the model.
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
  public var memberValue: MemberValue { Element.memberValue(of: self) }
  public func differs(from other: Self) -> Bool { self != other }
}

extension Array: MemberSettable where Element: SettableMemberElement {
  public static func read(_ value: MemberValue, at path: String) -> Self? { Element.list(value) }
}

/// What lists among members are made of.
public protocol MemberElement: Hashable, Sendable {
  static func memberValue(of list: [Self]) -> MemberValue
}

/// What lists that commands set are made of.
public protocol SettableMemberElement: MemberElement {
  /// Nil for a value of another type.
  static func list(_ value: MemberValue) -> [Self]?
}

extension ID: MemberElement {
  public static func memberValue(of list: [ID]) -> MemberValue { .ids(list.map(\.rawValue)) }
}

extension Field: MemberElement {
  public static func memberValue(of list: [Field]) -> MemberValue { .fields(list) }
}

extension LabelDefinition: SettableMemberElement {
  public static func memberValue(of list: [LabelDefinition]) -> MemberValue { .labels(list) }
  public static func list(_ value: MemberValue) -> [LabelDefinition]? {
    if case .labels(let list) = value { list } else { nil }
  }
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
  public static func read(_ value: MemberValue, at path: String) -> Renderer? {
    if case .renderer(let renderer) = value { renderer } else { nil }
  }
}

extension PopupDefinition: MemberSettable {
  public var memberValue: MemberValue { .popup(self) }
  public static func read(_ value: MemberValue, at path: String) -> PopupDefinition? {
    if case .popup(let popup) = value { popup } else { nil }
  }
}

extension LayerTime: MemberSettable {
  public var memberValue: MemberValue { .time(self) }
  public static func read(_ value: MemberValue, at path: String) -> LayerTime? {
    if case .time(let time) = value { time } else { nil }
  }
}

/// A condition; commands give its text.
extension Expression: MemberSettable {
  public var memberValue: MemberValue { .expression(self) }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> Expression? {
    switch value {
    case .text(let text): try condition(text, at: path)
    case .expression(let expression): expression
    default: nil
    }
  }
}
