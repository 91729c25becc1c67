// Converts geometries of an expression from their reference to that of the features.

import Geometry
import SpatialRelations

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
  /// Whether what costs much on the calling thread is left for the one that needs it, a task's; else the thread's allowance has failed.
  public var postpones: Bool
  /// Distances in x by which copies of a geometry are moved, if the same place may have several x.
  public typealias Shifts = @Sendable (Envelope) -> [Double]
  public var shifts: Shifts
  /// The same for copies that meet a box.
  public typealias Turns = @Sendable (Envelope, Envelope) -> [Double]
  public var turns: Turns?
  /// The edge of a reference of the features that goes around the world.
  public var seam: Seam?

  public init(
    yRange: ClosedRange<Double>? = nil, worldWidth: Double? = nil, meter: Meter? = nil,
    maker: Maker? = nil, postpones: Bool = false,
    transformed: @escaping (Geometry) -> Geometry? = { $0 }, shifts: @escaping Shifts = { _ in [0] },
    turns: Turns? = nil, seam: Seam? = nil
  ) {
    (self.yRange, self.worldWidth, self.meter, self.maker) = (yRange, worldWidth, meter, maker)
    (self.postpones, self.transformed, self.shifts, self.turns, self.seam) = (postpones, transformed, shifts, turns, seam)
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
    (parts.shifts, parts.turns, parts.seam) = (placement.shifts, placement.turns, placement.seam)
    for (index, node) in tree.nodes.enumerated() {
      guard case .geometry(let number) = node else { continue }
      do throws(PlacementFault) { parts.geometries[number] = try parts.geometries[number].placed(placement) } catch {
        throw ExpressionError(
          .badLiteral, at: parts.offsets[index], in: text.utf8, expected: error.expected, found: error.found
        ).about(source)
      }
    }
    for (index, node) in tree.nodes.enumerated() {
      guard case .call(let function, let range) = node, let making = function.record.making, let made = parts.made(making, range) else { continue }
      parts.made[index] = made
      guard let geometry = placement.postpones ? made.quickly : made.value else { continue }
      var literal = GeometryLiteral(geometry: geometry, box: nil)
      if let extent = geometry.envelope { literal.shifts = placement.shifts(extent) }
      literal.seam = placement.seam
      parts.geometries.append(literal)
      parts.nodes[index] = .geometry(parts.geometries.count - 1)
    }
    return Expression(self, tree: ExpressionTree(parts))
  }
}

extension ExpressionTree.Parts {
  /// What is made of constants, once for all features; nil if an operand is none.
  fileprivate func made(_ making: GeometryMaking, _ range: Range<Int>) -> Once<Geometry>? {
    guard let maker, let operand = constant(children[range.lowerBound]) else { return nil }
    guard range.count > 1 else { return Once { operand().flatMap { maker(making, $0, 0) } } }
    guard case .some(let distance) = constantNumber(children[range.lowerBound + 1]) else { return nil }
    return Once { distance.flatMap { distance in operand().flatMap { maker(making, $0, distance) } } }
  }

  private func constant(_ node: Int) -> (@Sendable () -> Geometry?)? {
    if case .geometry(let number) = nodes[node] { return { [geometry = geometries[number].geometry] in geometry } }
    guard let made = made[node] else { return nil }
    return { made.value }
  }

  /// Nil if it depends on a feature.
  private func constantNumber(_ node: Int) -> Double?? {
    if case .literal(let literal) = nodes[node] { return .some(Scalar(literals[literal]).number) }
    let (tree, feature) = (ExpressionTree(self), NoFeature())
    let number = tree.withEvaluator(feature, by: .neutral) { $0.value(node).number }
    return feature.isAsked || tree.isWrittenByConventions ? nil : .some(number)
  }

  /// Whether one geometry has the relation to another, on whatever turn of the world they are; nil if it is not defined for them.
  func holds(_ relation: SpatialRelation, _ first: Geometry, _ second: Geometry) -> Bool? {
    try? SpatialPredicate(unchecked: relation, second, shifts: shifts(of: second, to: first), seam: seam).holds(for: first)
  }

  func shifts(of geometry: Geometry, to other: Geometry) -> [Double] {
    guard let turns, let box = geometry.envelope, let near = other.envelope else { return [0] }
    return turns(box, near)
  }
}

/// What a constant is evaluated with.
private final class NoFeature: PropertySource {
  private(set) var isAsked = false

  private func asked<R>() -> R? {
    isAsked = true
    return nil
  }

  func value(_ property: Int) -> Scalar { asked() ?? .null }
  var geometry: Geometry? { asked() }
  func holds(_ predicate: SpatialPredicate) -> Bool? { asked() }
  func blame() {}
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
