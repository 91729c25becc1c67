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
  /// - Parameter vector: the offset from the point.
  func distance(from vector: ScreenVector) -> Double {
    switch self {
    case .simpleMarker(let marker): marker.distance(from: vector)
    case .text(let text): text.distance(from: vector)
    case .simpleLine, .simpleFill: .infinity
    case .composite(let parts): parts.reduce(.infinity) { min($0, $1.distance(from: vector)) }
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

  /// An upper bound of the distance from a geometry to its drawn symbol.
  var reach: Double {
    switch self {
    case .simpleMarker(let marker):
      hypot(marker.xOffset, marker.yOffset) + marker.size / 2 * 2.squareRoot() + max(marker.outline?.reach ?? 0, 0.5)
    case .text(let text): hypot(text.xOffset, text.yOffset) + hypot(text.width, text.height) + text.haloWidth
    case .simpleLine(let line): line.reach
    case .simpleFill(let fill): fill.outline?.reach ?? 0
    case .composite(let parts): parts.map(\.reach).max() ?? 0
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
    // All shapes are symmetric left to right, and all but the triangle top to bottom.
    let (x, y) = (abs(place.x), abs(place.y))
    let (corner, outside) = (ScreenVector(x, y), outline?.reach ?? 0)
    func edge(_ startX: Double, _ startY: Double, _ endX: Double, _ endY: Double) -> Double {
      corner.distance(to: ScreenVector(startX, startY), ScreenVector(endX, endY))
    }
    let distance =
      switch style {
      case .circle: place.length - half - outside
      case .square: hypot(max(x - half, 0), max(y - half, 0)) - outside
      case .diamond: x + y <= half ? 0 : edge(half, 0, 0, half) - outside
      case .triangle: Self.triangle(ScreenVector(x, place.y), half) - outside
      case .cross: min(edge(0, 0, half, 0), edge(0, 0, 0, half)) - max(outside, 0.5)
      case .x: edge(0, 0, half, half) - max(outside, 0.5)
      }
    return max(distance, 0)
  }

  /// Distance to the triangle inscribed in a square, with its tip at the top.
  ///
  /// - Parameter place: from the middle of the square, in its right half.
  private static func triangle(_ place: ScreenVector, _ half: Double) -> Double {
    let (tip, base, middle) = (ScreenVector(0, -half), ScreenVector(half, half), ScreenVector(0, half))
    if place.y <= half, 2 * place.x <= place.y + half { return 0 }
    return min(place.distance(to: tip, base), place.distance(to: base, middle))
  }
}

extension TextSymbol {
  private var lines: [Substring.UnicodeScalarView.SubSequence] {
    text.string.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
  }
  /// An estimate: letters are about half as wide as high.
  fileprivate var width: Double { size / 2 * Double(lines.map(\.count).max() ?? 0) }
  fileprivate var height: Double { size * Double(lines.count) }

  fileprivate func distance(from vector: ScreenVector) -> Double {
    guard !text.string.isEmpty else { return .infinity }
    // The text is rotated about its point.
    let place = (vector - ScreenVector(xOffset, -yOffset)).turned(by: -angle)
    let (width, height) = (width, height)
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
      case .baseline, .bottom: -height
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
