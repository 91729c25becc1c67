// TRAPS, Backpressure: a client that does not read costs a bounded amount of memory and nobody's time.

import JSON
import JSONRPC
import Testing

@Suite struct BackpressureTests {
  private var small: SessionLimits {
    var limits = SessionLimits()
    limits.congestionBytes = 1_000
    limits.busyBytes = 10_000
    limits.unreadBytes = 20_000
    limits.resultBytes = 5_000
    return limits
  }

  @Test func `requests are run while the client does not read, until too much is unread`() {
    let harness = Harness(limits: small)
    harness.client.reads = false
    for id in 1...6 { harness.client.send(request("\(id)", "large", #"{"bytes":2000}"#) + "\n") }
    #expect(harness.session.unread > 10_000)
    harness.client.send(request("7", "echo") + "\n" + request("8", "shutdown") + "\n")
    harness.client.reads = true
    let lines = harness.takeLines()
    #expect(lines.count == 8)
    #expect(Failure(lines[6]) == Failure("7", -31001, "serverBusy"))
    #expect(lines[7] == result("8", "null"))
    #expect(harness.session.unread == 0)
  }

  @Test func `a session ends when its client never reads`() {
    let harness = Harness(limits: small)
    harness.client.reads = false
    var count = 0
    while harness.session.ending == nil, count < 100 {
      harness.session.notify("news") {
        $0.key("text")
        $0.value(String(repeating: "x", count: 1000))
      }
      count += 1
    }
    #expect(harness.session.ending == .atOnce(code: 1))
    #expect(count < 25)
  }

  @Test func `the application is notified of congestion and of its end`() {
    let harness = Harness(limits: small)
    var drained = 0
    harness.session.onDrained = { drained += 1 }
    harness.client.reads = false
    #expect(!harness.session.isCongested)
    _ = harness.answer("1", "news", #"{"bytes":1500}"#)
    #expect(harness.session.isCongested)
    #expect(drained == 0)
    harness.client.reads = true
    #expect(drained == 1)
    #expect(!harness.session.isCongested)
  }

  @Test func `frames are never spliced when the client reads again`() {
    let harness = Harness()
    harness.client.reads = false
    for id in 1...20 { harness.client.send(request("\(id)", "change", "{}") + "\n") }
    harness.client.reads = true
    let lines = harness.takeLines()
    #expect(lines.count == 40)
    #expect(lines.allSatisfy { (try? JSONDocument($0)) != nil })
  }

  @Test func `a result that is too large is refused, alone and in a batch`() {
    let harness = Harness(limits: small)
    #expect(
      harness.answer("1", "large", #"{"bytes":6000}"#).map { Failure($0) } == [Failure("1", -31002, "resultTooLarge")])
    let batch = harness.lines(
      "[\(request("1", "large", #"{"bytes":3000}"#)),\(request("2", "large", #"{"bytes":3000}"#))]")
    #expect(batch.first?.contains("resultTooLarge") == true && (batch.first?.count ?? 0) < 5_000)
  }
}
