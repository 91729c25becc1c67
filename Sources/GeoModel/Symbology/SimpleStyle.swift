// simplestyle-spec 1.1: the look that GeoJSON files carry in their features' properties. Wrong values count as absent, for a file
// is not the client's own words.

import Geometry
import Query

/// A feature's look by simplestyle.
public struct SimpleStyle: Hashable, Sendable {
  /// The properties that make a look; `title` and `description` alone do not.
  public static let names = [
    "marker-color", "marker-size", "marker-symbol", "stroke", "stroke-opacity", "stroke-width", "fill", "fill-opacity",
  ]

  /// Whether a property of this name, as UTF-8, can be one of them: a quick look that most names fail.
  @inline(__always)
  public static func mayBegin(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.count >= 4 else { return false }
    switch (name[0], name[1]) {
    case (UInt8(ascii: "m"), UInt8(ascii: "a")), (UInt8(ascii: "s"), UInt8(ascii: "t")),
      (UInt8(ascii: "f"), UInt8(ascii: "i")):
      return names.contains(String(decoding: name, as: UTF8.self))
    default: return false
    }
  }

  private let property: [String: AttributeValue]

  /// The look in a feature's properties; nil when they say nothing about it.
  public init?(_ value: (String) -> AttributeValue) {
    var property: [String: AttributeValue] = [:]
    for name in Self.names where value(name) != .null { property[name] = value(name) }
    if property.isEmpty { return nil }
    self.property = property
  }

  /// The symbol for a shape: markers for points, strokes for lines, strokes and fills for areas, by the spec's defaults.
  public func symbol(for kind: ShapeKind) -> Symbol {
    switch kind {
    case .point: marker
    case .line: .simpleLine(stroke)
    case .area:
      .simpleFill(
        SimpleFillSymbol(color: color("fill", 0x55).faded(opacity("fill-opacity", 0.6)), outline: stroke))
    }
  }

  private var marker: Symbol {
    // The spec leaves pixels to us; these are the widths of the pins that it was written for.
    let size =
      switch text("marker-size") {
      case "small": 20.0
      case "large": 35.0
      default: 30.0
      }
    let shape = Symbol.simpleMarker(SimpleMarkerSymbol(color: color("marker-color", 0x7E), size: size))
    // A name of an icon would need a picture; a letter or digit is a text.
    guard let sign = text("marker-symbol"), sign.utf8.count == 1 else { return shape }
    let words = TextSymbol(
      text: sign.uppercased(), color: Color(red: 255, green: 255, blue: 255), size: (size * 0.6).rounded())
    return .composite([shape, .text(words)])
  }

  private var stroke: SimpleLineSymbol {
    let width = property["stroke-width"]?.finiteNumber ?? 2
    return SimpleLineSymbol(
      color: color("stroke", 0x55).faded(opacity("stroke-opacity", 1)),
      width: symbolSizes.contains(width) ? width : 2)
  }

  private func text(_ name: String) -> String? {
    switch property[name] {
    case .string(let text)?: text
    // A digit as a marker's symbol may come as a number.
    case .integer(let number)?: String(number)
    default: nil
    }
  }

  private func opacity(_ name: String, _ fallback: Double) -> Double {
    guard let number = property[name]?.finiteNumber, (0...1).contains(number) else { return fallback }
    return number
  }

  /// `#RRGGBB` or `#RGB`, the sign optional; a grey otherwise.
  private func color(_ name: String, _ fallback: UInt8) -> Color {
    let gray = Color(red: fallback, green: fallback, blue: fallback)
    guard let text = text(name) else { return gray }
    let digits = text.hasPrefix("#") ? text.dropFirst() : Substring(text)
    let spelled = digits.count == 3 ? String(digits.flatMap { [$0, $0] }) : String(digits)
    guard spelled.utf8.count == 6 else { return gray }
    return Color("#" + spelled) ?? gray
  }
}
