// Wire errors of renderers, labels and popups.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension RPCError {
  /// - Parameter prefix: the JSON Pointer from which the error's path starts.
  package init(_ error: SymbologyError, at prefix: String) {
    let path = error.path.reduce(prefix) { $0 + "/" + jsonPointerEscaped($1) }
    let message = "Expected \(error.expected) at \(path), found \(error.found)."
    func plain(_ kind: ErrorKind) -> RPCError {
      RPCError(kind, message, path: path, expected: error.expected).with("found", error.found)
    }
    switch error.reason {
    case .form: self.init(.invalidParams, message, path: path, expected: error.expected)
    case .scaleRange: self.init(.invalidScaleRange, message, path: path, expected: error.expected)
    case .classBreaks: self = plain(.invalidClassBreaks)
    case .uniqueValues: self = plain(.invalidUniqueValues)
    case .stops: self = plain(.invalidStops)
    case .template: self = plain(.invalidTemplate).with(error.position)
    case .unknownField(let name, let available):
      self = RPCError(
        .unknownField, "There is no attribute \"\(name)\"\(Suggestion(for: name, among: available).end)", path: path,
        expected: error.expected
      ).with("available", available)
    case .expression(let error): self.init(error, at: path)
    case .fieldType(let name): self.init(wrongField: name, found: error.found, expected: error.expected, at: path)
    }
  }

  /// The error of a field whose type does not fit its use.
  package init(wrongField name: String, found: String, expected: String, at path: String) {
    self = RPCError(
      .wrongFieldType, "Expected \(expected) at \(path); \"\(name)\" is not (\(found)).", path: path,
      expected: expected
    ).with("found", found)
  }
}
