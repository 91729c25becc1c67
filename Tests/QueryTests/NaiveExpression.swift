// A second, simple evaluator to compare with: a tree of values, without columns and plans.

import Calendar
import Geometry

indirect enum NaiveExpression {
  case literal(AttributeValue, String)
  case property(String)
  case not(NaiveExpression)
  case logic(String, [NaiveExpression])
  case compare(NaiveExpression, String, NaiveExpression)
  case isNull(NaiveExpression, Bool)
  case isIn(NaiveExpression, [NaiveExpression], Bool)
  case between(NaiveExpression, NaiveExpression, NaiveExpression, Bool)
  case like(NaiveExpression, String, Bool)
  case arithmetic(NaiveExpression, String, NaiveExpression)
  case negate(NaiveExpression)
  case day(String)

  static let names = ["i", "d", "big", "few", "many", "b", "rare", "late", "m", "day"]

  var text: String {
    switch self {
    case .literal(_, let text): text
    case .property(let name): name
    case .not(let operand): "NOT (\(operand.text))"
    case .logic(let word, let operands): operands.map { "(\($0.text))" }.joined(separator: " \(word) ")
    case .compare(let left, let symbol, let right): "\(left.text) \(symbol) \(right.text)"
    case .isNull(let operand, let isNegated): "\(operand.text) IS \(isNegated ? "NOT " : "")NULL"
    case .isIn(let operand, let list, let isNegated):
      "\(operand.text) \(isNegated ? "NOT " : "")IN (\(list.map(\.text).joined(separator: ", ")))"
    case .between(let operand, let low, let high, let isNegated):
      "\(operand.text) \(isNegated ? "NOT " : "")BETWEEN \(low.text) AND \(high.text)"
    case .like(let operand, let pattern, let isNegated): "\(operand.text) \(isNegated ? "NOT " : "")LIKE '\(pattern)'"
    case .arithmetic(let left, let symbol, let right): "(\(left.text) \(symbol) \(right.text))"
    case .negate(let operand): "(- \(operand.text))"
    case .day(let text): "DATE('\(text)')"
    }
  }

  // MARK: Evaluating

  func value(_ values: [String: AttributeValue]) -> AttributeValue {
    func truth(_ expression: NaiveExpression) -> Bool? {
      if case .bool(let value) = expression.value(values) { value } else { nil }
    }
    func attribute(_ truth: Bool?) -> AttributeValue { truth.map { .bool($0) } ?? .null }
    switch self {
    case .literal(let value, _): return value
    case .property(let name):
      if case .double(let value) = values[name], value.isNaN { return .null }
      return values[name] ?? .null
    case .not(let operand): return attribute(truth(operand).map { !$0 })
    case .logic(let word, let operands):
      let truths = operands.map(truth)
      if truths.contains(word == "OR") { return .bool(word == "OR") }
      return truths.contains(nil) ? .null : .bool(word != "OR")
    case .compare(let left, let symbol, let right): return attribute(Self.compare(left, symbol, right, values))
    case .isNull(let operand, let isNegated): return .bool((operand.value(values) == .null) != isNegated)
    case .isIn(let operand, let list, let isNegated):
      let truths = list.map { Self.compare(operand, "=", $0, values) }
      let isIn: Bool? = truths.contains(true) ? true : truths.contains(nil) ? nil : false
      return attribute(isIn.map { $0 != isNegated })
    case .between(let operand, let low, let high, let isNegated):
      let both = [Self.compare(operand, ">=", low, values), Self.compare(operand, "<=", high, values)]
      let isIn: Bool? = both.contains(false) ? false : both.contains(nil) ? nil : true
      return attribute(isIn.map { $0 != isNegated })
    case .like(let operand, let pattern, let isNegated):
      let text: String
      switch operand.value(values) {
      case .string(let own), .json(let own): text = own
      default: return .null
      }
      return .bool(Self.matches(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...]) != isNegated)
    case .arithmetic(let left, let symbol, let right):
      return Self.calculate(left.value(values), symbol, right.value(values))
    case .negate(let operand):
      switch operand.value(values) {
      case .integer(.min): return .double(0x1p63)
      case .integer(let value): return .integer(-value)
      case .double(let value): return .double(-value)
      default: return .null
      }
    case .day(let text): return .string(text)
    }
  }

  private static func compare(
    _ left: NaiveExpression, _ symbol: String, _ right: NaiveExpression, _ values: [String: AttributeValue]
  ) -> Bool? {
    // -1, 0 or 1.
    let order: Int
    switch (left.value(values), right.value(values)) {
    case (.bool(let a), .bool(let b)): order = (a ? 1 : 0) - (b ? 1 : 0)
    case (.integer(let a), .integer(let b)): order = a < b ? -1 : a == b ? 0 : 1
    case (.double(let a), .double(let b)): order = a < b ? -1 : a == b ? 0 : 1
    case (.integer(let a), .double(let b)): order = Self.order(a, b)
    case (.double(let a), .integer(let b)): order = -Self.order(b, a)
    case (.string(let a), .string(let b)):
      if case .day = right {
        guard let time = CivilTime(a), let day = CivilTime(b) else { return nil }
        order = time < day ? -1 : time == day ? 0 : 1
      } else {
        order = a.utf8.elementsEqual(b.utf8) ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
      }
    default: return nil
    }
    switch symbol {
    case "=": return order == 0
    case "<>": return order != 0
    case "<": return order < 0
    case ">": return order > 0
    case "<=": return order <= 0
    default: return order >= 0
    }
  }

  private static func order(_ left: Int64, _ right: Double) -> Int {
    if right.magnitude > 1e30 { return right > 0 ? -1 : 1 }
    let whole = Int128(right.rounded(.down))
    if Int128(left) != whole { return Int128(left) < whole ? -1 : 1 }
    return right > Double(whole) ? -1 : 0
  }

  private static func matches(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" { return matches(text, pattern.dropFirst()) || !text.isEmpty && matches(text.dropFirst(), pattern) }
    return !text.isEmpty && (first == "_" || first == text.first) && matches(text.dropFirst(), pattern.dropFirst())
  }

  private static func calculate(_ left: AttributeValue, _ symbol: String, _ right: AttributeValue) -> AttributeValue {
    if case .integer(let a) = left, case .integer(let b) = right, symbol != "/" {
      let (x, y) = (Int128(a), Int128(b))
      if y == 0, symbol == "DIV" || symbol == "%" { return .null }
      let result = symbol == "+" ? x + y : symbol == "-" ? x - y : symbol == "*" ? x * y : symbol == "%" ? x % y : x / y
      if let result = Int64(exactly: result) { return .integer(result) }
      let (p, q) = (Double(a), Double(b))
      return .double(symbol == "+" ? p + q : symbol == "-" ? p - q : symbol == "*" ? p * q : p / q)
    }
    func number(_ value: AttributeValue) -> Double? {
      switch value {
      case .integer(let value): Double(value)
      case .double(let value): value
      default: nil
      }
    }
    guard let p = number(left), let q = number(right) else { return .null }
    if q == 0, ["/", "DIV", "%"].contains(symbol) { return .null }
    switch symbol {
    case "+": return .double(p + q)
    case "-": return .double(p - q)
    case "*": return .double(p * q)
    case "/": return .double(p / q)
    case "%": return .double(p.truncatingRemainder(dividingBy: q))
    default:
      return Int64(exactly: (p / q).rounded(.towardZero)).map { .integer($0) } ?? .double((p / q).rounded(.towardZero))
    }
  }

  // MARK: Making

  static func condition(_ random: inout SplitMix, depth: Int) -> NaiveExpression {
    if depth > 0, random.chance(0.6) {
      switch random.below(5) {
      case 0: return .not(condition(&random, depth: depth - 1))
      case 1, 2: return .logic("AND", (0...(1 + random.below(2))).map { _ in condition(&random, depth: depth - 1) })
      default: return .logic("OR", (0...(1 + random.below(2))).map { _ in condition(&random, depth: depth - 1) })
      }
    }
    let symbol = ["=", "<>", "<", ">", "<=", ">="][random.below(6)]
    let name = NaiveExpression.property(names[random.below(names.count)])
    switch random.below(12) {
    case 0: return .property(["b", "m"][random.below(2)])
    case 1: return .isNull(name, random.chance(0.5))
    case 2: return .isIn(name, (0...random.below(4)).map { _ in constant(&random) }, random.chance(0.5))
    case 3: return .isIn(name, [constant(&random), .property("i")], random.chance(0.5))
    case 4: return .between(name, constant(&random), constant(&random), random.chance(0.5))
    case 5, 6:
      return .like(
        .property(["few", "many", "m"][random.below(3)]),
        ["a%", "%b%", "_", "%", "text _", "text 1%", "é", "%5"][random.below(8)],
        random.chance(0.5))
    case 7: return .compare(number(&random, depth: 1), symbol, number(&random, depth: 1))
    case 8: return .compare(constant(&random), symbol, name)
    case 9: return .compare(.property("day"), symbol, .day("2024-01-0\(1 + random.below(9))"))
    default: return .compare(name, symbol, constant(&random))
    }
  }

  static func constant(_ random: inout SplitMix) -> NaiveExpression {
    switch random.below(6) {
    case 0, 1:
      let value = random.chance(0.1) ? Int64.max - Int64(random.below(2)) : Int64(random.below(20)) - 10
      return .literal(.integer(value), String(value))
    case 2:
      let value = [2.5, -0.25, 2, 9_007_199_254_740_992, 1e19, -1e19, 0x1p63, -0x1p63][random.below(8)]
      return .literal(.double(value), String(value.description))
    case 3, 4:
      let text = ["a", "b", "abc", "", "é", "x", "text 5"][random.below(7)]
      return .literal(.string(text), "'\(text)'")
    default:
      let value = random.chance(0.5)
      return .literal(.bool(value), value ? "TRUE" : "FALSE")
    }
  }

  static func number(_ random: inout SplitMix, depth: Int) -> NaiveExpression {
    if depth > 0, random.chance(0.8) {
      if random.chance(0.1) { return .negate(number(&random, depth: depth - 1)) }
      let symbol = ["+", "-", "*", "/", "%", "DIV"][random.below(6)]
      return .arithmetic(number(&random, depth: depth - 1), symbol, number(&random, depth: depth - 1))
    }
    switch random.below(7) {
    case 0: return .property("i")
    case 1: return .property("d")
    case 2: return .property("big")
    case 3: return .property("m")
    case 4: return .property("rare")
    case 5:
      let value = Int64(random.below(7))
      return .literal(.integer(value), String(value))
    default:
      let value = Double(random.below(20)) / 8
      return .literal(.double(value), value.description)
    }
  }
}
