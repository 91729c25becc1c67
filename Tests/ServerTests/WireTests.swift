// TRAPS at the level of bytes, on the built server: framing, messages, order, backpressure. LoadTests covers cancellation and tasks.

import Glibc
import JSON
import TestSupport
import Testing

@Suite struct WireTests {
  @Test(arguments: [1, 7, 4096])
  func `messages with headers work in pieces of any size`(piece: Int) throws {
    let server = try ServerProcess.startedWithHeaders()
    let params = #"{"a":"žluťoučký 🐎"}"#
    let text =
      "content-type: x; charset=utf-8\r\ncontent-length:\(request("1", "session/echo", params).utf8.count)\n\n"
      + request("1", "session/echo", params)
    try server.send(text + framed(request("2", "session/echo")), piece: piece)
    #expect(try server.message() == echoed("1", params))
    #expect(try server.message() == echoed("2"))
  }

  @Test(arguments: [
    "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n", "X: y\r\n\r\n",
    "X: " + String(repeating: "y", count: 10_000),
  ])
  func `headers without a length end the server with -32700 and 2`(header: String) throws {
    let server = try ServerProcess.startedWithHeaders()
    try server.send(header)
    #expect(failure(try server.message()) == "null -32700 framingError")
    #expect(try server.waitForExit() == .code(2))
  }

  @Test func `a first byte of neither framing ends the server with -32700 and 2`() throws {
    let server = try ServerProcess()
    try server.send("5\n")
    #expect(failure(try server.line()) == "null -32700 framingError")
    #expect(try server.waitForExit() == .code(2))
  }

  @Test func `a large Content-Length allocates no memory by itself`() throws {
    let server = try ServerProcess.startedWithHeaders()
    let before = server.kibibytes("VmHWM")
    // Sent as one piece, so that the response shows that the header has been read as well.
    try server.send(
      framed(request("1", "session/echo")) + "Content-Length: 67108864\r\n\r\n" + String(repeating: " ", count: 1000))
    #expect(try server.message() == echoed("1"))
    #expect(before > 1_000)
    #expect(server.kibibytes("VmHWM") < before + 4_000)
  }

  @Test func `a message of twenty megabytes in small pieces works`() throws {
    let server = try ServerProcess.startedWithHeaders()
    let params = #"{"a":"\#(String(repeating: "x", count: 20 << 20))"}"#
    try server.send(framed(request("1", "session/echo", params)), piece: 3000)
    #expect(try server.message(seconds: 30) == echoed("1", params))
  }

  @Test func `a message that is too large is refused and skipped`() throws {
    let server = try ServerProcess.startedWithHeaders(["--max-message-bytes", "1000"])
    try server.send(framed(String(repeating: "x", count: 100_000)) + framed(request("2", "session/echo")))
    #expect(failure(try server.message()) == "null -32600 messageTooLarge")
    #expect(try server.message() == echoed("2"))
  }

  @Test(arguments: [
    ("{oops", "null -32700 parseError"), (#"{"a":1,"a":1}"#, "null -32700 duplicateKey"),
    (String(repeating: "[", count: 3000), "null -32700 tooDeep"), ("[]", "null -32600 invalidRequest"),
    (#"{"jsonrpc":"2.0","id":1,"method":"session/echo","params":{"a":"\ud800"}}"#, "1 -32700 parseError"),
    (#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"session/echo"}"#, "1e+20 -32600 invalidRequest"),
    (#"{"jsonrpc":"2.0","id":null,"method":"session/echo"}"#, "null -32600 invalidRequest"),
    (#"{"jsonrpc":"2.0","id":1,"method":"session/echo","params":[1]}"#, "1 -32602 invalidParams"),
    (#"{"jsonrpc":"2.0","id":1,"method":"nix/nix"}"#, "1 -32601 unknownMethod"),
  ])
  func `an invalid message has an error response, and the server keeps running`(message: String, answer: String) throws
  {
    let server = try ServerProcess.started()
    try server.send(message + "\n" + request("\"next\"", "session/echo", #"{"nul":"a\u0000b"}"#) + "\n")
    #expect(failure(try server.line()) == answer)
    #expect(try server.line() == echoed("\"next\"", #"{"nul":"a\u0000b"}"#))
  }

  @Test(arguments: ["{}", "[1]", "null", "1.5", "77", "\"x\""])
  func `cancelling an unknown request is ignored`(id: String) throws {
    let server = try ServerProcess.started()
    try server.send(
      #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"# + "\n" + request("1", "session/echo")
        + "\n")
    #expect(try server.line() == echoed("1"))
  }

  @Test func `responses have the ids of their requests, unchanged`() throws {
    let server = try ServerProcess.started()
    for id in ["1", "\"1\"", "9223372036854775807", "-9223372036854775808", "\"\""] {
      try server.send(request(id, "session/echo") + "\n")
      #expect(try server.line() == echoed(id))
    }
  }

  @Test func `responses to requests in one piece are written together`() throws {
    let server = try ServerProcess.started()
    try server.send((1...20).map { request("\($0)", "session/echo") + "\n" }.joined())
    let together = String(decoding: try server.readOnce(), as: UTF8.self)
    #expect(together == (1...20).map { echoed("\($0)") + "\n" }.joined())
  }

  @Test func `a batch has one array as its response`() throws {
    let server = try ServerProcess.started()
    try server.send("[\(request("1", "session/echo")),\(request("\"1\"", "session/echo", #"{"a":1}"#))]\n")
    #expect(try server.line() == "[\(echoed("1")),\(echoed("\"1\"", #"{"a":1}"#))]")
  }

  // MARK: - Backpressure

  @Test func `the server keeps reading while the client does not, and writes no partial frame`() throws {
    let server = try ServerProcess.startedWithHeaders()
    // More than both pipes hold together: a server that waited for its output would block this write for ever.
    let text = String(repeating: "x", count: 10_000)
    for id in 1...500 { try server.sendFramed(request("\(id)", "session/echo", #"{"a":"\#(text)"}"#)) }
    for id in 1...500 { #expect(try server.message() == echoed("\(id)", #"{"a":"\#(text)"}"#)) }
  }

  @Test func `requests are refused while too much output is unread, and earlier responses arrive complete`() throws {
    let server = try ServerProcess.startedWithHeaders()
    let text = String(repeating: "x", count: 1_000_000)
    for id in 1...80 { try server.sendFramed(request("\(id)", "session/echo", #"{"a":"\#(text)"}"#)) }
    var refused = 0
    for id in 1...80 {
      let answer = try server.message()
      if answer.utf8.count > 1_000_000 {
        #expect(refused == 0)
      } else {
        #expect(failure(answer) == "\(id) -31001 serverBusy")
        refused += 1
      }
    }
    #expect(refused > 5 && refused < 30)
    try server.sendFramed(request("81", "session/echo"))
    #expect(try server.message() == echoed("81"))
  }
}
