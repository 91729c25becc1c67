// Expressions in CQL2 JSON.

import JSON

extension Expression {
  /// Reads an expression in either encoding: a string is CQL2 text, any other value is CQL2 JSON (OGC 21-065r2).
  ///
  /// For CQL2 JSON, ``text`` is the same expression as text, and errors have the JSON Pointer of the value that caused them.
  public init(_ value: JSONValue) throws(ExpressionError) {
    guard value.kind != .string else {
      try self.init(value.withUTF8 { String(decoding: $0, as: UTF8.self) })
      return
    }
    let (text, source) = try JSONExpressionReader.read(value)
    try self.init(text, source)
  }

  /// The expression in CQL2 JSON, which ``init(_:)`` reads. `CASE` is `{"op": "case", "args": [condition, value, ..., else]}`; a
  /// sign is a multiplication by -1. A single text literal becomes `"'text'"`, since a string is an expression in CQL2 text.
  ///
  /// - Throws: `tooDeep` if operations nest deeper than ``jsonDepthLimit``: CQL2 JSON has no chains.
  public func json() throws(ExpressionError) -> String {
    if case .literal(let number) = tree.nodes[tree.root], case .string(let text) = tree.parts.literals[number] {
      var writer = JSONWriter(capacity: text.utf8.count + 8)
      writer.value(Expression.quoted(text))
      return writer.string
    }
    return try standardJSON()
  }

  private func standardJSON() throws(ExpressionError) -> String {
    var writer = JSONExpressionWriter(tree: tree)
    guard writer.write(tree.root) else {
      throw ExpressionError(
        .tooDeep, at: 0, in: text.utf8, expected: "at most \(Self.jsonDepthLimit) operations inside one another",
        found: "more")
    }
    return writer.text
  }

  /// The same expression in a normal form: text -> JSON -> text.
  ///
  /// - Throws: errors of ``json()``, and `tooLong` if the normal form is longer than ``lengthLimit``.
  public func normalized() throws(ExpressionError) -> String {
    guard let document = try? JSONDocument(try standardJSON()) else { return text }
    do throws(ExpressionError) {
      return try document.read { (value) throws(ExpressionError) in try JSONExpressionReader.read(value).text }
    } catch {
      // A position in the normal form is not a position in the request.
      throw ExpressionError(
        error.kind, at: 0, in: text.utf8, expected: "\(error.expected) in the normal form", found: error.found)
    }
  }
}
