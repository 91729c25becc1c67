// The functions of expressions: a record for each, by which calls are parsed, checked and evaluated, and from which clients read what
// there is.

import TextFormatting

/// A function, by its place in the table: small, as nodes of an expression hold it.
struct ExpressionFunction: BitwiseCopyable, Sendable {
  private let number: UInt8

  /// All of them, in the order of the reference.
  static let all = table.indices.map { ExpressionFunction(number: UInt8($0)) }
  private static let table: [FunctionRecord] =
    FunctionRecord.texts + FunctionRecord.numbers + FunctionRecord.choices + FunctionRecord.literals
    + FunctionRecord.relations + FunctionRecord.formats

  private static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.record.name.lowercased(), $0) })

  private init(number: UInt8) { self.number = number }

  /// The function of a name in any case; nil without one.
  init?(named name: String) {
    // Names are short: a text of any length need not be changed for a look-up.
    guard name.utf8.count <= 16, let known = Self.byKey[name.lowercased()] else { return nil }
    self = known
  }

  @inline(__always) var record: FunctionRecord { Self.table[Int(number)] }
}

/// All that is known of a function. A class, so that what parses nested calls holds a reference alone.
final class FunctionRecord: Sendable {
  /// As the reference has it; calls have it in any case.
  let name: String
  /// Only the last one may be repeated.
  let parameters: [Parameter]
  /// Nil if the result is one of the arguments.
  let result: ScalarTypes?
  /// One or more sentences.
  let doc: String
  /// An expression without properties that calls it.
  let example: String
  let evaluation: Evaluation
  /// Known before the text is made; nil for functions that neither make nor search one.
  let textSize: TextSize?
  /// The estimate of `textSize` from the sizes of the arguments.
  let textEstimate: @Sendable ([Int]) -> Int
  /// The text transformation, also applied to the pattern that a text is matched against; nil for functions that no
  /// pattern contains.
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

  /// The size in bytes of the text that a function makes of arguments, or copies.
  ///
  /// - Complexity: O(1), or O(n) where `replace` may make a long text.
  typealias TextSize = @Sendable ([Scalar]) -> Int

  /// How a call is evaluated. Values are null for a null argument, and for one of another type, where nothing else is said.
  enum Evaluation: Sendable {
    /// A literal: what is in the parentheses is no expression.
    case literal(Literal)
    /// The parser makes a node of its own of the arguments.
    case node(Node)
    /// The first argument that is not null; the others are not evaluated.
    case first
    /// The argument that precedes all others by this order; null if one is null, or they do not compare.
    case extreme(Order)
    case relation(Relation)
    /// The arguments match the parameters.
    case values(@Sendable ([Scalar]) -> Scalar)
    case conventions(@Sendable ([Scalar], TextConventions) -> Scalar)
  }

  enum Literal: Sendable { case date, timestamp, interval }
  enum Node: Sendable { case box, choice, format, formatDate }

  struct Parameter: Sendable {
    /// How often the argument occurs: once, at most once, or any number of times from once on.
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

  /// The types of an argument by its index.
  func argument(_ index: Int) -> ScalarTypes { parameters[min(index, parameters.count - 1)].types }

  var relation: Relation? { if case .relation(let relation) = evaluation { relation } else { nil } }
  var isOfArrays: Bool { if case .array = relation { true } else { false } }
  var isOfGeometries: Bool { if case .spatial = relation { true } else { false } }
  var isExtreme: Bool { if case .extreme = evaluation { true } else { false } }
  /// Whether CQL2 JSON has a notation of its own for it.
  var isLiteral: Bool {
    switch evaluation {
    case .literal, .node(.box): true
    case .node, .first, .extreme, .relation, .values, .conventions: false
    }
  }
  /// Whether a call formats text by conventions.
  var isWrittenByConventions: Bool { if case .conventions = evaluation { true } else { false } }

  /// The name in CQL2 JSON: `t_finishedBy`.
  var jsonName: String {
    guard relation != nil else { return name }
    let name = name.lowercased()
    return name.hasSuffix("by") ? name.dropLast(2) + "By" : name
  }
}

extension FunctionRecord.Parameter {
  static func text(_ name: String = "text") -> Self { Self(name: name, types: .text) }
  static func number(_ name: String = "number") -> Self { Self(name: name, types: .number) }
  static func any(_ name: String) -> Self { Self(name: name, types: .any) }
  static let decimals = Self(name: "decimals", types: .number, occurrence: .optional)
}
