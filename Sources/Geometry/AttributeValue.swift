// Values and fields of features, graphics and table rows.

/// One attribute value.
///
/// Null means unknown. Dates are kept as RFC 3339 text until a query needs their instant; nested JSON is kept as text
/// and never parsed by the model.
public enum AttributeValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  /// The text of a JSON object or array.
  case json(String)
}

extension AttributeValue {
  /// Texts are compared by code points.
  public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)), (.json(let left), .json(let right)):
      Text(left) == Text(right)
    default: false
    }
  }
}

/// A field's type, in the vocabulary of OGC API Features.
public enum FieldType: String, Hashable, Sendable {
  case boolean, integer, double, string, date, dateTime, time, binary, json

  /// Whether its texts are instants.
  public var isOfDates: Bool {
    switch self {
    case .date, .dateTime: true
    case .boolean, .integer, .double, .string, .time, .binary, .json: false
    }
  }
}

/// A field of a layer: name and type.
public struct Field: Hashable, Sendable {
  public let name: Text
  public let type: FieldType
  public init(name: String, type: FieldType) {
    self.name = Text(name)
    self.type = type
  }
}
