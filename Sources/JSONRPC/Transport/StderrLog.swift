// The log on standard error. A client that does not read it must not block the server.

import Logging
import Platform

/// One line per event, written immediately, or dropped when standard error is full.
public struct StderrLogHandler: LogHandler {
  public var logLevel: Logger.Level
  public var metadata: Logger.Metadata = [:]
  /// A pipe with room accepts a line up to this length atomically.
  private static let longestLine = 4096

  public init(level: Logger.Level) { logLevel = level }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    var line = "geomodel-server: \(event.level): \(event.message)"
    for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
      $0.key < $1.key
    }) {
      line += " \(name)=\(value)"
    }
    var bytes = Array(line.utf8.prefix(Self.longestLine - 1))
    bytes.append(0x0A)
    var waiting = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLOUT) != 0 else { return }
    _ = write(2, bytes, bytes.count)
  }
}
