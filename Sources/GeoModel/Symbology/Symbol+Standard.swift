// Default symbols.

import FeatureStore
import Geometry

/// The kind of shape that a symbol draws.
public enum ShapeKind: Hashable, Sendable {
  case point, line, area

  /// The kind of highest dimension in the geometry; nil if it is empty.
  public init?(_ geometry: Geometry) {
    switch geometry {
    case .point, .multiPoint: self = .point
    case .lineString, .multiLineString: self = .line
    case .polygon, .multiPolygon: self = .area
    case .collection(let parts):
      let kinds = Set(parts.compactMap(ShapeKind.init))
      guard let kind = [ShapeKind.area, .line, .point].first(where: kinds.contains) else { return nil }
      self = kind
    }
  }

  /// The kind for a simple features type name, such as `MultiPolygon Z`; nil if the type allows any kind.
  public init?(geometryType: String?) {
    guard let name = geometryType?.lowercased() else { return nil }
    if name.contains("point") {
      self = .point
    } else if name.contains("polygon") || name.contains("surface") {
      self = .area
    } else if name.contains("line") || name.contains("curve") {
      self = .line
    } else {
      return nil
    }
  }

  /// The kind of a feature; nil without a geometry.
  public init?(_ row: FeatureRow) {
    if row.point != nil {
      self = .point
    } else if let kind = row.geometry.flatMap(ShapeKind.init) {
      self = kind
    } else {
      return nil
    }
  }
}

extension Symbol {
  /// The symbol of a layer without a renderer: light gray with a gray outline.
  public static func standard(for kind: ShapeKind) -> Symbol {
    let edge = SimpleLineSymbol(color: .gray)
    return switch kind {
    case .point: .simpleMarker(SimpleMarkerSymbol(outline: edge))
    case .line: .simpleLine(edge)
    case .area: .simpleFill(SimpleFillSymbol(outline: edge))
    }
  }
}
