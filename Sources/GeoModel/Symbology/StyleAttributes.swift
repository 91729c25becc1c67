// What a style outside of this server needs of a feature beside its fields: the values of expressions, which it cannot evaluate.

import FeatureStore
import Geometry

/// The expressions of a renderer, each an attribute.
package struct StyleAttributes: Sendable {
  /// The fields that the renderer reads by itself.
  package let fields: Set<Text>
  /// The attributes `_value0`, `_value1` and so on.
  package let names: [String]
  private let sources: [BoundSource]

  package init(_ renderer: Renderer?, schema: FeatureSchema) {
    let all = renderer?.sources ?? []
    fields = Set(all.compactMap { if case .field(let name) = $0 { name } else { nil } })
    let expressions = all.expressions
    names = expressions.indices.map { "_value\($0)" }
    sources = expressions.map { BoundSource($0, schema: schema) }
  }

  /// Calls `body` with the number of each attribute in ``names`` and its value.
  package func forEach(of row: FeatureRow, _ body: (Int, AttributeValue) -> Void) {
    for index in sources.indices { body(index, sources[index].value(of: row)) }
  }
}

extension Renderer {
  /// All sources: those of the kind, then those of the visual variables.
  fileprivate var sources: [AttributeSource] {
    switch kind {
    case .simple: visualVariables.map(\.source)
    case .uniqueValue(let renderer): renderer.sources + visualVariables.map(\.source)
    case .classBreaks(let renderer):
      [renderer.source] + (renderer.normalizationField.map { [.field($0)] } ?? []) + visualVariables.map(\.source)
    }
  }

  /// The attribute that holds the value of one of its sources.
  package func attributeName(of source: AttributeSource) -> String {
    if case .field(let name) = source { return name.string }
    return "_value\(sources.expressions.firstIndex(of: source) ?? 0)"
  }
}

extension [AttributeSource] {
  /// The expressions among them, each once.
  fileprivate var expressions: [AttributeSource] {
    reduce(into: []) { found, source in
      if case .expression = source, !found.contains(source) { found.append(source) }
    }
  }
}
