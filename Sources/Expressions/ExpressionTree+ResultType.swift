// The type of field that holds the values of an expression, so far as it is known without any value.

import Geometry

/// What is known of the values of an expression.
package struct ResultType: Equatable, Sendable {
  package let type: FieldType
  /// Whether values cannot show another type: those of arithmetic are integers or doubles.
  package let isExact: Bool

  package init(_ type: FieldType, isExact: Bool = true) { (self.type, self.isExact) = (type, isExact) }

  fileprivate var isNumber: Bool { type == .integer || type == .double }

  /// The type of values of either; nil if there may be several.
  fileprivate func joined(_ other: ResultType) -> ResultType? {
    if self == other { return self }
    if isNumber, other.isNumber { return ResultType(type == other.type ? type : .double, isExact: false) }
    return isText && other.isText ? ResultType(type == other.type ? type : .string) : nil
  }

  private var isText: Bool { type == .string || type == .time || type.isOfDates }
}

extension ExpressionTree {
  /// What a node's values are.
  private enum Known {
    case null, several
    case one(ResultType)

    init(_ type: ResultType?) { self = type.map { .one($0) } ?? .several }

    func joined(_ other: Known) -> Known {
      switch (self, other) {
      case (.null, let known), (let known, .null): known
      case (.one(let left), .one(let right)): Known(left.joined(right))
      case (.several, _), (_, .several): .several
      }
    }

    var isInteger: Bool { if case .one(let type) = self { type.type == .integer } else { false } }
  }

  /// The type of the values; nil if they may have several, and if all are null.
  ///
  /// - Parameter property: what is known of properties.
  package func resultType(of property: (Int) -> ResultType?) -> ResultType? {
    var known: [Known] = []
    known.reserveCapacity(nodes.count)
    func joined(_ nodes: some Sequence<Int>) -> Known { nodes.reduce(.null) { $0.joined(known[$1]) } }
    func number(ofIntegers isInteger: Bool) -> Known { .one(ResultType(isInteger ? .integer : .double, isExact: false)) }
    for node in nodes {
      switch node {
      case .literal(let number): known.append(Self.known(parts.literals[number]))
      case .instant(let number): known.append(.one(ResultType(parts.instants[number].time.isDate ? .date : .dateTime)))
      case .property(let number), .time(let number): known.append(Known(property(number)))
      case .not, .and, .or, .compare, .isNull, .isIn, .between, .like: known.append(.one(ResultType(.boolean)))
      case .chain(let first, let range):
        let links = parts.links[range]
        known.append(number(ofIntegers: known[first].isInteger && links.allSatisfy {
          $0.operation != .divide && known[$0.operand].isInteger
        }))
      case .negate(let operand): known.append(number(ofIntegers: known[operand].isInteger))
      case .power: known.append(number(ofIntegers: false))
      case .format, .formatDate: known.append(.one(ResultType(.string)))
      case .call(let function, let range):
        known.append(function.record.result.map(Self.known) ?? joined(parts.children[range]))
      case .choice(let range): known.append(joined(values(ofChoice: range)))
      case .interval, .array, .geometry, .shape: known.append(.several)
      }
    }
    guard case .one(let type)? = known.last else { return nil }
    return type
  }

  private static func known(_ types: ScalarTypes) -> Known {
    switch types {
    case .boolean: .one(ResultType(.boolean))
    case .number: .one(ResultType(.double, isExact: false))
    case .text: .one(ResultType(.string))
    case .json: .one(ResultType(.json))
    default: .several
    }
  }

  private static func known(_ literal: AttributeValue) -> Known {
    switch literal {
    case .null: .null
    case .integer: .one(ResultType(.integer))
    case .double: .one(ResultType(.double))
    case .bool, .string, .json: known(ScalarTypes(literal))
    }
  }
}
