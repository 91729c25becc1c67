// Labels: what is written beside a feature, which features, and at which scales.

import Geometry
import Query
import TextFormatting

/// One class of labels.
public struct LabelDefinition: Hashable, Sendable {
  public enum Placement: String, Hashable, Sendable, CaseIterable {
    case automatic
    case pointAboveCenter, pointAboveLeft, pointAboveRight, pointBelowCenter, pointBelowLeft, pointBelowRight
    case pointCenterCenter, pointCenterLeft, pointCenterRight
    case lineAboveAlong, lineBelowAlong, lineCenterAlong
    case polygonAlwaysHorizontal
  }
  public let expression: Expression
  /// Which features have it; all when nil.
  public let condition: Expression?
  /// Its text is not used.
  public let symbol: TextSymbol
  /// Not drawn when zoomed out beyond this denominator.
  public let minScale: Double?
  /// Not drawn when zoomed in beyond this denominator.
  public let maxScale: Double?
  public let placement: Placement
  /// Which labels give way where there is no room: the greater number. 0 comes first.
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

  /// Refuses expressions that cannot be for a layer with these columns.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    do { try AttributeSource.expression(expression).check(for: schema) } catch { throw error.under("expression") }
    if let condition {
      do { try AttributeSource.expression(condition).check(for: schema, as: .condition) } catch {
        throw error.under("whereClause")
      }
    }
  }

  /// Whether it is drawn at a scale's denominator.
  func isShown(at scale: Double) -> Bool { scale <= minScale ?? .infinity && scale >= maxScale ?? 0 }
}

/// A label of one feature.
public struct Label: Hashable, Sendable {
  /// The place of its definition.
  public let definition: Int
  /// With the label's text in it.
  public let symbol: TextSymbol
  public let placement: LabelDefinition.Placement
  public let priority: Int
}

/// Label definitions tied to the columns of a store, to be asked for many rows.
public struct BoundLabels: Sendable {
  private let definitions: [(definition: LabelDefinition, place: Int, text: BoundSource, condition: BoundSource?)]
  private let conventions: TextConventions

  /// - Parameters:
  ///   - scale: those not drawn at its denominator are left out; nil for all.
  ///   - conventions: by which texts are made; conditions see the neutral ones.
  public init(
    _ definitions: [LabelDefinition], scale: Double?, schema: FeatureSchema, by conventions: TextConventions
  ) {
    self.conventions = conventions
    self.definitions = definitions.enumerated().compactMap { place, definition in
      if let scale, !definition.isShown(at: scale) { return nil }
      return (
        definition, place, BoundSource(.expression(definition.expression), schema: schema, by: conventions),
        definition.condition.map { BoundSource(.expression($0), schema: schema) }
      )
    }
  }

  /// The labels of a row, in the order of their definitions; none where the text is null or empty.
  public func labels(of row: FeatureRow) -> [Label] {
    definitions.compactMap { definition, place, text, condition in
      if let condition, !condition.isTrue(for: row) { return nil }
      guard let text = text.value(of: row).shownText(by: conventions), !text.isEmpty else { return nil }
      var symbol = definition.symbol
      symbol.text = text
      return Label(
        definition: place, symbol: symbol, placement: definition.placement, priority: definition.priority)
    }
  }
}
