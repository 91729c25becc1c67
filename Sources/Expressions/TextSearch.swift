// Finds a text in another, in time that does not depend on how much of it repeats itself.

import Platform

/// The occurrences of a text in another, from the left, none within the one before. After Knuth, Morris and Pratt:
/// O(n + m), which a plain comparison at each byte is not.
struct TextSearch {
  /// Valid while its source is held; not empty.
  private let wanted: UnsafeRawBufferPointer
  /// For each length of a part matched so far, less one: the length of its longest proper prefix that it also ends with.
  private let borders: [Int]

  init(_ wanted: UnsafeRawBufferPointer) {
    self.wanted = wanted
    var borders = [Int](repeating: 0, count: wanted.count)
    var length = 0
    for index in borders.indices.dropFirst() {
      while length > 0, wanted[index] != wanted[length] { length = borders[length - 1] }
      if wanted[index] == wanted[length] { length += 1 }
      borders[index] = length
    }
    self.borders = borders
  }

  /// The start of the first occurrence that does not start before `start`.
  func next(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = text.baseAddress else { return nil }
    var (index, matched) = (start, 0)
    while index < text.count {
      if matched == 0 {
        guard let found = memchr(base + index, CInt(wanted[0]), text.count - index) else { return nil }
        index = UnsafeRawPointer(found) - base
      } else if text[index] != wanted[matched] {
        matched = borders[matched - 1]
        continue
      }
      (index, matched) = (index + 1, matched + 1)
      if matched == wanted.count { return index - matched }
    }
    return nil
  }

  /// The number of occurrences, at most `limit`.
  func count(in text: UnsafeRawBufferPointer, atMost limit: Int) -> Int {
    var (count, index) = (0, 0)
    while count < limit, let found = next(in: text, from: index) { (count, index) = (count + 1, found + wanted.count) }
    return count
  }

  /// The text with each occurrence replaced.
  func replaced(in text: UnsafeRawBufferPointer, by new: UnsafeRawBufferPointer) -> String {
    var result: [UInt8] = []
    var index = 0
    while let found = next(in: text, from: index) {
      result.append(contentsOf: text[index..<found])
      result.append(contentsOf: new)
      index = found + wanted.count
    }
    result.append(contentsOf: text[index...])
    return String(decoding: result, as: UTF8.self)
  }
}
