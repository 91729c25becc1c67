// Bytes that nobody would send: a session may refuse them in many ways, but each in its own frame, and never by dying.

import JSON
import JSONRPC
import Testing

@Suite struct FuzzTests {
  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static let messages = [
    request("1", "echo", #"{"a":[1,2.5e3,null,true,"\u00e9"]}"#),
    request("\"x\"", "wait", #"{"meta":{"progressToken":3}}"#),
    cancel("\"x\""), "[\(request("2", "echo")),\(cancel("1")),7]", request("3", "number", #"{"point":{"x":"no"}}"#),
    #"{"jsonrpc":"2.0","method":"note","params":null}"#, request("4", "change"), request("5", "shutdown"),
  ]

  @Test(arguments: UInt64(0)..<40, [true, false])
  func `damaged streams are answered in whole frames, however they are cut`(seed: UInt64, hasHeaders: Bool) {
    var random = Random(state: seed &* 7919 &+ 1)
    for _ in 0..<5 {
      var stream: [UInt8] = []
      for _ in 0..<6 {
        let message = Self.messages.randomElement(using: &random) ?? ""
        stream += Array((hasHeaders ? framed(message) : message + "\n").utf8)
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let index = stream.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0...2, using: &random) {
        case 0: stream[index] = UInt8.random(in: .min ... .max, using: &random)
        case 1: stream.remove(at: index)
        default: stream.insert(UInt8.random(in: 32...126, using: &random), at: index)
        }
      }
      let harness = Harness(initialized: false)
      harness.client.send(hasHeaders ? framed(request("0", "initialize")) : request("0", "initialize") + "\n")
      var start = 0
      while start < stream.count {
        let end = min(start + Int.random(in: 1...80, using: &random), stream.count)
        harness.client.send(Array(stream[start..<end]))
        start = end
      }
      harness.client.close()
      #expect(areWholeFrames(harness.client.takeOutput(), hasHeaders))
    }
  }

  /// Whether the bytes are nothing but frames of JSON.
  private func areWholeFrames(_ output: [UInt8], _ hasHeaders: Bool) -> Bool {
    guard hasHeaders else {
      return output.split(separator: 0x0A).allSatisfy { (try? JSONDocument(Array($0))) != nil }
    }
    var rest = output[...]
    while !rest.isEmpty {
      guard let end = rest.firstIndex(of: 0x0D),
        let length = Int(String(decoding: rest[..<end].dropFirst(16), as: UTF8.self)),
        rest.distance(from: end, to: rest.endIndex) >= length + 4,
        (try? JSONDocument(Array(rest[(end + 4)..<(end + 4 + length)]))) != nil
      else { return false }
      rest = rest[(end + 4 + length)...]
    }
    return true
  }
}
