// Symbols with their visual variables as paint and layout of style layers.

import GeoModel
import Geometry
import Pictures

/// A symbol, and what of it depends on the feature.
struct SymbolRule {
  struct Variable {
    let attribute: String
    let effect: VisualVariable.Effect
  }

  let symbol: Symbol
  let variables: [Variable]
  let id: String
  /// The size of the symbol's largest part; nil for the symbol's own, or that of a visual variable.
  var wholeSize: StyleValue?
  /// The text in place of the symbol's own.
  var text: StyleValue?
  var placement: LabelDefinition.Placement?
  var priority: Int?
  var zooms: (min: Double?, max: Double?) = (nil, nil)

  init(_ symbol: Symbol, _ variables: [Variable], _ id: String) { (self.symbol, self.variables, self.id) = (symbol, variables, id) }

  /// The value by the first variable that `output` takes; the base without one, and for features without its number.
  private func value(_ base: StyleValue, _ output: (VisualVariable.Effect, StyleValue) -> StyleValue?) -> StyleValue {
    for variable in variables {
      if let found = output(variable.effect, .get(variable.attribute)) { return ["case", .isNumber(variable.attribute), found, base] }
    }
    return base
  }

  private static func ramp<Output>(_ ramp: Ramp<Output>, _ input: StyleValue, _ output: (Output) -> StyleValue) -> StyleValue {
    .list(["interpolate", ["linear"], input] + ramp.stops.flatMap { [.number($0.value), output($0.output)] })
  }

  /// A size or an offset of a part, in proportion to the whole.
  func size(_ base: Double) -> StyleValue {
    let whole = symbol.size
    let share = whole > 0 ? base / whole : 1
    if let wholeSize { return wholeSize * share }
    return value(.number(base)) { effect, input in
      if case .size(let ramp) = effect { Self.ramp(ramp, input) { .number($0) } * share } else { nil }
    }
  }

  func color(_ base: Color) -> StyleValue {
    value(.color(base)) { effect, input in
      if case .color(let ramp) = effect { Self.ramp(ramp, input, StyleValue.color) } else { nil }
    }
  }

  func opacity(_ base: StyleValue) -> StyleValue {
    guard case .number(let factor) = base else { return base }
    return value(base) { effect, input in
      if case .opacity(let ramp) = effect { Self.ramp(ramp, input) { .number($0 * factor) } } else { nil }
    }
  }

  func angle(_ base: Double) -> StyleValue {
    value(.number(base)) { effect, input in
      switch effect {
      case .rotation(.geographic): input
      case .rotation(.arithmetic): ["-", 90.0, input]
      default: nil
      }
    }
  }
}

extension LayerStyle {
  /// Adds the layers of a symbol, those of a composite in its order.
  mutating func add(_ rule: SymbolRule, _ filter: [StyleValue]) { add(rule.symbol, rule, rule.id, filter) }

  private mutating func add(_ part: Symbol, _ rule: SymbolRule, _ id: String, _ filter: [StyleValue]) {
    switch part {
    case .simpleMarker(let marker): add(marker, rule, id, filter + [Self.isOf(.point)])
    case .simpleLine(let line): addLine(line, rule, id, filter + [["!", Self.isOf(.point)]], isVaried: true)
    case .simpleFill(let fill): add(fill, rule, id, filter + [Self.isOf(.area)])
    case .text(let text): add(text, rule, id, rule.text == nil ? filter + [Self.isOf(.point)] : filter)
    case .composite(let parts):
      for (index, part) in parts.enumerated() { add(part, rule, "\(id)-\(index)", filter) }
    }
  }

  private mutating func add(_ marker: SimpleMarkerSymbol, _ rule: SymbolRule, _ id: String, _ filter: [StyleValue]) {
    if marker.style != .circle { lose(.markerStyle) }
    let outline = marker.outline.flatMap { $0.style == .null ? nil : $0 }
    if outline.map({ $0.style != .solid }) ?? false { lose(.outlineStyle) }
    let isMoved = marker.xOffset != 0 || marker.yOffset != 0
    // The outline is drawn around the radius there, and on the edge here.
    let inner = outline.map { -$0.width / 2 } ?? 0
    let size = rule.size(marker.size) * 0.5
    let radius: StyleValue =
      if inner == 0 { size } else if case .number(let number) = size { .number(max(number + inner, 0)) } else {
        ["max", 0.0, ["+", size, .number(inner)]]
      }
    if isMoved, !rule.variables.isEmpty { lose(.offsets) }
    add(
      "circle", id, filter,
      paint: .members([
        "circle-radius": scaled(radius, of: rule), "circle-color": rule.color(marker.color), "circle-opacity": rule.opacity(opacity),
        "circle-translate": isMoved ? [.number(marker.xOffset), .number(-marker.yOffset)] : nil,
        "circle-stroke-color": outline.map { .color($0.color) }, "circle-stroke-width": outline.map { scaled(.number($0.width), of: rule) },
        "circle-stroke-opacity": outline == nil ? nil : rule.opacity(opacity),
      ]))
  }

  /// - Parameter isVaried: false for an outline, which keeps its color.
  private mutating func addLine(
    _ line: SimpleLineSymbol, _ rule: SymbolRule, _ id: String, _ filter: [StyleValue], isVaried: Bool
  ) {
    guard line.style != .null else { return }
    add(
      "line", id, filter,
      paint: .members([
        "line-color": isVaried ? rule.color(line.color) : .color(line.color), "line-width": scaled(rule.size(line.width), of: rule),
        "line-opacity": rule.opacity(opacity), "line-dasharray": line.style.dashes.flatMap(dashArray),
      ]))
  }

  /// Nil for a solid line.
  private func dashArray(_ dashes: Stroke.Dashes) -> StyleValue? {
    dashes == .solid ? nil : .list(dashes.pattern.map { .number($0) })
  }

  private mutating func add(_ fill: SimpleFillSymbol, _ rule: SymbolRule, _ id: String, _ filter: [StyleValue]) {
    if fill.style != .null {
      var opacity = opacity
      if fill.style != .solid {
        // As much of the area as the lines of a hatch cover.
        opacity = opacity * 0.25
        lose(.fillStyle)
      }
      add(
        "fill", id, filter,
        paint: .members(["fill-color": rule.color(fill.color), "fill-opacity": rule.opacity(opacity), "fill-antialias": .flag(fill.outline == nil)]))
    }
    if let outline = fill.outline { addLine(outline, rule, id + "-outline", filter, isVaried: false) }
  }

  private mutating func add(_ text: TextSymbol, _ rule: SymbolRule, _ id: String, _ filter: [StyleValue]) {
    needGlyphs()
    if text.xOffset != 0 || text.yOffset != 0, !rule.variables.isEmpty { lose(.offsets) }
    let em = text.size > 0 ? text.size : 1
    let isAlong = rule.placement?.isAlong ?? false
    let family = text.fontFamily?.string ?? "Noto Sans"
    let weight = (text.fontWeight == .bold ? " Bold" : "") + (text.fontStyle == .normal ? "" : " Italic")
    var offset = (x: text.xOffset / em, y: -text.yOffset / em)
    if let vertical = rule.placement?.verticalShift { offset.y += vertical }
    var layout: [StyleValue.Member] = [
      .init(name: "text-field", value: rule.text ?? ["concat", .text(text.text.string)]),
      .init(name: "text-font", value: [.text(family + (weight.isEmpty ? " Regular" : weight))]),
      .init(name: "text-size", value: scaled(rule.size(text.size), of: rule)),
      .init(name: "text-rotate", value: rule.angle(text.angle)),
      .init(name: "text-anchor", value: .text(rule.placement?.anchor ?? text.anchorName)),
      .init(name: "symbol-placement", value: isAlong ? "line" : "point"),
    ]
    if offset.x != 0 || offset.y != 0 { layout.append(.init(name: "text-offset", value: [.number(offset.x), .number(offset.y)])) }
    if let priority = rule.priority {
      layout.append(.init(name: "symbol-sort-key", value: .number(Double(priority))))
    } else {
      layout.append(.init(name: "text-allow-overlap", value: true))
      layout.append(.init(name: "text-ignore-placement", value: true))
    }
    add(
      "symbol", id, filter, layout: layout,
      paint: .members([
        "text-color": rule.color(text.color), "text-opacity": rule.opacity(opacity),
        "text-halo-color": text.haloWidth > 0 ? text.haloColor.map(StyleValue.color) : nil,
        "text-halo-width": text.haloWidth > 0 ? scaled(.number(text.haloWidth), of: rule) : nil,
      ]), zooms: rule.zooms)
  }
}

extension TextSymbol {
  /// The point of the text that lies at the position.
  fileprivate var anchorName: String {
    let vertical =
      switch verticalAlignment {
      case .top: "top"
      case .middle: ""
      case .baseline, .bottom: "bottom"
      }
    let horizontal =
      switch horizontalAlignment {
      case .left, .justify: "left"
      case .center: ""
      case .right: "right"
      }
    let both = [vertical, horizontal].filter { !$0.isEmpty }.joined(separator: "-")
    return both.isEmpty ? "center" : both
  }
}

extension LabelDefinition.Placement {
  fileprivate var isAlong: Bool {
    switch self {
    case .lineAboveAlong, .lineBelowAlong, .lineCenterAlong: true
    default: false
    }
  }

  /// In ems downwards.
  fileprivate var verticalShift: Double? {
    switch self {
    case .lineAboveAlong: -0.8
    case .lineBelowAlong: 0.8
    default: nil
    }
  }

  /// The point of the text that lies at the feature; nil for the symbol's own.
  fileprivate var anchor: String? {
    switch self {
    case .automatic: nil
    case .pointAboveCenter: "bottom"
    case .pointAboveLeft: "bottom-right"
    case .pointAboveRight: "bottom-left"
    case .pointBelowCenter: "top"
    case .pointBelowLeft: "top-right"
    case .pointBelowRight: "top-left"
    case .pointCenterLeft: "right"
    case .pointCenterRight: "left"
    case .pointCenterCenter, .lineAboveAlong, .lineBelowAlong, .lineCenterAlong, .polygonAlwaysHorizontal: "center"
    }
  }
}
