// Comparison of date fields as instants, like their order and grouping, and not as texts.

import Calendar
import Geometry

extension ExpressionTree.Parts {
  /// Changes comparisons with date properties so that they compare instants: literals that denote an instant become instants, and
  /// properties give their instants. Comparisons with other literal texts, such as the year in `day >= '2020'`, still compare
  /// texts.
  mutating func compareTimes(_ isTime: (Int) -> Bool) {
    for index in nodes.indices {
      switch nodes[index] {
      case .compare(_, let left, let right): makeTimes([left, right], isTime)
      case .between(let value, let low, let high, _): makeTimes([value, low, high], isTime)
      case .isIn(let value, let list, _, let isNegated):
        if makeTimes([value] + children[list], isTime) {
          nodes[index] = .isIn(value, list: list, set: nil, isNegated: isNegated)
        }
      case .call(let function, let range) where function.record.isExtreme: makeTimes(Array(children[range]), isTime)
      case .literal, .instant, .property, .time, .not, .and, .or, .isNull, .like, .chain, .power, .negate, .call,
        .choice,
        .format, .formatDate, .interval, .array, .geometry, .shape:
        break
      }
    }
  }

  /// - Returns: whether the operands are compared as instants: one is a date property, and each literal text denotes an instant.
  @discardableResult
  private mutating func makeTimes(_ operands: [Int], _ isTime: (Int) -> Bool) -> Bool {
    var properties: [(node: Int, number: Int)] = []
    var times: [(node: Int, literal: InstantLiteral)] = []
    for node in operands {
      switch nodes[node] {
      case .property(let number) where isTime(number): properties.append((node, number))
      case .literal(let number):
        guard case .string(let text) = literals[number] else { continue }
        guard let time = CivilTime(text) else { return false }
        times.append((node, InstantLiteral(time: time, text: text)))
      default: break
      }
    }
    guard !properties.isEmpty, operands.count > 2 || properties.count + times.count > 1 else { return false }
    // With two operands, one instant is enough: the text of the other is parsed when they are compared.
    if operands.count > 2 || times.isEmpty { for (node, number) in properties { nodes[node] = .time(number) } }
    for (node, literal) in times {
      nodes[node] = .instant(instants.count)
      instants.append(literal)
    }
    return true
  }
}
