// simplestyle-spec 1.1: styles in the properties of GeoJSON features. Invalid values count as absent, since the client did not
// write the file.

import Geometry

/// A feature's simplestyle properties.
public struct SimpleStyle: Hashable, Sendable {
  /// The properties that define a style; `title` and `description` do not.
  public static let names = [
    "marker-color", "marker-size", "marker-symbol", "stroke", "stroke-opacity", "stroke-width", "fill", "fill-opacity",
  ]

  /// A cheap test whether a name, in UTF-8, may be one of ``names``. Most names fail.
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

  /// The style in a feature's properties; nil if there is none.
  public init?(_ value: (String) -> AttributeValue) {
    var property: [String: AttributeValue] = [:]
    for name in Self.names where value(name) != .null { property[name] = value(name) }
    if property.isEmpty { return nil }
    self.property = property
  }

  /// The symbol for a shape, with the spec's defaults: markers for points, strokes for lines, strokes and fills for
  /// areas.
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
    // The spec defines no pixels; these are the sizes of the pins that it was written for.
    let size =
      switch text("marker-size") {
      case "small": 20.0
      case "large": 35.0
      default: 30.0
      }
    let shape = Symbol.simpleMarker(SimpleMarkerSymbol(color: color("marker-color", 0x7E), size: size))
    // A letter or digit becomes a text symbol; icons, which would need pictures, are ignored.
    guard let sign = text("marker-symbol"), sign.utf8.count == 1 else { return shape }
    let words = TextSymbol(
      text: sign.uppercased(), color: Color(red: 255, green: 255, blue: 255), size: (size * 0.6).rounded())
    return .composite([shape, .text(words)])
  }

  /// In device-independent pixels.
  static let defaultWidth = 2.0

  private var stroke: SimpleLineSymbol {
    let width = property["stroke-width"]?.finiteNumber ?? Self.defaultWidth
    return SimpleLineSymbol(
      color: color("stroke", 0x55).faded(opacity("stroke-opacity", 1)),
      width: symbolSizes.contains(width) ? width : Self.defaultWidth)
  }

  private func text(_ name: String) -> String? {
    switch property[name] {
    case .string(let text)?: text
    // Files may contain a digit as a number.
    case .integer(let number)?: String(number)
    default: nil
    }
  }

  private func opacity(_ name: String, _ fallback: Double) -> Double {
    guard let number = property[name]?.finiteNumber, (0...1).contains(number) else { return fallback }
    return number
  }

  /// Parses `#RRGGBB` or `#RGB`, with or without `#`; gray if invalid.
  private func color(_ name: String, _ fallback: UInt8) -> Color {
    let gray = Color(red: fallback, green: fallback, blue: fallback)
    guard let text = text(name) else { return gray }
    let digits = text.hasPrefix("#") ? text.dropFirst() : Substring(text)
    let spelled = digits.count == 3 ? String(digits.flatMap { [$0, $0] }) : String(digits)
    guard spelled.utf8.count == 6 else { return gray }
    return Color("#" + spelled) ?? gray
  }
}
