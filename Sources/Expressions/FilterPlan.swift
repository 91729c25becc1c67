// The structure of a filter: tests of single columns, and conditions that need whole features.

import Geometry

/// A condition in which every NOT is moved to the leaves, so that each leaf only has to be tested for true, and unknown counts as
/// false.
///
/// De Morgan's laws hold in three-valued logic, and each predicate has an opposite that is true exactly if the predicate is false.
package indirect enum FilterPlan: Sendable {
  case never
  case always
  case all([FilterPlan])
  case any([FilterPlan])
  /// A test of a property's column.
  case test(property: Int, ColumnTest)
  /// A node that is evaluated for each feature and has to be true, or false.
  case node(Int, isWanted: Bool)

  package init(_ tree: ExpressionTree, _ node: Int, isWanted: Bool) {
    func property(_ node: Int) -> Int? { if case .property(let number) = tree.nodes[node] { number } else { nil } }
    func literal(_ node: Int) -> AttributeValue? {
      if case .literal(let number) = tree.nodes[node] { tree.parts.literals[number] } else { nil }
    }
    self = .node(node, isWanted: isWanted)
    switch tree.nodes[node] {
    case .literal(let number): self = tree.parts.literals[number] == .bool(isWanted) ? .always : .never
    case .property(let number): self = .test(property: number, .compare(.equal, .bool(isWanted)))
    case .not(let operand): self = FilterPlan(tree, operand, isWanted: !isWanted)
    case .and(let range), .or(let range):
      let parts = tree.parts.children[range].map { FilterPlan(tree, $0, isWanted: isWanted) }
      let isAnd = if case .and = tree.nodes[node] { true } else { false }
      // Cheap tests come first, so that the others are evaluated only for the remaining rows.
      let ordered = parts.filter(\.isCheap) + parts.filter { !$0.isCheap }
      self = isAnd == isWanted ? .all(ordered) : .any(ordered)
    case .compare(let comparison, let left, let right):
      let wanted = isWanted ? comparison : comparison.negated
      if let number = property(left), let value = literal(right) {
        self = .test(property: number, .compare(wanted, value))
      } else if let number = property(right), let value = literal(left) {
        self = .test(property: number, .compare(wanted.mirrored, value))
      }
    case .isNull(let operand, let isNegated):
      if let number = property(operand) {
        self = .test(property: number, .isNull(isNegated != isWanted))
      }
    case .isIn(let operand, _, let set, let isNegated):
      if let number = property(operand), let set {
        self = .test(property: number, .isIn(tree.parts.sets[set], isNegated != isWanted))
      }
    case .like(let operand, let pattern, let isNegated):
      if let number = property(operand) {
        self = .test(property: number, .like(tree.parts.patterns[pattern], isNegated != isWanted))
      }
    case .between(let operand, let low, let high, let isNegated):
      if let number = property(operand), let low = literal(low), let high = literal(high) {
        self =
          isNegated == isWanted
          ? .any([.test(property: number, .compare(.less, low)), .test(property: number, .compare(.greater, high))])
          : .all([
            .test(property: number, .compare(.greaterOrEqual, low)),
            .test(property: number, .compare(.lessOrEqual, high)),
          ])
      }
    default: break
    }
  }

  private var isCheap: Bool {
    switch self {
    case .never, .always, .test: true
    case .all, .any, .node: false
    }
  }
}

/// A test of one column.
package enum ColumnTest: Sendable {
  case compare(Comparison, AttributeValue)
  /// Membership in a set; the flag is the required result.
  case isIn(ConstantSet, Bool)
  case like(LikePattern, Bool)
  case isNull(Bool)

  /// Whether the test has the required result for a value; false if it is unknown.
  package func holds(_ value: Scalar) -> Bool {
    switch self {
    case .compare(let comparison, let constant):
      if let order = value.order(to: Scalar(constant)) { comparison.holds(order) } else { false }
    case .isIn(let set, let isWanted): set.contains(value) == isWanted
    case .like(let pattern, let isWanted): value.withText { pattern.matches($0) } == isWanted
    case .isNull(let isWanted): value.isNull == isWanted
    }
  }
}
