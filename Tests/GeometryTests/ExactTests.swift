// Texts are told apart by their code points, in whatever way Swift keeps them.

import Geometry
import Testing

struct ExactTests {
  /// Short ones lie in the value itself, long ones do not; the last of each pair is equal to the first as Swift sees it.
  static let twins = [
    ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{C5}ngstr\u{F6}m", "A\u{30A}ngstro\u{308}m"),
    ("\u{E9}o\u{301}", "e\u{301}\u{F3}"),
    (String(repeating: "\u{E9}", count: 40), String(repeating: "e\u{301}", count: 40)),
    (String(repeating: "a", count: 40) + "\u{E9}o\u{301}", String(repeating: "a", count: 40) + "e\u{301}\u{F3}"),
  ]

  private struct Named: Hashable {
    @Exact var name: String
    @Exact var note: String?
    @Exact var words: [String]
  }

  @Test(arguments: twins)
  func `what reads alike is equal where it is written alike`(one: String, two: String) {
    #expect(one == two)
    #expect(!one.isWritten(as: two))
    #expect(one.isWritten(as: String(decoding: Array(one.utf8), as: UTF8.self)))
    #expect(Set([ExactText(one), ExactText(two), ExactText(one)]).count == 2)
    #expect(!Optional(one).isWritten(as: two))
    #expect(!Optional(one).isWritten(as: nil))
    #expect(Optional<String>.none.isWritten(as: nil))

    let plain = Named(name: one, note: one, words: [one])
    #expect(plain == Named(name: one, note: one, words: [one]))
    #expect(plain.hashValue == Named(name: one, note: one, words: [one]).hashValue)
    #expect(plain != Named(name: two, note: one, words: [one]))
    #expect(plain != Named(name: one, note: two, words: [one]))
    #expect(plain != Named(name: one, note: one, words: [two]))
    #expect(Set([plain, Named(name: two, note: one, words: [one])]).count == 2)
  }

  @Test func `a beginning is one by its code points`() {
    #expect("/a".begins(with: "/"))
    // A mark that combines with the slash.
    #expect(!"/\u{301}a".hasPrefix("/"))
    #expect("/\u{301}a".begins(with: "/"))
    #expect(!"\u{E9}/a".begins(with: "e\u{301}/"))
  }
}
