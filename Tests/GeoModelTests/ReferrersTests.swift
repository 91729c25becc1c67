// Referrers by number, against a dictionary.

import Testing

@testable import GeoModel

struct ReferrersTests {
  @Test(arguments: UInt64(0)..<10) func `few and many are kept in the order of their numbers`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var referrers = Referrers()
    var known: [Int: ObjectReference] = [:]
    for step in 0..<4_000 {
      let number = Int.random(in: 0..<[12, 18, 100][step / 100 % 3], using: &random)
      let object = ObjectReference(Bool.random(using: &random) ? .maps : .views, "x\(number)")
      if step / 400 % 2 == 0 ? step % 3 != 0 : step % 3 == 0 {
        referrers.insert(object, at: number)
        known[number] = object
      } else {
        referrers.remove(at: number)
        known[number] = nil
      }
      #expect(referrers.isEmpty == known.isEmpty)
      #expect(referrers.contains { $0.collection == .maps } == known.values.contains { $0.collection == .maps })
      let maps = known.filter { $0.value.collection == .maps }.keys.sorted().map { MapID("x\($0)") }
      #expect(referrers.ids(of: Map.self) == maps)
    }
  }
}
