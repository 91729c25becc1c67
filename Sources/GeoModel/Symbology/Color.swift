// Colors of symbols: text form and interpolation.

/// A color in sRGB with straight alpha, eight bits per component.
public struct Color: Hashable, Sendable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8
  /// 0 is transparent, 255 opaque.
  public var alpha: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  public static let black = Color(red: 0, green: 0, blue: 0)
  public static let gray = Color(red: 0x80, green: 0x80, blue: 0x80)
  /// The default color of symbols.
  public static let lightGray = Color(red: 0xD3, green: 0xD3, blue: 0xD3)

  /// Parses `#RRGGBB` or `#RRGGBBAA`, in either case; nil for other texts.
  public init?(_ text: String) {
    let digits = text.dropFirst()
    // `UInt32` would also parse a sign.
    guard text.hasPrefix("#"), digits.utf8.count == 6 || digits.utf8.count == 8, digits.allSatisfy(\.isHexDigit),
      var number = UInt32(digits, radix: 16)
    else { return nil }
    if digits.utf8.count == 6 { number = number << 8 | 0xFF }
    self.init(
      red: UInt8(number >> 24), green: UInt8(truncatingIfNeeded: number >> 16),
      blue: UInt8(truncatingIfNeeded: number >> 8), alpha: UInt8(truncatingIfNeeded: number))
  }

  /// `#RRGGBB` in upper case, followed by `AA` unless opaque.
  public var text: String {
    (alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]).reduce(into: "#") { text, part in
      text += (part < 16 ? "0" : "") + String(part, radix: 16, uppercase: true)
    }
  }

  /// Interpolates each component to another color, with a fraction in 0...1, rounded.
  public func mixed(with other: Color, fraction: Double) -> Color {
    func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
      UInt8(clamping: Int((Double(from) + (Double(to) - Double(from)) * fraction).rounded()))
    }
    return Color(
      red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue),
      alpha: mix(alpha, other.alpha))
  }

  /// Multiplies alpha by an opacity in 0...1.
  public func faded(_ opacity: Double) -> Color {
    changed(self) { $0.alpha = UInt8(clamping: Int((Double(alpha) * opacity).rounded())) }
  }
}
