// Every fuzz target accepts its seeds, and what it once failed with: entry functions and checks do not rot between runs of `make fuzz`.

import Testing

@Suite struct SeedTests {
  @Test(arguments: FuzzTarget.all.map(\.name))
  func `a fuzz target reads its seeds, and parts of them`(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let seeds = try target.seeds()
    #expect(!seeds.isEmpty)
    for seed in try seeds.prefix(300) + Seeds.found(by: name) {
      for input in [seed, Array(seed.prefix(seed.count / 2))] {
        do { try input.withUnsafeBytes { try target.run($0) } } catch {
          Issue.record("\(error) in \(String(decoding: input, as: UTF8.self))")
        }
      }
    }
  }
}
