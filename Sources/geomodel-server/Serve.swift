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
  let start = flags.replayStart ?? currentInstant()
  if let path = flags.traceFile {
    trace = TraceFile(
      path: path, server: "geomodel-server \(WireProtocol.productVersion)", arguments: flags.replayed + ["--replay-from", String(start.nanoseconds)],
      // What varies between runs: the process's memory, messages with those of a trace, the means of confinement.
      varying: ["residentBytes", "traffic", "confinement"]
    ) { code in
      logger.error("the trace \(path) is not whole: \(errorText(code))")
    }
    if trace == nil {
      Flags.leave("geomodel-server: \(path) cannot be written: \(errorText())\n", code: 73, on: 2)
    }
  }
  var configuration = makeConfiguration(flags, logger)
  configuration.start = start
  configuration.isReplay = flags.replayStart != nil
  let wiring = configuration
  StdioServer.run(
    logger: logger, trace: trace, waitingLimit: configuration.readers.limit, watchesClient: flags.replayStart == nil,
    atEnd: UnfinishedSaves.remove
  ) { loop, recorder in
    Host.makeSession(wiring, on: loop, recorder: recorder)
  }
}

/// What every kind of server has in common.
func makeConfiguration(_ flags: Flags, _ logger: Logger) -> Configuration {
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
  return configuration
}

private func currentInstant() -> Instant {
  let now = realTime()
  return Instant(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
}
