// What is made of geometries in the plane: an operation as a plain value, which another process can do as well.

import Geometry

/// An operation with one or more geometries.
///
/// Planar, in the units of the geometries. Z is kept and interpolated where the operation keeps positions, M is not.
public struct GeometryOperation: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case buffer, offset, union, intersection, difference, symmetricDifference, convexHull, concaveHull, minimumRectangle, minimumCircle
    case simplify, generalize, labelPoint, centroid, cut, reshape, autoComplete, nearest, relate, validity, snap
  }

  public let kind: Kind
  /// What the kind needs, in the order of its factory.
  public let numbers: [Double]
  /// Whether polygons that are invalid are made valid first; otherwise they are refused, with the place of the fault.
  public var mends = false

  public init(_ kind: Kind, _ numbers: [Double] = [], mends: Bool = false) {
    (self.kind, self.numbers, self.mends) = (kind, numbers, mends)
  }

  /// The operation with invalid polygons made valid first.
  public var mending: Self { Self(kind, numbers, mends: true) }

  public enum Cap: Int, Sendable { case round = 1, flat, square }
  public enum Join: Int, Sendable { case round = 1, mitre, bevel }

  /// - Parameters:
  ///   - distance: in the units of the geometry; negative shrinks polygons.
  ///   - quadrantSegments: chords of a quarter of a circle.
  ///   - isOneSided: only to the left of lines, to the right if the distance is negative.
  public static func buffer(
    _ distance: Double, quadrantSegments: Int, cap: Cap, join: Join, mitreLimit: Double, isOneSided: Bool
  ) -> Self {
    Self(.buffer, [distance, Double(quadrantSegments), Double(cap.rawValue), Double(join.rawValue), mitreLimit, isOneSided ? 1 : 0])
  }

  /// A line beside a line: to the left, to the right if the distance is negative.
  public static func offset(_ distance: Double, quadrantSegments: Int, join: Join, mitreLimit: Double) -> Self {
    Self(.offset, [distance, Double(quadrantSegments), Double(join.rawValue), mitreLimit])
  }

  /// - Parameter ratio: 0 is the most concave hull, 1 the convex one.
  public static func concaveHull(_ ratio: Double, allowsHoles: Bool) -> Self { Self(.concaveHull, [ratio, allowsHoles ? 1 : 0]) }

  /// Makes valid: by what an odd number of rings encloses, or by outer rings united less the holes.
  public static func simplify(byStructure: Bool) -> Self { Self(.simplify, [byStructure ? 1 : 0]) }

  /// Fewer positions, none of which moves by more than `tolerance`; rings keep their order inside one another.
  public static func generalize(_ tolerance: Double) -> Self { Self(.generalize, [tolerance]) }

  /// What an odd number of rings encloses, as valid polygons with positions at whole multiples of `size`. What is narrower may be lost.
  public static func snap(to size: Double) -> Self { Self(.snap, [size]) }

  /// The same of operands of which the one at `index` is known to be valid, as a piece of a valid area is.
  public func trusting(_ index: Int) -> Self { Self(kind, [Double(index)], mends: mends) }

  /// Whether an operand is known to be valid.
  func trusts(_ index: Int) -> Bool { (kind == .intersection || kind == .difference) && numbers == [Double(index)] }

  /// Whether GEOS refuses invalid polygons, or computes something else of them.
  var needsValidity: Bool {
    switch kind {
    case .buffer, .offset, .union, .intersection, .difference, .symmetricDifference, .cut, .reshape, .autoComplete, .labelPoint, .relate,
      .generalize:
      true
    case .convexHull, .concaveHull, .minimumRectangle, .minimumCircle, .simplify, .centroid, .nearest, .validity, .snap: false
    }
  }

  /// Estimated nanoseconds; `limit` or more stops the count.
  func cost(_ operands: [Geometry], limit: Double) -> Double {
    // The triangulation of GEOS 3.11 crashes on narrow polygons of ordinary numbers.
    guard kind != .concaveHull else { return .infinity }
    guard !numbers.contains(where: \.isExtreme), !operands.contains(where: \.isExtreme) else { return .infinity }
    let counts = operands.map { geometry in
      var count = 0
      geometry.forEachPositions { count += $0.count }
      return count
    }
    let count = counts.reduce(0, +)
    let size = Double(count)
    // Nanoseconds a position, beside those of crossings.
    let each: Double =
      switch kind {
      case .buffer: 400 * max(numbers[1], 1) + 1_500
      case .offset: 800 * max(numbers[1], 1) + 10_000
      case .labelPoint: 20_000
      case .union, .intersection, .difference, .symmetricDifference, .cut, .autoComplete, .simplify, .generalize: 2_000
      case .snap: 6_000
      case .convexHull, .concaveHull, .minimumRectangle, .minimumCircle, .centroid, .relate, .validity, .reshape: 300
      case .nearest: 500
      }
    var sum = size * each
    if operands.count == 2 {
      if kind == .relate { sum += RelationCost.placing(operands[0], operands[1]) }
      // All segments are compared with all others.
      if kind == .nearest { sum += 4 * Double(counts[0]) * Double(counts[1]) }
    }
    // Faces are made around each crossing, and looked at one by one.
    let factor = kind == .snap ? 30.0 : 1
    // Segments that all cross one another.
    guard sum < limit, factor * RelationCost.worst(count) >= limit else { return sum }
    switch kind {
    case .convexHull, .concaveHull, .minimumRectangle, .minimumCircle, .centroid, .nearest, .labelPoint: return sum
    case .union, .autoComplete: return sum + RelationCost.alone(.collection(operands), limit: limit - sum)
    case .buffer, .offset, .intersection, .difference, .symmetricDifference, .simplify, .generalize, .cut, .reshape, .relate, .validity,
      .snap:
      for geometry in operands where sum < limit { sum += factor * RelationCost.alone(geometry, limit: (limit - sum) / factor) }
      if operands.count == 2, sum < limit { sum += RelationCost.between(operands[0], operands[1], limit: limit - sum) }
      return sum
    }
  }
}

/// What an operation makes.
public struct GeometryOutcome: Hashable, Sendable {
  public var geometries: [Geometry]
  /// Beside the geometries: of a circle its radius, of pieces their sides, of nearest places the distance.
  public var numbers: [Double]
  /// The intersection matrix of `relate`; the reason of a fault of `validity`.
  public var text: String?

  public init(_ geometries: [Geometry] = [], numbers: [Double] = [], text: String? = nil) {
    (self.geometries, self.numbers, self.text) = (geometries, numbers, text)
  }
}

/// Does operations one after the other, each in the place that its cost asks for: here, or by the thread's engine.
///
/// Confined to one thread.
public struct GeometryCalculator: ~Copyable {
  private let context: GEOSContext

  public init() throws(EngineError) { context = try GEOSContext() }

  /// - Throws: ``EngineError``; ``EngineError/invalid(reason:at:operand:)`` for an operand that is not valid and has to be.
  public func callAsFunction(_ operation: GeometryOperation, _ operands: [Geometry]) throws(EngineError) -> GeometryOutcome {
    if let allowance = RelationAllowance.current,
      let (engine, isCancelled) = try allowance.spend(operation.cost(operands, limit: allowance.limit))
    {
      return try engine.compute(operation, operands, isCancelled: isCancelled)
    }
    return try context.compute(operation, operands)
  }

  /// A geometry that is kept: itself if it is valid, or the areas that it becomes.
  ///
  /// - Throws: ``EngineError/invalid(reason:at:operand:)`` for a polygon that is not, unless it is mended.
  public func valid(_ geometry: Geometry, mends: Bool) throws(EngineError) -> Geometry {
    guard geometry.dimension == 2, !geometry.isSurelyValid else { return geometry }
    let outcome = try self(GeometryOperation(.validity), [geometry])
    guard let reason = outcome.text else { return geometry }
    guard mends else {
      guard case .point(let place) = outcome.geometries.first else { throw .invalid(reason: reason, at: nil, operand: 0) }
      throw .invalid(reason: reason, at: place, operand: 0)
    }
    return try self(.simplify(byStructure: false), [geometry]).geometries[0].part(ofDimension: 2)
  }
}
