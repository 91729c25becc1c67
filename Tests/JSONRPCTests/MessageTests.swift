// TRAPS, Messages: what is answered to anything that can stand in a frame.

import JSON
import JSONRPC
import Testing

@Suite struct MessageTests {
  @Test(arguments: [
    ("{oops", "parseError"), ("", ""), (#"{"a":1,"a":2}"#, "duplicateKey"),
    (#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1,}}"#, "parseError"),
    (#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\ud800"}"#, "parseError"),
    (#"{"jsonrpc":"2.0","method":"echo","params":{"a":"\ud800"}}"#, "parseError"),
    (String(repeating: "[", count: 5000), "tooDeep"),
  ])
  func `malformed JSON is answered once with a null id, and the session continues`(text: String, kind: String) {
    let harness = Harness()
    var lines = harness.lines(text, request("7", "echo"))
    #expect(lines.removeLast() == result("7"))
    #expect(lines.map { Failure($0) } == (kind.isEmpty ? [] : [Failure("null", -32700, kind)]))
  }

  /// RFC 8259 allows it all, and whoever sent it waits for an answer.
  @Test(arguments: [
    (#"{"a":"\ud83d"}"#, "parseError"), (#"{"a":"\\\udc00\ud83d\ude00"}"#, "parseError"),
    (#"{"a":1e400}"#, "parseError"), (#"{"a":[-\#(String(repeating: "9", count: 400)),9e99999]}"#, "parseError"),
    (#"[-12.5E+999,1e5,"1e999"]"#, "parseError"), (#"{"a\u0000":1}"#, "parseError"),
    (#"{"a":1,"a":2}"#, "duplicateKey"),
    (
      #"{"a":""# + "\\\\\\\"]" + #"","b":"# + String(repeating: "[{\"a\":", count: 2000) + "0"
        + String(repeating: "}]", count: 2000) + "}", "tooDeep"
    ),
  ])
  func `JSON that is refused is refused under its own id`(params: String, kind: String) {
    let harness = Harness()
    #expect(harness.answer("7", "echo", params).map { Failure($0) } == [Failure("7", -32700, kind)])
    #expect(harness.answer("\"x\"", "echo", params).map { Failure($0) } == [Failure("\"x\"", -32700, kind)])
    let batch = harness.lines("[\(request("8", "echo", params)),\(request("9", "echo"))]")
    #expect(batch.count == 1 && batch.first?.hasPrefix("[") == true)
    #expect(["8", "9"].allSatisfy { batch.first?.contains(#""id":\#($0),"error""#) == true })
    // The answer would be taken for that of the request in flight.
    _ = harness.answer("10", "wait")
    #expect(harness.answer("10", "echo", params).map { Failure($0) } == [Failure("null", -32700, kind)])
  }

  @Test(arguments: ["1e400", "-2.5E+999", String(repeating: "7", count: 400)])
  func `an id beyond the range of doubles is refused under itself`(id: String) {
    let harness = Harness()
    let lines = harness.answer(id, "echo")
    #expect(lines.count == 1 && lines.first?.contains(#""id":\#(id),"error""#) == true)
    #expect(lines.first?.contains("parseError") == true)
  }

  @Test(arguments: ["01e400", "1.e400", "1e", "--1e400"])
  func `what is no number is no id`(id: String) {
    #expect(Harness().answer(id, "echo").map { Failure($0) } == [Failure("null", -32700, "parseError")])
  }

  @Test func `bytes that are not UTF-8 are answered with a null id`() {
    let harness = Harness()
    harness.client.send(
      Array(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":""#.utf8) + [0xC3, 0x28] + Array("\"}}\n".utf8))
    #expect(Failure(harness.takeLines().first) == Failure("null", -32700, "parseError"))
  }

  @Test(arguments: ["1", "\"1\"", "-9223372036854775808", "9223372036854775807", "\"\"", "\"é\\u0000\\n\"", "0"])
  func `ids are returned unchanged`(id: String) throws {
    let harness = Harness()
    let answer = try #require(harness.answer(id, "echo").first)
    let sent = try JSONDocument(id)
    let back = try JSONDocument(answer)
    #expect(back.read { answer in sent.read { answer["id"].isEqual(to: $0) && answer["id"].kind == $0.kind } })
  }

  @Test(arguments: ["1.0", "1e2", "10E-1", "-2.50e1"])
  func `a whole number as an id is answered as it was written`(id: String) {
    let harness = Harness()
    #expect(harness.answer(id, "echo").first?.contains(#""id":\#(id),"result""#) == true)
  }

  @Test func `1 and 1 point 0 are one id, for cancels too`() {
    let harness = Harness()
    #expect(harness.answer("1.0", "wait") == [])
    #expect(harness.answer("1", "echo").map { Failure($0) } == [Failure("null", -32600, "invalidRequest")])
    #expect(harness.lines(cancel("1e0")).first?.contains(#""id":1.0,"error":{"code":-32800"#) == true)
  }

  @Test(arguments: [
    ("null", "null"), ("1.5", "1.5"), ("1e30", "1e30"),
    ("18446744073709551616", "18446744073709551616"), ("-9223372036854775809", "-9223372036854775809"),
    ("true", "null"), ("{}", "null"), ("[1]", "null"),
  ])
  func `an invalid id is refused, as a number under itself, and returned in data`(id: String, answered: String) {
    let harness = Harness()
    let lines = harness.answer(id, "echo")
    #expect(lines.map { Failure($0).map { "\($0.code) \($0.kind)" } } == ["-32600 invalidRequest"])
    // As it was written.
    #expect(lines.first?.contains(#""id":\#(answered),"#) == true)
    #expect(lines.first?.contains(#""offendingId":\#(id)"#) == true)
    #expect(
      harness.lines("[" + request("\"before\"", "echo") + "," + request(id, "echo") + "]").first?
        .contains(#""id":\#(answered),"error""#) == true)
  }

  @Test func `1 and "1" are different ids in flight, and a repeated id is refused`() {
    let harness = Harness()
    #expect(harness.answer("1", "wait") == [])
    #expect(harness.answer("\"1\"", "wait") == [])
    let lines = harness.answer("1", "echo")
    #expect(lines.map { Failure($0) } == [Failure("null", -32600, "invalidRequest")])
    #expect(lines.first?.contains(#""offendingId":1"#) == true)
    harness.waiting.replies[0].reply(JSONOpaque.written { $0.value("first") })
    #expect(harness.takeLines() == [result("1", "\"first\"")])
    #expect(harness.answer("1", "echo") == [result("1")])
  }

  @Test func `ids that look alike and differ in bytes are different ids`() {
    let harness = Harness()
    _ = harness.answer("\"e\u{301}\"", "wait")
    #expect(harness.answer("\"\u{E9}\"", "echo") == [result("\"\u{E9}\"")])
  }

  @Test(arguments: ["{}", "[]", "null"])
  func `omitted params are an empty object, however they are omitted`(params: String) {
    let harness = Harness()
    #expect(harness.answer("1", "echo", params) == [result("1")])
    #expect(harness.lines(#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#) == [result("1")])
  }

  @Test(arguments: ["[1]", "5", "\"a\"", "true"])
  func `params other than objects are refused`(params: String) {
    #expect(
      Harness().answer("1", "echo", params).map { Failure($0) } == [
        Failure("1", -32602, "invalidParams", path: "/params")
      ])
  }

  @Test func `an invalid value is reported with its path from the root of the message`() {
    let harness = Harness()
    let expected = Failure("1", -32602, "invalidParams", path: "/params/point/x")
    let lines = harness.answer("1", "number", #"{"point":{"x":"far"}}"#)
    #expect(lines.map { Failure($0) } == [expected])
    #expect(lines.first?.contains(#""expected":"number""#) == true)
    let batch = harness.lines("[\(request("1", "number", #"{"point":{}}"#))]")
    #expect(batch.first?.contains(#""path":"/params/point/x""#) == true)
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, "null"), (#"{"foo":"boo"}"#, "null"), ("5", "null"),
    ("{}", "null"),
    (#"{"jsonrpc":"1.0","id":3,"method":"echo"}"#, "3"), (#"{"id":3,"method":"echo"}"#, "3"), ("[]", "null"),
    (#"{"jsonrpc":"2.0","id":4}"#, "4"),
  ])
  func `a message that is not a request is answered as invalid`(text: String, id: String) {
    #expect(Harness().lines(text).map { Failure($0) } == [Failure(id, -32600, "invalidRequest")])
  }

  @Test func `responses and unknown notifications are ignored, unknown requests are not`() {
    let harness = Harness()
    #expect(harness.lines(#"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":{}}"#) == [])
    #expect(harness.lines(#"{"jsonrpc":"2.0","method":"nix"}"#, #"{"jsonrpc":"2.0","method":"$/nix"}"#) == [])
    #expect(harness.answer("1", "nix").map { Failure($0) } == [Failure("1", -32601, "unknownMethod")])
    #expect(harness.answer("2", "$/nix").map { Failure($0) } == [Failure("2", -32601, "unknownMethod")])
  }

  @Test func `errors of the application are mapped, and missing answers are detected`() {
    let harness = Harness()
    #expect(harness.answer("1", "odd").map { Failure($0) } == [Failure("1", -32803, "odd")])
    let own = harness.answer("2", "own")
    #expect(own.map { Failure($0) } == [Failure("2", -31010, "unknownId")])
    #expect(own.first?.contains(#""id":"m1""#) == true)
    #expect(harness.answer("3", "forget").map { Failure($0) } == [Failure("3", -32603, "internalError")])
  }

  @Test func `a message with too many values is refused`() {
    var limits = SessionLimits()
    limits.values = 100
    let harness = Harness(limits: limits)
    let many = "[" + Array(repeating: "1", count: 101).joined(separator: ",") + "]"
    #expect(
      harness.answer("1", "echo", #"{"a":\#(many)}"#).map { Failure($0) } == [Failure("1", -32600, "tooManyValues")])
  }

  // MARK: - Batches

  @Test func `a batch is answered by one array, without its notifications`() {
    let harness = Harness()
    let note = #"{"jsonrpc":"2.0","method":"note","params":{"a":1}}"#
    let lines = harness.lines(
      "[\(request("1", "echo")),\(note),1,\(request("\"x\"", "echo", #"{"b":2}"#)),\(request("3", "nix"))]")
    #expect(lines.count == 1)
    #expect(
      lines.first?.hasPrefix("[\(result("1")),{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600") == true)
    #expect(lines.first?.contains(result("\"x\"", #"{"b":2}"#)) == true)
    #expect(lines.first?.contains("-32601") == true)
    #expect(harness.waiting.log == [#"{"a":1}"#])
    #expect(harness.lines("[\(note),\(note)]") == [])
    #expect(harness.lines("[1,2]").first?.hasPrefix("[{") == true)
  }

  @Test func `a batch that is too large is refused as a whole`() {
    var limits = SessionLimits()
    limits.batch = 3
    let harness = Harness(limits: limits)
    let note = #"{"jsonrpc":"2.0","method":"note"}"#
    #expect(
      harness.lines("[\(note),\(note),\(note),\(note)]").map { Failure($0) } == [
        Failure("null", -32600, "batchTooLarge")
      ])
    #expect(harness.waiting.log.isEmpty)
  }

  @Test func `an id occurs once in a batch, and is free again after its array`() {
    let harness = Harness()
    let lines = harness.lines("[\(request("1", "echo")),\(request("1", "echo"))]")
    #expect(lines.first?.contains(#""offendingId":1"#) == true)
    #expect(harness.answer("1", "echo") == [result("1")])
  }
}
