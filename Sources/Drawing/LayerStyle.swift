// A layer's or an overlay's drawing as layers of a MapLibre style over its tiles.

import GeoModel
import GeoProtocol
import Geometry
import Platform

/// The style of a drawn layer, and what MapLibre cannot express.
package struct LayerStyle {
  package typealias Loss = LayerProtocol.StyleLoss

  package private(set) var layers: [StyleValue] = []
  package private(set) var losses: [Loss] = []

  package let source: String
  private let layer: DrawnLayer
  private let isVisible: Bool
  /// The factor of sizes at zooms 0 and 24.
  private let sizes: (first: Double, last: Double)
  private let zooms: (min: Double?, max: Double?)
  private let hasGlyphs: Bool
  private let group: String?
  /// Whether features may have symbols of their own.
  private let mayHaveOwn: Bool

  package struct Options {
    /// The name of the source in the style.
    package var source: String
    package var isVisible = true
    package var minScale: Double?
    package var maxScale: Double?
    /// The factor of sizes at a scale.
    package var symbolScale: (Double) -> Double
    package var hasGlyphs = false
    /// The group that contains the layer.
    package var group: String?

    package init(source: String, symbolScale: @escaping (Double) -> Double) { (self.source, self.symbolScale) = (source, symbolScale) }
  }

  package init(_ layer: DrawnLayer, _ options: Options) {
    self.layer = layer
    (source, isVisible, hasGlyphs, group) = (options.source, options.isVisible, options.hasGlyphs, options.group)
    sizes = (options.symbolScale(ClusterZoom.scale(zoom: 0)), options.symbolScale(ClusterZoom.scale(zoom: 24)))
    zooms = (options.minScale.map(Self.zoom(scale:)), options.maxScale.map(Self.zoom(scale:)))
    mayHaveOwn = layer.stratum == .overlay || layer.symbols.isByFeature
    add()
  }

  /// The zoom of tiles of 512 pixels at a scale's denominator, on a screen of 96 dpi.
  package static func zoom(scale: Double) -> Double {
    let zoom = log2(ClusterZoom.scale(zoom: 0) / scale)
    return (min(max(zoom, 0), 24) * 1e6).rounded() / 1e6
  }

  // MARK: Parts

  private mutating func add() {
    let portrayal = layer.portrayal
    let isClustered = portrayal.featureReduction?.isEnabled == true
    let single: [StyleValue] = isClustered ? [["!", .has("_cluster")]] : []
    if let renderer = portrayal.renderer {
      add(renderer, single + (mayHaveOwn ? [["!", .has("_color")]] : []))
    } else if layer.stratum != .overlay {
      for kind in [ShapeKind.area, .line, .point] {
        let rule = SymbolRule(.standard(for: kind), [], "default-\(kind)")
        add(rule, single + (mayHaveOwn ? [["!", .has("_color")]] : []) + [Self.isOf(kind)])
      }
    }
    if mayHaveOwn { addOwn(single) }
    if isClustered, let reduction = portrayal.featureReduction { add(reduction) }
    if let color = layer.selectionColor { addSelection(color) }
    if portrayal.labelsEnabled {
      for (index, label) in portrayal.labels.enumerated() { add(label, index, "label", single) }
    }
  }

  private mutating func add(_ renderer: Renderer, _ conditions: [StyleValue]) {
    let filters = renderer.filters
    for (index, entry) in renderer.entries.enumerated() {
      add(SymbolRule(entry.symbol, renderer.variables, "symbol\(index)"), conditions + filters[index])
    }
    if renderer.entries.count > 1 { lose(.drawingOrder) }
  }

  /// Features with symbols of their own, whose main traits are attributes of the tile.
  private mutating func addOwn(_ conditions: [StyleValue]) {
    let own = conditions + [.has("_color")]
    let (size, width): (StyleValue, StyleValue) = (["coalesce", .get("_size"), 1.0], ["coalesce", .get("_outlineWidth"), 0.0])
    let edge: StyleValue = ["coalesce", .get("_outlineColor"), .get("_color")]
    add("fill", "own-fill", own + [Self.isOf(.area)], paint: .members(["fill-color": .get("_color"), "fill-opacity": opacity]))
    add("line", "own-outline", own + [Self.isOf(.area)], paint: .members(["line-color": edge, "line-width": width, "line-opacity": opacity]))
    add("line", "own-line", own + [Self.isOf(.line)], paint: .members(["line-color": .get("_color"), "line-width": size, "line-opacity": opacity]))
    add(
      "circle", "own-marker", own + [Self.isOf(.point)],
      paint: .members([
        "circle-radius": size * 0.5, "circle-color": .get("_color"), "circle-opacity": opacity, "circle-stroke-color": edge,
        "circle-stroke-width": width, "circle-stroke-opacity": opacity,
      ]))
    lose(.ownSymbols)
  }

  private mutating func add(_ reduction: FeatureReduction) {
    let condition: [StyleValue] = [.has("_cluster")]
    let renderer = reduction.renderer ?? Renderer(.simple(SymbolEntry(symbol: .simpleMarker(SimpleMarkerSymbol()))))
    if !StyleAttributes(renderer, schema: layer.store.schema).names.isEmpty { lose(.clusterExpressions) }
    for (index, entry) in renderer.entries.enumerated() {
      var rule = SymbolRule(entry.symbol, renderer.variables, "cluster\(index)")
      rule.wholeSize = .get("_size")
      add(rule, condition + renderer.filters[index])
    }
    guard reduction.labelsEnabled else { return }
    for (index, label) in reduction.labels.enumerated() { add(label, index, "cluster-label", condition) }
  }

  private mutating func addSelection(_ color: Color) {
    let condition: [StyleValue] = [.has("_selected")]
    let color = StyleValue.color(color)
    add("line", "selected-line", condition, paint: .members(["line-color": color, "line-width": 2.0, "line-opacity": opacity]))
    add(
      "circle", "selected-marker", condition + [Self.isOf(.point)],
      paint: .members([
        "circle-radius": ["/", ["coalesce", .get("_size"), 10.0], 2.0], "circle-opacity": 0.0, "circle-stroke-color": color, "circle-stroke-width": 2.0,
        "circle-stroke-opacity": opacity,
      ]))
  }

  private mutating func add(_ label: LabelDefinition, _ index: Int, _ id: String, _ conditions: [StyleValue]) {
    let attribute = "_label\(index)"
    var rule = SymbolRule(.text(label.symbol), [], "\(id)\(index)")
    rule.text = .get(attribute)
    rule.placement = label.placement
    rule.priority = label.priority
    rule.zooms = (label.minScale.map(Self.zoom(scale:)), label.maxScale.map(Self.zoom(scale:)))
    add(rule, conditions + [.has(attribute)])
  }

  // MARK: Layers

  static func isOf(_ kind: ShapeKind) -> StyleValue {
    let name =
      switch kind {
      case .point: "Point"
      case .line: "LineString"
      case .area: "Polygon"
      }
    return ["match", ["geometry-type"], [.text(name), .text("Multi" + name)], true, false]
  }

  var opacity: StyleValue { .number(layer.opacity) }

  package mutating func lose(_ loss: Loss) {
    if !losses.contains(loss) { losses.append(loss) }
  }

  /// Notes that a text needs glyphs, which the style has from elsewhere.
  mutating func needGlyphs() {
    if !hasGlyphs { lose(.glyphs) }
  }

  /// A size as it is at each zoom; one of the tile is as it is drawn.
  func scaled(_ size: StyleValue, of rule: SymbolRule) -> StyleValue {
    if rule.wholeSize != nil { return size }
    if sizes.first == sizes.last { return size * sizes.first }
    return ["interpolate", ["exponential", 2.0], ["zoom"], 0.0, size * sizes.first, 24.0, size * sizes.last]
  }

  mutating func add(
    _ type: String, _ id: String, _ filter: [StyleValue], layout: [StyleValue.Member] = [], paint: StyleValue,
    zooms own: (min: Double?, max: Double?) = (nil, nil)
  ) {
    let minZoom = [zooms.min, own.min].compactMap { $0 }.max()
    let maxZoom = [zooms.max, own.max].compactMap { $0 }.min()
    let layout = layout + (isVisible ? [] : [.init(name: "visibility", value: "none")])
    layers.append(
      .members([
        "id": .text("\(layer.object.id)-\(id)"), "metadata": group.map { .members(["geomodel:group": .text($0)]) }, "type": .text(type), "source": .text(source),
        "source-layer": .text(layer.object.id), "minzoom": minZoom.map { .number($0) }, "maxzoom": maxZoom.map { .number($0) },
        "filter": filter.isEmpty ? nil : .all(filter), "layout": layout.isEmpty ? nil : .object(layout), "paint": paint,
      ]))
  }
}

extension Renderer {
  /// For each entry, the conditions under which a feature has its symbol.
  fileprivate var filters: [[StyleValue]] {
    switch kind {
    case .simple: return [[]]
    case .uniqueValue(let unique):
      let names = unique.sources.map(attributeName)
      let own = unique.entries.map { entry in
        StyleValue.all(zip(names, entry.values).map { name, value in ["==", .get(name), value.styleValue] })
      }
      return own.map { [$0] } + (unique.defaultEntry == nil ? [] : [[["!", .list(["any"] + own)]]])
    case .classBreaks(let breaks):
      let name = attributeName(of: breaks.source)
      var (value, isNumber) = (StyleValue.get(name), StyleValue.isNumber(name))
      if let divisor = breaks.normalizationField?.string {
        value = ["/", value, .get(divisor)]
        isNumber = ["all", isNumber, .isNumber(divisor), ["!=", .get(divisor), 0.0]]
      }
      var end: Double?
      let own = breaks.breaks.map { each -> StyleValue in
        var conditions: [StyleValue] = []
        if let end { conditions.append([">", value, .number(end)]) }
        if let start = each.minValue, start != end { conditions.append([">=", value, .number(start)]) }
        conditions.append(["<=", value, .number(each.maxValue)])
        end = each.maxValue
        return ["case", isNumber, .all(conditions), false]
      }
      return own.map { [$0] } + (breaks.defaultEntry == nil ? [] : [[["!", .list(["any"] + own)]]])
    }
  }

  fileprivate var variables: [SymbolRule.Variable] {
    visualVariables.map { .init(attribute: attributeName(of: $0.source), effect: $0.effect) }
  }
}

extension AttributeValue {
  fileprivate var styleValue: StyleValue {
    switch self {
    case .null: .text("")
    case .bool(let flag): .flag(flag)
    case .integer(let number): .number(Double(number))
    case .double(let number): .number(number)
    case .string(let text), .json(let text): .text(text)
    }
  }
}
