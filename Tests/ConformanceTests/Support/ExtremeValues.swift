// Values at and beyond the limits that a JSON Schema states, for random requests: ulps, denormals, empty and long texts, every plane.

import Foundation
import Geometry

/// A source of random values of any schema of the protocol.
struct ExtremeValues {
  /// The schemas of the protocol by name.
  let schemas: [String: Value]
  var random: SeededGenerator
  /// Gives the values of schemas and members that the caller knows more about, by their names; nil for the others.
  typealias Known = (_ name: String, _ values: inout ExtremeValues) -> Value?

  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
  mutating func pick<T>(_ elements: [T]) -> T { elements[Int.random(in: 0..<elements.count, using: &random)] }
  mutating func integer(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  // MARK: Schemas

  /// A value of a schema, most often a valid one.
  mutating func value(of schema: Value, _ known: Known, depth: Int = 0) -> Value {
    if let reference = schema["$ref"]?.string?.split(separator: "/").last.map({ String($0) }) {
      return known(reference, &self) ?? value(of: schemas[reference] ?? [:], known, depth: depth)
    }
    if let constant = schema["const"] { return constant }
    if let choices = schema["enum"]?.array { return pick(choices) }
    if let kinds = (schema["oneOf"] ?? schema["anyOf"])?.array { return value(of: pick(kinds), known, depth: depth) }
    switch schema["type"]?.string {
    case "object": return object(schema, known, depth)
    case "array": return array(schema, known, depth)
    case "string": return .string(text(schema["minLength"]?.integer ?? 0, schema["maxLength"]?.integer ?? 40))
    case "number": return .real(number(schema))
    case "integer": return .integer(integer(schema))
    case "boolean": return .bool(chance(0.5))
    default: return any(depth: depth)
    }
  }

  mutating func object(_ schema: Value, _ known: Known, _ depth: Int) -> Value {
    let required = Set(schema["required"]?.array?.compactMap(\.string) ?? [])
    var members: [String: Value] = [:]
    let share = pick([0.15, 0.4, 0.9])
    for (name, member) in (schema["properties"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard required.contains(name) || depth < 8 && chance(share) else { continue }
      members[name] = known(name, &self) ?? value(of: member, known, depth: depth + 1)
    }
    if let others = schema["additionalProperties"], case .object = others {
      for _ in 0..<integer(0...3) { members[name()] = value(of: others, known, depth: depth + 1) }
    } else if schema["properties"] == nil {
      for _ in 0..<integer(0...3) { members[name()] = any(depth: depth + 1) }
    }
    return .object(members)
  }

  private mutating func array(_ schema: Value, _ known: Known, _ depth: Int) -> Value {
    let least = schema["minItems"]?.integer ?? 0
    let count = least + (depth > 6 ? 0 : integer(0...min(3, (schema["maxItems"]?.integer ?? 9) - least)))
    return .array((0..<count).map { _ in value(of: schema["items"] ?? [:], known, depth: depth + 1) })
  }

  /// Any JSON value.
  mutating func any(depth: Int = 0) -> Value {
    switch integer(0...(depth > 5 ? 4 : 7)) {
    case 0: .null
    case 1: .bool(chance(0.5))
    case 2: .integer(pick([0, -1, 7, .max, .min, 1 << 53]))
    case 3: .real(number([:]))
    case 4: .string(text(0, 40))
    case 5: .array((0..<integer(0...3)).map { _ in any(depth: depth + 1) })
    case 6: .object(Dictionary((0..<integer(0...3)).map { _ in (name(), any(depth: depth + 1)) }) { $1 })
    default: nested(pick([3, 20, 63, 64, 65, 66]))
    }
  }

  private mutating func nested(_ depth: Int) -> Value {
    let isArray = chance(0.5)
    return (0..<depth).reduce(.integer(1)) { inner, _ in isArray ? [inner] : ["a": inner] }
  }

  // MARK: Numbers

  private static let extremes: [Double] = [
    0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 2.2250738585072014e-308, 1e308, -1e308,
    .greatestFiniteMagnitude, 1e-300, 1, -1, 0.1 + 0.2,
    -1e-15, 360, 360.0.nextDown, 90, 90.0.nextUp, 180, 180.0.nextUp, -180, 85.051128779806604, 20_037_508.342789244,
    1e9,
    1e9.nextUp, 1e15, 1e15.nextUp, 1e16, 1e-6, 1e-6.nextDown, 9_007_199_254_740_992, 1e19, -9_223_372_036_854_775_808,
  ]

  mutating func number(_ schema: Value) -> Double {
    let low = (schema["minimum"] ?? schema["exclusiveMinimum"])?.number
    let high = (schema["maximum"] ?? schema["exclusiveMaximum"])?.number
    let limits = [low, high].compactMap { $0 }.flatMap { [$0, $0.nextUp, $0.nextDown] }
    func isValid(_ number: Double) -> Bool {
      (schema["minimum"]?.number).map { number >= $0 } ?? true
        && (schema["maximum"]?.number).map { number <= $0 } ?? true
        && (schema["exclusiveMinimum"]?.number).map { number > $0 } ?? true
        && (schema["exclusiveMaximum"]?.number).map { number < $0 } ?? true
    }
    let all = limits + limits + Self.extremes
    if chance(0.5) {
      let number = Double.random(in: (low ?? -1000)...(high ?? max(1000, (low ?? 0) + 1)), using: &random)
      return chance(0.5) ? number : (number * 8).rounded() / 8
    }
    return chance(0.05)
      ? pick(all) : pick(all.filter(isValid) + [low ?? high ?? 1].filter(isValid) + [1].filter(isValid))
  }

  private mutating func integer(_ schema: Value) -> Int {
    let low = schema["minimum"]?.integer ?? -3
    let high = schema["maximum"]?.integer ?? max(5, low + 5)
    return chance(0.3)
      ? pick([low, high, low - 1, high == .max ? high : high + 1]) : Int.random(in: low...high, using: &random)
  }

  // MARK: Texts

  /// A text of at most `longest` code points; now and then one more.
  mutating func text(_ shortest: Int, _ longest: Int) -> String {
    let count =
      chance(0.04) ? longest : chance(0.02) ? longest + 1 : shortest + integer(0...max(0, min(longest - shortest, 6)))
    if longest > 8, chance(0.05) { return String(pick(Self.oddTexts).prefix(longest)) }
    guard count < 100 else { return String(repeating: chance(0.5) ? "x" : "\u{1F30D}", count: count) }
    var result = ""
    for _ in 0..<count { result.unicodeScalars.append(scalar()) }
    return result
  }

  /// What looks like something else in JSON, in scripts, or to a reader of escapes.
  private static let oddTexts = [
    "", #"\ud800"#, #"\udc00\ud800"#, #"\u0000"#, #"""#, #"\""#, "'", "null", "$session", "__proto__", "*", "-", "//", "~1", "\0", "a\0b",
    "\r\n", "\u{1}\u{1F}\u{7F}", "{}", "[]",
  ]

  /// The name of a member that a client chooses: any text without NUL, which JSON text of this server does not have in names.
  mutating func name() -> String {
    if chance(0.03) { return String(repeating: pick(["n", "\"", "\u{1}", "\u{1F30D}"]), count: pick([255, 256, 257, 1024, 20_000])) }
    return String(String.UnicodeScalarView(text(0, 12).unicodeScalars.filter { $0 != "\0" }))
  }

  /// A code point of any plane.
  private mutating func scalar() -> Unicode.Scalar {
    if chance(0.02) { return "\0" }
    let plain: [Unicode.Scalar] = [
      "a", "b", "Z", "0", "/", "~", "\"", "\\", " ", "\n", "\u{1}", "\u{7F}", "{", "}", ".",
    ]
    let odd: [Unicode.Scalar] = [
      "\u{301}", "\u{E9}", "\u{200F}", "\u{2028}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{D7FF}", "\u{E000}",
      "\u{1F600}",
      "\u{2F800}", "\u{30000}", "\u{E0001}", "\u{F0000}", "\u{10FFFF}",
    ]
    if chance(0.6) { return pick(plain) }
    if chance(0.7) { return pick(odd) }
    return Unicode.Scalar(UInt32(integer(1...0x10FFFF))) ?? "s"
  }
}
