// TRAPS, End, on the built server: it never outlives its client, spins, or changes shared streams.

import Foundation
import JSON
import TestSupport
import Testing

@Suite struct EndTests {
  @Test func `exit after shutdown is 0, and without it 1`() throws {
    let polite = try ServerProcess.started()
    try polite.send(request("1", "shutdown") + "\n" + request("2", "session/echo") + "\n" + exitMessage + "\n")
    #expect(try polite.line() == echoed("1", "null"))
    #expect(failure(try polite.line()) == "2 -32600 shutDown")
    #expect(try polite.waitForExit() == .code(0))
    let rude = try ServerProcess.started()
    try rude.send(exitMessage + "\n")
    #expect(try rude.waitForExit() == .code(1))
  }

  @Test func `after the end of input the server responds to everything and ends with 0`() throws {
    let server = try ServerProcess()
    try server.send(initialize + "\n" + request("1", "session/echo"))
    server.closeInput()
    _ = try server.line()
    #expect(try server.line() == echoed("1"))
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `large responses are still sent after the end of input`() throws {
    let server = try ServerProcess.started()
    let params = #"{"a":"\#(String(repeating: "x", count: 3 << 20))"}"#
    try server.send(request("1", "session/echo", params) + "\n")
    server.closeInput()
    #expect(try server.line() == echoed("1", params))
    #expect(try server.waitForExit() == .code(0))
  }

  @Test(arguments: [ServerProcess.Stream.pipe, .socket], [false, true])
  func `a client that closes its end of the output ends the server at once`(
    stream: ServerProcess.Stream, whileWriting: Bool
  ) throws {
    let server = try ServerProcess.started(input: stream, output: stream)
    if whileWriting {
      // More than a pipe or socket holds.
      let params = #"{"a":"\#(String(repeating: "x", count: 1 << 20))"}"#
      try server.send(request("1", "session/echo", params) + "\n")
      #expect(server.hasOutput(milliseconds: 10_000))
    }
    server.closeOutput()
    #expect(try server.waitForExit() == .code(1))
  }

  @Test func `a client that closes its output after the end of input is not written to`() throws {
    let server = try ServerProcess.started()
    try server.send(request("1", "rpc.discover") + "\n")
    server.closeInput()
    #expect(server.hasOutput(milliseconds: 10_000))
    server.closeOutput()
    #expect(try server.waitForExit() == .code(1))
  }

  @Test func `a client that reads nothing is given up some time after the end of input`() throws {
    let server = try ServerProcess.started(["--exit-timeout", "1"])
    let params = #"{"a":"\#(String(repeating: "x", count: 500_000))"}"#
    try server.send((1...4).map { request("\($0)", "session/echo", params) + "\n" }.joined())
    server.closeInput()
    #expect(try server.waitForExit() == .code(1))
    #expect(server.errorText().contains("bytes unread: giving up"))
  }

  @Test func `what never ends is cancelled some time after the end of input`() throws {
    let server = try ServerProcess.started(["--exit-timeout", "1"])
    let file = "\(ProjectRoot.path)/Tests/Fixtures/endless_view.gpkg"
    try server.send(request("1", "source/open", #"{"path":"\#(file)"}"#) + "\n")
    server.closeInput()
    #expect(failure(try server.line()) == "1 -32800 cancelled")
    #expect(try server.waitForExit() == .code(0))
  }

  @Test(.enabled(if: access("/dev/full", W_OK) == 0), arguments: [false, true])
  func `output that cannot be written whole is a failure`(isLarge: Bool) throws {
    let server = try ServerProcess(output: .file("/dev/full"))
    try server.send(initialize + "\n" + (isLarge ? request("1", "rpc.discover") + "\n" : ""))
    if !isLarge { server.closeInput() }
    #expect(try server.waitForExit() == .code(1))
    #expect(server.errorText().contains("standard output: No space left on device"))
  }

  @Test func `a directory is no input`() throws {
    let server = try ServerProcess(input: .file("/"))
    #expect(try server.waitForExit() == .code(1))
    #expect(server.errorText().contains("standard input: Is a directory"))
  }

  @Test func `exit waits for a limited time for a client that does not read`() throws {
    let server = try ServerProcess.started()
    let params = #"{"a":"\#(String(repeating: "x", count: 500_000))"}"#
    try server.send(request("1", "session/echo", params) + "\n" + request("2", "shutdown") + "\n" + exitMessage + "\n")
    #expect(try server.waitForExit() == .code(0))
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a signal ends the server at once`(number: Int32) throws {
    let server = try ServerProcess.started()
    kill(server.process, number)
    #expect(try server.waitForExit() == .signal(number))
  }

  @Test func `the death of the client's process ends the server, with all pipes open`() throws {
    let client = try ServerProcess(command: ["cat"])
    let server = try ServerProcess()
    try server.send(request("0", "initialize", #"{"processId":\#(client.process)}"#) + "\n")
    _ = try server.line()
    kill(client.process, SIGKILL)
    #expect(try server.waitForExit() == .code(1))
  }

  @Test func `a client's process that is gone already ends the server`() throws {
    let server = try ServerProcess()
    try server.send(request("0", "initialize", #"{"processId":2147483000}"#) + "\n")
    #expect(try server.waitForExit() == .code(1))
    let said = server.errorText()
    #expect(said.split(separator: "\n").count == 1 && said.contains("process 2147483000 is not there"), "\(said)")
  }

  @Test func `a byte order mark before the first message is skipped`() throws {
    for withHeader in [false, true] {
      let server = try ServerProcess()
      // Byte by byte: the mark may arrive in parts.
      try server.send([0xEF, 0xBB, 0xBF] + Array((withHeader ? framed(initialize) : initialize + "\n").utf8), piece: 1)
      if withHeader { _ = try server.message() } else { _ = try server.line() }
      server.closeInput()
      #expect(try server.waitForExit() == .code(0))
    }
  }

  @Test func `an idle server uses no processor time`() throws {
    let server = try ServerProcess.started()
    let before = server.processorMilliseconds
    #expect(!server.hasOutput(milliseconds: 300))
    #expect(server.processorMilliseconds - before <= 20)
  }

  // MARK: - Streams

  @Test func `what a library prints on standard output goes to standard error`() throws {
    let server = try ServerProcess.started()
    #expect(server.target(of: 1) == server.target(of: 2))
    #expect(server.target(of: 0) == "/dev/null")
  }

  @Test func `input and output may be files`() throws {
    let input = makeTemporaryFile(initialize + "\n" + request("1", "session/echo") + "\n")
    let output = makeTemporaryFile()
    defer {
      unlink(input)
      unlink(output)
    }
    let server = try ServerProcess(input: .file(input), output: .file(output))
    #expect(try server.waitForExit() == .code(0))
    #expect(readFile(output).split(separator: "\n").last.map(String.init) == echoed("1"))
  }

  @Test func `input from the null device ends the server at once, and output to it works`() throws {
    #expect(try ServerProcess(input: .null).waitForExit() == .code(0))
    let server = try ServerProcess(output: .null)
    try server.send(initialize + "\n" + request("1", "shutdown") + "\n" + exitMessage + "\n")
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `sockets work as pipes do`() throws {
    let server = try ServerProcess(input: .socket, output: .socket)
    try server.send(initialize + "\n" + request("1", "session/echo") + "\n")
    _ = try server.line()
    #expect(try server.line() == echoed("1"))
    server.closeInput()
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `a terminal works, and keeps its settings`() throws {
    let server = try ServerProcess(input: .terminal, output: .terminal)
    try server.send(initialize + "\n" + request("1", "session/echo") + "\n")
    _ = try server.line()
    #expect(try server.line() == echoed("1"))
    #expect(fcntl(server.input, F_GETFL) & O_NONBLOCK == 0)
    try server.send(exitMessage + "\n")
    #expect(try server.waitForExit() == .code(1))
  }

  @Test func `the parent's pipes stay blocking for the next command`() throws {
    // The second command reads the rest of the same pipe, which would fail on a non-blocking one.
    let script = #""\#(ServerProcess.path)" 2>/dev/null; cat"#
    let shell = try ServerProcess(command: ["sh", "-c", script])
    try shell.send(initialize + "\n")
    _ = try shell.line()
    try shell.send(exitMessage + "\n")
    #expect(!shell.hasOutput(milliseconds: 300))
    try shell.send("still here\n")
    #expect(try shell.line() == "still here")
  }

  @Test func `closed standard streams do no harm, but there has to be an output`() throws {
    let closed = try ServerProcess(command: ["sh", "-c", #""\#(ServerProcess.path)" <&- 2>&-"#])
    #expect(try closed.waitForExit() == .code(0))
    let mute = try ServerProcess(command: ["sh", "-c", #""\#(ServerProcess.path)" <&- >&-"#])
    #expect(try mute.waitForExit() == .code(1))
    #expect(mute.errorText().contains("standard output: Bad file descriptor"))
  }

  // MARK: - Flags

  @Test func `flags work, and unknown ones end with 64`() throws {
    let version = try ServerProcess(["--version"])
    let line = "geomodel-server \(try String(contentsOfFile: "\(ProjectRoot.path)/Protocol/VERSION", encoding: .utf8))"
    #expect(try version.rest() == line)
    #expect(try version.waitForExit() == .code(0))
    let help = try ServerProcess(["--help"])
    #expect(try help.rest().contains("--trace-file"))
    let stdio = try ServerProcess(["--stdio"])
    stdio.closeInput()
    #expect(try stdio.waitForExit() == .code(0))
    for flag in ["--nix", "--max-batch=x", "--trace-file"] {
      let server = try ServerProcess([flag])
      #expect(try server.waitForExit() == .code(64))
      #expect(server.errorText().contains(flag.prefix(8)))
    }
  }

  @Test func `--trace-file writes the traffic as a transcript`() throws {
    let file = makeTemporaryFile()
    defer { unlink(file) }
    let server = try ServerProcess.startedWithHeaders(["--trace-file", file])
    try server.sendFramed("{ \"jsonrpc\":\"2.0\",\n \"id\":1,\"method\":\"session/echo\"}")
    try server.sendFramed("no \"JSON\"")
    _ = try server.message()
    let answer = try server.message()
    server.closeInput()
    #expect(try server.waitForExit() == .code(0))
    // The steps of real time depend on how the input arrives.
    let lines = readFile(file).split(separator: "\n").map(String.init).filter { !$0.contains(#""id":"real time "#) }
    #expect(lines.count == 9)
    #expect(lines.allSatisfy { (try? JSONDocument($0)) != nil })
    #expect(lines[0].hasPrefix(#"{"case":"trace""#))
    #expect(lines[0].contains(#""framing":"headers""#))
    #expect(lines[3] == #"{"send":{ "jsonrpc":"2.0",  "id":1,"method":"session/echo"}}"#)
    #expect(lines[4] == #"{"expect":\#(echoed("1"))}"#)
    #expect(lines[5] == #"{"sendText":"no \"JSON\""}"#)
    #expect(lines[6] == #"{"expect":\#(answer)}"#)
    #expect(lines[7...] == [#"{"closeInput":true}"#, #"{"expectExit":0}"#])
  }

  @Test(.enabled(if: access("/dev/full", W_OK) == 0))
  func `a trace that cannot be written is reported, and delays nothing`() throws {
    let server = try ServerProcess.startedWithHeaders(["--trace-file", "/dev/full"])
    try server.sendFramed("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/echo\"}")
    _ = try server.message()
    server.closeInput()
    #expect(try server.waitForExit() == .code(0))
    #expect(server.errorText().contains("the trace /dev/full is not whole"))
  }
}
