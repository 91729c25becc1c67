// A renderer at work: which entry a row is under, and the symbol that it gets.

import Geometry
import Query

/// A renderer tied to the columns of a store, to be asked for many rows.
public struct BoundRenderer: Sendable {
  private enum Rule: Sendable {
    case always
    case value(BoundSource, [AttributeValue: Int])
    case values([BoundSource], [[AttributeValue]: Int])
    case breaks(ClassBounds, BoundSource, normalization: BoundSource?)
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
      let keys = unique.entries.map { $0.values.map(\.comparable) }
      let sources = unique.sources.map { BoundSource($0, schema: schema) }
      if sources.count == 1 {
        // Nearly always: no list is made for each row.
        let places = keys.enumerated().compactMap { place, key in key.first.map { ($0, place) } }
        rule = .value(sources[0], Dictionary(places, uniquingKeysWith: { first, _ in first }))
      } else {
        rule = .values(
          sources, Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }))
      }
    case .classBreaks(let breaks):
      hasDefault = breaks.defaultEntry != nil
      rule = .breaks(
        ClassBounds(breaks), BoundSource(breaks.source, schema: schema),
        normalization: breaks.normalizationField.map { BoundSource(.field($0.string), schema: schema) })
    }
    defaultPlace = hasDefault ? entries.count - 1 : nil
    variables = renderer.visualVariables.map { (BoundSource($0.source, schema: schema), $0.effect) }
  }

  /// The place of a row's entry among ``entries``; nil when it is not drawn.
  public func place(of row: FeatureRow) -> Int? {
    switch rule {
    case .always: return 0
    case .value(let source, let places):
      let key = source.value(of: row).comparable
      return key == .null ? defaultPlace : places[key] ?? defaultPlace
    case .values(let sources, let places):
      let key = sources.map { $0.value(of: row).comparable }
      return key.contains(.null) ? defaultPlace : places[key] ?? defaultPlace
    case .breaks(let bounds, let source, let normalization):
      guard var number = source.number(of: row) else { return defaultPlace }
      if let normalization {
        guard let divisor = normalization.number(of: row), divisor != 0 else { return defaultPlace }
        number /= divisor
      }
      return bounds.place(of: number) ?? defaultPlace
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

/// The bounds of class breaks by themselves, for a quick search.
struct ClassBounds: Sendable {
  private let ends: [Double]
  /// Where a class begins; less than any number where it has no bound of its own.
  private let starts: [Double]

  init(_ renderer: ClassBreaksRenderer) {
    ends = renderer.breaks.map(\.maxValue)
    starts = renderer.breaks.map { $0.minValue ?? -.infinity }
  }

  /// The place of the class that a number is in; nil for none. O(log classes).
  func place(of number: Double) -> Int? {
    let place = ends.partitioningPlace { $0 >= number }
    // A lower bound that is the end of the class before is never met: that class would have been found.
    return place < ends.count && number >= starts[place] ? place : nil
  }
}
