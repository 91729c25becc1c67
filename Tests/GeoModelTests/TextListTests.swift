// Ordered lists of texts, against arrays.

import Geometry
import Testing

@testable import GeoModel

struct TextListTests {
  private func check(_ list: TextList, _ known: [Text]) {
    #expect(Array(list) == known)
    #expect(list.count == known.count && list.isEmpty == known.isEmpty)
    #expect(list == TextList(known))
    for (index, text) in known.enumerated() { #expect(list.firstIndex(of: text) == index) }
    let middle = known.count / 3..<known.count * 2 / 3
    #expect(list[middle] == Array(known[middle]))
  }

  @Test(arguments: UInt64(0)..<10) func `insertions and removals anywhere keep the order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = TextList()
    var known: [Text] = []
    for step in 0..<3_000 {
      // Runs of removals empty whole chunks.
      if step / 500 % 2 == 0 || known.isEmpty || Bool.random(using: &random) {
        let index = Int.random(in: 0...known.count, using: &random)
        list.insert(Text("t\(step)"), at: index)
        known.insert(Text("t\(step)"), at: index)
      } else {
        let index = Int.random(in: known.indices, using: &random)
        let text = known.remove(at: index)
        let removals = [list.remove(text), list.remove(text)]
        #expect(removals == [true, false])
      }
      if step % 250 == 0 { check(list, known) }
    }
    check(list, known)
  }

  @Test func `the common start and end of two states are found`() {
    let texts = (0..<1_000).map { Text("t\($0)") }
    let list = TextList(texts)
    var other = list
    other.remove(texts[600])
    #expect(list.commonStart(with: other) == 600 && list.commonEnd(with: other) <= 399)
    #expect(other != list)
    other.insert(texts[600], at: 600)
    #expect(other == list)
  }
}
