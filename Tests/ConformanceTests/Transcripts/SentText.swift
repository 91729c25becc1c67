// Makes what a `send` sends: the text that the line has, byte for byte, but for what is put into it.

import JSON

/// The text of one value of a line, valid JSON without white space around it.
struct SentText {
  let bytes: ArraySlice<UInt8>
  /// Where the members or elements stand in it, and the names of members; none of a scalar.
  private let parts: [(name: String, range: Range<Int>)]

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    parts = Self.parts(of: bytes)
  }

  /// The text of an object's member.
  subscript(name: String) -> SentText? {
    guard bytes.first == UInt8(ascii: "{") else { return nil }
    return parts.first { $0.name == name }.map { SentText(bytes[$0.range]) }
  }

  /// A message, or a batch, with `jsonrpc` where it lacks it.
  var completed: [UInt8] {
    if bytes.first == UInt8(ascii: "[") { return rewritten { $1.completed } }
    if self["$repeat"] != nil { return rewritten { $0 == "$repeat" ? $1.completed : Array($1.bytes) } }
    guard self["method"] != nil, self["jsonrpc"] == nil else { return Array(bytes) }
    return Array(#"{"jsonrpc": "2.0", "#.utf8) + bytes.dropFirst()
  }

  /// As `Bindings.resolved`, on the text of a value.
  func filled(_ bindings: Bindings) throws -> [UInt8] {
    guard bytes.contains(UInt8(ascii: "$")) || bytes.contains(UInt8(ascii: "\\")) else { return Array(bytes) }
    if bytes.first == UInt8(ascii: "\"") {
      let value = try Value(Array(bytes))
      let filled = try bindings.resolved(value)
      return filled == value ? Array(bytes) : Array(filled.text.utf8)
    }
    if let literal = self["$literal"] { return Array(literal.bytes) }
    if self["$ref"] != nil { return Array(try bindings.resolved(try Value(Array(bytes))).text.utf8) }
    if let repeated = self["$repeat"], let count = try self["count"].flatMap({ try Value(Array($0.bytes)).integer }) {
      let one = try repeated.filled(bindings)
      let isString = one.first == UInt8(ascii: "\"")
      let (content, ends) = isString ? (one.dropFirst().dropLast(), "\"\"") : (one[...], "[]")
      let all = Array(repeatElement(content, count: count).joined(separator: isString ? [] : [UInt8(ascii: ",")]))
      return ends.utf8.prefix(1) + all + ends.utf8.suffix(1)
    }
    return try rewritten { try $1.filled(bindings) }
  }

  private func rewritten(_ change: (String, SentText) throws -> [UInt8]) rethrows -> [UInt8] {
    var result: [UInt8] = []
    var last = bytes.startIndex
    for (name, range) in parts {
      result += bytes[last..<range.lowerBound]
      result += try change(name, SentText(bytes[range]))
      last = range.upperBound
    }
    return result + bytes[last...]
  }

  // MARK: Scanning

  private static func parts(of bytes: ArraySlice<UInt8>) -> [(name: String, range: Range<Int>)] {
    guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return [] }
    var parts: [(name: String, range: Range<Int>)] = []
    var name = ""
    var at = bytes.startIndex + 1
    while at < bytes.endIndex - 1 {
      if " \t\r\n,:".utf8.contains(bytes[at]) {
        at += 1
        continue
      }
      let range = at..<end(of: bytes, from: at)
      at = range.upperBound
      if first == UInt8(ascii: "{") && isName(bytes, at) {
        name = (try? Value(Array(bytes[range])).string) ?? ""
      } else {
        parts.append((name, range))
        name = ""
      }
    }
    return parts
  }

  /// Whether a colon follows.
  private static func isName(_ bytes: ArraySlice<UInt8>, _ end: Int) -> Bool {
    bytes[end...].first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: ":")
  }

  private static func end(of bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var (at, depth) = (start, 0)
    repeat {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        at += 1
        while bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default:
        // A scalar goes on to the next delimiter.
        if depth == 0 { while at + 1 < bytes.endIndex, !" \t\r\n,]}".utf8.contains(bytes[at + 1]) { at += 1 } }
      }
      at += 1
    } while depth > 0
    return at
  }
}
