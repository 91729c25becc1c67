// Estimates the sizes of texts that functions make, before an expression is evaluated.

import Geometry

extension Scalar {
  /// The size of the value as text, in bytes; an upper bound for values that are not texts.
  var textSize: Int { withText { $0.count } ?? 32 }
}

extension Expression {
  /// The estimated cost of the texts that functions make for one feature, in units of a simple test; 0 if they make none. Texts
  /// of attributes count as 64 bytes.
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
      case .call(let function, let range):
        let record = function.record
        (size, isMade) = (record.textEstimate(parts.children[range].map { sizes[$0] }), record.textSize != nil)
      case .choice(let range): (size, isMade) = (sum(range), false)
      case .format(let number, let range): size = min(limit, parts.formats[number].maxSize(of: []) + sum(range))
      case .formatDate(let number, _): size = parts.dateFormatPatterns[number].utf8.count
      case .instant, .property, .time, .not, .and, .or, .compare, .isNull, .isIn, .between, .like, .chain, .power,
        .negate, .interval, .array, .geometry, .shape:
        (size, isMade) = (64, false)
      }
      size = min(limit, size)
      sizes.append(size)
      if isMade { cost += 1 + size / 64 }
    }
    return cost
  }
}
