// The distance from a screen point to a drawn symbol, in device-independent pixels with x to the right and y down.

import GeoModel
import Platform

/// A vector on the screen, in device-independent pixels.
typealias ScreenVector = SIMD2<Double>

extension SIMD2<Double> {
  var length: Double { hypot(x, y) }

  /// Distance to the line between two points.
  func distance(to start: ScreenVector, _ end: ScreenVector) -> Double {
    let edge = end - start
    let square = (edge * edge).sum()
    guard square > 0 else { return (self - start).length }
    let along = ((self - start) * edge).sum() / square
    return (self - start - edge * Swift.min(Swift.max(along, 0), 1)).length
  }
}

extension Symbol {
  /// Distance to the symbol drawn at a point; infinite if it draws no points.
  ///
  /// - Parameters:
  ///   - vector: the offset from the point.
  ///   - meter: has measured the texts; nil to estimate their sizes.
  func distance(from vector: ScreenVector, _ meter: TextMeter? = nil) -> Double {
    switch self {
    case .simpleMarker(let marker): marker.distance(from: vector)
    case .text(let text): text.distance(from: vector, meter)
    case .simpleLine, .simpleFill: .infinity
    case .composite(let parts): parts.reduce(.infinity) { min($0, $1.distance(from: vector, meter)) }
    }
  }

  /// Whether the symbol draws points.
  var drawsPoints: Bool {
    switch self {
    case .simpleMarker, .text: true
    case .simpleLine, .simpleFill: false
    case .composite(let parts): parts.contains(where: \.drawsPoints)
    }
  }

  /// Half of the width of drawn lines; nil if the symbol draws none.
  var lineReach: Double? {
    switch self {
    case .simpleLine(let line): line.reach
    case .simpleMarker, .text, .simpleFill: nil
    case .composite(let parts): parts.compactMap(\.lineReach).max()
    }
  }

  /// Half of the width of drawn outlines of areas; nil if the symbol draws no areas.
  var edgeReach: Double? {
    switch self {
    case .simpleLine(let line): line.reach
    case .simpleFill(let fill): fill.outline?.reach ?? 0
    case .simpleMarker, .text: nil
    case .composite(let parts): parts.compactMap(\.edgeReach).max()
    }
  }

  /// Whether the symbol fills areas.
  var isFill: Bool {
    switch self {
    case .simpleFill: true
    case .simpleMarker, .text, .simpleLine: false
    case .composite(let parts): parts.contains(where: \.isFill)
    }
  }

  /// An upper bound of the distance from a geometry to its drawn symbol, whatever the fonts.
  var widestReach: Double { reach(texts: 4) }

  /// An upper bound of the distance from a geometry to its drawn symbol, with texts of the estimated size.
  var reach: Double { reach(texts: 1) }

  /// - Parameter factor: how much larger texts may be than is estimated.
  private func reach(texts factor: Double) -> Double {
    switch self {
    case .simpleMarker(let marker):
      // The outline of a triangle reaches farthest, at its tip.
      hypot(marker.xOffset, marker.yOffset) + marker.size / 2 * 2.squareRoot()
        + max((marker.outline?.reach ?? 0) * 5.0.squareRoot(), 0.5)
    case .text(let text): hypot(text.xOffset, text.yOffset) + factor * hypot(text.width, text.height) + text.haloWidth
    case .simpleLine(let line): line.reach
    case .simpleFill(let fill): fill.outline?.reach ?? 0
    case .composite(let parts): parts.map { $0.reach(texts: factor) }.max() ?? 0
    }
  }
}

extension SimpleLineSymbol {
  /// Half of the width.
  var reach: Double { style == .null ? 0 : width / 2 }
}

extension SimpleMarkerSymbol {
  fileprivate func distance(from vector: ScreenVector) -> Double {
    let (half, place) = (size / 2, (vector - ScreenVector(xOffset, -yOffset)).turned(by: -angle))
    // Outlines have sharp corners: a marker with one has the shape of a larger one without.
    let outside = outline?.reach ?? 0
    let distance =
      switch style {
      case .circle: place.length - half - outside
      case .square: Self.box(place, ScreenVector(half + outside, half + outside))
      case .diamond: Self.box(place.turned(by: 45), ScreenVector(half / 2.squareRoot() + outside, half / 2.squareRoot() + outside))
      case .triangle: Self.triangle(place, half, outside)
      case .cross: Self.cross(place, half, max(outside, 0.5))
      case .x: Self.cross(place.turned(by: 45), half * 2.squareRoot(), max(outside, 0.5))
      }
    return max(distance, 0)
  }

  /// Distance to a box around the origin.
  ///
  /// - Parameter corner: half of its size.
  private static func box(_ place: ScreenVector, _ corner: ScreenVector) -> Double {
    hypot(max(abs(place.x) - corner.x, 0), max(abs(place.y) - corner.y, 0))
  }

  /// Distance to two crossing lines.
  private static func cross(_ place: ScreenVector, _ half: Double, _ outside: Double) -> Double {
    min(box(place, ScreenVector(half, outside)), box(place, ScreenVector(outside, half)))
  }

  /// Distance to the triangle inscribed in a square around the origin, with its tip at the top, and the outline around it.
  private static func triangle(_ place: ScreenVector, _ half: Double, _ outside: Double) -> Double {
    let root = 5.0.squareRoot()
    let (top, bottom) = (-half - outside * root, half + outside)
    let (tip, base) = (ScreenVector(0, top), ScreenVector((bottom - top) / 2, bottom))
    let right = ScreenVector(abs(place.x), place.y)
    if right.y <= bottom, 2 * right.x <= right.y - top { return 0 }
    return min(right.distance(to: tip, base), right.distance(to: base, ScreenVector(0, bottom)))
  }
}

extension TextSymbol {
  private var lines: [Substring.UnicodeScalarView.SubSequence] {
    text.string.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
  }
  /// An estimate: letters are about half as wide as high.
  fileprivate var width: Double { size / 2 * Double(lines.map(\.count).max() ?? 0) }
  fileprivate var height: Double { size * Double(lines.count) }

  fileprivate func distance(from vector: ScreenVector, _ meter: TextMeter?) -> Double {
    guard !text.string.isEmpty else { return .infinity }
    // The text is rotated about its point.
    let place = (vector - ScreenVector(xOffset, -yOffset)).turned(by: -angle)
    let measured = meter?[self]
    let (width, height) = measured.map { (Double($0.width), Double($0.height)) } ?? (width, height)
    let left =
      switch horizontalAlignment {
      case .left, .justify: 0.0
      case .center: -width / 2
      case .right: -width
      }
    let top =
      switch verticalAlignment {
      case .top: 0.0
      case .middle: -height / 2
      case .baseline: measured.map { -Double($0.ascent) } ?? -height
      case .bottom: -height
      }
    let x = max(left - place.x, place.x - left - width, 0)
    let y = max(top - place.y, place.y - top - height, 0)
    return max(hypot(x, y) - haloWidth, 0)
  }
}

extension SIMD2<Double> {
  /// The vector turned clockwise on the screen.
  ///
  /// - Parameter angle: in degrees.
  fileprivate func turned(by angle: Double) -> ScreenVector {
    guard angle != 0 else { return self }
    let (s, c) = (sin(angle * .pi / 180), cos(angle * .pi / 180))
    return ScreenVector(c * x - s * y, s * x + c * y)
  }
}
