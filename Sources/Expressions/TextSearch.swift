// Finds a text in another, in a time that repetitions in the texts do not increase.

import Platform

/// The occurrences of a text in another, from the left and without overlaps. Uses the algorithm of Knuth, Morris and Pratt, which
/// is O(n + m); comparing at each byte is not.
struct TextSearch {
  /// The text to find, not empty. Valid while its source is held.
  private let wanted: UnsafeRawBufferPointer
  /// For each number of matched bytes, at the index one less: the length of the longest proper prefix of these that is also their
  /// suffix.
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

  /// The start of the first occurrence at or after `start`.
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
