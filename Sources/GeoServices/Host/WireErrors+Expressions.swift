// What is wrong with expressions, and with what they are over, in the wire's words; where, as editors count.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Query

extension RPCError {
  /// - Parameter path: where the expression stands.
  init(_ error: ExpressionError, at path: String) {
    let kind: ErrorKind =
      switch error.kind {
      case .syntax, .badLiteral, .unknownFunction: .expressionSyntax
      case .type, .argumentCount: .expressionType
      case .tooDeep, .tooLong: .expressionTooDeep
      case .unknownProperty: .unknownField
      }
    self = RPCError(
      kind,
      "Expected \(error.expected) in line \(error.line), column \(error.column), found \(error.found).",
      path: path, expected: error.expected
    ).with(error.place).with("found", error.found)
    if kind == .unknownField { self = with("available", json: Self.json(error.available)) }
  }

  /// Where in the text that the path leads to.
  func with(_ place: TextPlace?) -> RPCError {
    guard let place else { return self }
    return with("line", place.line).with("column", place.column).with("offset", place.offset)
  }

  /// - Parameter path: where the inputs stand.
  init(_ fault: Derivation.InputFault, at path: String) {
    let path = path + "/" + jsonPointerEscaped(fault.name)
    self.init(
      .invalidDefinition, "Expected \(fault.expected) at \(path), found \"\(fault.found.prefix(200))\".", path: path,
      expected: fault.expected)
  }
}
