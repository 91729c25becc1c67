// The functions of expressions, one record each. Parsing, checking, evaluation and the reference for clients use these records.

import Geometry
import TextFormatting

/// A function, by its index in the table. Small, because nodes of an expression store it.
struct ExpressionFunction: BitwiseCopyable, Sendable {
  private let number: UInt8

  /// All functions, in the order of the reference.
  static let all = table.indices.map { ExpressionFunction(number: UInt8($0)) }
  private static let table: [FunctionRecord] =
    FunctionRecord.texts + FunctionRecord.numbers + FunctionRecord.choices + FunctionRecord.literals
    + FunctionRecord.relations + FunctionRecord.measures + FunctionRecord.formats

  private static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.record.name.lowercased(), $0) })

  private init(number: UInt8) { self.number = number }

  /// The function with a name, in any case; nil if there is none.
  init?(named name: String) {
    // Names are short, so that longer texts need not be converted to lower case.
    guard name.utf8.count <= 16, let known = Self.byKey[name.lowercased()] else { return nil }
    self = known
  }

  @inline(__always) var record: FunctionRecord { Self.table[Int(number)] }
}

/// The properties of a function. A class, so that parsing nested calls copies only references.
final class FunctionRecord: Sendable {
  /// The name as in the reference; calls may have it in any case.
  let name: String
  /// Only the last parameter may be repeated.
  let parameters: [Parameter]
  /// Nil if the result is one of the arguments.
  let result: ScalarTypes?
  /// One or more sentences.
  let doc: String
  /// An expression without properties that calls it.
  let example: String
  let evaluation: Evaluation
  /// Computes the size of the text before it is made; nil for functions that neither make nor search one.
  let textSize: TextSize?
  /// Estimates `textSize` from the sizes of the arguments.
  let textEstimate: @Sendable ([Int]) -> Int
  /// The text transformation, which also applies to a pattern when a text with it is matched; nil for functions that patterns
  /// cannot contain.
  let fold: (@Sendable (String) -> String)?

  init(
    _ name: String, _ parameters: Parameter..., result: ScalarTypes?, doc: String, example: String,
    textSize: TextSize? = nil, textEstimate: @escaping @Sendable ([Int]) -> Int = { $0.reduce(0, +) },
    fold: (@Sendable (String) -> String)? = nil, _ evaluation: Evaluation
  ) {
    (self.name, self.parameters, self.result) = (name, parameters, result)
    (self.doc, self.example, self.evaluation) = (doc, example, evaluation)
    (self.textSize, self.textEstimate, self.fold) = (textSize, textEstimate, fold)
  }

  /// The size, in bytes, of the text that a function makes or copies for the given arguments.
  ///
  /// - Complexity: O(1); O(n) for `replace` if it may make a long text.
  typealias TextSize = @Sendable ([Scalar]) -> Int

  /// How a call is evaluated. Unless stated otherwise, the value is null if an argument is null or has another type.
  enum Evaluation: Sendable {
    /// A literal: the text in the parentheses is not an expression.
    case literal(Literal)
    /// The parser makes a special node of the arguments.
    case node(Node)
    /// The first argument that is not null; the others are not evaluated.
    case first
    /// The argument that precedes all others in this order; null if one is null or they cannot be compared.
    case extreme(Order)
    case relation(Relation)
    /// Null without a reference of the geometries.
    case measure(GeometryMeasure)
    /// A geometry, where it is an operand.
    case making(GeometryMaking)
    /// A function of arguments that match the parameters.
    case values(@Sendable ([Scalar]) -> Scalar)
    case conventions(@Sendable ([Scalar], TextConventions) -> Scalar)
  }

  enum Literal: Sendable { case date, timestamp, interval }
  enum Node: Sendable { case box, choice, format, formatDate }

  struct Parameter: Sendable {
    /// Number of occurrences of the argument: one, at most one, or at least one.
    enum Occurrence: Sendable { case once, optional, repeated }
    let name: String
    let types: ScalarTypes
    var occurrence = Occurrence.once
  }
}

extension FunctionRecord {
  var counts: ClosedRange<Int> {
    let isRepeated = parameters.last?.occurrence == .repeated
    return parameters.count { $0.occurrence != .optional }...(isRepeated ? .max : parameters.count)
  }

  /// The types of the argument at an index.
  func argument(_ index: Int) -> ScalarTypes { parameters[min(index, parameters.count - 1)].types }

  var relation: Relation? { if case .relation(let relation) = evaluation { relation } else { nil } }
  var isOfArrays: Bool { if case .array = relation { true } else { false } }
  var isOfGeometries: Bool { parameters.first?.types == .geometry }
  var measure: GeometryMeasure? { if case .measure(let measure) = evaluation { measure } else { nil } }
  var making: GeometryMaking? { if case .making(let making) = evaluation { making } else { nil } }
  var isExtreme: Bool { if case .extreme = evaluation { true } else { false } }
  /// Whether CQL2 JSON has a special notation for it.
  var isLiteral: Bool {
    switch evaluation {
    case .literal, .node(.box): true
    case .node, .first, .extreme, .relation, .measure, .making, .values, .conventions: false
    }
  }
  /// Whether a call formats text by conventions.
  var isWrittenByConventions: Bool { if case .conventions = evaluation { true } else { false } }

  /// The name in CQL2 JSON, such as `t_finishedBy`.
  var jsonName: String {
    guard relation != nil else { return name }
    let name = name.lowercased()
    return name.hasSuffix("by") ? name.dropLast(2) + "By" : name
  }
}

extension FunctionRecord.Parameter {
  static func text(_ name: String = "text") -> Self { Self(name: name, types: .text) }
  static func number(_ name: String = "number") -> Self { Self(name: name, types: .number) }
  static func geometry(_ name: String) -> Self { Self(name: name, types: .geometry) }
  static func any(_ name: String) -> Self { Self(name: name, types: .any) }
  static let decimals = Self(name: "decimals", types: .number, occurrence: .optional)
}
