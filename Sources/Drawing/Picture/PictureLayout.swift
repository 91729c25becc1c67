// What surrounds a map on a page: title, legend, scale bar, north arrow, attribution.

import GeoModel
import Geometry
import Pictures
import Platform
import TextFormatting

/// What a picture has besides the map. Drawn above it, in panels that cover a part of it.
package struct PictureLayout: Sendable {
  package var title: String?
  package var attribution: String?
  package var hasLegend = false
  package var hasScaleBar = false
  package var hasNorthArrow = false

  package init() {}

  static let margin: Float = 12
  /// What a title takes of the top.
  package static let titleRoom = 40.0
  fileprivate static let ink: UInt32 = 0x2222_22ff
  fileprivate static let paper: UInt32 = 0xffff_ffd8
}

/// A text of a layout, and how it is written.
private struct Line {
  let text: String
  let font: Font

  init(_ text: String, size: Float, isBold: Bool = false) {
    self.text = text
    font = Font(size: size, isBold: isBold, color: PictureLayout.ink)
  }
}

/// Draws a layout on a view's screen.
package struct LayoutDrawing {
  private let layout: PictureLayout
  private let view: View
  private let world: World
  private let legend: [LegendRow]
  private let conventions: TextConventions
  private let sizes: [TextSize]
  /// Of the title and of the attribution, if there are any.
  private let edges: [(edge: Edge, text: String, size: SIMD2<Float>)]

  /// A row of the legend: the name of a layer, or a symbol with its label.
  private struct LegendRow {
    let line: Line
    var symbol: Symbol?
    var kind = ShapeKind.point
    /// Whether its size says something.
    var isSized = false
    static let height: Float = 18

    /// How large its symbol is at most.
    var limit: Double { isSized ? 48 : 14 }
    var height: Float { isSized ? max(Self.height, Float(min(symbol?.size ?? 0, limit)) + 4) : Self.height }
  }

  /// - Parameters:
  ///   - layers: those of the picture, from the bottom.
  ///   - rasters: drawn between the layers, as their indexes say.
  ///   - check: throws to cancel.
  ///   - measure: the sizes of the texts of a list.
  package init(
    _ layout: PictureLayout, _ layers: [DrawnLayer], _ rasters: [DrawnRaster] = [], of view: View, in world: World,
    checking check: () throws -> Void = {}, measuredBy measure: (PictureWriter) throws -> [TextSize]
  ) throws {
    (self.layout, self.view, self.world) = (layout, view, world)
    conventions = world.conventions(at: ObjectReference(.views, view.id.rawValue))
    let room = Float(view.screen.height) - 8 * PictureLayout.margin
    legend = layout.hasLegend ? try Self.rows(of: layers, rasters, conventions, room: room, checking: check) : []
    let edges = [(Edge.top, layout.title), (.bottom, layout.attribution)].compactMap { edge, text in
      text.flatMap { $0.isEmpty ? nil : (edge: edge, text: $0) }
    }
    let texts = legend.map { ($0.line.text, $0.line.font) } + edges.map { ($0.text, $0.edge.font) }
    var words = PictureWriter()
    for (text, font) in texts {
      words.set(font)
      words.text(text, at: .zero, Anchor(.left, .top))
    }
    sizes = texts.isEmpty ? [] : try measure(words)
    self.edges = zip(edges, sizes.dropFirst(legend.count)).map { ($0.edge, $0.text, SIMD2($1.width, $1.height)) }
  }

  /// What of the map is covered: labels there would be read by nobody.
  package var panels: [ScreenBox] {
    var boxes = edges.map { box(of: $0.edge, $0.size) }
    if let bar { boxes.append(bar.box) }
    if layout.hasNorthArrow, north != nil { boxes.append(ScreenBox(center: arrowCenter - SIMD2(0, 6), size: SIMD2(32, 60))) }
    if !legend.isEmpty { boxes.append(legendBox) }
    return boxes
  }

  /// The rows of layers and of the rasters between them, from the top.
  private static func rows(
    of layers: [DrawnLayer], _ rasters: [DrawnRaster], _ conventions: TextConventions, room: Float, checking check: () throws -> Void
  ) throws -> [LegendRow] {
    var rows: [LegendRow] = []
    var unseen = rasters
    for index in (0...layers.count).reversed() {
      while let raster = unseen.last, raster.index >= index {
        rows += try self.rows(of: raster, conventions, checking: check)
        unseen.removeLast()
      }
      guard index > 0 else { break }
      let layer = layers[index - 1]
      let kind = layer.shapeKind ?? .point
      let entries = layer.portrayal.renderer?.legend(by: conventions) ?? []
      if entries.count > 1 || entries.isEmpty, !layer.name.isEmpty, !entries.isEmpty {
        rows.append(LegendRow(line: Line(layer.name, size: 12, isBold: true)))
      }
      if entries.isEmpty {
        rows.append(LegendRow(line: Line(layer.name, size: 11), symbol: Symbol.standard(for: kind).scaled(by: layer.symbolScale), kind: kind))
      }
      for entry in entries {
        let label = entry.label.string.isEmpty && entries.count == 1 ? layer.name : entry.label.string
        rows.append(LegendRow(line: Line(label, size: 11), symbol: entry.symbol.scaled(by: layer.symbolScale), kind: kind))
      }
      rows += sizeRows(of: layer, entries.first?.symbol, kind, conventions)
    }
    guard rows.count > 1, rows.reduce(0, { $0 + $1.height }) > room else { return rows }
    var (height, shown) = (LegendRow.height, 0)
    while shown < rows.count, height + rows[shown].height <= room {
      height += rows[shown].height
      shown += 1
    }
    return Array(rows.prefix(shown)) + [LegendRow(line: Line("… \(rows.count - shown) more", size: 11))]
  }

  /// The colors of a raster: those of a ramp with their numbers, or classes.
  private static func rows(
    of raster: DrawnRaster, _ conventions: TextConventions, checking check: () throws -> Void
  ) throws -> [LegendRow] {
    let entries: [LegendEntry] = try raster.renderer.legend(of: raster.source, by: conventions) {
      do { try check() } catch { return true }
      return false
    }
    guard !entries.isEmpty else { return [] }
    let name = raster.name.isEmpty ? [] : [LegendRow(line: Line(raster.name, size: 12, isBold: true))]
    return name + entries.map { LegendRow(line: Line($0.label.string, size: 11), symbol: $0.symbol, kind: .area) }
  }

  /// Three sizes of a layer whose sizes follow a field, with their numbers.
  private static func sizeRows(
    of layer: DrawnLayer, _ symbol: Symbol?, _ kind: ShapeKind, _ conventions: TextConventions
  ) -> [LegendRow] {
    guard let symbol, kind != .area else { return [] }
    for variable in layer.portrayal.renderer?.visualVariables ?? [] {
      guard case .size(let ramp) = variable.effect, let low = ramp.stops.first?.value, let high = ramp.stops.last?.value else { continue }
      return [low, low / 2 + high / 2, high].map { value in
        let text = AttributeValue.double(value).shownText(by: conventions) ?? ""
        let sized = symbol.sized(ramp.output(at: value)).scaled(by: layer.symbolScale)
        return LegendRow(line: Line(text, size: 11), symbol: sized, kind: kind, isSized: true)
      }
    }
    return []
  }

  package func draw(to picture: inout ViewPicture) {
    picture.paint { painter in
      for each in edges { draw(each.text, at: each.edge, &painter) }
      if let bar { draw(bar, &painter) }
      if layout.hasNorthArrow { drawNorthArrow(&painter) }
      if !legend.isEmpty { drawLegend(&painter) }
    }
  }

  private var size: SIMD2<Float> { SIMD2(Float(view.screen.width), Float(view.screen.height)) }

  private func drawPanel(_ box: ScreenBox, _ painter: inout Painter) {
    let (low, high) = (box.low, box.high)
    let ring = [low, SIMD2(high.x, low.y), high, SIMD2(low.x, high.y)]
    painter.words.set(Fill(color: PictureLayout.paper))
    painter.words.area([ring])
    painter.words.set(Stroke(color: 0x8888_88ff, width: 0.5))
    painter.words.lines([ring + [low]])
  }

  private func draw(_ line: Line, at place: SIMD2<Float>, _ anchor: Anchor, _ painter: inout Painter) {
    painter.words.set(line.font)
    painter.words.text(line.text, at: place, anchor)
  }

  // MARK: Texts at an edge

  private enum Edge {
    case top, bottom

    var font: Font {
      let size: Float = self == .top ? 20 : 10
      return Font(size: size, isBold: self == .top, color: PictureLayout.ink, haloColor: 0xffff_ffff, haloWidth: size / 8)
    }
  }

  private func box(of edge: Edge, _ text: SIMD2<Float>) -> ScreenBox {
    switch edge {
    case .top: ScreenBox(center: SIMD2(size.x / 2, PictureLayout.margin + text.y / 2), size: text)
    case .bottom: ScreenBox(size - SIMD2(4, 3) - text, size)
    }
  }

  /// A title in the middle of the top, an attribution at the end of the bottom; both with a halo.
  private func draw(_ text: String, at edge: Edge, _ painter: inout Painter) {
    painter.words.set(edge.font)
    switch edge {
    case .top: painter.words.text(text, at: SIMD2(size.x / 2, PictureLayout.margin), Anchor(.center, .top))
    case .bottom: painter.words.text(text, at: size - SIMD2(4, 3), Anchor(.right, .bottom))
    }
  }

  // MARK: The scale bar

  /// Metres on the ellipsoid between two points of the screen; nil where there is no ground.
  private func distance(_ start: SIMD2<Float>, _ end: SIMD2<Float>) -> Double? {
    let places = [start, end].map { view.location(x: Double($0.x), y: Double($0.y)) }
    guard
      let degrees = try? world.transformer.transform(.multiPoint(Positions(places)), from: view.reference.reference, to: .wgs84),
      case .multiPoint(let positions) = degrees,
      let line = try? world.geodesy.inverse(from: positions[0], to: positions[1]), line.distance.isFinite
    else { return nil }
    return line.distance
  }

  /// A bar with a round length, as long as the ground is at the middle of the picture.
  private var bar: (box: ScreenBox, length: Float, metres: Double)? {
    let (middle, step) = (size / 2, SIMD2<Float>(min(20, size.x / 4), 0))
    guard layout.hasScaleBar, let metres = distance(middle - step, middle + step), metres > 0 else { return nil }
    let perPixel = metres / Double(2 * step.x)
    let longest = Double(min(160, size.x / 3))
    let unit = conventions.units == .imperial ? (longest * perPixel < 2640 * 0.3048 ? 0.3048 : 1609.344) : 1.0
    let exponent = pow(10, floor(log10(longest * perPixel / unit)))
    guard let round = [5, 2, 1].map({ $0 * exponent }).first(where: { $0 * unit <= longest * perPixel }) else { return nil }
    let length = Float(round * unit / perPixel)
    let (low, high) = (SIMD2(PictureLayout.margin, size.y - PictureLayout.margin - 30), SIMD2(PictureLayout.margin + length + 20, size.y - PictureLayout.margin))
    return (ScreenBox(low, high), length, round * unit)
  }

  private func draw(_ bar: (box: ScreenBox, length: Float, metres: Double), _ painter: inout Painter) {
    let length = bar.length
    drawPanel(bar.box, &painter)
    let start = bar.box.low + SIMD2(10, 22)
    painter.words.set(Stroke(color: PictureLayout.ink, width: 1.5))
    painter.words.lines([[start - SIMD2(0, 6), start, start + SIMD2(length, 0), start + SIMD2(length, -6)]])
    let text = Measure.length.text(of: bar.metres, by: conventions)
    draw(Line(text, size: 11), at: start + SIMD2(length / 2, -4), Anchor(.center, .bottom), &painter)
  }

  // MARK: The north arrow

  /// The direction of true north at the middle of the picture, in degrees clockwise from the top; nil where there is none.
  private var north: Double? {
    let middle = view.location(x: Double(size.x / 2), y: Double(size.y / 2))
    guard let here = try? world.transformer.transform(middle, from: view.reference.reference, to: .wgs84), abs(here.y) < 89.99,
      let there = try? world.transformer.transform(
        Point(x: here.x, y: here.y + (here.y > 0 ? -0.001 : 0.001)), from: .wgs84, to: view.reference.reference)
    else { return nil }
    let (from, to) = (view.screenPoint(nearest: middle), view.screenPoint(nearest: there))
    let sign = here.y > 0 ? -1.0 : 1.0
    return atan2(sign * (to.x - from.x), -sign * (to.y - from.y)) * 180 / .pi
  }

  private var arrowCenter: SIMD2<Float> { SIMD2(size.x - PictureLayout.margin - 16, PictureLayout.margin + 22) }

  private func drawNorthArrow(_ painter: inout Painter) {
    guard let north else { return }
    let center = arrowCenter
    let turn = north * .pi / 180
    func place(_ x: Double, _ y: Double) -> SIMD2<Float> {
      center + SIMD2(Float(x * cos(turn) - y * sin(turn)), Float(x * sin(turn) + y * cos(turn)))
    }
    let (tip, left, notch, right) = (place(0, -16), place(-9, 14), place(0, 8), place(9, 14))
    painter.words.set(Fill(color: PictureLayout.ink))
    painter.words.area([[tip, left, notch]])
    painter.words.set(Fill(color: 0xffff_ffff))
    painter.words.area([[tip, notch, right]])
    painter.words.set(Stroke(color: PictureLayout.ink, width: 1))
    painter.words.lines([[tip, left, notch, right, tip]])
    painter.words.set(Font(size: 11, isBold: true, color: PictureLayout.ink, haloColor: 0xffff_ffff, haloWidth: 1.5))
    painter.words.text("N", at: place(0, -24), Anchor(.center, .middle))
  }

  // MARK: The legend

  /// The width of the symbols with the room behind them.
  private var swatch: Float { max(30, (legend.map(\.height).max() ?? 0) + 6) }

  private var legendBox: ScreenBox {
    let widest = zip(legend, sizes).map { $1.width + ($0.symbol == nil ? 0 : swatch) }.max() ?? 0
    let panel = SIMD2(min(widest + 20, size.x - 2 * PictureLayout.margin), legend.reduce(12) { $0 + $1.height })
    let high = size - SIMD2(PictureLayout.margin, PictureLayout.margin + (layout.attribution == nil ? 0 : 10))
    return ScreenBox(high - panel, high)
  }

  private func drawLegend(_ painter: inout Painter) {
    let (low, high) = (legendBox.low, legendBox.high)
    drawPanel(legendBox, &painter)
    painter.words.beginClip((low, high))
    var top = low.y + 6
    for row in legend {
      let middle = top + row.height / 2
      top += row.height
      var left = low.x + 10
      if let symbol = row.symbol {
        painter.draw(symbol.fitting(row.limit, row.kind), Self.shape(row.kind, at: SIMD2(left + (swatch - 8) / 2, middle)))
        left += swatch
      }
      draw(row.line, at: SIMD2(left, middle), Anchor(.left, .middle), &painter)
    }
    painter.words.endClip()
  }

  private static func shape(_ kind: ShapeKind, at center: SIMD2<Float>) -> ScreenShape {
    let half = SIMD2<Float>(11, 6)
    switch kind {
    case .point: return ScreenShape(points: [center])
    case .line: return ScreenShape(lines: [[center - SIMD2(half.x, 0), center + SIMD2(half.x, 0)]])
    case .area:
      let (low, high) = (center - half, center + half)
      return ScreenShape(areas: [[[low, SIMD2(high.x, low.y), high, SIMD2(low.x, high.y)]]])
    }
  }
}

extension Symbol {
  /// The symbol, made smaller if it is larger than a row of a legend.
  fileprivate func fitting(_ limit: Double, _ kind: ShapeKind) -> Symbol {
    size > limit && kind == .point ? sized(limit) : size > 6 && kind != .point ? sized(6) : self
  }
}

extension DrawnLayer {
  /// What kind of geometry the features have, by the schema or else the first of them.
  var shapeKind: ShapeKind? {
    if let kind = ShapeKind(geometryType: features?.schema.geometryType) { return kind }
    return store.rowsInDrawingOrder().first.flatMap { store[$0]?.geometry }.flatMap { ShapeKind($0) }
  }
}
