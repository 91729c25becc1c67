// Patterns of numbers and dates: text with fields that begin with a percent sign.

/// Why a text is not a pattern.
package struct PatternProblem: Error {
  package let expected: String
  package let found: String
}

/// A part of a pattern.
package enum PatternPiece<Field: Sendable>: Sendable {
  case text(String)
  case field(Field)

  /// Splits a pattern; `%%` is a percent sign.
  ///
  /// - Parameters:
  ///   - expected: the fields in words, for the error.
  ///   - excerpt: how many bytes after the percent sign the error cites.
  ///   - field: reads a field after its percent sign; nil if there is none.
  package static func split(
    _ pattern: String, expected: String, excerpt: Int, field: (inout ArraySlice<UInt8>) -> Field?
  ) throws(PatternProblem) -> [PatternPiece] {
    var pieces: [PatternPiece] = []
    var text: [UInt8] = []
    func endText() {
      if !text.isEmpty { pieces.append(.text(String(decoding: text, as: UTF8.self))) }
      text = []
    }
    var rest = Array(pattern.utf8)[...]
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        text.append(byte)
      } else if rest.first == UInt8(ascii: "%") {
        text.append(rest.removeFirst())
      } else {
        let all = rest
        guard let field = field(&rest) else {
          throw PatternProblem(expected: expected, found: "%" + String(decoding: all.prefix(excerpt), as: UTF8.self))
        }
        endText()
        pieces.append(.field(field))
      }
    }
    endText()
    return pieces
  }
}
