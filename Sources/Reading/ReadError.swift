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

/// Cause and last messages of a reader or writer that died.
public struct ReaderFailure: Hashable, Sendable {
  public let path: String
  /// GDAL's name of the driver; nil before a driver recognized the file.
  public let driver: String?
  /// The signal that ended the process; nil if it exited or sent an invalid reply.
  public let signal: Int?
  /// GDAL's last messages, oldest first.
  public let messages: [String]

  public init(path: String, driver: String?, signal: Int?, messages: [String]) {
    self.path = path
    self.driver = driver
    self.signal = signal
    self.messages = messages
  }
}
