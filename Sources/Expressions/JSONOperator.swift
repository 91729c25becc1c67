// The operations of CQL2 JSON, by name.

import JSON

enum JSONOperator {
  /// AND or OR, with its precedence.
  case logic(String, Int)
  /// A comparison or arithmetic.
  case infix(String, Int)
  case not
  /// `between`, `in`, `isNull` or `like`.
  case predicate(String)
  /// `case`, which is not in CQL2: alternating conditions and values, followed by the value for no true condition.
  case choice
  case call(ExpressionFunction)

  private static let table: [String: JSONOperator] = {
    var table: [String: JSONOperator] = [
      "or": .logic("OR", 1), "and": .logic("AND", 2), "not": .not, "^": .infix("^", 7), "case": .choice,
    ]
    for comparison in Comparison.allCases { table[comparison.rawValue] = .infix(comparison.rawValue, 4) }
    for operation in Arithmetic.allCases {
      table[operation.rawValue.lowercased()] = .infix(operation.rawValue, operation.isProduct ? 6 : 5)
    }
    for word in ["between", "in", "isNull", "like"] { table[word] = .predicate(word) }
    return table
  }()

  init?(_ name: String) {
    if let known = Self.table[name] {
      self = known
    } else if let function = ExpressionFunction(named: name), !function.record.isLiteral {
      self = .call(function)
    } else {
      return nil
    }
  }

  static var names: [String] {
    table.keys.sorted() + ExpressionFunction.all.map(\.record).filter { !$0.isLiteral }.map(\.jsonName)
  }

  /// The allowed numbers of arguments.
  var counts: ClosedRange<Int> {
    switch self {
    case .logic, .choice: 2...Int.max
    case .infix: 2...2
    case .not: 1...1
    case .predicate(let word): word == "between" ? 3...3 : word == "isNull" ? 1...1 : 2...2
    // The parser checks the arguments of calls.
    case .call: 0...Int.max
    }
  }

  /// The precedence of the operation as text; see ``ExpressionLanguage/operators``.
  func precedence(of arguments: JSONValue) -> Int {
    switch self {
    case .logic(_, let level), .infix(_, let level): level
    case .not: Self.negatable(arguments[0]) == nil ? 3 : 4
    case .predicate: 4
    case .choice, .call: 9
    }
  }

  /// The name of a predicate whose negation has its own notation, such as `NOT IN`; nil for other values.
  static func negatable(_ value: JSONValue) -> String? {
    guard case .predicate(let word)? = JSONOperator(value["op"].withUTF8 { String(decoding: $0, as: UTF8.self) }) else {
      return nil
    }
    return word
  }
}
