// Wire errors of files.

import Files
import GeoProtocol
import JSON
import JSONRPC
import Readers
import Reading

extension RPCError {
  /// The error of a file that the policy or the system refuses to open.
  package init(_ refusal: FileRefusal) {
    switch refusal {
    case .notFound(let path): self.init(.fileNotFound, "There is no file \(path).", path: path)
    case .isDirectory(let path): self.init(.notAFile, "\(path) is a directory.", path: path, expected: "a file")
    case .refused(let path, let reason):
      let shown = Address(path).shown
      self.init(.pathRefused, "\(shown) is refused: \(reason).", path: shown)
    case .notReadable(let path, let reason), .exhausted(let path, let reason):
      self = RPCError(.openFailed, "\(path) cannot be read: \(reason).", path: path).with("reason", reason)
    }
  }

  package init(_ error: ReadError) { self.init(error, ErrorPlace(root: nil, prefix: "")) }

  /// - Parameter place: where the name of the field or layer is searched.
  init(_ error: ReadError, _ place: ErrorPlace) {
    switch error {
    case .file(let refusal): self.init(refusal)
    case .unrecognized(let path): self.init(.unknownFormat, "No driver recognizes \(path): source/open reads features, layer/addRaster rasters.", path: path)
    case .openFailed(let driver, let path, let reason):
      let text = driver.map { "\($0) cannot open \(path)" } ?? "\(path) cannot be opened"
      self = RPCError(.openFailed, "\(text): \(reason).", path: path).with("driver", driver).with("reason", reason)
    case .readFailed(let driver, let path, let layer, let reason):
      let file = layer.map { "layer \"\($0)\" of \(path)" } ?? path
      let text = driver.map { "\($0) cannot read \(file)" } ?? "\(file) cannot be read"
      self = RPCError(.readFailed, "\(text): \(reason).", path: path).with("driver", driver).with("reason", reason)
    case .address(let path, let fault):
      self =
        fault.cause == .credentials
        ? RPCError(.credentialsNeeded, "\(path) needs credentials: \(fault.reason).", path: path)
        : RPCError(.addressFailed, "No data came from \(path): \(fault.reason).", path: path).with("cause", fault.cause.rawValue)
      self = with("reason", fault.reason).with("status", fault.status)
    case .changedWhileRead(let path):
      self.init(.changedWhileRead, "\(path) changed while it was read.", path: path)
    case .noSuchLayer(let name, let available):
      let end = Suggestion(for: name, among: available).end
      self = RPCError(.unknownSourceLayer, name.isEmpty ? "There are several layers: name one\(end)" : "There is no layer \"\(name)\"\(end)", path: place.path(toText: name))
        .with("available", available)
    case .layerExists(let name, let available):
      self = RPCError(
        .layerExists, "The file has a layer or table \"\(name)\".",
        path: place.path(toText: name) ?? "/params/layerName", expected: "another name, or ifExists: replaceLayer"
      ).with("available", available)
    case .missingField(let name, let available):
      self.init(.missingField, no: "field", name, among: available, at: place.path(toText: name))
    case .cancelled: self = .cancelled
    case .unavailable(let reason): self = Self.libraryMissing("GDAL", reason)
    case .readerFailed(let failure): self.init(.readerFailed, "reader", failure)
    case .writerFailed(let failure): self.init(.writerFailed, "writer", failure)
    case .writeFailed(let path, let reason):
      self.init(savingTo: path, reason)
    case .driverMissing(let driver, let available):
      let names = ["GeoJSON", "GeoJSONSeq", "CSV"] + available.map(\.rawValue)
      self.init(
        .unknownFormat, "The GDAL of this system does not write \(driver.rawValue).",
        path: place.path(toText: driver.rawValue) ?? "/params/path",
        expected: names.map { "`\($0)`" }.joined(separator: ", "))
    }
  }

  private init(_ kind: ErrorKind, _ role: String, _ failure: ReaderFailure) {
    let how = (failure.signal.map { " (signal \($0))" } ?? "") + (failure.reason.map { ": \($0)" } ?? "")
    self = RPCError(kind, "The \(role) of \(failure.path) died\(how).", path: failure.path).with("reason", failure.reason)
      .with("driver", failure.driver).with("signal", failure.signal).with("messages", failure.messages)
  }
}

extension RPCError {
  /// Why a picture was not painted.
  package init(_ error: PaintError) {
    switch error {
    case .unavailable(let reason): self = Self.libraryMissing("Cairo", reason)
    case .failed(let reason): self = RPCError(.painterFailed, "The picture could not be painted: \(reason).")
    case .processFailed(let signal):
      self = RPCError(.painterFailed, "The process that draws died\(signal.map { " (signal \($0))" } ?? "").").with("signal", signal)
    case .tooLarge: self = RPCError(.pictureTooLarge, "The picture is too large.")
    case .cancelled: self = RPCError(.cancelled, "The picture was cancelled.")
    }
  }
}
