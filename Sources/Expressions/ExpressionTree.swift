// The parser's result: nodes in one list, so that only nesting needs recursion.

import Calendar
import Geometry
import SpatialRelations
import Synchronization
import TextFormatting

package enum Comparison: String, BitwiseCopyable, CaseIterable, Sendable {
  case equal = "="
  case notEqual = "<>"
  case less = "<"
  case greater = ">"
  case lessOrEqual = "<="
  case greaterOrEqual = ">="

  /// The comparison that is true if and only if this one is false, for comparable values.
  var negated: Comparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .greater: .lessOrEqual
    case .lessOrEqual: .greater
    case .greaterOrEqual: .less
    }
  }

  /// The comparison with its sides exchanged.
  var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .greater: .less
    case .lessOrEqual: .greaterOrEqual
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

enum Arithmetic: String, BitwiseCopyable, CaseIterable, Sendable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case integerDivide = "DIV"

  /// Whether it binds tighter than sums.
  var isProduct: Bool {
    switch self {
    case .add, .subtract: false
    case .multiply, .divide, .remainder, .integerDivide: true
    }
  }
}

/// One node. Numbers are indexes of other nodes or of elements in the tree's lists.
enum ExpressionNode: Sendable {
  /// Index in ``ExpressionTree/Parts/literals``.
  case literal(Int)
  /// Index in ``ExpressionTree/Parts/instants``.
  case instant(Int)
  /// Index in ``ExpressionTree/Parts/properties``.
  case property(Int)
  /// The property as an instant if its text denotes one. Only in compiled expressions.
  case time(Int)
  case not(Int)
  /// Range of ``ExpressionTree/Parts/children``.
  case and(Range<Int>)
  case or(Range<Int>)
  case compare(Comparison, Int, Int)
  case isNull(Int, isNegated: Bool)
  /// With an index in ``ExpressionTree/Parts/sets`` if all elements of the list are literals.
  case isIn(Int, list: Range<Int>, set: Int?, isNegated: Bool)
  case between(Int, Int, Int, isNegated: Bool)
  /// Index in ``ExpressionTree/Parts/patterns``.
  case like(Int, pattern: Int, isNegated: Bool)
  /// Operations from left to right in ``ExpressionTree/Parts/links``: one node for `a + b - c + ...`.
  case chain(first: Int, Range<Int>)
  case power(Int, Int)
  case negate(Int)
  case call(ExpressionFunction, Range<Int>)
  /// Pairs of a condition and a value in ``ExpressionTree/Parts/children``, followed by the value for no true condition, if there
  /// is one.
  case choice(Range<Int>)
  /// Index in ``ExpressionTree/Parts/formats``.
  case format(Int, Range<Int>)
  /// Index in ``ExpressionTree/Parts/dateFormats``.
  case formatDate(Int, Int)
  /// The start and end; nil for an open end.
  case interval(Int?, Int?)
  /// Range of ``ExpressionTree/Parts/children``, with an index in ``ExpressionTree/Parts/arrays`` if all are constant.
  case array(Range<Int>, constant: Int?)
  /// Index in ``ExpressionTree/Parts/geometries``.
  case geometry(Int)
  /// The geometry of a feature; index in ``ExpressionTree/Parts/properties``.
  case shape(Int)
}

/// A parsed expression. Children precede their parents, so the last node is the root.
package final class ExpressionTree: Sendable {
  struct Link: BitwiseCopyable, Sendable {
    let operation: Arithmetic
    let operand: Int
  }

  struct Parts: Sendable {
    var nodes: [ExpressionNode] = []
    /// The offset for errors about each node: of its operator, or of its first byte.
    var offsets: [Int] = []
    var children: [Int] = []
    var links: [Link] = []
    var literals: [AttributeValue] = []
    var instants: [InstantLiteral] = []
    var arrays: [ArrayValue] = []
    var geometries: [GeometryLiteral] = []
    /// Only in compiled expressions: spatial functions, by the index of their first operand in ``children``.
    var spatialTests: [Int: SpatialTest] = [:]
    /// Measures geometries in the reference of the features; nil until it is known.
    var meter: GeometryPlacement.Meter?
    var maker: GeometryPlacement.Maker?
    var shifts: GeometryPlacement.Shifts = { _ in [0] }
    var turns: GeometryPlacement.Turns?
    var seam: Seam?
    /// What calls make of constants, by the node of the call.
    var made: [Int: Once<Geometry>] = [:]
    var properties: [String] = []
    /// The offset of the first use of each property.
    var propertyOffsets: [Int] = []
    var sets: [ConstantSet] = []
    var patterns: [LikePattern] = []
    /// The source of each pattern.
    var patternLiterals: [PatternLiteral] = []
    var formats: [NumberFormat] = []
    var dateFormats: [DateFormat] = []
    var dateFormatPatterns: [String] = []
  }

  let parts: Parts
  /// Made when the expression is first compiled.
  let tests = Mutex<[Int: SpatialTest]?>(nil)

  init(_ parts: Parts) { self.parts = parts }

  var nodes: [ExpressionNode] { parts.nodes }
  package var root: Int { nodes.count - 1 }

  /// Whether the value depends on text conventions.
  var isWrittenByConventions: Bool {
    nodes.contains { node in
      switch node {
      case .format, .formatDate: true
      case .call(let function, _): function.record.isWrittenByConventions
      case .literal, .instant, .property, .time, .not, .and, .or, .compare, .isNull, .isIn, .between, .like, .chain,
        .power, .negate, .choice, .interval, .array, .geometry, .shape:
        false
      }
    }
  }
}

/// An instant with its source text. A class, so that a value that holds one stays small.
package final class InstantLiteral: Sendable {
  let time: CivilTime
  let text: String
  init(time: CivilTime, text: String) {
    self.time = time
    self.text = text
  }
}
