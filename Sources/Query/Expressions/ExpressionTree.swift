// What the parser makes of a text: nodes in one list, so that nothing needs recursion that does not follow the nesting.

import Calendar
import Geometry
import TextFormatting

enum Comparison: UInt8, BitwiseCopyable, Sendable {
  case equal, notEqual, less, greater, lessOrEqual, greaterOrEqual

  /// What is true where this is false, of two values that can be compared.
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

  /// The same with the sides exchanged.
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

enum Arithmetic: UInt8, BitwiseCopyable, Sendable { case add, subtract, multiply, divide, remainder, integerDivide }

/// One node. Numbers name other nodes or entries of the tree's lists; spatial and temporal predicates will be more cases.
enum ExpressionNode: Sendable {
  /// Of ``ExpressionTree/literals``.
  case literal(Int)
  /// Of ``ExpressionTree/instants``.
  case instant(Int)
  /// Of ``ExpressionTree/properties``.
  case property(Int)
  case not(Int)
  /// Ranges are of ``ExpressionTree/children``.
  case and(Range<Int>)
  case or(Range<Int>)
  case compare(Comparison, Int, Int)
  case isNull(Int, isNegated: Bool)
  /// With one of ``ExpressionTree/sets`` when the list is of literals alone.
  case isIn(Int, list: Range<Int>, set: Int?, isNegated: Bool)
  case between(Int, Int, Int, isNegated: Bool)
  /// Of ``ExpressionTree/patterns``.
  case like(Int, pattern: Int, isNegated: Bool)
  /// From left to right over ``ExpressionTree/links``: one node for `a + b - c + ...`.
  case chain(first: Int, Range<Int>)
  case power(Int, Int)
  case negate(Int)
  case call(ExpressionFunction, Range<Int>)
  /// Of ``ExpressionTree/formats``.
  case format(Int, Range<Int>)
  /// Of ``ExpressionTree/dateFormats``.
  case formatDate(Int, Int)
}

/// A parsed expression. Children stand before their parents; the last node is the whole.
final class ExpressionTree: Sendable {
  struct Link: BitwiseCopyable, Sendable {
    let operation: Arithmetic
    let operand: Int
  }

  struct Parts: Sendable {
    var nodes: [ExpressionNode] = []
    /// Where in the text each node is best pointed at: an operator, or the first byte.
    var offsets: [Int] = []
    var children: [Int] = []
    var links: [Link] = []
    var literals: [AttributeValue] = []
    var instants: [InstantLiteral] = []
    var properties: [String] = []
    /// Where each property is first named.
    var propertyOffsets: [Int] = []
    var sets: [ConstantSet] = []
    var patterns: [LikePattern] = []
    var formats: [NumberFormat] = []
    var dateFormats: [DateFormat] = []
  }

  let nodes: [ExpressionNode]
  let children: [Int]
  let links: [Link]
  let parts: Parts

  init(_ parts: Parts) {
    nodes = parts.nodes
    children = parts.children
    links = parts.links
    self.parts = parts
  }

  var root: Int { nodes.count - 1 }

  /// Whether a value may be another by other conventions.
  var isWrittenByConventions: Bool {
    nodes.contains { node in
      switch node {
      case .format, .formatDate: true
      case .call(let function, _): function.isWrittenByConventions
      default: false
      }
    }
  }
}

/// An instant as it was written. A class, so that a value that holds one stays small.
final class InstantLiteral: Sendable {
  let time: CivilTime
  let text: String
  init(time: CivilTime, text: String) {
    self.time = time
    self.text = text
  }
}
