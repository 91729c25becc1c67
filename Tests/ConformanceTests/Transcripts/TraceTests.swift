// The trace of any session is a conformance case that the server passes. The Python client's tests check the same over pipes.

import Foundation
import GeoModel
import Host
import JSONRPC
import Logging
import TestSupport
import Testing

struct TraceTests {
  @Test(arguments: UInt64(0)..<40)
  func `the trace of a random session passes against a server in memory`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let framing: Transcript.Framing = seed.isMultiple(of: 2) ? .lines : .headers
    let folder = try TemporaryFolder()
    let trace = folder.url.appending(path: "trace.jsonl")
    try record(RandomSession.bytes(framing, using: &random), in: trace, using: &random)
    let text = try folder.text("trace.jsonl")
    #expect(text.contains("\n{\"expectExit\":"))
    do { try Transcript(file: trace, framing: framing).play() } catch {
      Issue.record("\(error)\n\(text.prefix(1000))\n...\n\(text.suffix(3000))")
    }
  }

  /// Sends the bytes to a tracing server, in pieces of random size.
  private func record(_ bytes: [UInt8], in file: URL, using random: inout SeededGenerator) throws {
    // The readers are those of all tests, and say what confines them when the first has started.
    let recorder = try #require(
      TraceFile(path: file.path, varying: ["now", "residentBytes", "unread", "confinement"]))
    let loop = ManualLoop(offloading: .threads)
    var configuration = Configuration(
      transformer: proj, geodesy: proj, workingDirectory: repository.path, readers: testReaders,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { Instant(nanoseconds: 0) })
    configuration.limits.messageBytes = 64 << 20
    let connection = MemoryConnection(Host.makeSession(configuration, on: loop, recorder: recorder.record), on: loop)
    var start = 0
    while start < bytes.count {
      let end = min(start + Int.random(in: 1...3000, using: &random), bytes.count)
      connection.send(Array(bytes[start..<end]))
      start = end
    }
    connection.close()
    #expect(loop.run(until: { connection.session.ending != nil }, seconds: 10))
    recorder.close()
  }
}

/// Valid and invalid messages in random order.
private enum RandomSession {
  static func bytes(_ framing: Transcript.Framing, using random: inout SeededGenerator) -> [UInt8] {
    var messages = [request("0", "initialize", #"{"protocolVersions":["0.7"]}"#), notification("initialized")].map {
      Array($0.utf8)
    }
    if Bool.random(using: &random) { messages += view.map { Array($0.utf8) } }
    for _ in 0..<40 {
      let isText = Int.random(in: 0..<8, using: &random) > 0
      messages.append(
        isText ? Array((texts.randomElement(using: &random) ?? "").utf8) : bytes.randomElement(using: &random) ?? [])
    }
    let ends: [[String]] = [
      [], [notification("exit")], [request("\"end\"", "shutdown"), texts[0], notification("exit")],
    ]
    messages += (ends.randomElement(using: &random) ?? []).map { Array($0.utf8) }
    var stream = messages.flatMap { frame($0, framing) }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: stream += Array("{\"jsonrpc\":\"2.0\",\"id\":1,".utf8)
    case 1: stream += [0xFF, 0x00, 0x0A]
    default: break
    }
    return stream
  }

  private static func frame(_ body: [UInt8], _ framing: Transcript.Framing) -> [UInt8] {
    framing == .lines ? body + [0x0A] : Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private static func request(_ id: String, _ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func notification(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)}"#
  }

  private static let view = [
    request("1", "clock/set", #"{"mode":"manual"}"#), request("1", "map/create", #"{"id":"m"}"#),
    request("1", "view/create", #"{"id":"v","map":"m","width":100,"height":100}"#),
  ]

  private static let flight = request(
    "\"f\"", "view/animateViewpoint", #"{"view":"v","viewpoint":{"type":"scale","targetScale":10},"duration":60}"#)

  private static let texts = [
    request("1", "session/echo", ##"{"$ref":"#/x","a":{"$any":true,"$literal":[{"$bind":1}]},"$repeat":2}"##),
    request("\"${tmp}\"", "session/echo", #"{"v":"${tmp} ${NONE} $","w":["\u0000","\u2028","é"]}"#),
    request("-9223372036854775808", "session/echo", #"{"\u0024ref":"\u0024{tmp}"}"#),
    request("-0", "session/echo", #"{"v":[1e308,-0,-0.0,1E2,1.0,0.1000000000000000055,9223372036854775807]}"#),
    request("\"\\u0000\"", "none/such"), request("null", "session/echo"), request("1.0", "session/echo"),
    request("{\"$ref\":\"a\"}", "session/echo"), request("1", "rpc.discover"), request("2", "session/status"),
    request("\"é\"", "session/echo", #"{"b":1,"a":{"d":1,"c":2},"${tmp}":0}"#), notification("none/such"),
    #"{"method":"session/echo","id":8}"#, #"{"jsonrpc":"1.0","method":"session/echo","id":8}"#,
    #"{"jsonrpc":"2.0","id":8}"#,
    "{}", "[]", "3", "\"x\"", "[1,[]]", #"[[{"method":"session/echo","id":1}]]"#, "{", #"{"a":1,"a":2}"#, #"{"${tmp}"#,
    request("1", "session/echo", #"{"v":1e999}"#), request("1", "session/echo", "[{\"v\":\"\\ud800\"}]"),
    request(
      "1", "session/echo", #"{"v":\#(String(repeating: "[", count: 300))\#(String(repeating: "]", count: 300))}"#),
    "[\(request("1", "session/echo")),\(request("\"1\"", "session/echo")),{\"$ref\":1},\(notification("none/such"))]",
    request("1", "overlay/create", #"{"id":"o","view":"v"}"#), request("1", "overlay/close", #"{"overlay":"o"}"#),
    request(
      "1", "overlay/addGraphics",
      #"{"overlay":"o","graphics":[{"geometry":{"type":"Point","coordinates":[1,2]},"attributes":{"$ref":"a"}}]}"#),
    request("\"q\"", "feature/query", #"{"overlay":"o"}"#), request("3", "state/get", #"{"path":"/overlays"}"#),
    request("4", "state/observe", #"{"paths":["/overlays/*","/views/*"]}"#), request("5", "edit/undo"),
    notification("$/setTrace", #"{"value":"verbose"}"#), notification("$/cancelRequest", #"{"id":"f"}"#), flight,
    request("6", "clock/advance", #"{"seconds":0.1}"#), "[\(flight),\(request("7", "session/echo"))]",
  ]

  private static let bytes: [[UInt8]] = [
    [0x7B, 0xFF, 0xFE], [0x7B, 0x22, 0x00, 0x22, 0x7D], Array("{\"v\":\"".utf8) + [0xED, 0xA0, 0x80],
    [0x5B, 0x80, 0x24, 0x7B],
  ]
}
