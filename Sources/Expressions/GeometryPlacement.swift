// Converts geometries of an expression from their reference to that of the features.

import Geometry

/// Properties of the reference of literals, and the conversion to that of the features.
public struct GeometryPlacement {
  /// The allowed range of y; nil for no limit.
  public var yRange: ClosedRange<Double>?
  /// The width of the world; nil if the reference does not wrap around it.
  public var worldWidth: Double?
  /// The geometry in the reference of the features; nil if it has no coordinates there.
  public var transformed: (Geometry) -> Geometry?
  /// Measures geometries of the features' reference, one or, for a distance, two; nil for what it cannot measure.
  public typealias Meter = @Sendable (GeometryMeasure, Geometry, Geometry?) -> Double?
  public var meter: Meter?
  /// Distances in x by which copies of a geometry are moved, if the same place may have several x.
  public var shifts: (Envelope) -> [Double]
  /// The edge of a reference of the features that goes around the world.
  public var seam: Seam?

  public init(
    yRange: ClosedRange<Double>? = nil, worldWidth: Double? = nil, meter: Meter? = nil,
    transformed: @escaping (Geometry) -> Geometry? = { $0 }, shifts: @escaping (Envelope) -> [Double] = { _ in [0] },
    seam: Seam? = nil
  ) {
    (self.yRange, self.worldWidth, self.meter) = (yRange, worldWidth, meter)
    (self.transformed, self.shifts, self.seam) = (transformed, shifts, seam)
  }
}

extension Expression {
  /// Whether it has or measures geometries, so that it has to be placed before compiling.
  public var hasGeometries: Bool { !tree.parts.geometries.isEmpty || tree.measureCount > 0 }

  /// The expression with its geometries transformed to the reference of the features.
  ///
  /// - Throws: ``ExpressionError`` of kind `badLiteral` for a geometry that the reference does not allow.
  public func placed(_ placement: GeometryPlacement) throws(ExpressionError) -> Expression {
    guard hasGeometries else { return self }
    var parts = tree.parts
    parts.meter = placement.meter
    for (index, node) in tree.nodes.enumerated() {
      guard case .geometry(let number) = node else { continue }
      do throws(PlacementFault) { parts.geometries[number] = try parts.geometries[number].placed(placement) } catch {
        throw ExpressionError(
          .badLiteral, at: parts.offsets[index], in: text.utf8, expected: error.expected, found: error.found
        ).about(source)
      }
    }
    return Expression(self, tree: ExpressionTree(parts))
  }
}

private struct PlacementFault: Error {
  let expected: String
  let found: String
}

extension GeometryLiteral {
  fileprivate func placed(_ placement: GeometryPlacement) throws(PlacementFault) -> GeometryLiteral {
    var geometry = geometry
    if let box, let half = Optional(box.count / 2), box[0] > box[half] {
      guard let width = placement.worldWidth else {
        throw PlacementFault(
          expected: "an xMin not above xMax: the reference does not go around the world",
          found: "\(box[0]) and \(box[half])")
      }
      // One area that continues beyond the edge of the world. With two areas, a feature across the edge would be within neither.
      let area = Envelope(xMin: box[0], yMin: box[1], xMax: box[half], yMax: box[half + 1])
      geometry = Geometry(area: area.unrolled(around: width))
    }
    if let range = placement.yRange, let extent = geometry.envelope {
      for y in [extent.yMin, extent.yMax] where !range.contains(y) {
        throw PlacementFault(expected: "y from \(range.lowerBound) to \(range.upperBound)", found: "\(y)")
      }
    }
    guard let moved = placement.transformed(geometry) else {
      throw PlacementFault(
        expected: "positions that have coordinates in the reference of the features", found: "one that has none")
    }
    var result = GeometryLiteral(geometry: moved, box: box)
    if let extent = moved.envelope { result.shifts = placement.shifts(extent) }
    result.seam = placement.seam
    return result
  }
}
