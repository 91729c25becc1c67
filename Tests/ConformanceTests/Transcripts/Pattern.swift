// Matches messages against the patterns of a transcript, and reports the path of a mismatch.
//
// The patterns are described in Protocol/conformance/README.md.

import Foundation

/// The values bound to names in one case.
struct Bindings {
  var values: [String: Value] = [:]

  /// The value with `${NAME}`, `$ref`, `$repeat` and joined parts substituted.
  func resolved(_ value: Value) throws -> Value {
    switch value {
    case .string(let text): return .string(resolved(text))
    case .array(let elements): return .array(try elements.map(resolved))
    case .object(let members):
      if let literal = members["$literal"] { return literal }
      if let name = members["$ref"]?.string {
        guard let bound = values[name] else { throw Mismatch("", "nothing is bound to \(name)") }
        return bound
      }
      if let repeated = members["$repeat"], let count = members["count"]?.integer {
        let element = try resolved(repeated)
        if let text = element.string { return .string(String(repeating: text, count: count)) }
        return .array(Array(repeating: element, count: count))
      }
      return .object(try members.mapValues(resolved))
    default: return value
    }
  }

  func resolved(_ text: String) -> String {
    var result = ""
    var remaining = text[...]
    while let start = remaining.range(of: "${") {
      guard let end = remaining[start.upperBound...].firstIndex(of: "}") else { break }
      let name = String(remaining[start.upperBound..<end])
      result += remaining[..<start.lowerBound]
      switch values[name] {
      case .string(let bound)?: result += bound
      case .integer(let bound)?: result += String(bound)
      default: result += "${\(name)}"
      }
      remaining = remaining[remaining.index(after: end)...]
    }
    return result + remaining
  }

  /// The bytes of `sendText`, `sendRaw` and `file`: a string, or concatenated parts.
  func bytes(_ value: Value) throws -> [UInt8] {
    switch value {
    case .string(let text): return Array(resolved(text).utf8)
    case .array(let parts): return try parts.flatMap(bytes)
    case .object(let members):
      if let text = members["$base64"]?.string {
        guard let data = Data(base64Encoded: text) else { throw Mismatch("", "no base64: \(text)") }
        return Array(data)
      }
      if let text = members["$literal"]?.string { return Array(text.utf8) }
      return try bytes(try resolved(value))
    default: throw Mismatch("", "neither a string nor parts of one: \(value)")
    }
  }
}

/// The path in a message that does not match, and why.
struct Mismatch: Error, CustomStringConvertible {
  let path: String
  let reason: String
  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }
  var description: String { "\(path.isEmpty ? "/" : path): \(reason)" }
}

extension Bindings {
  /// Matches a value; nil stands for an absent member.
  mutating func match(_ pattern: Value, _ found: Value?, at path: String = "") throws {
    if case .object(let members) = pattern, try matched(members, found, path) { return }
    guard let found else { throw Mismatch(path, "expected \(short(pattern)), found nothing") }
    switch (pattern, found) {
    case (.object(let wanted), .object(let members)):
      for (name, pattern) in wanted.sorted(by: { $0.key < $1.key }) {
        try match(pattern, members[name], at: path + "/" + name)
      }
    case (.array(let wanted), .array(let elements)):
      guard wanted.count == elements.count else {
        throw Mismatch(path, "expected \(wanted.count) elements, found \(elements.count): \(short(found))")
      }
      for index in wanted.indices { try match(wanted[index], elements[index], at: "\(path)/\(index)") }
    case (.string(let text), .string(let other)) where resolved(text) == other: break
    case (.integer, .integer), (.bool, .bool), (.null, .null):
      guard pattern == found else { fallthrough }
    default:
      if let left = pattern.number, let right = found.number, left == right, pattern.isReal || found.isReal { return }
      throw Mismatch(path, "expected \(short(pattern)), found \(short(found))")
    }
  }

  /// Whether the pattern is a matcher (`$any`, `$type`, ...). Throws when it does not match.
  private mutating func matched(_ members: [String: Value], _ found: Value?, _ path: String) throws -> Bool {
    func present() throws -> Value {
      guard let found else { throw Mismatch(path, "expected something, found nothing") }
      return found
    }
    if let literal = members["$literal"] {
      try matchLiteral(literal, try present(), at: path)
    } else if members["$any"] != nil {
      _ = try present()
    } else if members["$absent"] != nil {
      if let found { throw Mismatch(path, "expected nothing, found \(short(found))") }
    } else if let type = members["$type"]?.string {
      guard try present().isOf(type) else { throw Mismatch(path, "expected \(type), found \(short(try present()))") }
    } else if let exact = members["$exact"] {
      try match(exact, found, at: path)
      let unknown = Set(found?.object?.keys.map { $0 } ?? []).subtracting(exact.object?.keys.map { $0 } ?? [])
      if !unknown.isEmpty { throw Mismatch(path, "expected no \(unknown.sorted())") }
    } else if let number = members["$approx"]?.number {
      let within = members["within"]?.number ?? 1e-9
      guard let other = try present().number, abs(other - number) <= within else {
        throw Mismatch(path, "expected \(number) give or take \(within), found \(short(try present()))")
      }
    } else if let patterns = members["$unordered"]?.array {
      guard let elements = try present().array, elements.count == patterns.count else {
        throw Mismatch(path, "expected \(patterns.count) elements, found \(short(try present()))")
      }
      try matchUnordered(patterns, elements, at: path)
    } else if let name = members["$bind"]?.string {
      if let pattern = members["to"] { try match(pattern, found, at: path) }
      values[name] = try present()
    } else if members["$ref"] != nil || members["$repeat"] != nil {
      try match(try resolved(.object(members)), found, at: path)
    } else {
      return false
    }
    return true
  }

  /// Matches without substitution: names and matchers in the pattern are plain text.
  private func matchLiteral(_ wanted: Value, _ found: Value, at path: String) throws {
    switch (wanted, found) {
    case (.object(let members), .object(let others)):
      for (name, member) in members {
        guard let other = others[name] else {
          throw Mismatch("\(path)/\(name)", "expected \(short(member)), found nothing")
        }
        try matchLiteral(member, other, at: "\(path)/\(name)")
      }
    case (.array(let elements), .array(let others)) where elements.count == others.count:
      for (index, pair) in zip(elements, others).enumerated() {
        try matchLiteral(pair.0, pair.1, at: "\(path)/\(index)")
      }
    default:
      if let left = wanted.number, let right = found.number, left == right, wanted.isReal || found.isReal { return }
      guard wanted == found else { throw Mismatch(path, "expected \(short(wanted)), found \(short(found))") }
    }
  }

  /// Each pattern fits one of the values, in some order.
  mutating func matchUnordered(_ patterns: [Value], _ found: [Value], at path: String) throws {
    guard let pattern = patterns.first else { return }
    var reasons: [String] = []
    for (index, value) in found.enumerated() {
      var attempt = self
      do {
        try attempt.match(pattern, value, at: "\(path)/\(index)")
        var remaining = found
        remaining.remove(at: index)
        try attempt.matchUnordered(Array(patterns.dropFirst()), remaining, at: path)
        self = attempt
        return
      } catch let mismatch as Mismatch { reasons.append(mismatch.description) }
    }
    throw Mismatch(path, "nothing fits \(short(pattern)): \(reasons.joined(separator: "; "))")
  }

  private func short(_ value: Value) -> String {
    let text = value.text
    return text.utf8.count > 400 ? "\(text.prefix(400))…" : text
  }
}

extension Value {
  fileprivate var isReal: Bool { if case .real = self { true } else { false } }

  fileprivate func isOf(_ type: String) -> Bool {
    switch (self, type) {
    case (.string, "string"), (.integer, "number"), (.real, "number"), (.integer, "integer"), (.bool, "boolean"),
      (.object, "object"), (.array, "array"), (.null, "null"):
      true
    case (.real(let number), "integer"): number == number.rounded()
    default: false
    }
  }
}
