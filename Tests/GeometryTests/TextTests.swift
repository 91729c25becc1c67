// Text compares code points, however Swift stores the string.

import Geometry
import Testing

struct TextTests {
  /// Canonically equivalent strings: stored inline, and on the heap.
  static let twins = [
    ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{C5}ngstr\u{F6}m", "A\u{30A}ngstro\u{308}m"),
    ("\u{E9}o\u{301}", "e\u{301}\u{F3}"),
    (String(repeating: "\u{E9}", count: 40), String(repeating: "e\u{301}", count: 40)),
    (String(repeating: "a", count: 40) + "\u{E9}o\u{301}", String(repeating: "a", count: 40) + "e\u{301}\u{F3}"),
  ]

  @Test(arguments: twins)
  func `texts are equal if their code points are`(one: String, two: String) {
    #expect(one == two)
    #expect(Text(one) != Text(two))
    #expect(Text(one) == Text(String(decoding: Array(one.utf8), as: UTF8.self)))
    #expect(Text(one).hashValue == Text(String(decoding: Array(one.utf8), as: UTF8.self)).hashValue)
    #expect(Set([Text(one), Text(two), Text(one)]).count == 2)
    #expect([Text(one), nil] != [Text(two), nil])
  }

  @Test func `a prefix is compared by code points`() {
    #expect("/a".begins(with: "/"))
    // A combining mark follows the slash.
    #expect(!"/\u{301}a".hasPrefix("/"))
    #expect("/\u{301}a".begins(with: "/"))
    #expect(!"\u{E9}/a".begins(with: "e\u{301}/"))
  }
}
