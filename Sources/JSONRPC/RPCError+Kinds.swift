// JSON-RPC's predefined errors, and the conversion of syntax errors and value errors.

import JSON

extension RPCError {
  static func parse(_ error: JSONSyntaxError, limits: SessionLimits) -> RPCError {
    let kind: String
    switch error.kind {
    case .tooManyValues:
      return RPCError(code: -32600, kind: "tooManyValues", message: "The message has \(error.reason).")
        .with("limit", limits.values)
    case .outOfMemory:
      return RPCError(code: -32603, kind: "internalError", message: "There is not enough memory for the message.")
    case .duplicateKey: kind = "duplicateKey"
    case .tooDeep: kind = "tooDeep"
    case .malformed, .invalidUTF8: kind = "parseError"
    }
    return RPCError(code: -32700, kind: kind, message: "The message is not JSON: \(error.reason).")
      .with("offset", error.offset)
  }

  static func framing(_ reason: String) -> RPCError {
    RPCError(code: -32700, kind: "framingError", message: "No message can be found in the input: \(reason).")
  }

  static func messageTooLarge(limit: Int) -> RPCError {
    RPCError(code: -32600, kind: "messageTooLarge", message: "A message may have \(limit) bytes; it was skipped.")
      .with("limit", limit)
  }

  static func batchTooLarge(limit: Int) -> RPCError {
    RPCError(code: -32600, kind: "batchTooLarge", message: "A batch may have \(limit) requests; none was run.")
      .with("limit", limit)
  }

  /// For messages that are not requests, and for calls at the wrong time.
  public static func invalidRequest(_ message: String) -> RPCError {
    RPCError(code: -32600, kind: "invalidRequest", message: message)
  }

  static let shutDown = RPCError(code: -32600, kind: "shutDown", message: "After shutdown only exit may come.")

  static let alreadyInitialized = RPCError(
    code: -32600, kind: "alreadyInitialized", message: "The session is initialized already.")

  static let notInitialized = RPCError(
    code: -32002, kind: "notInitialized", message: "The session has to be initialized first.")

  /// - Parameter known: the names of all methods.
  static func unknownMethod(_ name: String, among known: [String]) -> RPCError {
    let suggestion = Suggestion(for: name, among: known.sorted())
    let end = suggestion.meant.map { ", did you mean `\($0)`?" } ?? "."
    return RPCError(
      code: -32601, kind: "unknownMethod", message: "There is no method \"\(name)\"\(end)",
      expected: suggestion.nearest.map { "`\($0)`" }.joined(separator: ", ")
    ).with("meant", suggestion.meant)
  }

  public static func invalidParams(_ message: String, path: String, expected: String? = nil) -> RPCError {
    RPCError(code: -32602, kind: "invalidParams", message: message, path: path, expected: expected)
  }

  package static func invalidParams(_ error: JSONError, path: String) -> RPCError {
    let code = path.hasSuffix("patialReference") ? error.foundCode.map { ", such as \"EPSG:\($0)\"" } ?? "" : ""
    let end = error.meant.map { ", did you mean \"\($0)\"?" } ?? "."
    return invalidParams(
      "Expected \(error.expected)\(code) at \(path), found \(error.found)\(end)", path: path,
      expected: error.expected + code
    ).with("meant", error.meant)
  }

  public static func internalError(_ message: String) -> RPCError {
    RPCError(code: -32603, kind: "internalError", message: message)
  }

  public static let cancelled = RPCError(code: -32800, kind: "cancelled", message: "The request was cancelled.")

  static func serverBusy(unread: Int) -> RPCError {
    RPCError(
      code: -31001, kind: "serverBusy",
      message: "\(unread) bytes of earlier answers are unread; the request was not run."
    ).with("unread", unread)
  }

  /// - Parameter what: the limited items, in the plural.
  public static func limitReached(_ what: String, limit: Int) -> RPCError {
    RPCError(
      code: -31004, kind: "limitReached", message: "There are \(limit) \(what) already; the request was not run."
    ).with("what", what).with("limit", limit)
  }

  /// - Parameter advice: what the client can do.
  public static func resultTooLarge(limit: Int, _ advice: String = "ask for less, or observe it") -> RPCError {
    RPCError(
      code: -31002, kind: "resultTooLarge",
      message: "The result would have more than \(limit) bytes: \(advice)."
    ).with("limit", limit)
  }
}
