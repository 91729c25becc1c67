// LIKE: a pattern made ready once, matched on bytes where they lie.

import Glibc

/// A pattern of `LIKE`: `%` is any text, `_` one code point, a backslash takes the next character as it is.
struct LikePattern: Sendable {
  private static let one: Int16 = -1
  private static let many: Int16 = -2
  /// Bytes of UTF-8, or one of the above.
  private var elements: [Int16] = []

  /// Nil when the last character is a backslash that nothing follows.
  init?(_ text: String) {
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        elements.append(Int16(byte))
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "%") {
        if elements.last != Self.many { elements.append(Self.many) }
      } else {
        elements.append(byte == UInt8(ascii: "_") ? Self.one : Int16(byte))
      }
    }
    if isEscaped { return nil }
  }

  /// Whether the whole text fits.
  ///
  /// - Complexity: O(n) for most patterns, O(n · m) at worst: only the last `%` passed is ever tried again.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    elements.withUnsafeBufferPointer { elements in
      var place = 0
      var next = 0
      var retryElement = -1
      var retryPlace = 0
      while place < text.count {
        if next < elements.count, elements[next] == Self.many {
          retryElement = next + 1
          retryPlace = place
          next += 1
        } else if next < elements.count, elements[next] == Self.one {
          place = Self.after(place, in: text)
          next += 1
        } else if next < elements.count, elements[next] == Int16(text[place]) {
          place += 1
          next += 1
        } else if retryElement >= 0 {
          // The last `%` takes one code point more, so that `_` never begins within one, and goes on to where its next byte is.
          retryPlace = Self.after(retryPlace, in: text)
          if retryElement < elements.count, elements[retryElement] >= 0 {
            guard let found = Self.place(of: elements[retryElement], from: retryPlace, in: text) else { return false }
            retryPlace = found
          }
          place = retryPlace
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
  private static func place(of byte: Int16, from start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    guard start < text.count, let base = text.baseAddress,
      let found = memchr(base + start, CInt(byte), text.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  @inline(__always)
  private static func after(_ place: Int, in text: UnsafeRawBufferPointer) -> Int {
    var place = place + 1
    while place < text.count, text[place] & 0xC0 == 0x80 { place += 1 }
    return place
  }
}
