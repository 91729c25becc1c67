// What the JSON reader accepts is written as a text that is read as the same value.

import JSON

extension FuzzTarget {
  static let json = FuzzTarget(
    name: "json",
    words: ["true", "false", "null", "\\u00e9", "\\ud83d\\ude00", "1e308", "9223372036854775808", "-0.0"],
    seeds: { try Seeds.lines() },
    run: { (input) throws(Broken) in
      let document: JSONDocument
      do throws(JSONSyntaxError) { document = try JSONDocument(input) } catch {
        return try check((0...input.count).contains(error.offset), "an error at \(error.offset)")
      }
      try document.read { (value) throws(Broken) in
        touch(value)
        let text = value.jsonText
        let again = try accepted("what was written is refused") { () throws(JSONSyntaxError) in
          try JSONDocument(text)
        }
        try again.read { (copy) throws(Broken) in
          try check(value.isEqual(to: copy) && copy.isEqual(to: value), "written as \(text)")
          try check(copy.jsonText == text, "written as \(text), then as \(copy.jsonText)")
        }
      }
    })
}

/// Reads a value in every way that fits no type.
private func touch(_ value: JSONValue) {
  _ = try? value.integer()
  _ = try? value.double()
  _ = try? value.bool()
  _ = (try? value.string())?.utf8.count
  _ = try? value.dictionary { (member) throws(JSONError) in member.kind }
  var numbers: [Double] = []
  try? value.appendNumbers(to: &numbers)
  _ = value["id"].error(expected: "nothing").found
  switch value.kind {
  case .array: for index in 0..<value.count { touch(value[index]) }
  case .object: value.forEachMember { touch($1) }
  default: break
  }
}
