// Values of MapLibre's style specification, version 8: JSON in the making.

import GeoModel
import JSON

package indirect enum StyleValue: Sendable, Equatable {
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([StyleValue])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: StyleValue

    package init(name: String, value: StyleValue) { (self.name, self.value) = (name, value) }
  }

  /// An object without the members that are nil.
  package static func members(_ members: KeyValuePairs<String, StyleValue?>) -> StyleValue {
    .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }

  package static func color(_ color: Color) -> StyleValue { .text(color.styleText) }

  /// Conditions that all hold; the condition itself if there is one.
  static func all(_ conditions: [StyleValue]) -> StyleValue {
    conditions.count == 1 ? conditions[0] : .list(["all"] + conditions)
  }

  static func get(_ name: String) -> StyleValue { ["get", .text(name)] }
  static func has(_ name: String) -> StyleValue { ["has", .text(name)] }
  static func isNumber(_ name: String) -> StyleValue { ["==", ["typeof", get(name)], "number"] }

  /// The product with a number; nothing is written where it has no effect.
  static func * (value: StyleValue, factor: Double) -> StyleValue {
    if factor == 1 { return value }
    if case .number(let number) = value { return .number(number * factor) }
    return ["*", value, .number(factor)]
  }
}

extension StyleValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
  package init(stringLiteral value: String) { self = .text(value) }
  package init(arrayLiteral elements: StyleValue...) { self = .list(elements) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension StyleValue: JSONEncodable {
  package func encode(to writer: inout JSONWriter) {
    switch self {
    case .flag(let flag): writer.value(flag)
    case .number(let number):
      // `8`, not `8.0`: readers compare the version.
      if let whole = Int(exactly: number) { writer.value(whole) } else { writer.value(number) }
    case .text(let text): writer.value(text)
    case .list(let values): writer.value(values)
    case .object(let members): writer.object(members.map { ($0.name, $0.value) })
    }
  }
}

extension Color {
  /// As CSS has it. Eight hexadecimal digits are younger than many readers of styles.
  var styleText: String {
    let share = (Double(alpha) / 255 * 1000).rounded() / 1000
    return "rgba(\(red),\(green),\(blue),\(share == 1 ? "1" : "\(share)"))"
  }
}
