// Evaluation of a renderer: the entry that a row belongs to, and its symbol.

import FeatureStore
import Geometry
import Sorting

/// A renderer bound to the columns of a store, for evaluation over many rows.
///
/// ```swift
/// let bound = BoundRenderer(renderer, schema: store.schema)
/// store.forEach { row in
///   if let symbol = bound.symbol(of: row) { draw(row, symbol) }
///   return true
/// }
/// ```
public struct BoundRenderer: Sendable {
  private enum Rule: Sendable {
    case always
    case value(BoundSource, [AttributeValue: Int])
    case values([BoundSource], [[AttributeValue]: Int])
    case breaks(ClassBounds, BoundSource, normalization: BoundSource?)
  }
  private let rule: Rule
  private let variables: [(source: BoundSource, effect: VisualVariable.Effect)]
  /// In the order of ``Renderer/entries``.
  public let entries: [SymbolEntry]
  private let defaultIndex: Int?

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
        // The common case of one source needs no array per row.
        let indexes = keys.enumerated().compactMap { index, key in key.first.map { ($0, index) } }
        rule = .value(sources[0], Dictionary(indexes, uniquingKeysWith: { first, _ in first }))
      } else {
        rule = .values(
          sources, Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }))
      }
    case .classBreaks(let breaks):
      hasDefault = breaks.defaultEntry != nil
      rule = .breaks(
        ClassBounds(breaks), BoundSource(breaks.source, schema: schema),
        normalization: breaks.normalizationField.map { BoundSource(.field($0), schema: schema) })
    }
    defaultIndex = hasDefault ? entries.count - 1 : nil
    variables = renderer.visualVariables.sorted { $0.effect.rank < $1.effect.rank }
      .map { (BoundSource($0.source, schema: schema), $0.effect) }
  }

  /// Whether the symbol is that of the entry, without visual variables.
  var isFixed: Bool { variables.isEmpty }

  /// The index in ``entries`` of a row's entry; nil if the row is not drawn.
  public func index(of row: FeatureRow) -> Int? {
    switch rule {
    case .always: return 0
    case .value(let source, let indexes):
      let key = source.value(of: row).comparable
      return key == .null ? defaultIndex : indexes[key] ?? defaultIndex
    case .values(let sources, let indexes):
      let key = sources.map { $0.value(of: row).comparable }
      return key.contains(.null) ? defaultIndex : indexes[key] ?? defaultIndex
    case .breaks(let bounds, let source, let normalization):
      guard var number = source.number(of: row) else { return defaultIndex }
      if let normalization {
        guard let divisor = normalization.number(of: row), divisor != 0 else { return defaultIndex }
        number /= divisor
      }
      return bounds.index(of: number) ?? defaultIndex
    }
  }

  /// Symbols that no row's symbol exceeds in size.
  public var largest: [Symbol] {
    let sizes = variables.compactMap { variable in
      if case .size(let ramp) = variable.effect { ramp.stops.map(\.output).max() } else { nil }
    }
    return entries.flatMap { entry in [entry.symbol] + sizes.map(entry.symbol.sized) }
  }

  /// The symbol of a row with visual variables applied; nil if the row is not drawn. Ignores the row's own symbol.
  public func symbol(of row: FeatureRow) -> Symbol? {
    guard let index = index(of: row) else { return nil }
    var symbol = entries[index].symbol
    for (source, effect) in variables {
      if let number = source.number(of: row) { symbol = effect.applied(to: symbol, number) }
    }
    return symbol
  }
}

/// The bounds of class breaks in arrays, for binary search.
struct ClassBounds: Sendable {
  private let ends: [Double]
  /// Lower bounds; -infinity for a class without one.
  private let starts: [Double]

  init(_ renderer: ClassBreaksRenderer) {
    ends = renderer.breaks.map(\.maxValue)
    starts = renderer.breaks.map { $0.minValue ?? -.infinity }
  }

  /// The index of the class that contains a number; nil if none does. O(log classes).
  func index(of number: Double) -> Int? {
    let index = ends.partitioningIndex { $0 >= number }
    // A number equal to a shared bound belongs to the lower class, which the search finds first.
    return index < ends.count && number >= starts[index] ? index : nil
  }
}
