// Symbols in the terms of pictures, and what of a symbol draws which geometry: as distances of `view/identify` have it.

import GeoModel
import Geometry
import Pictures

extension Color {
  package var word: UInt32 { UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha) }
}

extension SimpleLineSymbol {
  /// Nil if nothing is drawn.
  var stroke: Stroke? {
    guard width > 0, color.alpha > 0, let dashes = style.dashes else { return nil }
    return Stroke(dashes: dashes, color: color.word, width: Float(width))
  }
}

extension SimpleLineSymbol.Style {
  var dashes: Stroke.Dashes? {
    switch self {
    case .solid: .solid
    case .dash: .dash
    case .dot: .dot
    case .dashDot: .dashDot
    case .dashDotDot: .dashDotDot
    case .longDash: .longDash
    case .longDashDot: .longDashDot
    case .shortDash: .shortDash
    case .shortDashDot: .shortDashDot
    case .shortDashDotDot: .shortDashDotDot
    case .shortDot: .shortDot
    case .null: nil
    }
  }
}

extension SimpleFillSymbol {
  /// Nil if nothing is filled.
  var fill: Fill? {
    guard color.alpha > 0 else { return nil }
    let hatch: Fill.Hatch? =
      switch style {
      case .solid: .solid
      case .backwardDiagonal: .backwardDiagonal
      case .cross: .cross
      case .diagonalCross: .diagonalCross
      case .forwardDiagonal: .forwardDiagonal
      case .horizontal: .horizontal
      case .vertical: .vertical
      case .null: nil
      }
    return hatch.map { Fill($0, color: color.word) }
  }
}

extension SimpleMarkerSymbol {
  var marker: Marker {
    let shape: Marker.Shape =
      switch style {
      case .circle: .circle
      case .cross: .cross
      case .diamond: .diamond
      case .square: .square
      case .triangle: .triangle
      case .x: .x
      }
    return Marker(
      shape, color: color.word, size: Float(size), angle: Float(angle), offset: SIMD2(Float(xOffset), Float(-yOffset)),
      outline: outline?.stroke)
  }
}

extension TextSymbol {
  var font: Font {
    let slant: Font.Slant =
      switch fontStyle {
      case .normal: .normal
      case .italic: .italic
      case .oblique: .oblique
      }
    return Font(
      family: fontFamily?.string ?? "", size: Float(size), slant: slant, isBold: fontWeight == .bold, color: color.word,
      haloColor: haloColor?.word ?? 0, haloWidth: haloColor == nil ? 0 : Float(haloWidth))
  }

  var anchor: Anchor {
    let horizontal: Anchor.Horizontal =
      switch horizontalAlignment {
      case .left: .left
      case .center: .center
      case .right: .right
      case .justify: .justify
      }
    let vertical: Anchor.Vertical =
      switch verticalAlignment {
      case .top: .top
      case .middle: .middle
      case .baseline: .baseline
      case .bottom: .bottom
      }
    return Anchor(horizontal, vertical)
  }
}

/// A geometry on the screen, as symbols draw it: one copy of it, where the world is drawn side by side.
struct ScreenShape {
  var points: [SIMD2<Float>] = []
  var lines: [[SIMD2<Float>]] = []
  /// Rings of one polygon each.
  var areas: [[[SIMD2<Float>]]] = []
  /// The outlines of the areas, if these are not their rings: where a part of an area is hidden.
  var edges: [[SIMD2<Float>]]?

  var isEmpty: Bool { points.isEmpty && lines.isEmpty && areas.isEmpty && edges?.isEmpty ?? true }
}

extension Symbol {
  /// Whether it is one marker, which is drawn at further points as it was at the last.
  var isMarker: Bool { if case .simpleMarker = self { true } else { false } }
}

/// Draws what a picture has, and numbers it if it is to be numbered.
struct Painter {
  var words = PictureWriter()
  /// Of what is drawn next; nil in pictures without numbers.
  var number: UInt32?

  private mutating func count() { if let number { words.item(number) } }

  // In pictures with numbers only shapes matter, as for `view/identify`: there are no dashes and patterns, and nothing is transparent.

  private func stroke(_ line: SimpleLineSymbol) -> Stroke? {
    guard number != nil else { return line.stroke }
    return line.reach > 0 ? Stroke(color: 0xff, width: Float(line.width)) : nil
  }

  private func fill(_ fill: SimpleFillSymbol) -> Fill? { number == nil ? fill.fill : Fill(color: 0xff) }

  private func marker(_ symbol: SimpleMarkerSymbol) -> Marker {
    var marker = symbol.marker
    guard number != nil else { return marker }
    marker.color = 0xff
    marker.outline = symbol.outline.flatMap(stroke)
    if let width = marker.outline?.width, symbol.style == .cross || symbol.style == .x { marker.outline?.width = max(width, 1) }
    return marker
  }

  /// Begins a text.
  mutating func begin(_ text: TextSymbol) {
    var font = text.font
    if number != nil {
      font.color = 0xff
      // A halo of any colour takes room.
      if text.haloColor != nil { font.haloColor = 0xff }
    }
    words.set(font)
    count()
  }

  mutating func draw(_ symbol: Symbol, at point: SIMD2<Float>) {
    switch symbol {
    case .composite(let parts): for part in parts { draw(part, at: point) }
    case .simpleMarker(let marker):
      words.set(self.marker(marker))
      count()
      words.point(point)
    case .text(let text):
      guard !text.text.string.isEmpty else { return }
      begin(text)
      words.text(
        text.text.string, at: point + SIMD2(Float(text.xOffset), Float(-text.yOffset)), angle: Float(text.angle), text.anchor)
    case .simpleLine, .simpleFill: return
    }
  }

  mutating func draw(_ symbol: Symbol, _ shape: ScreenShape) {
    if case .composite(let parts) = symbol {
      for part in parts { draw(part, shape) }
      return
    }
    for point in shape.points { draw(symbol, at: point) }
    switch symbol {
    case .simpleLine(let line): if let stroke = stroke(line) { draw(stroke, shape) }
    case .simpleFill(let fill):
      if let inside = self.fill(fill), !shape.areas.isEmpty {
        words.set(inside)
        count()
        for area in shape.areas { words.area(area) }
      }
      if let stroke = fill.outline.flatMap(stroke) { draw(stroke, ScreenShape(areas: shape.areas, edges: shape.edges)) }
    case .simpleMarker, .text, .composite: return
    }
  }

  /// Strokes lines, and the edges of areas.
  private mutating func draw(_ stroke: Stroke, _ shape: ScreenShape) {
    guard !shape.lines.isEmpty || !shape.areas.isEmpty || shape.edges != nil else { return }
    words.set(stroke)
    count()
    words.lines(shape.lines)
    if let edges = shape.edges { return words.lines(edges) }
    for area in shape.areas { words.lines(area.map { $0 + [$0[0]] }) }
  }

  /// How a selected feature differs that was drawn: a line around it in the colour of the selection; lines are drawn anew above theirs.
  mutating func drawSelection(of symbol: Symbol, _ shape: ScreenShape, _ color: Color) {
    let size = Float(symbol.size)
    if !shape.lines.isEmpty {
      draw(Stroke(color: color.word, width: max(size, 1) + 4), ScreenShape(lines: shape.lines))
      draw(symbol, ScreenShape(lines: shape.lines))
    }
    draw(Stroke(color: color.word, width: max(size, 1) + 1), ScreenShape(areas: shape.areas, edges: shape.edges))
    guard !shape.points.isEmpty else { return }
    words.set(Marker(.circle, color: 0, size: max(size, 4) + 4, outline: Stroke(color: color.word, width: 2)))
    for point in shape.points {
      count()
      words.point(point)
    }
  }
}
