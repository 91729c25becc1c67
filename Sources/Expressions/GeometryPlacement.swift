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
  /// Makes a geometry of one of the features' reference, and a distance; nil for what it cannot make.
  public typealias Maker = @Sendable (GeometryMaking, Geometry, Double) -> Geometry?
  public var maker: Maker?
  /// Distances in x by which copies of a geometry are moved, if the same place may have several x.
  public var shifts: (Envelope) -> [Double]
  /// The edge of a reference of the features that goes around the world.
  public var seam: Seam?

  public init(
    yRange: ClosedRange<Double>? = nil, worldWidth: Double? = nil, meter: Meter? = nil,
    maker: Maker? = nil,
    transformed: @escaping (Geometry) -> Geometry? = { $0 }, shifts: @escaping (Envelope) -> [Double] = { _ in [0] },
    seam: Seam? = nil
  ) {
    (self.yRange, self.worldWidth, self.meter, self.maker) = (yRange, worldWidth, meter, maker)
    (self.transformed, self.shifts, self.seam) = (transformed, shifts, seam)
  }
}

extension Expression {
  /// Whether it has or measures geometries, so that it has to be placed before compiling.
  public var hasGeometries: Bool { !tree.parts.geometries.isEmpty || tree.measuringCost > 0 }

  /// The expression with its geometries transformed to the reference of the features.
  ///
  /// - Throws: ``ExpressionError`` of kind `badLiteral` for a geometry that the reference does not allow.
  public func placed(_ placement: GeometryPlacement) throws(ExpressionError) -> Expression {
    guard hasGeometries else { return self }
    var parts = tree.parts
    (parts.meter, parts.maker) = (placement.meter, placement.maker)
    for (index, node) in tree.nodes.enumerated() {
      guard case .geometry(let number) = node else { continue }
      do throws(PlacementFault) { parts.geometries[number] = try parts.geometries[number].placed(placement) } catch {
        throw ExpressionError(
          .badLiteral, at: parts.offsets[index], in: text.utf8, expected: error.expected, found: error.found
        ).about(source)
      }
    }
    for (index, node) in tree.nodes.enumerated() {
      guard case .call(let function, let range) = node, let making = function.record.making,
        let geometry = parts.made(making, range), var literal = Optional(GeometryLiteral(geometry: geometry, box: nil))
      else { continue }
      if let extent = geometry.envelope { literal.shifts = placement.shifts(extent) }
      literal.seam = placement.seam
      parts.geometries.append(literal)
      parts.nodes[index] = .geometry(parts.geometries.count - 1)
    }
    return Expression(self, tree: ExpressionTree(parts))
  }
}

extension ExpressionTree.Parts {
  /// What is made of literals, once for all features; nil if an operand is none.
  fileprivate func made(_ making: GeometryMaking, _ range: Range<Int>) -> Geometry? {
    guard let maker, case .geometry(let number) = nodes[children[range.lowerBound]] else { return nil }
    var distance = 0.0
    if range.count > 1 {
      guard case .literal(let literal) = nodes[children[range.lowerBound + 1]], let number = Scalar(literals[literal]).number else { return nil }
      distance = number
    }
    return maker(making, geometries[number].geometry, distance)
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
