// A renderer at work: which entry a row is under, and the symbol that it gets.

import Geometry
import Query

/// A renderer tied to the columns of a store, to be asked for many rows.
public struct BoundRenderer: Sendable {
  private enum Rule: Sendable {
    case always
    case values([BoundSource], [[AttributeValue]: Int])
    case breaks(ClassBreaksRenderer, BoundSource, normalization: BoundSource?)
  }
  private let rule: Rule
  private let variables: [(source: BoundSource, effect: VisualVariable.Effect)]
  /// As ``Renderer/entries``.
  public let entries: [SymbolEntry]
  private let defaultPlace: Int?

  /// Fields that the store does not have are null for every row.
  ///
  /// - Complexity: O(entries).
  public init(_ renderer: Renderer, schema: FeatureSchema) {
    entries = renderer.entries
    var hasDefault = false
    switch renderer.kind {
    case .simple: rule = .always
    case .uniqueValue(let unique):
      hasDefault = unique.defaultEntry != nil
      let places = unique.entries.enumerated().map { ($1.values.map(\.comparable), $0) }
      rule = .values(
        unique.sources.map { BoundSource($0, schema: schema) },
        Dictionary(places, uniquingKeysWith: { first, _ in first }))
    case .classBreaks(let breaks):
      hasDefault = breaks.defaultEntry != nil
      rule = .breaks(
        breaks, BoundSource(breaks.source, schema: schema),
        normalization: breaks.normalizationField.map { BoundSource(.field($0), schema: schema) })
    }
    defaultPlace = hasDefault ? entries.count - 1 : nil
    variables = renderer.visualVariables.map { (BoundSource($0.source, schema: schema), $0.effect) }
  }

  /// The place of a row's entry among ``entries``; nil when it is not drawn.
  public func place(of row: FeatureRow) -> Int? {
    switch rule {
    case .always: return 0
    case .values(let sources, let places):
      let key = sources.map { $0.value(of: row).comparable }
      return key.contains(.null) ? defaultPlace : places[key] ?? defaultPlace
    case .breaks(let breaks, let source, let normalization):
      guard var number = source.number(of: row) else { return defaultPlace }
      if let normalization {
        guard let divisor = normalization.number(of: row), divisor != 0 else { return defaultPlace }
        number /= divisor
      }
      return breaks.place(of: number) ?? defaultPlace
    }
  }

  /// The symbol of a row, visual variables applied; nil when it is not drawn. A symbol of the row's own is not looked at.
  public func symbol(of row: FeatureRow) -> Symbol? {
    guard let place = place(of: row) else { return nil }
    var symbol = entries[place].symbol
    for (source, effect) in variables {
      if let number = source.number(of: row) { symbol = effect.applied(to: symbol, number) }
    }
    return symbol
  }
}
