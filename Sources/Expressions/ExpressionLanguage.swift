// The elements of the expression language, for the reference and for clients, from the tables of the parser and the type check.

/// The functions, operators and types of ``Expression``.
public enum ExpressionLanguage {
  public struct Parameter: Hashable, Sendable {
    public let name: String
    /// Names in ``types``.
    public let types: [String]
    public let isOptional: Bool
    /// Whether further arguments of this kind may follow.
    public let isRepeated: Bool
  }

  public struct Function: Hashable, Sendable {
    public let name: String
    public let parameters: [Parameter]
    /// Names in ``types``; empty if the result is one of the arguments.
    public let result: [String]
    public let doc: String
    public let example: String
  }

  public struct Operator: Hashable, Sendable {
    /// The notation; lowercase letters stand for operands.
    public let form: String
    /// Operators with a greater number bind tighter.
    public let precedence: Int
    /// Names in ``types`` for each operand; `any` if the operands only have to be comparable with each other.
    public let operands: [String]
    public let result: [String]
    public let doc: String
    public let example: String
  }

  public struct ValueType: Hashable, Sendable {
    public let name: String
    public let doc: String
  }

  public static var types: [ValueType] { ScalarTypes.table.map { ValueType(name: $0.name, doc: $0.doc) } }

  public static var functions: [Function] {
    ExpressionFunction.all.map(\.record).map { function in
      Function(
        name: function.name,
        parameters: function.parameters.map {
          Parameter(
            name: $0.name, types: $0.types.names, isOptional: $0.occurrence == .optional,
            isRepeated: $0.occurrence == .repeated)
        },
        result: function.result?.names ?? [], doc: function.doc, example: function.example)
    }
  }

  public static var operators: [Operator] {
    let logic = [
      Operator(
        "a OR b", 1, .boolean, .boolean, "Whether one is true; unknown where that depends on an unknown one.",
        "1 > 2 OR 2 > 1"),
      Operator(
        "a AND b", 2, .boolean, .boolean, "Whether both are true; unknown where that depends on an unknown one.",
        "1 < 2 AND 2 < 3"),
      Operator("NOT a", 3, .boolean, .boolean, "True for false and false for true.", "NOT 1 > 2"),
    ]
    let comparisons = Comparison.allCases.map {
      Operator("a \($0.rawValue) b", 4, .any, .boolean, $0.doc, "1 \($0.rawValue) 2")
    }
    let predicates = [
      Operator(
        "a IS NULL", 4, .any, .boolean,
        "Whether there is no value; `IS NOT NULL` whether there is one. The operand may be a predicate: `x = 1 IS NULL` is true where `x` is null.",
        "name IS NOT NULL"),
      Operator(
        "a IN (b, c)", 4, .any, .boolean, "Whether it equals one of the values; also `NOT IN`.", "2 NOT IN (1, 3)"),
      Operator(
        "a BETWEEN b AND c", 4, .any, .boolean, "Whether it is in a range, both ends included; also `NOT BETWEEN`.",
        "2 BETWEEN 1 AND 3"),
      Operator(
        "a LIKE b", 4, .text, .boolean,
        "Whether the text matches a pattern in quotes: `%` is any text, `_` one code point, a backslash before them makes them characters, and is as in texts before others; also `NOT LIKE`.",
        "'Bern' LIKE 'B%'"),
      Operator(
        "CASE WHEN a THEN b ELSE c END", 9, .any, [],
        "The value after the first condition that is true, else that after ELSE, else null. `CASE x WHEN a THEN b END` compares x with each. The words are reserved nowhere else.",
        "CASE WHEN 2 > 1 THEN 'more' WHEN 2 = 1 THEN 'equal' ELSE 'less' END"),
    ]
    let arithmetic = Arithmetic.allCases.map {
      Operator("a \($0.rawValue) b", $0.isProduct ? 6 : 5, .number, .number, $0.doc, "7 \($0.rawValue) 2")
    }
    let powers = [
      Operator("a ^ b", 7, .number, .number, "The power. Two need parentheses.", "2 ^ 10"),
      Operator("-a", 8, .number, .number, "The negative: -2^2 is 4, as in CQL2.", "-(2)"),
    ]
    return logic + comparisons + predicates + arithmetic + powers
  }
}

extension ExpressionLanguage.Operator {
  fileprivate init(
    _ form: String, _ precedence: Int, _ operands: ScalarTypes, _ result: ScalarTypes, _ doc: String, _ example: String
  ) {
    self.init(
      form: form, precedence: precedence, operands: operands.names, result: result.names, doc: doc, example: example)
  }
}

extension Comparison {
  fileprivate var doc: String {
    switch self {
    case .equal:
      "Whether both have the same value. Texts are compared by code points; an instant also with a text that says one."
    case .notEqual: "Whether they differ; unknown where one is unknown, or their types differ."
    case .less: "Whether it is less, or earlier."
    case .greater: "Whether it is greater, or later."
    case .lessOrEqual: "Whether it is not greater."
    case .greaterOrEqual: "Whether it is not less."
    }
  }
}

extension Arithmetic {
  fileprivate var doc: String {
    switch self {
    case .add: "The sum."
    case .subtract: "The difference."
    case .multiply: "The product."
    case .divide: "The quotient, with its fraction; null for a division by 0."
    case .remainder: "The remainder of the division, with the sign of the dividend."
    case .integerDivide: "The whole part of the quotient."
    }
  }
}
