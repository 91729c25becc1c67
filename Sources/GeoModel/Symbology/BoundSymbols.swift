// The symbol of a feature or graphic: its own, the renderer's, one from simplestyle properties, or a default.

import FeatureStore
import Geometry

/// The symbol with which a row is drawn.
public enum DrawnSymbol: Hashable, Sendable {
  /// The row's own symbol, as JSON text.
  case own(Text)
  case made(Symbol)
}

/// A layer's or overlay's rules for symbols, bound to its columns.
public struct BoundSymbols: Sendable {
  /// The symbols used without a renderer.
  public enum Fallback: Hashable, Sendable {
    case nothing
    case plain
    /// From the feature's simplestyle properties, if it has any; else plain.
    case simpleStyle
  }
  private let renderer: BoundRenderer?
  private let fallback: Fallback
  private let styleColumns: [String: Int]

  public init(_ renderer: Renderer?, fallback: Fallback, schema: FeatureSchema) {
    self.renderer = renderer.map { BoundRenderer($0, schema: schema) }
    var columns: [String: Int] = [:]
    if fallback == .simpleStyle {
      for name in SimpleStyle.names { columns[name] = schema.column(named: name) }
    }
    styleColumns = columns
    self.fallback = fallback
  }

  /// Whether symbols may come from properties of the features.
  public var isByFeature: Bool { renderer == nil && !styleColumns.isEmpty }

  /// Symbols that no row's symbol exceeds in size, not counting rows with their own symbol.
  ///
  /// - Parameter check: called every few thousand rows; throws to cancel.
  /// - Complexity: O(rows) if the widths of lines are attributes of the features.
  public func largest(in store: FeatureStore, checking check: () throws -> Void) throws -> [Symbol] {
    if let renderer { return renderer.largest }
    guard fallback != .nothing else { return [] }
    let plain = [ShapeKind.point, .line, .area].map { Symbol.standard(for: $0) }
    guard !styleColumns.isEmpty else { return plain }
    var style: [String: AttributeValue] = ["marker-size": .string("large"), "marker-symbol": .string("x")]
    if let column = styleColumns["stroke-width"] {
      style["stroke-width"] = .double(try Self.greatest(column, in: store, check))
    }
    guard let largest = SimpleStyle({ style[$0] ?? .null }) else { return plain }
    return plain + [ShapeKind.point, .line].map(largest.symbol)
  }

  /// The greatest width in a column; at least the default.
  private static func greatest(
    _ column: Int, in store: FeatureStore, _ check: () throws -> Void
  ) throws -> Double {
    var greatest = SimpleStyle.defaultWidth
    for (index, row) in try store.rowsAscending(checking: { _ in try check() }).enumerated() {
      if index & 0xfff == 0xfff { try check() }
      let number = store[row]?.value(column).finiteNumber ?? 0
      if number > greatest, symbolSizes.contains(number) { greatest = number }
    }
    return greatest
  }

  /// Whether a row has a symbol. Cheaper than making it.
  public func hasSymbol(_ row: FeatureRow) -> Bool {
    if row.symbol != nil { return true }
    if let renderer { return renderer.index(of: row) != nil }
    return fallback != .nothing && ShapeKind(row) != nil
  }

  /// A number that rows with the same symbol share; nil for a row whose symbol is its own, or follows from its attributes alone.
  /// -1 for a row without a symbol.
  public func shared(by row: FeatureRow) -> Int? {
    guard row.symbol == nil else { return nil }
    if let renderer { return renderer.isFixed ? renderer.index(of: row) ?? -1 : nil }
    guard fallback != .nothing else { return -1 }
    guard styleColumns.isEmpty else { return nil }
    switch row.point == nil ? ShapeKind(row) : .point {
    case .point: return 0
    case .line: return 1
    case .area: return 2
    case nil: return -1
    }
  }

  /// The symbol of a row; nil if the row has none. Ignores visibility.
  public func symbol(of row: FeatureRow) -> DrawnSymbol? {
    if let own = row.symbol { return .own(Text(own)) }
    if let renderer { return renderer.symbol(of: row).map(DrawnSymbol.made) }
    guard fallback != .nothing, let kind = ShapeKind(row) else { return nil }
    if !styleColumns.isEmpty, let style = SimpleStyle({ styleColumns[$0].map { row.value($0) } ?? .null }) {
      return .made(style.symbol(for: kind))
    }
    return .made(.standard(for: kind))
  }
}

extension SourceOrigin {
  /// Whether the source is GeoJSON, whose features may have simplestyle properties.
  var isGeoJSON: Bool {
    switch self {
    case .inline: return true
    case .columns: return false
    case .file(let file):
      if let driver = file.driver { return driver == "GeoJSON" }
      let name = file.path.lowercased()
      return name.hasSuffix(".geojson") || name.hasSuffix(".json")
    }
  }
}

extension Layer {
  /// Whether the schema allows that features have simplestyle properties.
  public var mayHaveSimpleStyles: Bool {
    guard portrayal.renderer == nil, let features, features.origin.isGeoJSON else { return false }
    return features.schema.fields.contains { SimpleStyle.names.contains($0.name.string) }
  }

  /// The symbols of the layer's features.
  public func boundSymbols(_ store: FeatureStore) -> BoundSymbols {
    BoundSymbols(
      portrayal.renderer, fallback: features?.origin.isGeoJSON == true ? .simpleStyle : .plain, schema: store.schema)
  }
}

extension Overlay {
  /// The symbols of the overlay's graphics.
  public var boundSymbols: BoundSymbols {
    BoundSymbols(portrayal.renderer, fallback: .nothing, schema: store.schema)
  }
}
