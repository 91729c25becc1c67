// The functions of expressions: names, argument counts and types. `format` and `formatDate` are separate nodes.

/// A function by its lowercase name; names are case-insensitive.
enum ExpressionFunction: String, BitwiseCopyable, Sendable {
  /// Concatenates all arguments.
  case concat
  case upper, lower, trim
  /// For case-insensitive comparisons and patterns.
  case casei
  /// For accent-insensitive comparisons and patterns.
  case accenti
  /// The length in code points.
  case length
  /// From the code point numbered `start`, the first being 1; to the end without a count.
  case substring
  case replace
  /// Null for a text that is not a decimal number.
  case toNumber = "tonumber"
  case toText = "totext"
  /// Rounds to the given decimals, 0 by default; halves away from zero.
  case round
  case floor, ceil, abs, sqrt
  case min, max
  /// The first argument that is not null.
  case coalesce
  /// The second argument if the first is true, else the third (also for null).
  case iif
  /// Metres, square metres and metres per second in display units; with the given decimals, or as few as suffice.
  case formatLength = "formatlength"
  case formatArea = "formatarea"
  case formatSpeed = "formatspeed"

  struct Signature {
    let counts: ClosedRange<Int>
    /// By index; the last one repeats.
    let arguments: [ScalarTypes]
    /// Nil if the result is one of the arguments.
    let result: ScalarTypes?
    /// The first argument that can be the result.
    var passesFrom = 0

    func argument(_ index: Int) -> ScalarTypes { arguments[Swift.min(index, arguments.count - 1)] }
  }

  /// Whether it formats text by conventions.
  var isWrittenByConventions: Bool {
    switch self {
    case .formatLength, .formatArea, .formatSpeed: true
    default: false
    }
  }

  var signature: Signature {
    switch self {
    case .concat: Signature(counts: 1 ... .max, arguments: [.any], result: .text)
    case .upper, .lower, .trim, .casei, .accenti: Signature(counts: 1...1, arguments: [.text], result: .text)
    case .length: Signature(counts: 1...1, arguments: [.text], result: .number)
    case .substring: Signature(counts: 2...3, arguments: [.text, .number], result: .text)
    case .replace: Signature(counts: 3...3, arguments: [.text], result: .text)
    case .toNumber: Signature(counts: 1...1, arguments: [[.text, .number]], result: .number)
    case .toText: Signature(counts: 1...1, arguments: [.any], result: .text)
    case .round: Signature(counts: 1...2, arguments: [.number], result: .number)
    case .floor, .ceil, .abs, .sqrt: Signature(counts: 1...1, arguments: [.number], result: .number)
    case .formatLength, .formatArea, .formatSpeed: Signature(counts: 1...2, arguments: [.number], result: .text)
    case .min, .max: Signature(counts: 1 ... .max, arguments: [[.number, .text, .instant]], result: nil)
    case .coalesce: Signature(counts: 1 ... .max, arguments: [.any], result: nil)
    case .iif: Signature(counts: 3...3, arguments: [.boolean, .any], result: nil, passesFrom: 1)
    }
  }
}
