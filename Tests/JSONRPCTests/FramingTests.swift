// TRAPS, Framing: whatever pieces the bytes come in, the same messages come out, or a clear word that none can.

import JSON
import JSONRPC
import Testing

@Suite struct FramingTests {
  /// A session that is spoken to with headers.
  private func headerSession(_ limits: SessionLimits = SessionLimits()) -> Harness {
    let harness = Harness(limits: limits, initialized: false)
    harness.client.send(framed(request("0", "initialize")))
    _ = harness.client.takeOutput()
    return harness
  }

  private func text(_ harness: Harness) -> String { String(decoding: harness.client.takeOutput(), as: UTF8.self) }

  @Test func `the length counts bytes, not characters, both ways`() {
    let harness = headerSession()
    harness.client.send(framed(request("1", "echo", #"{"a":"žluťoučký 🐎"}"#)))
    #expect(text(harness) == framed(result("1", #"{"a":"žluťoučký 🐎"}"#)))
  }

  @Test(arguments: [
    "content-length:%\r\n\r\n", "CONTENT-LENGTH:   % \r\n\r\n", "Content-Length: %\n\n", "Content-Length : %\r\n\r\n",
    "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %\r\n\r\n",
    "Content-Length:%\r\nX-Other: a:b\r\n\r\n", "\r\n \n\tContent-Length: %\r\n\r\n",
  ])
  func `headers are accepted in any case, order and spacing`(form: String) {
    let harness = headerSession()
    let message = request("1", "echo")
    harness.client.send(
      form.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "\(message.utf8.count)") + message)
    #expect(text(harness) == framed(result("1")))
  }

  @Test(arguments: [
    "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length: -5\r\n\r\n", "Content-Length: 12x\r\n\r\n",
    "Content-Length:\r\n\r\n", "Content-Type: x\r\n\r\n", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "no colon here\r\n\r\n", "{\"jsonrpc\":\"2.0\"}", "X: " + String(repeating: "y", count: 9000),
    String(repeating: "Y: y\r\n", count: 2000),
  ])
  func `headers without a length end the session with -32700 and exit code 2`(header: String) {
    let harness = headerSession()
    harness.client.send(header)
    let answer = text(harness).split(separator: "\r\n\r\n").last.map(String.init)
    #expect(Failure(answer) == Failure("null", -32700, "framingError"))
    #expect(harness.session.ending?.code == 2)
  }

  @Test(arguments: ["5", "\u{FEFE}{}", "\"a\"", "<?xml", "\u{0}"])
  func `a first byte that begins neither framing is answered with -32700 and exit code 2`(start: String) {
    let harness = Harness(initialized: false)
    let lines = harness.lines(start)
    #expect(Failure(lines.first) == Failure("null", -32700, "framingError"))
    #expect(harness.session.ending?.code == 2)
  }

  @Test func `white space before the first message is skipped, and blank lines between messages`() {
    let harness = Harness(initialized: false)
    #expect(
      harness.lines(" \r\n\t", "", request("1", "early"), "  ", "\r", request("2", "early")) == [
        result("1"), result("2"),
      ])
  }

  @Test(arguments: [true, false])
  func `a stream cut at any byte brings the same answers`(hasHeaders: Bool) {
    let messages = [
      request("0", "initialize"), request("\"ž\"", "echo", #"{"a":"🐎","b":[1,2]}"#), "[\(request("2", "echo")),1]",
      "oops", request("3", "echo"),
    ]
    let stream = Array(messages.map { hasHeaders ? framed($0) : $0 + "\n" }.joined().utf8)
    let whole = Harness(initialized: false)
    whole.client.send(stream)
    let expected = whole.client.takeOutput()
    #expect(expected.count > 400)
    for cut in 1..<stream.count {
      let harness = Harness(initialized: false)
      harness.client.send(Array(stream[..<cut]))
      harness.client.send(Array(stream[cut...]))
      #expect(harness.client.takeOutput() == expected, "cut at \(cut)")
    }
    let slow = Harness(initialized: false)
    for byte in stream { slow.client.send([byte]) }
    #expect(slow.client.takeOutput() == expected)
  }

  @Test(arguments: [true, false])
  func `a large message in small pieces takes linear time`(hasHeaders: Bool) {
    // Copying what is there for each piece would move 16 GB.
    let message = request("1", "echo", #"{"a":"\#(String(repeating: "x", count: 4 << 20))"}"#)
    let stream = Array((hasHeaders ? framed(message) : message + "\n").utf8)
    let harness = Harness(initialized: false)
    harness.client.send(hasHeaders ? framed(request("0", "initialize")) : request("0", "initialize") + "\n")
    _ = harness.client.takeOutput()
    var start = 0
    while start < stream.count {
      let end = min(start + 512, stream.count)
      harness.client.send(Array(stream[start..<end]))
      start = end
    }
    #expect(harness.client.takeOutput().count > 4 << 20)
  }

  @Test func `an oversized message is refused and skipped, with headers`() {
    var limits = SessionLimits()
    limits.messageBytes = 200
    let harness = headerSession(limits)
    let large = framed(request("1", "echo", #"{"a":"\#(String(repeating: "x", count: 500))"}"#))
    for byte in Array((large + framed(request("2", "echo"))).utf8) { harness.client.send([byte]) }
    let output = text(harness)
    let first = output.split(separator: "\r\n\r\n").dropFirst().first?.split(separator: "Content-").first.map(
      String.init)
    #expect(Failure(first) == Failure("1", -32600, "messageTooLarge"))
    #expect(output.hasSuffix(framed(result("2"))))
  }

  @Test func `an oversized message is refused and skipped, as a line`() {
    var limits = SessionLimits()
    limits.messageBytes = 200
    let harness = Harness(limits: limits)
    let large = request("1", "echo", #"{"a":"\#(String(repeating: "x", count: 500))"}"#)
    for byte in Array((large + "\n" + request("2", "echo") + "\n").utf8) { harness.client.send([byte]) }
    let lines = harness.takeLines()
    #expect(Failure(lines.first) == Failure("1", -32600, "messageTooLarge"))
    #expect(lines.dropFirst() == [result("2")])
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":"a\"b","method":"echo","params":{"x":"X"}}"#, #""a\"b""#),
    (#"{ "id" : 1.50 , "params" : "X" }"#, "1.50"),
    (#"{"params":{"id":7,"a":[{"id":8}]},"id":18446744073709551616,"x":"X"}"#, "18446744073709551616"),
    (#"{"params":"X","id":1}"#, "null"), (#"{"id":null,"params":"X"}"#, "null"),
    (#"{"method":"echo","params":"X"}"#, "null"),
    (#"{"i\u0064":3,"x":"X"}"#, "3"), (#"{"\u0069\u0064":4,"x":"X"}"#, "4"), (#"{"id":1e400,"x":"X"}"#, "1e400"),
    // A response is to no request of that id.
    (#"{"jsonrpc":"2.0","id":3,"result":"X"}"#, "null"), (#"{"error":{"message":"X"},"id":3}"#, "null"),
    (#"{"method":"echo","id":3,"params":{"result":"X"}}"#, "3"),
    (#"[{"id":1,"params":"X"}]"#, "null"), (#"{"id":[1],"x":"X"}"#, "null"), (#"X"#, "null"),
  ])
  func `an oversized message is refused under its id where its beginning has it`(message: String, id: String) {
    var limits = SessionLimits()
    limits.messageBytes = 200
    let harness = headerSession(limits)
    let large = message.replacing("X", with: String(repeating: "x", count: 70_000))
    for piece in [1000, 1 << 20] {
      var rest = Array((framed(large) + framed(request("2", "echo"))).utf8)[...]
      while !rest.isEmpty {
        harness.client.send(Array(rest.prefix(piece)))
        rest = rest.dropFirst(piece)
      }
      let output = text(harness)
      #expect(output.contains(#""id":\#(id),"#))
      #expect(output.contains("messageTooLarge"))
      #expect(output.hasSuffix(framed(result("2"))))
    }
  }

  @Test func `an oversized message with the id of a request in flight has no answer under it`() {
    var limits = SessionLimits()
    limits.messageBytes = 200
    let harness = Harness(limits: limits)
    _ = harness.answer("1", "wait")
    let large = request("1", "echo", #"{"a":"\#(String(repeating: "x", count: 500))"}"#)
    #expect(harness.lines(large).map { Failure($0) } == [Failure("null", -32600, "messageTooLarge")])
  }

  @Test func `a line end inside a written value never ends the line`() {
    let harness = Harness()
    #expect(harness.answer("1", "echo", #"{"a":"x\ny"}"#) == [result("1", #"{"a":"x\ny"}"#)])
  }
}
