// Numbers as keys of trees, against a dictionary.

import HashTreeCollections
import Testing

@testable import GeoModel

struct CreationNumberTests {
  @Test func `each number has a hash of its own`() {
    let numbers = Array(0..<70_000) + (0..<70_000).map { (1 << 20) - 35_000 + $0 } + [1 << 40, (1 << 40) + 31, .max]
    #expect(Set(numbers.map { CreationNumber($0)._rawHashValue(seed: 0) }).count == Set(numbers).count)
  }

  @Test func `consecutive numbers differ in what a tree reads last`() {
    let hashes = (64..<96).map { CreationNumber($0)._rawHashValue(seed: 0) }
    #expect(Set(hashes.map { $0 & 0x7FFF }).count == 1)
  }

  @Test(arguments: UInt64(0)..<4) func `a tree keeps what a dictionary does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var tree: TreeDictionary<CreationNumber, Int> = [:]
    var known: [Int: Int] = [:]
    for step in 0..<20_000 {
      let number = Int.random(in: 0..<3_000, using: &random) + (step % 3) * ((1 << 20) - 1_500)
      if step / 2_000 % 2 == 0 || Bool.random(using: &random) {
        tree[CreationNumber(number)] = step
        known[number] = step
      } else {
        #expect(tree.removeValue(forKey: CreationNumber(number)) == known.removeValue(forKey: number))
      }
    }
    #expect(tree.count == known.count)
    for (number, step) in known { #expect(tree[CreationNumber(number)] == step) }
    #expect(tree.keys.sorted().map(\.number) == known.keys.sorted())
  }
}
