// Names in the form in which they are compared: without case, accents and punctuation.

import TextFormatting

/// A searched text, prepared for comparison with many names.
public struct NameQuery: Sendable {
  /// The folded text, in UTF-8.
  let bytes: [UInt8]
  /// The words of the text if it has several, longest first.
  let words: [[UInt8]]
  let letters: [UInt32]
  let signature: UInt64
  /// Maximum number of edits of a match.
  let maximumEdits: Int

  /// Nil for a text with only punctuation.
  public init?(_ text: String) {
    let bytes = NameText.folded(text)
    guard !bytes.isEmpty else { return nil }
    self.bytes = bytes
    let words = bytes.split(separator: 0x20).map(Array.init)
    self.words = words.count > 1 ? words.sorted { $0.count > $1.count } : []
    letters = bytes.withUnsafeBufferPointer { NameText.letters($0) }
    signature = NameText.signature(letters)
    maximumEdits = letters.count < 3 ? 0 : letters.count < 6 ? 1 : 2
  }
}

enum NameText {
  /// Maximum number of bytes of a name that are compared.
  static let limit = 255

  /// What is written for letters from which no accent can be taken, in lower case. `ACCENTI` keeps these.
  private static let plain: [Unicode.Scalar: String] = [
    "æ": "ae", "ð": "d", "đ": "d", "ħ": "h", "ı": "i", "ĸ": "k", "ŀ": "l", "ł": "l", "ŋ": "n", "ø": "o", "œ": "oe",
    "ß": "ss", "ŧ": "t", "þ": "th",
  ]

  /// Lower case, without accents and strokes; ASCII characters other than letters and digits become one space between words.
  static func folded(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var isApart = false
    func separated() {
      if isApart, !bytes.isEmpty { bytes.append(0x20) }
      isApart = false
    }
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      for byte in text.utf8 {
        switch byte {
        case 0x30...0x39, 0x61...0x7A:
          separated()
          bytes.append(byte)
        case 0x41...0x5A:
          separated()
          bytes.append(byte | 0x20)
        default: isApart = true
        }
      }
    } else {
      for scalar in AccentFolding.folded(text.lowercased()).unicodeScalars {
        switch scalar.value {
        case 0x30...0x39, 0x61...0x7A, 0xA1...:
          separated()
          bytes.append(contentsOf: (plain[scalar] ?? String(scalar)).utf8)
        default: isApart = true
        }
      }
    }
    guard bytes.count > limit else { return bytes }
    // Characters are not split.
    var end = limit
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(bytes[..<end])
  }

  /// Unicode scalars of folded bytes.
  static func letters(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt32] {
    var letters: [UInt32] = []
    letters.reserveCapacity(bytes.count)
    for byte in bytes {
      if byte & 0xC0 == 0x80, let last = letters.popLast() {
        letters.append(last << 6 | UInt32(byte & 0x3F))
      } else {
        letters.append(UInt32(byte < 0x80 ? byte : byte < 0xE0 ? byte & 0x1F : byte < 0xF0 ? byte & 0xF : byte & 7))
      }
    }
    return letters
  }

  /// Bits of the letters that occur. An edit changes at most two bits: one letter disappears, another appears.
  static func signature(_ letters: [UInt32]) -> UInt64 { letters.reduce(0) { $0 | 1 << UInt64($1 & 63) } }

  /// The number of edits between two texts; nil if it exceeds the limit. An edit inserts, removes or replaces a letter, or swaps
  /// two neighbours, and no letter is edited twice.
  ///
  /// Source: B. J. Oommen, R. K. S. Loke, "Pattern recognition of strings with substitutions, insertions, deletions and
  /// generalized transpositions", Pattern Recognition 30 (5), 1997. Only the cells within the limit of the diagonal are computed.
  static func edits(_ left: [UInt32], _ right: [UInt32], atMost limit: Int) -> Int? {
    guard abs(left.count - right.count) <= limit else { return nil }
    let width = right.count + 1
    let far = limit + 1
    var beforeLast = [Int](repeating: far, count: width)
    var last = (0..<width).map { min($0, far) }
    var row = beforeLast
    for i in 1..<(left.count + 1) {
      let low = max(1, i - limit)
      let high = min(right.count, i + limit)
      row[low - 1] = low == 1 ? min(i, far) : far
      var least = row[low - 1]
      for j in stride(from: low, through: high, by: 1) {
        var cost = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
        cost = min(cost, row[j - 1] + 1, (j < i + limit ? last[j] : far) + 1)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          cost = min(cost, beforeLast[j - 2] + 1)
        }
        row[j] = min(cost, far)
        least = min(least, row[j])
      }
      if least > limit { return nil }
      (beforeLast, last, row) = (last, row, beforeLast)
    }
    return last[right.count] <= limit ? last[right.count] : nil
  }
}
