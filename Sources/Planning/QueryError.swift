// Why a question about features has no answer, where neither the model nor a library says so.

/// An error of a question. `WireCoding` makes it an error of the wire.
package enum QueryError: Error {
  /// A part of the question is not possible. `path` is a JSON Pointer from the params.
  case invalid(_ message: String, Kind = .value, path: String, expected: String)
  /// Records would have a name twice.
  case duplicateName(String, path: String)
  /// The result would have more bytes, or elements, than may be.
  case resultTooLarge(limit: Int)

  package enum Kind: Sendable { case value, geometry, range }
}
