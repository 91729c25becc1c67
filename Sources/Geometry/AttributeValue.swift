// What a field of a feature, graphic or table row can hold, wherever it came from.

/// One attribute value.
///
/// Null is "not known". Dates stay in the text of RFC 3339 until a query needs their instant; nested JSON stays the text it
/// came as, since the model gives it back but never looks inside.
public enum AttributeValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  /// A JSON object or array, as its text.
  case json(String)
}

extension AttributeValue {
  /// Texts are equal where they are written alike.
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
}

/// A field of a layer: its name and what it holds.
public struct Field: Hashable, Sendable {
  public let name: Text
  public let type: FieldType
  public init(name: String, type: FieldType) {
    self.name = Text(name)
    self.type = type
  }
}
