// Errors of questions about features that neither the model nor a library reports.

/// An error of a question. `WireCoding` converts it to an error of the wire.
package enum QueryError: Error {
  /// A part of the question is invalid. `path` is a JSON Pointer from the params.
  case invalid(_ message: String, Kind = .value, path: String, expected: String)
  /// A name would occur twice in the records of the result.
  case duplicateName(String, path: String)
  /// The result would exceed the limit of bytes or elements.
  case resultTooLarge(limit: Int)

  package enum Kind: Sendable { case value, geometry, range }
}
