// Wire errors of files.

import Elevation
import FeatureFormats
import Files
import GeoProtocol
import Geometry
import JSONRPC

extension RPCError {
  /// The error of a file that the policy or the system refuses to open.
  package init(_ refusal: FileRefusal) {
    switch refusal {
    case .notFound(let path): self.init(.fileNotFound, "There is no file \(path).", path: path)
    case .isDirectory(let path): self.init(.notAFile, "\(path) is a directory.", path: path, expected: "a file")
    case .refused(let path, let reason): self.init(.pathRefused, "\(path) is refused: \(reason).", path: path)
    case .notReadable(let path, let reason):
      self = RPCError(.openFailed, "\(path) cannot be read: \(reason).", path: path).with("reason", reason)
    }
  }

  package init(_ error: FormatError) {
    switch error {
    case .file(let refusal): self.init(refusal)
    case .unrecognized(let path): self.init(.unknownFormat, "No driver recognizes \(path).", path: path)
    case .openFailed(let driver, let path, let reason):
      self = RPCError(.openFailed, "\(driver.rawValue) cannot open \(path): \(reason).", path: path)
        .with("driver", driver.rawValue).with("reason", reason)
    case .readFailed(let driver, let path, let layer, let reason):
      self = RPCError(
        .readFailed, "\(driver.rawValue) cannot read layer \"\(layer)\" of \(path): \(reason).", path: path
      )
      .with("driver", driver.rawValue).with("reason", reason)
    case .changedWhileRead(let path):
      self.init(.changedWhileRead, "\(path) changed while it was read.", path: path)
    case .noSuchLayer(let name, let available):
      self = RPCError(.unknownSourceLayer, "There is no layer \"\(name)\".").with("available", available)
    case .missingField(let name, let available):
      self = RPCError(.missingField, "There is no field \"\(name)\".").with("available", available)
    case .cancelled: self = .cancelled
    case .unavailable(let reason): self = Self.libraryMissing("GDAL", reason)
    }
  }

  package init(_ error: ElevationError) {
    switch error {
    case .file(let refusal): self.init(refusal)
    case .unrecognized(let path): self.init(FormatError.unrecognized(path: path))
    case .openFailed(let path, let reason):
      self = RPCError(.openFailed, "\(path) cannot be opened: \(reason).", path: path).with("reason", reason)
    case .readFailed(let path, let reason):
      self = RPCError(.readFailed, "\(path) cannot be read: \(reason).", path: path).with("reason", reason)
    case .cancelled: self = .cancelled
    case .unavailable(let reason): self = Self.libraryMissing("GDAL", reason)
    }
  }
}
