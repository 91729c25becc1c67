// Formats lengths, areas and speeds in display units.

/// A quantity in SI units.
package enum Measure {
  /// In metres.
  case length
  /// In square metres.
  case area
  /// In metres per second.
  case speed

  private struct Unit {
    let symbol: String
    /// In units of the SI.
    let size: Double
    /// From this value on the next larger unit is used.
    var limit = Double.infinity
  }

  /// In ascending order. The foot is the international one, 0.3048 m, the mile 5280 feet and the acre 43,560 square
  /// feet (NIST Handbook 44, appendix C). Feet are used up to half a mile, as the Unicode CLDR recommends for roads;
  /// other units up to one of the next.
  private func units(_ system: UnitSystem) -> [Unit] {
    switch (self, system) {
    case (.length, .metric): [Unit(symbol: "m", size: 1, limit: 1000), Unit(symbol: "km", size: 1000)]
    case (.length, .imperial): [Unit(symbol: "ft", size: 0.3048, limit: 2640), Unit(symbol: "mi", size: 1609.344)]
    case (.area, .metric):
      [
        Unit(symbol: "m²", size: 1, limit: 10_000), Unit(symbol: "ha", size: 10_000, limit: 100),
        Unit(symbol: "km²", size: 1_000_000),
      ]
    case (.area, .imperial):
      [
        Unit(symbol: "ft²", size: 0.09290304, limit: 43_560), Unit(symbol: "ac", size: 4046.8564224, limit: 640),
        Unit(symbol: "mi²", size: 2_589_988.110336),
      ]
    case (.speed, .metric): [Unit(symbol: "km/h", size: 1 / 3.6)]
    case (.speed, .imperial): [Unit(symbol: "mph", size: 0.44704)]
    }
  }

  /// The number, a space and the unit's symbol.
  ///
  /// - Parameters:
  ///   - value: finite.
  ///   - decimals: 0...20; nil for one if the number is below 10 and the decimal is not 0, else none.
  package func text(of value: Double, decimals: Int? = nil, by conventions: TextConventions) -> String {
    for unit in units(conventions.units) {
      let digits = Self.digits(value.magnitude / unit.size, decimals)
      // A value rounded up to the limit is shown in the next unit: "1 km" instead of "1000 m".
      if let number = Double(digits), number >= unit.limit { continue }
      let isNegative = value < 0 && digits.utf8.contains { $0 >= UInt8(ascii: "1") && $0 <= UInt8(ascii: "9") }
      let number = conventions.numbers.grouped(conventions.numbers.pointed(digits))
      return (isNegative ? "-" : "") + number + " " + unit.symbol
    }
    return ""
  }

  private static func digits(_ amount: Double, _ decimals: Int?) -> String {
    if let decimals { return NumberText.printed(amount, UInt8(ascii: "f"), decimals) }
    let one = NumberText.printed(amount, UInt8(ascii: "f"), 1)
    guard let rounded = Double(one), rounded < 10, !one.hasSuffix(".0") else {
      return NumberText.printed(amount, UInt8(ascii: "f"), 0)
    }
    return one
  }
}
