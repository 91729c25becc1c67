// The wiring: logger, trace, libraries, session.

import GeoModel
import GeoServices
import JSONRPC
import Logging
import Projection

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

func serve(_ flags: Flags) -> Never {
  let logger = Logger(label: "geomodel-server") { _ in StderrLogHandler(level: flags.logLevel) }
  var trace: TraceFile?
  if let path = flags.traceFile {
    trace = TraceFile(
      path: path, server: "geomodel-server \(Flags.version)", arguments: flags.replayed,
      // The real time, the process's memory, how fast the client reads.
      varying: ["now", "residentBytes", "unread"]
    ) { code in
      logger.error("the trace \(path) is not whole: \(String(cString: strerror(code)))")
    }
    if trace == nil {
      Flags.leave("geomodel-server: \(path) cannot be written: \(String(cString: strerror(errno)))\n", code: 73, on: 2)
    }
  }
  let transformer = PROJTransformer()
  var configuration = Configuration(
    transformer: transformer, geodesy: transformer, workingDirectory: workingDirectory(), version: Flags.version,
    logger: logger, now: realTime)
  configuration.limits = flags.limits
  configuration.allowedDirectories = flags.allowedDirectories
  configuration.trimMemory = trimMemory
  configuration.residentBytes = residentBytes
  let wiring = configuration
  StdioServer.run(logger: logger, trace: trace, atEnd: UnfinishedSaves.remove) { loop, recorder in
    Host.makeSession(wiring, on: loop, recorder: recorder)
  }
}

private func workingDirectory() -> String {
  guard let path = getcwd(nil, 0) else { return "/" }
  defer { free(path) }
  return String(cString: path)
}

private func realTime() -> Instant {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Instant(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
}

/// Gives freed memory back: after a bulk edit most of what its message took would stay with the allocator.
private func trimMemory() {
  // Glibc has malloc_trim, but Swift's module of it does not, and other systems have neither.
  typealias Trim = @convention(c) (Int) -> Int32
  guard let symbol = dlsym(nil, "malloc_trim") else { return }
  _ = unsafeBitCast(symbol, to: Trim.self)(0)
}

/// Linux tells resident pages as the second number of this file.
private func residentBytes() -> Int? {
  guard let file = fopen("/proc/self/statm", "r") else { return nil }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, Int32(line.count), file) != nil else { return nil }
  let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  let numbers = text.split(separator: " ")
  return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
}
