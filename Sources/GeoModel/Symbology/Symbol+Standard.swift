// What is drawn where nobody has said how.

import Geometry
import Query

/// What kind of shape a symbol is for.
public enum ShapeKind: Hashable, Sendable {
  case point, line, area

  /// By the shape of highest dimension in it; nil for what is empty.
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

  /// By a simple features name, such as `MultiPolygon Z`; nil where it can be anything.
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

  /// Of a feature; nil without a geometry.
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
  /// How a layer without a renderer draws a shape: light grey with a grey edge.
  public static func standard(for kind: ShapeKind) -> Symbol {
    let edge = SimpleLineSymbol(color: .gray)
    return switch kind {
    case .point: .simpleMarker(SimpleMarkerSymbol(outline: edge))
    case .line: .simpleLine(edge)
    case .area: .simpleFill(SimpleFillSymbol(outline: edge))
    }
  }
}
