// Distinct texts are in the order of their bytes.

import Geometry
import Testing

@testable import Statistics

@Suite struct DistinctTextsTests {
  @Test(arguments: UInt64(0)..<6)
  func `texts are ordered by bytes, whatever they begin with`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let beginnings = [
      "", "n", "http://example.com/some/path/", "http://example.org/ü", String(repeating: "a", count: 300),
    ]
    let letters = ["a", "b", "\0", "ü", "\u{7f}", "", "aaaaaaa", "bbbbbbbb"]
    // Few are sorted by comparison, many by radix.
    let texts = (0..<[3, 40, 5000][Int(seed) % 3]).map { _ in
      (0..<random.below(9)).reduce(into: beginnings[random.below(beginnings.count)]) { text, _ in
        text += letters[random.below(letters.count)]
      }
    }
    var distinct = DistinctTexts()
    for text in texts {
      var text = text
      _ = text.withUTF8 { distinct.number(of: UnsafeRawBufferPointer($0)) }
    }
    let sorted = try distinct.sorted { _ in }.map { number in distinct.withText(Int(number)) { Array($0) } }
    let expected = Set(texts.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
    #expect(sorted == expected)
  }
}
