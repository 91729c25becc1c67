// Spatial functions prepared for many features: their constant parts are computed once per query.

import Geometry
import SpatialRelations

/// A call of a spatial function, by the kind of its operands.
enum SpatialTest: Sendable {
  /// Two literals.
  case constant(ConstantRelation)
  /// A feature's geometry and a literal. The boxes contain all features for which the function is true, or false; nil if no bound
  /// is known.
  case predicate(SpatialPredicate, trueIn: [Envelope]?, falseIn: [Envelope]?)
  /// A feature's geometry with itself.
  case itself(SpatialRelation)
  /// A feature's geometry and what is made of constants where it is first needed.
  case made(Once<SpatialPredicate>)
  /// The same and another constant.
  case once(Once<Bool>)
}

extension ExpressionTree {
  /// The tests for the spatial functions, by the index of their first operand in ``Parts/children``. Computed once per tree,
  /// since a layer's filter is compiled for each query.
  ///
  /// - Throws: ``ExpressionError`` of kind `badLiteral` for an invalid literal, `unavailable` without GEOS.
  func spatialTests(in text: String) throws(ExpressionError) -> [Int: SpatialTest] {
    guard hasRelations else { return [:] }
    let known = tests.withLock { $0 }
    if let known { return known }
    var made: [Int: SpatialTest] = [:]
    for node in nodes {
      guard case .call(let function, let range) = node, case .spatial(let relation)? = function.record.relation else {
        continue
      }
      let operands = Array(parts.children[range])
      made[range.lowerBound] = try test(relation, operands[0], operands[1], text)
    }
    let result = made
    tests.withLock { $0 = result }
    return result
  }

  private var hasRelations: Bool {
    nodes.contains { if case .call(let function, _) = $0 { function.record.isOfGeometries } else { false } }
  }

  private func test(
    _ relation: SpatialRelation, _ first: Int, _ second: Int, _ text: String
  ) throws(ExpressionError) -> SpatialTest? {
    func located<R>(_ node: Int, _ body: () throws(SpatialError) -> R) throws(ExpressionError) -> R {
      do throws(SpatialError) { return try body() } catch {
        throw ExpressionError(error, at: parts.offsets[node], in: text)
      }
    }
    func checked(_ node: Int, _ literal: GeometryLiteral) throws(ExpressionError) {
      _ = try located(node) { () throws(SpatialError) in try SpatialPredicate(relation, literal.geometry) }
    }
    switch (operand(first), operand(second)) {
    case (.literal(let a), .literal(let b)):
      try checked(first, a)
      let shifts = parts.shifts(of: b.geometry, to: a.geometry)
      let predicate = try located(second) { () throws(SpatialError) in try SpatialPredicate(relation, b.geometry, shifts: shifts, seam: b.seam) }
      return .constant(try located(first) { () throws(SpatialError) in try ConstantRelation(predicate, a.geometry) })
    case (.literal(let a), .feature):
      return try located(first) { () throws(SpatialError) in try .init(relation.converse, a) }
    case (.feature, .literal(let b)): return try located(second) { () throws(SpatialError) in try .init(relation, b) }
    case (.feature, .feature): return .itself(relation)
    case (.feature, .once(let made)): return .made(predicate(relation, made))
    case (.once(let made), .feature): return .made(predicate(relation.converse, made))
    case (.once(let a), .once(let b)): return .once(holds(relation, { a.value }, { b.value }))
    case (.once(let a), .literal(let b)):
      try checked(second, b)
      return .once(holds(relation, { a.value }, { b.geometry }))
    case (.literal(let a), .once(let b)):
      try checked(first, a)
      return .once(holds(relation, { a.geometry }, { b.value }))
    // What is made of each feature is not known before.
    case (.literal(let a), .computed): try checked(first, a)
    case (.computed, .literal(let b)): try checked(second, b)
    case (.computed, _), (_, .computed): break
    }
    return nil
  }

  private enum Operand {
    case literal(GeometryLiteral)
    case once(Once<Geometry>)
    case computed, feature
  }

  private func operand(_ node: Int) -> Operand {
    switch nodes[node] {
    case .geometry(let number): .literal(parts.geometries[number])
    case .call: parts.made[node].map { .once($0) } ?? .computed
    default: .feature
    }
  }

  private func predicate(_ relation: SpatialRelation, _ made: Once<Geometry>) -> Once<SpatialPredicate> {
    Once { [shifts = parts.shifts, seam = parts.seam] in
      made.value.flatMap { try? SpatialPredicate(unchecked: relation, $0, shifts: $0.envelope.map(shifts) ?? [0], seam: seam) }
    }
  }

  private func holds(
    _ relation: SpatialRelation, _ first: @escaping @Sendable () -> Geometry?, _ second: @escaping @Sendable () -> Geometry?
  ) -> Once<Bool> {
    Once { [parts] in
      guard let first = first(), let second = second() else { return nil }
      return parts.holds(relation, first, second)
    }
  }
}

extension SpatialTest {
  fileprivate init(_ relation: SpatialRelation, _ literal: GeometryLiteral) throws(SpatialError) {
    let predicate = try SpatialPredicate(relation, literal.geometry, shifts: literal.shifts, seam: literal.seam)
    var falseIn: [Envelope]?
    if relation == .disjoint {
      falseIn = literal.geometry.envelope.map { box in literal.shifts.map { box.moved(byX: $0) } } ?? []
    }
    self = .predicate(predicate, trueIn: predicate.indexBoxes, falseIn: falseIn)
  }

  /// The estimated cost of testing one feature, in units of a simple test.
  var cost: Int {
    switch self {
    case .constant(let relation): relation.known == nil ? 1 << 16 : 1
    case .predicate(let predicate, _, _): max(predicate.cost.ofPoint, predicate.cost.ofOther)
    case .itself: 1
    case .made, .once: 1 << 16
    }
  }
}

extension SpatialRelation {
  /// Whether a geometry has the relation to itself. An empty geometry equals itself and is disjoint from itself.
  func holdsToItself(_ geometry: Geometry) -> Bool {
    switch self {
    case .equals: true
    case .disjoint: geometry.isEmpty
    case .intersects, .within, .contains, .envelopeIntersects: !geometry.isEmpty
    case .touches, .crosses, .overlaps, .relate: false
    }
  }
}

extension ExpressionError {
  fileprivate init(_ error: SpatialError, at offset: Int, in text: String) {
    switch error {
    case .invalid(let reason, let place):
      let at = place.map { " at \($0.x) \($0.y)" } ?? ""
      self.init(
        .badLiteral, at: offset, in: text.utf8, expected: "a valid geometry", found: "an invalid one: \(reason)\(at)")
    case .mixedCollection:
      self.init(
        .badLiteral, at: offset, in: text.utf8,
        expected: "a collection of points, lines or polygons (only S_INTERSECTS and S_DISJOINT take several of these)",
        found: "a collection of different dimensions")
    case .refused(_, let reason):
      self.init(.badLiteral, at: offset, in: text.utf8, expected: "a valid geometry", found: reason)
    case .unavailable(let reason):
      self.init(.unavailable, at: offset, in: text.utf8, expected: "the library GEOS", found: reason)
    case .interrupted:
      self.init(.unavailable, at: offset, in: text.utf8, expected: "a relation", found: "a cancelled operation")
    case .tooExpensive, .tooManyPositions, .engineFailed:
      self.init(.unavailable, at: offset, in: text.utf8, expected: "geometries with fewer crossings", found: "too many")
    }
  }
}

// MARK: - Index

extension ExpressionTree {
  /// The estimated cost of its spatial functions for one feature, in units of a simple test.
  package var spatialCost: Int { parts.spatialTests.values.reduce(0) { $0 + $1.cost } + measuringCost }

  /// The estimated cost of calls that measure or make geometries, for one feature.
  var measuringCost: Int {
    nodes.reduce(0) { sum, node in
      guard case .call(let function, _) = node else { return sum }
      return sum + (function.record.measure != nil ? 100 : function.record.making != nil ? 10_000 : 0)
    }
  }

  /// Boxes that contain all features for which a plan is true; nil if features anywhere may match.
  package func boxes(of plan: FilterPlan) -> [Envelope]? {
    switch plan {
    case .never: return []
    case .always, .test: return nil
    // Each part bounds the features, so the part with the smallest area is used.
    case .all(let parts): return parts.compactMap(boxes).min { area(of: $0) < area(of: $1) }
    case .any(let parts):
      var all: [Envelope] = []
      for part in parts {
        guard let boxes = boxes(of: part) else { return nil }
        all += boxes
      }
      return all
    case .node(let node, let isWanted):
      guard case .call(_, let range) = nodes[node], let test = parts.spatialTests[range.lowerBound] else {
        return nil
      }
      switch test {
      case .constant(let relation):
        guard let value = relation.known else { return nil }
        return value == isWanted ? nil : []
      case .predicate(_, let trueIn, let falseIn): return isWanted ? trueIn : falseIn
      case .itself, .made, .once: return nil
      }
    }
  }

  private func area(of boxes: [Envelope]) -> Double { boxes.reduce(0) { $0 + $1.width * $1.height } }
}
