// The functions of expressions: their names, how many arguments they take and of which types. `format` and `formatDate`
// are nodes of their own.

/// A function by its name in lower case; names are read in any case.
enum ExpressionFunction: String, BitwiseCopyable, Sendable {
  /// The texts of all arguments, one behind the other.
  case concat
  case upper, lower, trim
  /// For comparisons and patterns without regard to case.
  case casei
  /// For comparisons and patterns without regard to accents.
  case accenti
  /// In code points.
  case length
  /// From the code point numbered `start`, the first being 1; to the end without a count.
  case substring
  case replace
  /// Null for a text that is no decimal number.
  case toNumber = "tonumber"
  case toText = "totext"
  /// To so many decimals, 0 without them; halves go away from zero.
  case round
  case floor, ceil, abs, sqrt
  case min, max
  /// The first argument that is not null.
  case coalesce
  /// The second argument if the first is true, else (unknown included) the third.
  case iif
  /// Metres, square metres and metres per second in the units that people read; with so many decimals, or as few as will do.
  case formatLength = "formatlength"
  case formatArea = "formatarea"
  case formatSpeed = "formatspeed"

  struct Signature {
    let counts: ClosedRange<Int>
    /// By place; the last one goes on.
    let arguments: [ScalarTypes]
    /// Nil when it gives one of its arguments.
    let result: ScalarTypes?
    /// The first argument that it may give.
    var passesFrom = 0

    func argument(_ place: Int) -> ScalarTypes { arguments[Swift.min(place, arguments.count - 1)] }
  }

  /// Whether it makes text by conventions.
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
