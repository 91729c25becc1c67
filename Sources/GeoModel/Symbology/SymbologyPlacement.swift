// Transforms geometries in renderers, labels and popups to the reference of the features.

import Expressions

extension MemberValue {
  /// Transforms the geometries of an expression to the reference of the features.
  typealias Placing = (Expression) throws(ExpressionError) -> Expression

  /// The value with the geometries of its expressions transformed; unchanged if it has no renderer, labels or popup.
  func placed(_ place: Placing) throws(SymbologyError) -> MemberValue {
    switch self {
    case .renderer(let renderer): return .renderer(try renderer.placed(place))
    case .popup(let popup): return .popup(try popup.placed(place))
    case .labels(let labels): return .labels(try labels.placed(place))
    case .featureReduction(let reduction): return .featureReduction(try reduction.placed(place))
    case .trackDisplay(let display):
      return .trackDisplay(try display.mapRenderers { (renderer) throws(SymbologyError) in try renderer.placed(place) })
    case .null, .flag, .integer, .number, .text, .ids, .value, .values, .objects, .expression, .basemap, .bookmarks,
      .entityCounts, .entityStatus, .envelope, .fenceSequence, .fields, .geometry, .graphics, .layerViewStates, .loadStatus, .location,
      .locationDisplay, .locationStatus, .maxExtent, .numbers, .point, .properties,
      .sourceLayers, .sourceStatus, .surface, .time, .viewpoint, .basemapName, .newBookmarks, .surfaceUpdate,
      .viewpointTarget:
      return self
    }
  }
}

extension Expression {
  fileprivate func placed(at path: [String], _ place: MemberValue.Placing) throws(SymbologyError) -> Expression {
    guard hasGeometries else { return self }
    do { return try place(self) } catch { throw SymbologyError(error, at: path) }
  }
}

extension AttributeSource {
  fileprivate func placed(at path: [String], _ place: MemberValue.Placing) throws(SymbologyError) -> AttributeSource {
    guard case .expression(let expression) = self else { return self }
    return .expression(try expression.placed(at: path + ["expression"], place))
  }
}

extension Renderer {
  fileprivate func placed(_ place: MemberValue.Placing) throws(SymbologyError) -> Renderer {
    var kind = kind
    switch kind {
    case .simple: break
    case .uniqueValue(var unique):
      for index in unique.sources.indices { unique.sources[index] = try unique.sources[index].placed(at: [], place) }
      kind = .uniqueValue(unique)
    case .classBreaks(var breaks):
      breaks.source = try breaks.source.placed(at: [], place)
      kind = .classBreaks(breaks)
    }
    var variables = visualVariables
    for (index, variable) in variables.enumerated() {
      let path = ["visualVariables", String(index)]
      variables[index] = VisualVariable(
        source: try variable.source.placed(at: path, place), effect: variable.effect)
    }
    return Renderer(kind, visualVariables: variables)
  }
}

extension FeatureReduction {
  fileprivate func placed(_ place: MemberValue.Placing) throws(SymbologyError) -> FeatureReduction {
    var result = self
    do { result.renderer = try renderer?.placed(place) } catch { throw error.under("renderer") }
    do { result.labels = try labels.placed(place) } catch { throw error.under("labels") }
    do { result.popup = try popup?.placed(place) } catch { throw error.under("popup") }
    return result
  }
}

extension [LabelDefinition] {
  fileprivate func placed(_ place: MemberValue.Placing) throws(SymbologyError) -> [LabelDefinition] {
    try enumerated().map { (index, label) throws(SymbologyError) in try label.placed(at: String(index), place) }
  }
}

extension LabelDefinition {
  fileprivate func placed(at index: String, _ place: MemberValue.Placing) throws(SymbologyError) -> LabelDefinition {
    var result = self
    result.expression = try expression.placed(at: [index, "expression"], place)
    result.condition = try condition?.placed(at: [index, "whereClause"], place)
    return result
  }
}

extension PopupDefinition {
  fileprivate func placed(_ place: MemberValue.Placing) throws(SymbologyError) -> PopupDefinition {
    var title = title
    do { try title?.place(place) } catch { throw error.under("title") }
    var elements = elements
    for index in (elements ?? []).indices {
      try elements?[index].mapSources { (source) throws(SymbologyError) in
        try source.placed(at: ["elements", String(index)], place)
      }
    }
    return PopupDefinition(title: title, elements: elements)
  }
}

extension Template {
  fileprivate mutating func place(_ place: MemberValue.Placing) throws(SymbologyError) {
    for (index, part) in parts.enumerated() {
      guard case .expression(let expression, let start) = part, expression.hasGeometries else { continue }
      do { parts[index] = .expression(try place(expression), start: start) } catch {
        throw SymbologyError(error.inside(text.string, at: start))
      }
    }
  }
}
