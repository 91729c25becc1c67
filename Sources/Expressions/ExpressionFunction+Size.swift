// The sizes of texts that functions make: known before they are made, and estimated before an expression is evaluated.

import Geometry

extension ExpressionFunction {
  /// The size in bytes of the text that the function makes of the arguments, or copies; 0 where it makes none.
  ///
  /// - Complexity: O(1), or O(n) where `replace` may make a long text.
  func textSize(of arguments: [Scalar]) -> Int {
    switch self {
    case .concat: return arguments.reduce(0) { $0 + $1.textSize }
    // A code point has up to three in another case, of two bytes or more each.
    case .upper, .lower, .casei: return arguments[0].textSize
    case .accenti, .trim, .toText, .toNumber: return arguments[0].textSize
    case .substring:
      let size = arguments[0].textSize
      guard arguments.count > 2, let count = arguments[2].number else { return size }
      return Int(Swift.min(Double(size), Swift.max(0, 4 * count)))
    case .replace: return Self.replacedSize(arguments)
    default: return 0
    }
  }

  private static func replacedSize(_ arguments: [Scalar]) -> Int {
    let (size, old, new) = (arguments[0].textSize, arguments[1].textSize, arguments[2].textSize)
    guard old > 0, new > old, size < Expression.textLimit else { return size }
    // One more than fit is too many.
    let limit = (Expression.textLimit - size) / (new - old) + 1
    let count = arguments[0].withText { text in
      arguments[1].withText { TextSearch($0).count(in: text, atMost: limit) } ?? 0
    }
    return size + (count ?? 0) * (new - old)
  }
}

extension Scalar {
  /// The size of the value as text, in bytes: of a text that of its own, otherwise an upper bound.
  var textSize: Int { withText { $0.count } ?? 32 }
}

extension Expression {
  /// The estimated cost of the texts that functions make for one feature, in units of a plain test; 0 if they make none.
  /// Texts of attributes count as 64 bytes.
  public var textCost: Int { tree.textCost }
}

extension ExpressionTree {
  var textCost: Int {
    let limit = Expression.textLimit
    var (sizes, cost): ([Int], Int) = ([], 0)
    sizes.reserveCapacity(nodes.count)
    func sum(_ range: Range<Int>) -> Int { parts.children[range].reduce(0) { min(limit, $0 + sizes[$1]) } }
    for node in nodes {
      var size: Int
      var isMade = true
      switch node {
      case .literal(let number): (size, isMade) = (Scalar(parts.literals[number]).textSize, false)
      case .call(.replace, let range):
        let operands = parts.children[range].map { sizes[$0] }
        size = min(limit, operands[0] / max(1, operands[1]) * operands[2] + operands[0])
      case .call(let function, let range):
        (size, isMade) = (sum(range), function.makesText)
      case .choice(let range): (size, isMade) = (sum(range), false)
      case .format(let number, let range): size = min(limit, parts.formats[number].maxSize(of: []) + sum(range))
      case .formatDate(let number, _): size = parts.dateFormatPatterns[number].utf8.count
      default: (size, isMade) = (64, false)
      }
      size = min(limit, size)
      sizes.append(size)
      if isMade { cost += 1 + size / 64 }
    }
    return cost
  }
}

extension ExpressionFunction {
  fileprivate var makesText: Bool {
    switch self {
    case .concat, .upper, .lower, .casei, .accenti, .trim, .toText, .toNumber, .substring, .replace, .length, .count:
      true
    default: false
    }
  }
}
