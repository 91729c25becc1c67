// Wire errors of expressions and their inputs, with the position as line and column.

import Expressions
import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension RPCError {
  /// - Parameter path: the JSON Pointer of the expression.
  package init(_ error: ExpressionError, at path: String) {
    guard error.kind != .unavailable else {
      self = Self.libraryMissing("GEOS", error.found)
      return
    }
    let kind: ErrorKind =
      switch error.kind {
      case .syntax, .badLiteral, .unknownFunction: .expressionSyntax
      case .type, .argumentCount: .expressionType
      case .tooDeep, .tooLong: .expressionTooDeep
      case .unavailable: .libraryMissing
      case .unknownProperty: .unknownField
      }
    // An error in CQL2 JSON has a path to a value; one in text has a position.
    let place = error.steps == nil ? " in line \(error.line), column \(error.column)" : ""
    let path = (error.steps ?? []).reduce(path) { $0 + "/" + jsonPointerEscaped($1) }
    var message = "Expected \(error.expected)\(place), found \(error.found)."
    if !error.available.isEmpty {
      let noun = error.kind == .unknownFunction ? "function" : "property"
      let isForeign = error.kind == .unknownFunction && error.meant != nil
      let end = isForeign ? "." : Suggestion(for: error.found, among: error.available).end
      let start = error.steps == nil ? "In line \(error.line), column \(error.column) there" : "There"
      message = "\(start) is no \(noun) `\(error.found)`\(end)" + (error.meant.map { " Write \($0)." } ?? "")
    }
    self = RPCError(kind, message, path: path, expected: error.expected)
      .with(error.steps == nil ? error.position : nil).with("found", error.found)
    if kind == .unknownField { self = with("available", error.available) }
  }

  /// Adds the position within the text at the error's path.
  package func with(_ position: TextPosition?) -> RPCError {
    guard let position else { return self }
    return with("line", position.line).with("column", position.column).with("offset", position.offset)
  }

  /// - Parameter path: the JSON Pointer of the inputs.
  package init(_ fault: Derivation.InputFault, at path: String) {
    let path = path + "/" + jsonPointerEscaped(fault.name)
    self.init(
      .invalidDefinition, "Expected \(fault.expected) at \(path), found \"\(fault.found.prefix(200))\".", path: path,
      expected: fault.expected)
  }
}
