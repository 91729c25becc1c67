// TRAPS, End, and LSP's lifecycle: how a session begins and how it is over.

import JSON
import JSONRPC
import Testing

@Suite struct LifecycleTests {
  @Test func `before initialize requests are refused and notifications dropped`() {
    let harness = Harness(initialized: false)
    #expect(harness.answer("1", "echo").map { Failure($0) } == [Failure("1", -32002, "notInitialized")])
    #expect(harness.answer("2", "nix").map { Failure($0) } == [Failure("2", -32002, "notInitialized")])
    #expect(harness.answer("3", "early") == [result("3")])
    #expect(harness.lines(cancel("1"), #"{"jsonrpc":"2.0","method":"note"}"#) == [])
    #expect(harness.waiting.log == [])
  }

  @Test func `initialize succeeds once, and again after it was refused`() {
    let harness = Harness(initialized: false)
    #expect(
      harness.answer("1", "initialize", #"{"refuse":1}"#).map { Failure($0) } == [
        Failure("1", -31000, "versionMismatch")
      ])
    #expect(harness.answer("1", "echo").map { Failure($0) } == [Failure("1", -32002, "notInitialized")])
    #expect(harness.answer("1", "initialize") == [result("1")])
    #expect(harness.answer("1", "initialize").map { Failure($0) } == [Failure("1", -32600, "alreadyInitialized")])
    #expect(harness.lines(#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#) == [])
    #expect(harness.waiting.log == ["initialized"])
  }

  @Test func `shutdown answers what is in flight before itself, and later requests are refused`() {
    let harness = Harness()
    _ = harness.lines(request("1", "wait"), request("2", "wait"))
    let lines = harness.answer("3", "shutdown")
    #expect(lines.map { Failure($0) } == [Failure("1", -32800, "cancelled"), Failure("2", -32800, "cancelled"), nil])
    #expect(lines.last == result("3", "null"))
    #expect(harness.answer("4", "echo").map { Failure($0) } == [Failure("4", -32600, "shutDown")])
    #expect(harness.answer("5", "shutdown").map { Failure($0) } == [Failure("5", -32600, "shutDown")])
    #expect(harness.session.ending == nil)
    #expect(harness.lines(#"{"jsonrpc":"2.0","method":"exit"}"#) == [])
    #expect(harness.session.ending?.code == 0)
  }

  @Test(arguments: [true, false])
  func `exit waits for what can no longer be cancelled, two seconds at most`(isAnswered: Bool) throws {
    let harness = Harness()
    _ = harness.lines(request("1", "wait"))
    let pending = try #require(harness.waiting.replies.first)
    pending.onCancel = { _ in false }
    #expect(harness.answer("2", "shutdown") == [result("2", "null")])
    #expect(harness.lines(#"{"jsonrpc":"2.0","method":"exit"}"#) == [])
    #expect(harness.session.ending == nil)
    if isAnswered {
      pending.reply(JSONOpaque.written { $0.null() })
      #expect(harness.takeLines() == [result("1", "null")])
    } else {
      harness.loop.advance(by: 2_000_000_000)
    }
    #expect(harness.session.ending?.code == 0)
  }

  @Test func `shutdown before initialize is refused`() {
    let harness = Harness(initialized: false)
    #expect(harness.answer("1", "shutdown").map { Failure($0) } == [Failure("1", -32002, "notInitialized")])
  }

  @Test func `a notification that fails is reported`() {
    let harness = Harness()
    let lines = harness.lines(#"{"jsonrpc":"2.0","method":"number","params":{"point":{"x":"east"}}}"#)
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""method":"$/logMessage""#) == true)
    #expect(lines.first?.contains("number: ") == true && lines.first?.contains(#""level":"error""#) == true)
  }

  @Test(arguments: [true, false])
  func `exit without shutdown is exit code 1, and later messages are not run`(initialized: Bool) {
    let harness = Harness(initialized: initialized)
    #expect(harness.lines(#"{"jsonrpc":"2.0","method":"exit"}"#, request("1", "early")) == [])
    #expect(harness.session.ending?.code == 1)
  }

  @Test func `the end of input waits for requests in flight, then ends with 0`() {
    let harness = Harness()
    _ = harness.answer("1", "wait")
    harness.client.close()
    #expect(harness.session.ending == nil)
    #expect(harness.waiting.log == ["end of input"])
    harness.waiting.replies[0].reply(JSONOpaque.written { $0.value(1) })
    #expect(harness.takeLines() == [result("1", "1")])
    #expect(harness.session.ending == .afterWriting(code: 0, grace: nil))
  }

  @Test func `what is in flight too long after the end of input is cancelled`() {
    let harness = Harness()
    _ = harness.answer("1", "wait")
    harness.client.close()
    harness.loop.advance(by: harness.session.limits.exitNanoseconds - 1)
    #expect(harness.takeLines() == [])
    harness.loop.advance(by: 1)
    #expect(harness.takeLines().map { Failure($0) } == [Failure("1", -32800, "cancelled")])
    #expect(harness.session.ending == .afterWriting(code: 0, grace: nil))
  }

  @Test func `an end at once is not held up by one after writing`() {
    let harness = Harness()
    harness.client.close()
    harness.session.end(.atOnce(code: 1))
    #expect(harness.session.ending == .atOnce(code: 1))
    harness.session.end(.afterWriting(code: 0, grace: nil))
    #expect(harness.session.ending == .atOnce(code: 1))
  }

  @Test func `a last line needs no line end`() {
    let harness = Harness()
    harness.client.send(request("1", "echo"))
    #expect(harness.takeLines() == [])
    harness.client.close()
    #expect(harness.takeLines() == [result("1")])
    #expect(harness.session.ending?.code == 0)
  }

  @Test func `a message cut off by the end of input is answered, with exit code 2`() {
    let harness = Harness(initialized: false)
    harness.client.send("Content-Length: 100\r\n\r\n{\"jsonrpc\"")
    harness.client.close()
    #expect(String(decoding: harness.client.takeOutput(), as: UTF8.self).contains("framingError"))
    #expect(harness.session.ending?.code == 2)
  }

  @Test func `trace reports each answered request when enabled`() {
    let harness = Harness()
    _ = harness.lines(#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}"#)
    let lines = harness.answer("1", "echo", #"{"a":1}"#)
    #expect(lines.first == result("1", #"{"a":1}"#))
    #expect(
      lines.last
        == ##"{"jsonrpc":"2.0","method":"$/logTrace","params":{"message":"echo #1: 0.0 ms","verbose":"{\"a\":1}"}}"##)
    _ = harness.lines(#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"#)
    #expect(harness.answer("1", "echo").count == 1)
  }

  @Test func `a message to the user has a level`() {
    let harness = Harness()
    harness.session.logMessage(.warning, "look")
    #expect(
      harness.takeLines() == [
        #"{"jsonrpc":"2.0","method":"$/logMessage","params":{"level":"warning","message":"look"}}"#
      ])
  }
}
