// Evaluates an expression for one feature, by walking over its nodes. Allocates only new texts.

import Geometry
import SpatialRelations
import TextFormatting

/// The values of properties, by their indexes in the tree.
package protocol PropertySource {
  func value(_ property: Int) -> Scalar
  /// The feature's geometry; nil if it has none.
  var geometry: Geometry? { get }
  /// Whether the feature's geometry has the relation; nil, unknown, if it has no geometry or the relation is not defined for it.
  func holds(_ predicate: SpatialPredicate) -> Bool?
  /// Notes the feature if something failed by the thread's allowance.
  func blame()
}

struct GivenValues: PropertySource {
  let values: [AttributeValue]
  func value(_ property: Int) -> Scalar { Scalar(values[property]) }
  var geometry: Geometry? { nil }
  func holds(_ predicate: SpatialPredicate) -> Bool? { nil }
  func blame() {}
}

extension ExpressionTree {
  /// Passes an evaluator to `body`. It reads the lists of the tree in place, since reference counting at each node would dominate
  /// the time.
  @inline(__always)
  package func withEvaluator<Source: PropertySource, Result>(
    _ source: Source, by conventions: TextConventions, _ body: (inout ExpressionEvaluator<Source>) -> Result
  ) -> Result {
    var textLeft = Expression.textLimit
    return withUnsafeMutablePointer(to: &textLeft) { textLeft in
      parts.nodes.withUnsafeBufferPointer { nodes in
        parts.children.withUnsafeBufferPointer { children in
          parts.links.withUnsafeBufferPointer { links in
            var evaluator = ExpressionEvaluator(
              tree: self, nodes: nodes, children: children, links: links, textLeft: textLeft, conventions: conventions,
              source: source)
            return body(&evaluator)
          }
        }
      }
    }
  }
}

package struct ExpressionEvaluator<Source: PropertySource> {
  let tree: ExpressionTree
  let nodes: UnsafeBufferPointer<ExpressionNode>
  let children: UnsafeBufferPointer<Int>
  let links: UnsafeBufferPointer<ExpressionTree.Link>
  /// Number of bytes of text that functions may still make for the feature.
  package let textLeft: UnsafeMutablePointer<Int>
  let conventions: TextConventions
  package var source: Source

  /// The value of a node. Recursion is as deep as the nesting of the text, which is limited.
  package func value(_ node: Int) -> Scalar {
    switch nodes[node] {
    case .literal(let number): return Scalar(tree.parts.literals[number])
    case .instant(let number): return .instant(tree.parts.instants[number])
    case .property(let number): return source.value(number)
    case .time(let number):
      let value = source.value(number)
      return value.civilTime.map { .instant(InstantLiteral(time: $0, text: value.string ?? "")) } ?? value
    case .not(let operand): return Scalar(truth(operand).map { !$0 })
    case .and(let range): return Scalar(combined(range, deciding: false))
    case .or(let range): return Scalar(combined(range, deciding: true))
    case .compare(let comparison, let left, let right):
      guard let order = value(left).order(to: value(right)) else { return .null }
      return .bool(comparison.holds(order))
    case .isNull(let operand, let isNegated): return .bool(value(operand).isNull != isNegated)
    case .isIn(let operand, let list, let set, let isNegated):
      let value = value(operand)
      let isIn = if let set { tree.parts.sets[set].contains(value) } else { contains(value, list) }
      return Scalar(isIn.map { $0 != isNegated })
    case .between(let operand, let low, let high, let isNegated):
      return Scalar(isBetween(value(operand), low, high).map { $0 != isNegated })
    case .like(let operand, let pattern, let isNegated):
      return Scalar(value(operand).withText { tree.parts.patterns[pattern].matches($0) != isNegated })
    case .chain(let first, let range):
      var result = value(first)
      for link in links[range] { result = result.applying(link.operation, value(link.operand)) }
      return result
    case .power(let base, let exponent): return value(base).raised(to: value(exponent))
    case .negate(let operand): return Scalar.integer(0).applying(.subtract, value(operand), isNegation: true)
    case .call(let function, let range): return call(function, range)
    case .choice(let range): return choice(range)
    case .format(let number, let range):
      let (format, values) = (tree.parts.formats[number], children[range].map { value($0) })
      guard takesText(format.maxSize(of: values)) else { return .null }
      return Scalar(format.text(of: values, by: conventions))
    case .formatDate(let number, let operand):
      guard let time = value(operand).civilTime, takesText(tree.parts.dateFormatPatterns[number].utf8.count) else {
        return .null
      }
      return .text(tree.parts.dateFormats[number].text(of: time, by: conventions))
    case .interval, .array, .geometry, .shape: return isPresent(node) ? .bool(true) : .null
    }
  }

  /// Subtracts the size of a text from the remaining bytes; false if it exceeds them.
  private func takesText(_ size: Int) -> Bool {
    guard size <= textLeft.pointee else { return false }
    textLeft.pointee -= size
    return true
  }

  /// The truth value of a node; nil if unknown.
  package func truth(_ node: Int) -> Bool? { value(node).truth }

  /// `deciding` if any operand has that value; else unknown if any is unknown. False decides AND, true decides OR.
  private func combined(_ range: Range<Int>, deciding: Bool) -> Bool? {
    var result: Bool? = !deciding
    for operand in children[range] {
      switch truth(operand) {
      case deciding?: return deciding
      case nil: result = nil
      default: break
      }
    }
    return result
  }

  private func contains(_ value: Scalar, _ list: Range<Int>) -> Bool? {
    var result: Bool? = false
    for element in children[list] {
      switch value.order(to: self.value(element)) {
      case .same?: return true
      case nil: result = nil
      default: break
      }
    }
    return result
  }

  /// The value of `value >= low AND value <= high`.
  private func isBetween(_ value: Scalar, _ low: Int, _ high: Int) -> Bool? {
    let toLow = value.order(to: self.value(low))
    if toLow == .less { return false }
    let toHigh = value.order(to: self.value(high))
    if toHigh == .greater { return false }
    return toLow == nil || toHigh == nil ? nil : true
  }

  private func choice(_ range: Range<Int>) -> Scalar {
    var index = range.lowerBound
    while index + 1 < range.upperBound {
      if truth(children[index]) == true { return value(children[index + 1]) }
      index += 2
    }
    return index < range.upperBound ? value(children[index]) : .null
  }

  private func call(_ function: ExpressionFunction, _ range: Range<Int>) -> Scalar {
    let arguments = children[range]
    let function = function.record
    switch function.evaluation {
    case .first:
      for argument in arguments {
        let value = value(argument)
        if !value.isNull { return value }
      }
      return .null
    case .extreme(let wanted):
      var best = value(arguments[range.lowerBound])
      for argument in arguments {
        let value = value(argument)
        guard let order = value.order(to: best) else { return .null }
        if order == wanted { best = value }
      }
      return best
    case .relation(let relation): return Scalar(holds(relation, arguments))
    case .measure(let measure): return measured(measure, arguments)
    case .making(let making): return Scalar(made(making, arguments) == nil ? nil : true)
    case .values(let apply): return applied(function, arguments, apply)
    case .conventions(let apply): return applied(function, arguments) { apply($0, conventions) }
    // The parser makes other nodes of these calls.
    case .literal, .node: return .null
    }
  }

  @inline(__always)
  private func applied(
    _ function: FunctionRecord, _ arguments: Slice<UnsafeBufferPointer<Int>>, _ apply: ([Scalar]) -> Scalar
  ) -> Scalar {
    let values = arguments.map { value($0) }
    if let size = function.textSize, !takesText(size(values)) { return .null }
    return apply(values)
  }
}
