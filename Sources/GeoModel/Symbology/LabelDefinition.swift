// Labels: their texts, the features that have them, and their scale ranges.

import Expressions
import FeatureStore
import Geometry
import TextFormatting

/// A class of labels.
public struct LabelDefinition: Hashable, Sendable {
  public enum Placement: Hashable, Sendable, CaseIterable {
    case automatic
    case pointAboveCenter, pointAboveLeft, pointAboveRight, pointBelowCenter, pointBelowLeft, pointBelowRight
    case pointCenterCenter, pointCenterLeft, pointCenterRight
    case lineAboveAlong, lineBelowAlong, lineCenterAlong
    case polygonAlwaysHorizontal
  }
  public internal(set) var expression: Expression
  /// The features with this label; nil for all.
  public internal(set) var condition: Expression?
  /// The symbol, whose own text is ignored.
  public let symbol: TextSymbol
  /// Not drawn when zoomed out beyond this scale denominator.
  public let minScale: Double?
  /// Not drawn when zoomed in beyond this scale denominator.
  public let maxScale: Double?
  public let placement: Placement
  /// Where space is short, labels with a lower number are placed first; 0 is the first.
  public let priority: Int

  public init(
    expression: Expression, condition: Expression? = nil, symbol: TextSymbol = TextSymbol(), minScale: Double? = nil,
    maxScale: Double? = nil, placement: Placement = .automatic, priority: Int = 0
  ) {
    self.expression = expression
    self.condition = condition
    self.symbol = symbol
    self.minScale = minScale
    self.maxScale = maxScale
    self.placement = placement
    self.priority = priority
  }

  /// Throws unless the expressions are valid for a layer with these columns.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    try AttributeSource.expression(expression).check(for: schema, at: "expression")
    if let condition {
      try AttributeSource.expression(condition).check(for: schema, as: .condition, at: "whereClause")
    }
  }

  /// Whether the label is drawn at a scale denominator.
  func isShown(at scale: Double) -> Bool { scale <= minScale ?? .infinity && scale >= maxScale ?? 0 }
}

extension [LabelDefinition] {
  /// Throws unless the expressions of all are valid for a layer with these columns.
  func check(for schema: FeatureSchema) throws(SymbologyError) {
    for (index, label) in enumerated() {
      do { try label.check(for: schema) } catch { throw error.under(String(index)) }
    }
  }
}

/// The label of one feature.
public struct Label: Hashable, Sendable {
  /// The index of its definition.
  public let definition: Int
  /// The symbol with the text of the label.
  public let symbol: TextSymbol
  public let placement: LabelDefinition.Placement
  public let priority: Int

  /// The label with its text symbol scaled; the text is unchanged.
  public func scaled(by factor: Double) -> Label {
    guard case .text(let scaled) = Symbol.text(symbol).scaled(by: factor) else { return self }
    return Label(definition: definition, symbol: scaled, placement: placement, priority: priority)
  }
}

/// Label definitions bound to the columns of a store, for evaluation over many rows.
public struct BoundLabels: Sendable {
  private let definitions: [(definition: LabelDefinition, index: Int, text: BoundSource, condition: BoundSource?)]
  private let conventions: TextConventions

  /// - Parameters:
  ///   - scale: leaves out definitions that are not drawn at this denominator; nil for none.
  ///   - conventions: for texts. Conditions use the neutral ones.
  public init(
    _ definitions: [LabelDefinition], scale: Double?, schema: FeatureSchema, by conventions: TextConventions
  ) {
    self.conventions = conventions
    self.definitions = definitions.enumerated().compactMap { index, definition in
      if let scale, !definition.isShown(at: scale) { return nil }
      return (
        definition, index, BoundSource(.expression(definition.expression), schema: schema, by: conventions),
        definition.condition.map { BoundSource(.expression($0), schema: schema) }
      )
    }
  }

  /// Whether no row has a label.
  public var isEmpty: Bool { definitions.isEmpty }

  /// The labels of a row, in the order of their definitions. Empty texts are left out.
  public func labels(of row: FeatureRow) -> [Label] {
    definitions.compactMap { definition, index, text, condition in
      if let condition, !condition.isTrue(for: row) { return nil }
      guard let text = text.value(of: row).shownText(by: conventions), !text.isEmpty else { return nil }
      var symbol = definition.symbol
      symbol.text = Text(text)
      return Label(
        definition: index, symbol: symbol, placement: definition.placement, priority: definition.priority)
    }
  }
}
