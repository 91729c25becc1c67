// The wiring: logger, trace, session. The echo stands where the application will.

import JSON
import JSONRPC
import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

func serve(_ flags: Flags) -> Never {
  let logger = Logger(label: "geomodel-server") { _ in StderrLogHandler(level: flags.logLevel) }
  var trace: TraceFile?
  if let path = flags.traceFile {
    trace = TraceFile(path: path, header: "\"server\":\"geomodel-server \(Flags.version)\"")
    if trace == nil {
      Flags.leave("geomodel-server: \(path) cannot be written: \(String(cString: strerror(errno)))\n", code: 73, on: 2)
    }
  }
  StdioServer.run(logger: logger, trace: trace) { loop, recorder in
    var router = Router()
    router.on("session/echo") { call in .result(call.params) }
    return Session(
      router: router, lifecycle: Lifecycle(initialize: { _ in EchoWelcome() }), limits: flags.limits, loop: loop,
      recorder: recorder, logger: logger)
  }
}

/// The answer to `initialize`, as short as it may be.
private struct EchoWelcome: JSONEncodable {
  func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("protocolVersion")
    writer.value("0.1")
    writer.key("serverInfo")
    writer.beginObject()
    writer.key("name")
    writer.value("geomodel-server")
    writer.key("version")
    writer.value(Flags.version)
    writer.endObject()
    writer.key("capabilities")
    writer.beginObject()
    writer.endObject()
    writer.endObject()
  }
}
