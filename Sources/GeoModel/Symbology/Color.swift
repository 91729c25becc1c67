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
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "#"), let parts = Self.parts(bytes.dropFirst()) else { return nil }
    switch parts.count {
    case 3: self.init(red: parts[0], green: parts[1], blue: parts[2])
    case 4: self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3])
    default: return nil
    }
  }

  /// `#RRGGBB` in upper case, followed by `AA` unless opaque.
  public var text: String {
    var digits: [UInt8] = [UInt8(ascii: "#")]
    for part in alpha == 255 ? [red, green, blue] : [red, green, blue, alpha] {
      for digit in [part >> 4, part & 15] { digits.append(digit < 10 ? 48 + digit : 55 + digit) }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Parses pairs of hexadecimal digits; nil if there are others.
  static func parts(_ digits: some Sequence<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - 48
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - 55
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - 87
      default: return nil
      }
      if let first = high {
        result.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? result : nil
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
    var result = self
    result.alpha = UInt8(clamping: Int((Double(alpha) * opacity).rounded()))
    return result
  }
}
