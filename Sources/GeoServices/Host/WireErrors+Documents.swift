// What can be wrong with documents, in the wire's words.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Platform

extension RPCError {
  /// A file that could not be written, by the system's error number.
  init(savingTo path: String, _ number: CInt) {
    let reason = errorText(number)
    self = RPCError(.saveFailed, "\(path) cannot be written: \(reason).", path: path).with("reason", reason)
  }

  /// A document that is none.
  ///
  /// - Parameter place: a JSON Pointer within it.
  init(invalidDocument file: String, at place: String, expected: String?, reason: String) {
    let at = place.isEmpty ? "" : " at \(place)"
    self = RPCError(.invalidDocument, "\(file) is no valid document\(at): \(reason)", path: place, expected: expected)
      .with("file", file).with("reason", reason)
  }

  init(_ error: JSONSyntaxError, inDocument file: String) {
    let expected = error.kind == .tooManyValues ? "a document with fewer values" : "JSON"
    self = RPCError(invalidDocument: file, at: "", expected: expected, reason: error.reason)
      .with("offset", error.offset)
  }

  init(documentTooNew file: String, version: Int, supported: Int) {
    self = RPCError(
      .documentTooNew, "\(file) is of version \(version), this server reads \(supported).", path: "/version",
      expected: "at most \(supported)"
    )
    .with("file", file).with("version", version).with("supported", supported)
  }

  static let documentUntitled = RPCError(
    .documentUntitled, "The document has no file yet; document/saveAs gives it one.")

  /// What an error of a command becomes when the command's params stand in a document. What is not the document's fault stays.
  ///
  /// - Parameters:
  ///   - object: where the object is that could not be made.
  ///   - noun: the member that holds its id.
  init?(_ error: any Error, inDocument file: String, _ root: JSONValue, at object: JSONValue, _ noun: String) {
    let place = object.path(from: root)
    switch error {
    case let error as JSONError:
      self.init(
        invalidDocument: file, at: error.path(from: root), expected: error.expected,
        reason: "expected \(error.expected), found \(error.found)")
    case ModelError.items(let items, _):
      guard let first = items.first else { return nil }
      self.init(
        invalidDocument: file, at: "\(place)/graphics/\(first.index)\(first.failure.path ?? "")",
        expected: first.failure.expected?.string, reason: first.failure.message.string)
      self = with("error", RPCError(first.failure))
    default:
      guard var inner = RPCError(error, in: object, at: place) else { return nil }
      if inner.kind == ErrorKind.libraryMissing.rawValue || inner.kind == ErrorKind.cancelled.rawValue {
        self = inner
        return
      }
      if case ModelError.idExists = error { inner.path = "\(place)/\(noun)" }
      // A path that starts elsewhere is a file's, or says no more than that of the object.
      let path = inner.path.flatMap { $0.hasPrefix(place) ? $0 : nil } ?? place
      self = RPCError(invalidDocument: file, at: path, expected: inner.expected, reason: inner.message)
        .with("error", inner)
    }
  }
}
