// Lays out a document's JSON for readers and diffs: one member per line, short values on one line, two spaces per level.

import GeoModel
import JSON

/// Writes objects and lists with line breaks into a buffer.
struct DocumentLayout: ~Copyable {
  var out = JSONWriter(capacity: 1 << 20)
  private var depth = 0
  private var isFirst = true
  /// Maximum length of a line, in bytes. Longer values are broken into one line per element.
  private static let lineLength = 110

  // MARK: Structure

  mutating func beginObject() { begin(UInt8(ascii: "{")) }
  mutating func endObject() { end(UInt8(ascii: "}")) }
  mutating func endList() { end(UInt8(ascii: "]")) }

  mutating func beginList(_ name: String) {
    var name = name
    name.withUTF8 { member($0) }
    begin(UInt8(ascii: "["))
  }

  private mutating func begin(_ bracket: UInt8) {
    out.append(byte: bracket)
    depth += 1
    isFirst = true
  }

  private mutating func end(_ bracket: UInt8) {
    depth -= 1
    if !isFirst { newLine() }
    out.append(byte: bracket)
    isFirst = false
  }

  private mutating func newLine() {
    out.append(byte: UInt8(ascii: "\n"))
    for _ in 0..<depth { out.append("  ") }
  }

  /// Writes the separator and the line break before an element.
  mutating func element() {
    if !isFirst { out.append(byte: UInt8(ascii: ",")) }
    isFirst = false
    newLine()
  }

  private mutating func member(_ name: UnsafeBufferPointer<UInt8>) {
    element()
    var text = JSONWriter(capacity: 64)
    text.value(utf8: name)
    out.append(text.bytes)
    out.append(": ")
  }

  /// Ends a list whose elements were written directly into ``out``, one per line.
  mutating func endLines(isEmpty: Bool) {
    isFirst = isEmpty
    endList()
  }

  /// Writes a member whose value is given as JSON text.
  mutating func member(_ name: StaticString, json: UnsafeRawBufferPointer) {
    member(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    out.append(json)
  }

  // MARK: Values

  /// Writes the members of an object, merged with its unknown members, but without lists of other objects, which the writer
  /// writes separately.
  mutating func members(_ own: some JSONEncodable, _ unknown: UnknownMembers.Object?) throws(JSONSyntaxError) {
    // The layout depends only on the content, so that opening and saving a document again gives the same bytes.
    let text = try unknown?.merged(with: own.jsonText) ?? own.jsonText
    try JSONDocument(text).read { object in
      members(object) { !SavedObjects.lists.contains(String(decoding: $0, as: UTF8.self)) }
    }
  }

  private mutating func members(
    _ object: JSONValue, where isWritten: (UnsafeBufferPointer<UInt8>) -> Bool = { _ in true }
  ) {
    object.forEachMember { name, value in
      guard isWritten(name) else { return }
      member(name)
      self.value(value)
    }
  }

  private mutating func value(_ value: JSONValue) {
    var line = JSONWriter(capacity: 256)
    value.encode(to: &line)
    let isFlat = value.kind == .array && (0..<value.count).allSatisfy { value[$0].count == 0 }
    guard value.count > 0, line.count + 2 * depth > Self.lineLength, !isFlat else { return out.append(line.bytes) }
    if value.kind == .object {
      beginObject()
      members(value)
      endObject()
    } else {
      begin(UInt8(ascii: "["))
      for index in 0..<value.count {
        element()
        self.value(value[index])
      }
      endList()
    }
  }
}
