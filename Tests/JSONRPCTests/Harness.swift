// A session in memory with the few methods that the tests need, and strings in, strings out.

import JSON
import JSONRPC
import Logging
import TestSupport

/// A session and its client. Lines in and out, unless the test writes headers.
final class Harness {
  let loop: ManualLoop
  let session: Session
  let client: MemoryConnection
  /// Requests of `wait`, in the order of arrival.
  let waiting: Waiting

  final class Waiting {
    var replies: [PendingReply] = []
    var stopped: [String] = []
    var log: [String] = []
    var lateReply: PendingReply?
  }

  struct Odd: Error {}

  init(
    limits: SessionLimits = SessionLimits(), offloading: ManualLoop.Offloading = .inline, initialized: Bool = true,
    recorder: TrafficRecorder? = nil
  ) {
    let loop = ManualLoop(offloading: offloading)
    let waiting = Waiting()
    var router = Router()
    router.on("echo") { .result($0.params) }
    router.on("early", requiresInitialized: false) { .result($0.params) }
    router.on("number") { call in
      _ = try call.params["point"]["x"].double()
      return .result(call.params)
    }
    router.on("odd") { _ in throw Odd() }
    router.on("own") { _ in throw RPCError(code: -31010, kind: "unknownId", message: "no").with("id", "m1") }
    router.on("change") { call in
      call.session.notify("changed") {
        $0.key("revision")
        $0.value(1)
      }
      return .result(call.params)
    }
    router.on("large") { call in
      let count = try call.params["bytes"].integer()
      return .result(JSONOpaque.written { $0.value(String(repeating: "x", count: count)) })
    }
    router.on("packed") { call in
      let counts = try call.params["bytes"].array { (count) throws(JSONError) in try count.integer() }
      return .result(
        JSONOpaque.written { writer in
          writer.array(counts) { count, writer in
            writer.beginObject()
            writer.key("data")
            writer.value(PackedBytes.bytes(Array(repeating: UInt8(count & 0xff), count: count)))
            writer.endObject()
          }
        })
    }
    router.on("news") { call in
      let count = try call.params["bytes"].integer()
      call.session.notify("news") {
        $0.key("text")
        $0.value(String(repeating: "x", count: count))
      }
      return .result(call.params)
    }
    router.on("wait") { call in
      let pending = call.deferReply()
      pending.onCancel = { pending in
        waiting.stopped.append("\(pending.id.map { "\($0)" } ?? "-")")
        return true
      }
      waiting.replies.append(pending)
      return .later
    }
    router.on("forget") { _ in .later }
    router.on("note") { call in
      waiting.log.append(call.params.jsonText)
      return .aside(call.params)
    }
    var lifecycle = Lifecycle { call in
      if call.params["refuse"].isPresent {
        throw RPCError(code: -31000, kind: "versionMismatch", message: "no common version")
      }
      return JSONOpaque.written {
        $0.beginObject()
        $0.endObject()
      }
    }
    lifecycle.endOfInput = { waiting.log.append("end of input") }
    lifecycle.shutdown = { waiting.log.append("shutdown") }
    lifecycle.initialized = { waiting.log.append("initialized") }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let session = Session(router: router, lifecycle: lifecycle, limits: limits, loop: loop, recorder: recorder, logger: logger) { error in
      error is Odd ? RPCError(code: -32803, kind: "odd", message: "odd") : nil
    }
    self.loop = loop
    self.waiting = waiting
    self.session = session
    client = MemoryConnection(session, on: loop)
    if initialized {
      client.send(#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}"# + "\n")
      _ = client.takeOutput()
    }
  }

  /// Sends lines and gives back those that were written.
  func lines(_ text: String...) -> [String] {
    for line in text { client.send(line + "\n") }
    return takeLines()
  }

  func takeLines() -> [String] {
    String(decoding: client.takeOutput(), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// One request's answer.
  func answer(_ id: String, _ method: String, _ params: String = "{}") -> [String] {
    lines(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
  }
}

func result(_ id: String, _ text: String = "{}") -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":\#(text)}"# }

/// Id, code and kind of an error line, which is what the contract is.
struct Failure: Equatable, CustomStringConvertible {
  var id: String
  var code: Int
  var kind: String
  var path: String?

  init(_ id: String, _ code: Int, _ kind: String, path: String? = nil) {
    (self.id, self.code, self.kind, self.path) = (id, code, kind, path)
  }

  init?(_ line: String?) {
    guard let line, let document = try? JSONDocument(line) else { return nil }
    let read = document.read { root -> (String, Int, String, String?)? in
      let error = root["error"]
      guard let code = try? error["code"].integer(), let kind = try? error["data"]["kind"].string() else { return nil }
      return (root["id"].jsonText, code, kind, try? error["data"]["path"].string())
    }
    guard let read else { return nil }
    (id, code, kind, path) = read
  }

  var description: String { "\(id) \(code) \(kind) \(path ?? "")" }
}

func framed(_ message: String) -> String { "Content-Length: \(message.utf8.count)\r\n\r\n\(message)" }
func request(_ id: String, _ method: String, _ params: String = "{}") -> String {
  #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
}
func cancel(_ id: String) -> String { #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"# }
