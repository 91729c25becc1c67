// Messages that are parsed off the loop: order stays, cancels overtake, nothing piles up without bound.

import JSON
import JSONRPC
import Testing

@Suite struct LargeMessageTests {
  private func large(_ id: String, _ method: String = "echo") -> String {
    request(id, method, #"{"a":"\#(String(repeating: "x", count: 1 << 20))"}"#)
  }

  private func ids(_ lines: [String]) -> [String] {
    lines.map { line in (try? JSONDocument(line))?.read { $0["id"].jsonText } ?? "?" }
  }

  @Test func `later messages wait for a large one, in order`() {
    let harness = Harness(offloading: .stepped)
    #expect(harness.lines(large("1"), request("2", "echo"), large("3"), request("4", "echo")) == [])
    harness.loop.runOffloaded()
    #expect(ids(harness.takeLines()) == ["1", "2"])
    harness.loop.runOffloaded()
    #expect(ids(harness.takeLines()) == ["3", "4"])
  }

  @Test func `a cancel overtakes a message that is being parsed`() {
    let harness = Harness(offloading: .stepped)
    _ = harness.answer("1", "wait")
    #expect(
      harness.lines(large("2"), request("3", "echo"), cancel("1")).map { Failure($0) } == [
        Failure("1", -32800, "cancelled")
      ])
    harness.loop.runOffloaded()
    #expect(ids(harness.takeLines()) == ["2", "3"])
  }

  @Test func `a cancel applies to a message being parsed, and to messages waiting for it`() {
    let harness = Harness(offloading: .stepped)
    harness.client.send(
      [large("1", "wait"), request("2", "wait"), cancel("1"), cancel("2"), request("3", "echo")].map { $0 + "\n" }
        .joined())
    // Not only once it has been parsed.
    #expect(harness.takeLines().map { Failure($0) } == [Failure("1", -32800, "cancelled")])
    harness.loop.runOffloaded()
    let lines = harness.takeLines()
    #expect(lines.map { Failure($0) } == [Failure("2", -32800, "cancelled"), nil])
    #expect(lines.last == result("3"))
    #expect(harness.waiting.replies.isEmpty)
    #expect(harness.session.counters.received == 6)
  }

  @Test func `a request that is parsed is cancelled once, and a later one of its id is not`() {
    let harness = Harness(offloading: .stepped)
    #expect(harness.lines(large("1"), cancel("1"), cancel("1"), request("1", "echo")).map { Failure($0) } == [Failure("1", -32800, "cancelled")])
    harness.loop.runOffloaded()
    #expect(harness.takeLines() == [result("1")])
    // An id behind the params is found when they have been parsed; texts within them are no ids.
    let late = #"{"jsonrpc":"2.0","method":"echo","params":{"id":2,"a":"\#(String(repeating: "x", count: 1 << 20))"},"id":3}"#
    #expect(harness.lines(late, cancel("2"), cancel("3")) == [])
    harness.loop.runOffloaded()
    #expect(harness.takeLines().map { Failure($0) } == [Failure("3", -32800, "cancelled")])
  }

  @Test func `an overtaking cancel does not apply to later requests`() {
    let harness = Harness(offloading: .stepped)
    #expect(
      harness.lines(large("1"), cancel("2"), request("2", "echo"), "[\(cancel("3"))]", request("3", "echo")) == [])
    harness.loop.runOffloaded()
    #expect(ids(harness.takeLines()) == ["1", "2", "3"])
  }

  @Test func `a large malformed text is answered, and the session continues`() {
    let harness = Harness(offloading: .stepped)
    _ = harness.lines("{\"a\":" + String(repeating: "x", count: 2 << 20), request("2", "echo"))
    harness.loop.runOffloaded()
    let lines = harness.takeLines()
    #expect(Failure(lines.first) == Failure("null", -32700, "parseError"))
    #expect(lines.last == result("2"))
  }

  @Test func `reading pauses only when too much input waits for a large message`() {
    var limits = SessionLimits()
    limits.backlogBytes = 10_000
    let harness = Harness(limits: limits, offloading: .stepped)
    _ = harness.lines(large("1"))
    #expect(harness.session.wantsInput)
    for id in 2..<202 { harness.client.send(request("\(id)", "echo") + "\n") }
    #expect(!harness.session.wantsInput)
    harness.loop.runOffloaded()
    #expect(harness.session.wantsInput)
    #expect(ids(harness.takeLines()).count == 201)
  }

  @Test func `the end of input waits for a message that is being parsed`() {
    let harness = Harness(offloading: .stepped)
    _ = harness.lines(large("1"), request("2", "echo"))
    harness.client.close()
    #expect(harness.session.ending == nil)
    harness.loop.runOffloaded()
    #expect(ids(harness.takeLines()) == ["1", "2"])
    #expect(harness.session.ending?.code == 0)
  }

  @Test func `parsing on a real thread gives the same`() {
    let harness = Harness(offloading: .threads)
    harness.client.send(large("1") + "\n" + request("2", "echo") + "\n")
    #expect(harness.loop.run(until: { harness.session.counters.received == 3 }))
    #expect(ids(harness.takeLines()) == ["1", "2"])
  }
}
