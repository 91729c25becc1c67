// Transforms geometries in renderers, labels and popups to the reference of the features.

import Expressions
import FeatureStore

/// A renderer, labels, a popup, a feature reduction or a track display: its expressions are about features.
protocol SymbologyMember: MemberReadable {
  /// Transforms the geometries of an expression to the reference of the features.
  typealias Placing = (Expression) throws(ExpressionError) -> Expression

  /// Throws unless the value is valid for features with these columns.
  func check(for schema: FeatureSchema) throws(SymbologyError)
  /// The value with the geometries of its expressions transformed.
  func placed(_ place: Placing) throws(SymbologyError) -> Self
}

extension Renderer: SymbologyMember {}
extension FeatureReduction: SymbologyMember {}
extension PopupDefinition: SymbologyMember {}
extension Array: SymbologyMember where Element == LabelDefinition {}

extension MemberValue {
  /// The value if its expressions are about features; nil for others.
  var symbology: (any SymbologyMember)? { whole as? any SymbologyMember }
}

extension Expression {
  fileprivate func placed(at path: [String], _ place: SymbologyMember.Placing) throws(SymbologyError) -> Expression {
    guard hasGeometries else { return self }
    do { return try place(self) } catch { throw SymbologyError(error, at: path) }
  }
}

extension AttributeSource {
  fileprivate func placed(at path: [String], _ place: SymbologyMember.Placing) throws(SymbologyError) -> AttributeSource {
    guard case .expression(let expression) = self else { return self }
    return .expression(try expression.placed(at: path + ["expression"], place))
  }
}

extension Renderer {
  func placed(_ place: SymbologyMember.Placing) throws(SymbologyError) -> Renderer {
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
  func check(for schema: FeatureSchema) throws(SymbologyError) { try check(for: .some(schema)) }

  func placed(_ place: SymbologyMember.Placing) throws(SymbologyError) -> FeatureReduction {
    var result = self
    do { result.renderer = try renderer?.placed(place) } catch { throw error.under("renderer") }
    do { result.labels = try labels.placed(place) } catch { throw error.under("labels") }
    do { result.popup = try popup?.placed(place) } catch { throw error.under("popup") }
    return result
  }
}

extension [LabelDefinition] {
  func placed(_ place: SymbologyMember.Placing) throws(SymbologyError) -> [LabelDefinition] {
    try enumerated().map { (index, label) throws(SymbologyError) in try label.placed(at: String(index), place) }
  }
}

extension LabelDefinition {
  fileprivate func placed(at index: String, _ place: SymbologyMember.Placing) throws(SymbologyError) -> LabelDefinition {
    var result = self
    result.expression = try expression.placed(at: [index, "expression"], place)
    result.condition = try condition?.placed(at: [index, "whereClause"], place)
    return result
  }
}

extension PopupDefinition {
  func placed(_ place: SymbologyMember.Placing) throws(SymbologyError) -> PopupDefinition {
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
  fileprivate mutating func place(_ place: SymbologyMember.Placing) throws(SymbologyError) {
    for (index, part) in parts.enumerated() {
      guard case .expression(let expression, let start) = part, expression.hasGeometries else { continue }
      do { parts[index] = .expression(try place(expression), start: start) } catch {
        throw SymbologyError(error.inside(text.string, at: start))
      }
    }
  }
}

extension TrackDisplay: SymbologyMember {
  func check(for schema: FeatureSchema) throws(SymbologyError) {
    _ = try mapRenderers { (renderer) throws(SymbologyError) in
      try renderer.check(for: schema)
      return renderer
    }
  }

  func placed(_ place: SymbologyMember.Placing) throws(SymbologyError) -> TrackDisplay {
    try mapRenderers { (renderer) throws(SymbologyError) in try renderer.placed(place) }
  }
}
