// The update of one feature.

import Geometry

/// A change of an optional value: keep, set or remove.
public enum Edit<Value: Sendable>: Sendable {
  case keep
  case set(Value)
  case clear
}

/// The changes of one feature; values that are not specified stay.
public struct FeatureEdit: Sendable {
  public var id: Int
  public var geometry: Edit<Geometry> = .keep
  /// By name; null removes the attribute. If a name occurs twice, the last one counts.
  public var attributes: [(name: String, value: AttributeValue)] = []
  /// Whether attributes not named are removed.
  public var replacesAttributes = false
  public var zIndex: Int32?
  public var isVisible: Bool?
  public var isSelected: Bool?
  public var symbol: Edit<String> = .keep

  public init(id: Int) { self.id = id }
}
