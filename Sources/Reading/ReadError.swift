// Why a file could not be described, read or written.

import Files

public enum ReadError: Error, Hashable, Sendable {
  case file(FileRefusal)
  /// No supported format.
  case unrecognized(path: String)
  case openFailed(driver: String?, path: String, reason: String)
  case readFailed(driver: String?, path: String, layer: String?, reason: String)
  /// The file was written while it was read: the result may mix states.
  case changedWhileRead(path: String)
  case noSuchLayer(String, available: [String])
  /// The file to which a layer is added has one of that name.
  case layerExists(String, available: [String])
  /// No data came from an address.
  case address(path: String, AddressFault)
  case missingField(String, available: [String])
  case cancelled
  /// GDAL, or its driver, is not installed.
  case unavailable(reason: String)
  /// The reader died: of a fault in a format's library, at its memory limit, or killed by another process.
  case readerFailed(ReaderFailure)
  case writeFailed(path: String, reason: String)
  /// GDAL is available, but not the driver.
  case driverMissing(WriteDriver, available: [WriteDriver])
  /// The writer died, as a reader does.
  case writerFailed(ReaderFailure)
}

/// Why no data came from an address.
public struct AddressFault: Error, Hashable, Sendable {
  public enum Cause: String, Sendable {
    /// There is no such host, or no connection to it.
    case unreachable
    /// The host answered with an error.
    case status
    /// It redirects without end.
    case redirectLoop
    /// An address of the public network led to a private one.
    case redirectRefused
    /// The server knows no ranges of a file.
    case noRanges
    /// A password is missing, or is not accepted.
    case credentials
  }
  public let cause: Cause
  public let reason: String
  /// The status of HTTP, where the host answered.
  public let status: Int?

  public init(_ cause: Cause, _ reason: String, status: Int? = nil) { (self.cause, self.reason, self.status) = (cause, reason, status) }
}

/// Cause and last messages of a reader or writer that died.
public struct ReaderFailure: Hashable, Sendable {
  public let path: String
  /// GDAL's name of the driver; nil before a driver recognized the file.
  public let driver: String?
  /// The signal that ended the process; nil if it exited or sent an invalid reply.
  public let signal: Int?
  /// GDAL's last messages, oldest first.
  public let messages: [String]
  /// Why it died, or did not start, as far as that is known.
  public let reason: String?

  public init(path: String, driver: String?, signal: Int?, messages: [String], reason: String? = nil) {
    self.reason = reason
    self.path = path
    self.driver = driver
    self.signal = signal
    self.messages = messages
  }
}
