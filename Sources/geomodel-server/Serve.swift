// Connects logger, trace, libraries and session.

import GeoModel
import GeoProtocol
import Handlers
import Host
import JSONRPC
import Logging
import Platform
import Projection
import Readers

func serve(_ flags: Flags) -> Never {
  let logger = Logger(label: "geomodel-server") { _ in StderrLogHandler(level: flags.logLevel) }
  var trace: TraceFile?
  if let path = flags.traceFile {
    trace = TraceFile(
      path: path, server: "geomodel-server \(WireProtocol.productVersion)", arguments: flags.replayed,
      // Inputs that vary between runs: real time, the process's memory, the client's reading speed, the means of confinement.
      varying: ["now", "residentBytes", "unread", "confinement"]
    ) { code in
      logger.error("the trace \(path) is not whole: \(errorText(code))")
    }
    if trace == nil {
      Flags.leave("geomodel-server: \(path) cannot be written: \(errorText())\n", code: 73, on: 2)
    }
  }
  let transformer = PROJTransformer()
  let readers = Readers(
    executable: executablePath(), memory: flags.readerMemory, longLimit: flags.readers,
    engineMemory: flags.engineMemory, feedLimit: flags.feeds)
  var configuration = Configuration(
    transformer: transformer, geodesy: transformer, workingDirectory: workingDirectory(),
    readers: readers, logger: logger, now: currentInstant)
  configuration.limits = flags.limits
  configuration.documentLimits.bytes = flags.documentBytes
  configuration.allowedDirectories = flags.allowedDirectories
  configuration.writableDirectories = flags.writableDirectories
  configuration.allowsNetwork = flags.allowsNetwork
  configuration.trimMemory = trimMemory
  configuration.residentBytes = residentBytes
  let wiring = configuration
  StdioServer.run(logger: logger, trace: trace, waitingLimit: readers.limit, atEnd: UnfinishedSaves.remove) { loop, recorder in
    Host.makeSession(wiring, on: loop, recorder: recorder)
  }
}

private func currentInstant() -> Instant {
  let now = realTime()
  return Instant(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
}
