// How things are drawn in a picture. Sizes are in device-independent pixels, colours are 0xRRGGBBAA, angles in degrees clockwise.

/// A line, by itself or as an outline.
public struct Stroke: Hashable, Sendable {
  public enum Dashes: UInt32, Sendable, CaseIterable {
    case solid, dash, dot, dashDot, dashDotDot, longDash, longDashDot, shortDash, shortDashDot, shortDashDotDot, shortDot

    /// Lengths of dashes and gaps in widths of the line; empty for a solid line. A dash of length 0 is a dot as wide as the line.
    public var pattern: [Double] {
      switch self {
      case .solid: []
      case .dash: [4, 3]
      case .dot: [1, 3]
      case .dashDot: [4, 3, 1, 3]
      case .dashDotDot: [4, 3, 1, 3, 1, 3]
      case .longDash: [8, 3]
      case .longDashDot: [8, 3, 1, 3]
      case .shortDash: [4, 1]
      case .shortDashDot: [4, 1, 1, 1]
      case .shortDashDotDot: [4, 1, 1, 1, 1, 1]
      case .shortDot: [1, 1]
      }
    }
  }
  public var dashes: Dashes
  public var color: UInt32
  public var width: Float

  public init(dashes: Dashes = .solid, color: UInt32, width: Float) {
    (self.dashes, self.color, self.width) = (dashes, color, width)
  }
}

/// A shape at a point.
public struct Marker: Hashable, Sendable {
  public enum Shape: UInt32, Sendable, CaseIterable { case circle, cross, diamond, square, triangle, x }
  public var shape: Shape
  public var color: UInt32
  public var size: Float
  public var angle: Float
  /// To the right and down, not turned with the marker.
  public var offset: SIMD2<Float>
  public var outline: Stroke?

  public init(_ shape: Shape, color: UInt32, size: Float, angle: Float = 0, offset: SIMD2<Float> = .zero, outline: Stroke? = nil) {
    (self.shape, self.color, self.size, self.angle) = (shape, color, size, angle)
    (self.offset, self.outline) = (offset, outline)
  }
}

/// The inside of areas, by the even-odd rule.
public struct Fill: Hashable, Sendable {
  public enum Hatch: UInt32, Sendable, CaseIterable {
    case solid, backwardDiagonal, cross, diagonalCross, forwardDiagonal, horizontal, vertical
  }
  public var hatch: Hatch
  public var color: UInt32

  public init(_ hatch: Hatch = .solid, color: UInt32) { (self.hatch, self.color) = (hatch, color) }
}

/// The look of a text.
public struct Font: Hashable, Sendable {
  public enum Slant: UInt32, Sendable, CaseIterable { case normal, italic, oblique }
  /// Empty for the default, a sans serif.
  public var family: String
  public var size: Float
  public var slant: Slant
  public var isBold: Bool
  public var color: UInt32
  public var haloColor: UInt32
  /// 0 for none.
  public var haloWidth: Float

  public init(
    family: String = "", size: Float, slant: Slant = .normal, isBold: Bool = false, color: UInt32, haloColor: UInt32 = 0,
    haloWidth: Float = 0
  ) {
    (self.family, self.size, self.slant, self.isBold) = (family, size, slant, isBold)
    (self.color, self.haloColor, self.haloWidth) = (color, haloColor, haloWidth)
  }
}

/// Where a text is in relation to its point.
public struct Anchor: Hashable, Sendable {
  public enum Horizontal: UInt32, Sendable, CaseIterable { case left, center, right, justify }
  public enum Vertical: UInt32, Sendable, CaseIterable { case top, middle, baseline, bottom }
  public var horizontal: Horizontal
  public var vertical: Vertical

  public init(_ horizontal: Horizontal, _ vertical: Vertical) { (self.horizontal, self.vertical) = (horizontal, vertical) }
}

/// The size of a text as it is drawn without its halo, in device-independent pixels.
public struct TextSize: Hashable, Sendable {
  public var width: Float
  public var height: Float
  /// From the top to the baseline of the first line.
  public var ascent: Float

  public init(width: Float, height: Float, ascent: Float) { (self.width, self.height, self.ascent) = (width, height, ascent) }
}
