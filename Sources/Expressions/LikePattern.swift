// LIKE: a pattern that is prepared once and matched with bytes in place.

import Platform

/// A pattern of `LIKE`: `%` matches any text, `_` one code point. A backslash escapes a wildcard, a quote or a backslash; before
/// other characters it is literal. Sequences for control characters are already replaced.
package struct LikePattern: Sendable {
  private static let one: Int16 = -1
  private static let many: Int16 = -2
  /// Bytes of UTF-8, or one of the wildcards above.
  private var elements: [Int16] = []

  init(_ text: String) {
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        let isEscape = rest.first.map { "%_'\\".utf8.contains($0) } ?? false
        elements.append(Int16(isEscape ? rest.removeFirst() : byte))
      case UInt8(ascii: "%"): if elements.last != Self.many { elements.append(Self.many) }
      case UInt8(ascii: "_"): elements.append(Self.one)
      default: elements.append(Int16(byte))
      }
    }
  }

  /// Whether the whole text matches.
  ///
  /// - Complexity: O(n) for most patterns, O(n · m) in the worst case: only the last `%` is retried.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    elements.withUnsafeBufferPointer { elements in
      var index = 0
      var next = 0
      var retryElement = -1
      var retryIndex = 0
      while index < text.count {
        if next < elements.count, elements[next] == Self.many {
          retryElement = next + 1
          retryIndex = index
          next += 1
        } else if next < elements.count, elements[next] == Self.one {
          index = Self.after(index, in: text)
          next += 1
        } else if next < elements.count, elements[next] == Int16(text[index]) {
          index += 1
          next += 1
        } else if retryElement >= 0 {
          // The last `%` matches one more code point, so that `_` never starts inside one, and skips to its next byte.
          retryIndex = Self.after(retryIndex, in: text)
          if retryElement < elements.count, elements[retryElement] >= 0 {
            guard let found = Self.index(of: elements[retryElement], from: retryIndex, in: text) else { return false }
            retryIndex = found
          }
          index = retryIndex
          next = retryElement
        } else {
          return false
        }
      }
      while next < elements.count, elements[next] == Self.many { next += 1 }
      return next == elements.count
    }
  }

  @inline(__always)
  private static func index(of byte: Int16, from start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    guard start < text.count, let base = text.baseAddress,
      let found = memchr(base + start, CInt(byte), text.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  @inline(__always)
  private static func after(_ index: Int, in text: UnsafeRawBufferPointer) -> Int {
    var index = index + 1
    while index < text.count, text[index] & 0xC0 == 0x80 { index += 1 }
    return index
  }
}

/// A pattern as written in the expression.
struct PatternLiteral: Sendable {
  /// The functions `CASEI` and `ACCENTI` around it, outermost first.
  var folds: [ExpressionFunction] = []
  let text: String

  /// The pattern to match: the innermost function is applied first.
  var folded: String { folds.reversed().reduce(text) { $1.record.fold?($0) ?? $0 } }
}

extension LikePattern {
  /// The pattern as a literal of CQL2 text.
  static func quoted(_ text: String) -> String {
    var result: [UInt8] = [UInt8(ascii: "'")]
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      result.append(byte)
      switch byte {
      case UInt8(ascii: "'"): result.append(byte)
      case UInt8(ascii: "\\"):
        // A backslash at the end would escape the quote, and before some letters it would stand for a control character.
        let isAlone = rest.first.map { ExpressionLexer.control($0) != nil } ?? true
        result.append(isAlone ? byte : rest.removeFirst())
      default: break
      }
    }
    return String(decoding: result + [UInt8(ascii: "'")], as: UTF8.self)
  }
}
