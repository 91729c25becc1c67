// Errors of questions about features that neither the model nor a library reports.

import Geometry

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

extension QueryError {
  /// The one rule for names that a client lists and that become columns, members or keys: each occurs once.
  ///
  /// - Parameters:
  ///   - key: what two names must not have in common: by default their code points.
  ///   - path: returns the JSON Pointer of the name at an index.
  package static func checkNames<Key: Hashable>(
    _ names: [String], as key: (String) -> Key = { Text($0) }, at path: (Int) -> String
  ) throws(QueryError) {
    var known: Set<Key> = []
    for (index, name) in names.enumerated() where !known.insert(key(name)).inserted {
      throw .duplicateName(name, path: path(index))
    }
  }
}
