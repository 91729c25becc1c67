// TRAPS, Order and Cancel: what precedes what, and that each request is answered exactly once.

import JSON
import JSONRPC
import Testing

@Suite struct OrderTests {
  private let text = JSONOpaque.written { $0.value("done") }

  @Test func `answers come in the order of requests, and a deferred one delays no others`() {
    let harness = Harness()
    #expect(
      harness.lines(request("1", "wait"), request("2", "echo"), request("3", "echo")) == [result("2"), result("3")])
    harness.waiting.replies[0].reply(text)
    #expect(harness.takeLines() == [result("1", "\"done\"")])
  }

  @Test func `a handler's notifications precede its answer`() {
    #expect(
      Harness().answer("1", "change")
        == [#"{"jsonrpc":"2.0","method":"changed","params":{"revision":1}}"#, result("1")])
  }

  @Test func `answers to input read at once are written at once`() {
    let harness = Harness()
    harness.client.send((1...50).map { request("\($0)", "change") + "\n" }.joined())
    #expect(harness.client.writes.count == 1)
    #expect(harness.takeLines().count == 100)
  }

  @Test func `output outside a request is written at once too`() {
    let harness = Harness()
    for _ in 0..<3 { harness.session.notify("changed") { _ in } }
    #expect(harness.client.writes.isEmpty)
    harness.loop.run()
    #expect(harness.client.writes.count == 1)
  }

  @Test func `a batch's array follows its last answer and delays nothing`() {
    let harness = Harness()
    #expect(harness.lines("[\(request("1", "wait")),\(request("2", "echo"))]", request("3", "echo")) == [result("3")])
    harness.waiting.replies[0].reply(text)
    #expect(harness.takeLines() == ["[\(result("2")),\(result("1", "\"done\""))]"])
  }

  @Test func `no notification is sent before the client's first message`() {
    let harness = Harness(initialized: false)
    harness.session.notify("changed") { _ in }
    #expect(harness.takeLines() == [])
  }

  // MARK: - Progress

  @Test func `progress begins, reports at most ten times a second, and ends before the reply`() throws {
    let harness = Harness()
    #expect(harness.answer("1", "wait", #"{"meta":{"progressToken":"t"}}"#) == [])
    let pending = harness.waiting.replies[0]
    let progress = try #require(pending.progress)
    progress.report("too early")
    progress.begin("loading")
    for step in 0..<1000 {
      harness.loop.advance(by: 1_000_000)
      progress.report("still", percentage: step / 10)
    }
    pending.reply(text)
    progress.report("too late")
    progress.end("too late")
    let lines = harness.takeLines()
    #expect(
      lines.first
        == #"{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"loading","percentage":0}}}"#
    )
    #expect(lines.count <= 11 && lines.count > 5)
    #expect(
      lines.dropLast().last == #"{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"end"}}}"#
    )
    #expect(lines.last == result("1", "\"done\""))
  }

  @Test func `without a token there is no progress`() {
    let harness = Harness()
    _ = harness.answer("1", "wait")
    #expect(harness.waiting.replies[0].progress == nil)
  }

  // MARK: - Cancel

  @Test func `a cancelled request is answered once, with -32800, and its work is stopped`() {
    let harness = Harness()
    #expect(harness.answer("1", "wait") == [])
    #expect(harness.lines(cancel("1")).map { Failure($0) } == [Failure("1", -32800, "cancelled")])
    #expect(harness.waiting.stopped == ["1"])
    harness.waiting.replies[0].reply(text)
    harness.waiting.replies[0].fail(.cancelled)
    #expect(harness.lines(cancel("1")) == [])
    #expect(harness.session.counters.pending == 0)
  }

  @Test(arguments: ["99", "\"1\"", "null", "{}", "[1]", "1.5"])
  func `a cancel of an id not in flight is ignored`(id: String) {
    let harness = Harness()
    _ = harness.answer("1", "wait")
    #expect(harness.lines(cancel(id), #"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#) == [])
    #expect(harness.waiting.stopped == [])
  }

  @Test func `a cancel is handled before any later message`() {
    let harness = Harness()
    harness.client.send([request("1", "wait"), cancel("1"), request("2", "echo")].map { $0 + "\n" }.joined())
    let lines = harness.takeLines()
    #expect(Failure(lines.first) == Failure("1", -32800, "cancelled"))
    #expect(lines.last == result("2"))
  }

  @Test func `an early cancel does not apply to a later request of that id`() {
    let harness = Harness()
    #expect(harness.lines(cancel("5"), request("5", "echo")) == [result("5")])
  }

  @Test func `the end of a cancelled call does not affect a later one with its id`() {
    let harness = Harness()
    _ = harness.lines(request("1", "wait"), cancel("1"), request("1", "wait"))
    harness.waiting.replies[0].reply(text)
    #expect(harness.takeLines() == [])
    #expect(harness.lines(cancel("1")).map { Failure($0) } == [Failure("1", -32800, "cancelled")])
    #expect(harness.waiting.stopped == ["1", "1"])
  }

  @Test func `the work may give another answer to a cancel`() {
    let harness = Harness()
    _ = harness.answer("1", "wait")
    let pending = harness.waiting.replies[0]
    let text = text
    pending.onCancel = { pending in
      pending.reply(text)
      return true
    }
    #expect(harness.lines(cancel("1")) == [result("1", "\"done\"")])
  }

  @Test func `a request of a batch can be cancelled`() {
    let harness = Harness()
    _ = harness.lines("[\(request("1", "wait")),\(request("2", "wait"))]")
    #expect(harness.lines(cancel("1")) == [])
    harness.waiting.replies[1].reply(text)
    let lines = harness.takeLines()
    #expect(lines.count == 1)
    #expect(lines.first?.contains("-32800") == true && lines.first?.contains("done") == true)
  }
}
