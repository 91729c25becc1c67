// The symbol of a feature or graphic, by all the rules there are: its own, the renderer's, simplestyle, a plain one.

import Geometry
import Query

/// How a row is drawn.
public enum DrawnSymbol: Hashable, Sendable {
  /// Its own: the text that the store keeps.
  case own(Text)
  case made(Symbol)
}

/// The symbols of a layer's or overlay's rows.
public struct BoundSymbols: Sendable {
  /// What is drawn without a renderer.
  public enum Fallback: Hashable, Sendable {
    case nothing
    case plain
    /// By the feature's own properties where they say how, else plain.
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

  /// Whether features may say themselves how they look.
  public var isByFeature: Bool { renderer == nil && !styleColumns.isEmpty }

  /// A row's symbol; nil when it is not drawn. Whether it is visible is not looked at.
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
  /// Whether it is GeoJSON, whose features may carry simplestyle.
  var isGeoJSON: Bool {
    switch self {
    case .inline: return true
    case .file(let path, let driver, _, _, _):
      if let driver { return driver == "GeoJSON" }
      let name = path.lowercased()
      return name.hasSuffix(".geojson") || name.hasSuffix(".json")
    }
  }
}

extension Layer {
  /// Whether its features may say themselves how they look, as far as that is known without them.
  public var mayHaveSimpleStyles: Bool {
    guard portrayal.renderer == nil, let features, features.origin.isGeoJSON else { return false }
    return features.schema.fields.contains { SimpleStyle.names.contains($0.name.string) }
  }

  /// The symbols of its features.
  public func boundSymbols(_ store: FeatureStore) -> BoundSymbols {
    BoundSymbols(
      portrayal.renderer, fallback: features?.origin.isGeoJSON == true ? .simpleStyle : .plain, schema: store.schema)
  }
}

extension Overlay {
  /// The symbols of its graphics.
  public var boundSymbols: BoundSymbols {
    BoundSymbols(portrayal.renderer, fallback: .nothing, schema: store.schema)
  }
}
