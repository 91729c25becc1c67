// Symbols of features and graphics, in the vocabulary of the ArcGIS Maps SDK.
//
// Sizes, widths and offsets are in device-independent pixels, angles in degrees clockwise. Decoding from the wire
// checks ranges; defaults are the SDK's.

import Geometry

/// The range of sizes and widths, in device-independent pixels.
public let symbolSizes = 0.0...1024.0

/// How one feature is drawn.
///
/// ```swift
/// let pin = Symbol.simpleMarker(
///   SimpleMarkerSymbol(style: .diamond, color: Color(red: 200, green: 0, blue: 0), size: 12))
/// ```
public indirect enum Symbol: Hashable, Sendable {
  case simpleMarker(SimpleMarkerSymbol)
  case simpleLine(SimpleLineSymbol)
  case simpleFill(SimpleFillSymbol)
  case text(TextSymbol)
  /// In drawing order, at the same position.
  case composite([Symbol])
}

/// A shape at a point.
public struct SimpleMarkerSymbol: Hashable, Sendable {
  public enum Style: Hashable, Sendable, CaseIterable { case circle, cross, diamond, square, triangle, x }
  public var style = Style.circle
  public var color = Color.lightGray
  public var size = 8.0
  public var angle = 0.0
  /// Positive to the right.
  public var xOffset = 0.0
  /// Positive upwards.
  public var yOffset = 0.0
  public var outline: SimpleLineSymbol?

  public init(
    style: Style = .circle, color: Color = .lightGray, size: Double = 8, angle: Double = 0, xOffset: Double = 0,
    yOffset: Double = 0, outline: SimpleLineSymbol? = nil
  ) {
    self.style = style
    self.color = color
    self.size = size
    self.angle = angle
    self.xOffset = xOffset
    self.yOffset = yOffset
    self.outline = outline
  }
}

/// A line, by itself or as an outline.
public struct SimpleLineSymbol: Hashable, Sendable {
  public enum Style: Hashable, Sendable, CaseIterable {
    case solid, dash, dot, dashDot, dashDotDot, longDash, longDashDot, shortDash, shortDashDot, shortDashDotDot,
      shortDot
    /// Draws nothing.
    case null
  }
  public var style: Style
  public var color: Color
  public var width: Double

  public init(style: Style = .solid, color: Color = .lightGray, width: Double = 1) {
    self.style = style
    self.color = color
    self.width = width
  }
}

/// The fill of an area.
public struct SimpleFillSymbol: Hashable, Sendable {
  public enum Style: Hashable, Sendable, CaseIterable {
    case solid, backwardDiagonal, cross, diagonalCross, forwardDiagonal, horizontal, vertical
    /// Draws nothing.
    case null
  }
  public var style: Style
  public var color: Color
  public var outline: SimpleLineSymbol?

  public init(style: Style = .solid, color: Color = .lightGray, outline: SimpleLineSymbol? = nil) {
    self.style = style
    self.color = color
    self.outline = outline
  }
}

/// A text at a point.
public struct TextSymbol: Hashable, Sendable {
  public enum FontStyle: Hashable, Sendable, CaseIterable { case normal, italic, oblique }
  public enum FontWeight: Hashable, Sendable, CaseIterable { case normal, bold }
  public enum HorizontalAlignment: Hashable, Sendable, CaseIterable { case left, center, right, justify }
  public enum VerticalAlignment: Hashable, Sendable, CaseIterable { case top, middle, baseline, bottom }
  public var text: Text = ""
  public var color = Color.black
  public var size = 8.0
  public var angle = 0.0
  /// Positive to the right.
  public var xOffset = 0.0
  /// Positive upwards.
  public var yOffset = 0.0
  public var haloColor: Color?
  /// 0 draws none.
  public var haloWidth = 0.0
  /// Nil for the client's default.
  public var fontFamily: Text? = nil
  public var fontStyle = FontStyle.normal
  public var fontWeight = FontWeight.normal
  public var horizontalAlignment = HorizontalAlignment.center
  public var verticalAlignment = VerticalAlignment.middle

  public init(text: String = "", color: Color = .black, size: Double = 8) {
    self.text = Text(text)
    self.color = color
    self.size = size
  }
}
