// Relations of times, arrays and geometries. Their operands are not scalars, so they are made at each comparison.

import Geometry
import SpatialRelations

extension ExpressionEvaluator {
  /// Whether the relation holds; nil if unknown: an operand is null or has an unsuitable type.
  func holds(_ relation: FunctionRecord.Relation, _ operands: Slice<UnsafeBufferPointer<Int>>) -> Bool? {
    let (first, second) = (operands[operands.startIndex], operands[operands.startIndex + 1])
    switch relation {
    case .temporal(let relation):
      guard let first = period(first), let second = period(second) else { return nil }
      return relation.holds(first, second)
    case .array(let relation):
      guard let first = array(first), let second = array(second) else { return nil }
      return first.holds(relation, second)
    case .spatial(let relation): return holds(relation, first, second, operands.startIndex)
    }
  }

  private func holds(_ relation: SpatialRelation, _ first: Int, _ second: Int, _ number: Int) -> Bool? {
    switch tree.parts.spatialTests[number] {
    case .constant(let relation): return try? relation.value()
    case .predicate(let predicate, _, _): return source.holds(predicate)
    case .itself(let relation): return source.geometry.map { relation.holdsToItself($0) }
    case .made(let predicate): return predicate.value.flatMap { source.holds($0) }
    case .once(let answer): return answer.value
    case nil:
      // A relation that is not defined for these geometries is unknown.
      guard let first = geometry(first), let second = geometry(second) else { return nil }
      return tree.parts.holds(relation, first, second)
    }
  }

  func measured(_ measure: GeometryMeasure, _ operands: Slice<UnsafeBufferPointer<Int>>) -> Scalar {
    guard let meter = tree.parts.meter, let first = geometry(operands[operands.startIndex]) else { return .null }
    let second = operands.count > 1 ? geometry(operands[operands.startIndex + 1]) : nil
    if operands.count > 1, second == nil { return .null }
    return meter(measure, first, second).map { Scalar(number: $0) } ?? .null
  }

  private func geometry(_ node: Int) -> Geometry? {
    switch nodes[node] {
    case .geometry(let number): return tree.parts.geometries[number].geometry
    case .call(let function, let range):
      if let made = tree.parts.made[node] { return made.value }
      return function.record.making.flatMap { made($0, children[range]) }
    default: return source.geometry
    }
  }

  func made(_ making: GeometryMaking, _ operands: Slice<UnsafeBufferPointer<Int>>) -> Geometry? {
    guard let maker = tree.parts.maker, let geometry = geometry(operands[operands.startIndex]) else { return nil }
    let distance = operands.count > 1 ? value(operands[operands.startIndex + 1]).number : 0
    guard let distance else { return nil }
    let made = maker(making, geometry, distance)
    if made == nil { source.blame() }
    return made
  }

  /// Whether an operand that is not a scalar is present, not null.
  func isPresent(_ node: Int) -> Bool {
    switch nodes[node] {
    case .interval: period(node) != nil
    case .shape: source.geometry != nil
    case .array, .geometry: true
    case .literal, .instant, .property, .time, .not, .and, .or, .compare, .isNull, .isIn, .between, .like, .chain,
      .power,
      .negate, .call, .choice, .format, .formatDate:
      !value(node).isNull
    }
  }

  private func period(_ node: Int) -> Period? {
    guard case .interval(let start, let end) = nodes[node] else { return value(node).civilTime.map { Period($0) } }
    guard let start = bound(start, orOpen: .past), let end = bound(end, orOpen: .future) else { return nil }
    return Period(start: start, end: end)
  }

  private func bound(_ node: Int?, orOpen open: Period.Bound) -> Period.Bound? {
    guard let node else { return open }
    return value(node).civilTime.map { Period.Bound($0) }
  }

  private func array(_ node: Int) -> ArrayValue? {
    switch nodes[node] {
    case .array(_, let constant?): return tree.parts.arrays[constant]
    case .array(let range, nil):
      var result = ArrayValue()
      for element in children[range] { result.insert(key(element)) }
      return result
    default:
      guard case .json(let text) = value(node) else { return nil }
      return ArrayValue(json: text)
    }
  }

  /// The element as a key; nil if it is unknown.
  private func key(_ node: Int) -> ArrayValue.Key? {
    switch nodes[node] {
    case .array: array(node)?.key
    case .interval: period(node).map { .period($0) }
    case .geometry(let number): .geometry(tree.parts.geometries[number].geometry)
    case .shape: source.geometry.map { .geometry($0) }
    case .call(let function, _) where function.record.making != nil: geometry(node).map { .geometry($0) }
    default: ArrayValue.Key(value(node))
    }
  }
}
