// Wire errors of documents.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Platform

extension RPCError {
  /// The error of a file that cannot be written.
  ///
  /// - Parameter number: the system's `errno`.
  package init(savingTo path: String, _ number: CInt) {
    let reason = errorText(number)
    self = RPCError(.saveFailed, "\(path) cannot be written: \(reason).", path: path).with("reason", reason)
  }

  /// The error of an invalid document.
  ///
  /// - Parameter pointer: a JSON Pointer within it.
  package init(invalidDocument file: String, at pointer: String, expected: String?, reason: String) {
    let at = pointer.isEmpty ? "" : " at \(pointer)"
    self = RPCError(
      .invalidDocument, "\(file) is not a valid document\(at): \(reason)", path: pointer, expected: expected
    )
    .with("file", file).with("reason", reason)
  }

  package init(_ error: JSONSyntaxError, inDocument file: String) {
    let expected = error.kind == .tooManyValues ? "a document with fewer values" : "JSON"
    self = RPCError(invalidDocument: file, at: "", expected: expected, reason: error.reason)
      .with("offset", error.offset)
  }

  package init(documentTooNew file: String, version: Int, supported: Int) {
    self = RPCError(
      .documentTooNew, "\(file) has version \(version); this server reads \(supported).", path: "/version",
      expected: "at most \(supported)"
    )
    .with("file", file).with("version", version).with("supported", supported)
  }

  package static let documentUntitled = RPCError(
    .documentUntitled, "The document has no file yet; document/saveAs gives it one.")

  /// The error of a command whose params come from a document: an invalid document, with the path in it. Missing libraries and
  /// cancellation are not the document's fault and stay as they are.
  ///
  /// - Parameters:
  ///   - object: the object in the document that could not be created.
  ///   - noun: the member that contains its id.
  package init?(_ error: any Error, inDocument file: String, _ root: JSONValue, at object: JSONValue, _ noun: String) {
    let pointer = object.path(from: root)
    switch error {
    case let error as JSONError:
      self.init(
        invalidDocument: file, at: error.path(from: root), expected: error.expected,
        reason: "expected \(error.expected), found \(error.found)")
    case ModelError.items(let items, _):
      guard let first = items.first else { return nil }
      self.init(
        invalidDocument: file, at: "\(pointer)/graphics/\(first.index)\(first.failure.path ?? "")",
        expected: first.failure.expected?.string, reason: first.failure.message.string)
      self = with("error", RPCError(first.failure))
    default:
      guard var inner = RPCError(error, in: object, at: pointer) else { return nil }
      if inner.kind == ErrorKind.libraryMissing.rawValue || inner.kind == ErrorKind.cancelled.rawValue {
        self = inner
        return
      }
      if case ModelError.idExists = error { inner.path = "\(pointer)/\(noun)" }
      // Other paths are those of files, or no more precise than the object's.
      let path = inner.path.flatMap { $0.hasPrefix(pointer) ? $0 : nil } ?? pointer
      self = RPCError(invalidDocument: file, at: path, expected: inner.expected, reason: inner.message)
        .with("error", inner)
    }
  }
}
