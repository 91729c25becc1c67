// Wire errors of documents.

import GeoProtocol
import JSON
import JSONRPC
import Platform

extension RPCError {
  /// The error of a file that cannot be written.
  ///
  /// - Parameter number: the system's `errno`.
  package init(savingTo path: String, _ number: CInt) {
    self.init(savingTo: path, errorText(number))
  }

  package init(savingTo path: String, _ reason: String) {
    self = RPCError(.saveFailed, "\(path) cannot be written: \(reason).", path: path).with("reason", reason)
  }

  /// The error for a file whose name is already taken.
  /// - Parameter permission: the param with which it would be replaced.
  package init(fileExists path: String, unless permission: String = "ifExists: replace") {
    self.init(.fileExists, "There is a file \(path).", path: path, expected: "another path, or \(permission)")
  }

  /// The error of an invalid document.
  ///
  /// - Parameter pointer: a JSON Pointer within the document.
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

  /// - Parameters:
  ///   - values, depth: of the document's text, like `bytes`.
  ///   - limits: the limits of readers.
  package init(
    documentTooLarge path: String, bytes: Int, values: Int, depth: Int,
    limits: (bytes: Int, values: Int, depth: Int)
  ) {
    self = RPCError(
      .documentTooLarge,
      "The document has \(bytes) bytes, \(values) values and \(depth) levels; it could not be opened again.",
      path: path,
      expected: "at most \(limits.bytes) bytes, \(limits.values) values and \(limits.depth) levels"
    )
    .with("bytes", bytes).with("values", values).with("depth", depth)
  }

  package static let documentUntitled = RPCError(
    .documentUntitled, "The document has no file yet; document/saveAs gives it one.")
}
