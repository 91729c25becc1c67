// Elements in the order of their numbers, against a sorted dictionary.

import Testing

@testable import GeoModel

struct NumberedTests {
  private func check(_ numbered: Numbered<Int>, _ known: [Int: Int]) {
    let order = known.keys.sorted()
    #expect(Array(numbered.elements) == order.map { known[$0] })
    #expect(numbered.count == known.count && numbered.isEmpty == known.isEmpty)
    for number in -1...400 { #expect(numbered[number] == known[number]) }
    #expect(
      numbered.map(after: 100, limit: 70) { $0 }.results == order.filter { $0 > 100 }.prefix(70).map { known[$0] })
  }

  @Test(arguments: UInt64(0)..<20) func `insertions and removals anywhere keep the order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var numbered = Numbered<Int>()
    var known: [Int: Int] = [:]
    for step in 0..<2_000 {
      // Runs of removals leave gaps at the ends of chunks.
      let number = Int.random(in: 0..<400, using: &random)
      if step / 200 % 2 == 0 || Bool.random(using: &random) {
        numbered.insert(step, at: number)
        known[number] = step
      } else {
        #expect(numbered.remove(number) == known.removeValue(forKey: number))
      }
      if step % 100 == 0 { check(numbered, known) }
    }
    check(numbered, known)
  }

  @Test(arguments: 0..<200) func `what is removed comes back to its place`(number: Int) {
    var numbered = Numbered<Int>()
    for number in 0..<200 { numbered.insert(number, at: number) }
    let last = min(number + 2, 199)
    for number in number...last { #expect(numbered.remove(number) == number) }
    for number in (number...last).reversed() { numbered.insert(number, at: number) }
    #expect(Array(numbered.elements) == Array(0..<200))
  }
}
