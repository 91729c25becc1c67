// JSON on the wire: reading, refusals with paths, writing.

import JSON
import Testing

@Suite struct JSONTests {
  /// The significant digits, without exponent and outer zeros.
  private func significant(_ text: String) -> String {
    let digits = text.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
    return String(digits.reversed().drop { $0 == "0" }.reversed())
  }

  @Test(arguments: [
    "0.1", "-0.1", "1e+100", "123456.789", "5e-324", "1.7976931348623157e+308", "-84.25", "0.0", "36.6", "100.0",
    "0.30000000000000004", "12345678.9012345", "-179.9999999", "1e-07", "9007199254740993.0",
  ])
  func `a double is written as the shortest text that reads back the same`(text: String) throws {
    let value = try #require(Double(text))
    var writer = JSONWriter()
    writer.value(value)
    #expect(Double(writer.string) == value)
    #expect(significant(writer.string) == significant(value.description))
    #expect(try JSONDocument(writer.string).read { try $0.double() } == value)
  }

  @Test func `a million random doubles read back`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      let short = (value.truncatingRemainder(dividingBy: 180) * 1e6).rounded() / 1e6
      for number in [value, short] {
        var writer = JSONWriter()
        writer.value(number)
        #expect(Double(writer.string) == number)
      }
    }
  }

  @Test func `a document of values equals that of their text, names and texts with NUL and empty ones included`() throws
  {
    let text = #"{"":"","a\u0000b":1.5,"n":[null,true,false,-9223372036854775808,[],{}],"s":"\u0000é"}"#
    let made = JSONDocument { tree in
      let list = [
        tree.null(), tree.bool(true), tree.bool(false), tree.integer(.min), tree.array([]), tree.object([]),
      ]
      return tree.object([
        ("", tree.string("")), ("a\u{0}b", tree.number(1.5)), ("n", tree.array(list)), ("s", tree.string("\u{0}é")),
      ])
    }
    #expect(made.read { $0.jsonText } == text)
    #expect(
      JSONDocument { $0.array([$0.number(.nan), $0.number(.infinity), $0.number(2)]) }.read { $0.jsonText }
        == "[null,null,2.0]")
  }

  @Test func `NaN and infinities are null, and negative zero keeps its sign`() {
    var writer = JSONWriter()
    writer.beginArray()
    for value in [Double.nan, .infinity, -.infinity, -0.0] { writer.value(value) }
    writer.value(Int64.min)
    writer.value(Int64.max)
    writer.endArray()
    #expect(writer.string == "[null,null,null,-0.0,-9223372036854775808,9223372036854775807]")
  }

  @Test func `strings are escaped by RFC 8259 and read back`() throws {
    let text = "a\"b\\c\u{0}\u{1}\u{8}\t\n\u{c}\r\u{1f} é 世 🌍 /"
    var writer = JSONWriter()
    writer.value(text)
    #expect(writer.string == #""a\"b\\c\u0000\u0001\b\t\n\f\r\u001f é 世 🌍 /""#)
    #expect(try JSONDocument(writer.string).read { try $0.string() } == text)
  }

  @Test(arguments: [
    (#"{"params":{"viewpoint":{"scale":"x"}}}"#, "/params/viewpoint/scale", "number", "string"),
    (#"{"params":{"viewpoint":{}}}"#, "/params/viewpoint/scale", "number", "absent"),
    (#"{"params":{"viewpoint":{"scale":true}}}"#, "/params/viewpoint/scale", "number", "bool"),
  ])
  func `an error has path, expected and found`(text: String, path: String, expected: String, found: String)
    throws
  {
    let document = try JSONDocument(text)
    let error = try #require(throws: JSONError.self) {
      try document.read { try $0["params"]["viewpoint"]["scale"].double() }
    }
    #expect(document.read { error.path(from: $0) } == path)
    #expect(error.expected == expected)
    #expect(error.found == found)
  }

  @Test func `the path of a shared value is found by its container`() throws {
    let document = try JSONDocument(#"[{"a/b":[null,true]},{"a/b":[null,true]}]"#)
    let path = document.read { root in
      var path = ""
      root[1].forEachMember { _, value in path = value[1].typeError(expected: "number").path(from: root) }
      return path
    }
    #expect(path == "/1/a~1b/1")
  }

  @Test(arguments: [
    ("{", JSONSyntaxError.Kind.malformed), (#"{"a":1,"a":2}"#, .duplicateKey), (#""\ud800""#, .malformed),
    ("[1,]", .malformed), ("1e400", .malformed), (#"{"a\u0000":1}"#, .malformed), ("1 2", .malformed),
    ("", .malformed), (String(repeating: "[", count: 3000), .tooDeep),
  ])
  func `malformed JSON is refused with its kind`(text: String, kind: JSONSyntaxError.Kind) {
    let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(text) }
    #expect(error?.kind == kind)
  }

  @Test(arguments: ["x", ",]", "]]", " 1e400]", ""])
  func `an error behind integers beyond 64 bits is where it is behind others of their length`(end: String) {
    func offset(_ digits: String) -> Int? {
      #expect(throws: JSONSyntaxError.self) { try JSONDocument("[\(digits), -\(digits)" + end) }?.offset
    }
    #expect(offset("9999999999999999999") == offset("0.99999999999999999"))
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument([0x22, 0xFF, 0x22]) }
    #expect(error?.kind == .invalidUTF8)
  }

  @Test func `too many values are refused before they take memory`() {
    let text = "[" + String(repeating: "1,", count: 100) + "1]"
    let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(Array(text.utf8), maximum: 50) }
    #expect(error?.kind == .tooManyValues)
  }

  @Test func `a whole real counts as an integer, a fraction does not`() throws {
    let document = try JSONDocument("[3.0, 3.5, 9007199254740993]")
    #expect(try document.read { try $0[0].integer() } == 3)
    #expect(throws: JSONError.self) { try document.read { try $0[1].integer() } }
    #expect(try document.read { try $0[2].integer() } == 9_007_199_254_740_993)
  }

  @Test func `a value is written again as it was read`() throws {
    let text = #"{"b":[1,2.5,"x",null,true,false,{}],"a":{"c":[]}}"#
    #expect(try JSONDocument(text).read(\.jsonText) == text)
  }

  @Test(arguments: [1000, 33_000, 100_000])
  func `long strings are read as short ones are`(count: Int) throws {
    let long = String(decoding: (0..<count).map { UInt8(65 + $0 % 26) }, as: UTF8.self)
    for text in [
      #"{"a":"\#(long)","b":["\#(long)=",{"c":"\#(long)"},"x"],"d":"\#(long)\n\#(long)","e":"é\#(long)","f":"\#(long)\\"}"#,
      #"{"a":"\#(long)","\#(long)":1}"#, #""\#(long)""#,
    ] {
      #expect(try JSONDocument(text).read(\.jsonText) == text)
    }
    for text in [
      #""a"\#(long)"b""#, #"["\#(long)" "\#(long)"]"#, #"["\#(long)]"#, #"["\#(long)"]]"#, #"["\#(long)\x", "\#(long)"]"#, #"[1\#(long)"", ""]"#,
    ] {
      let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(text) }
      #expect(error?.kind == .malformed)
    }
    let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(#"{"\#(long)":1,"b":"\#(long)","\#(long)":2}"#) }
    #expect(error?.kind == .duplicateKey)
  }

  @Test func `bytes, values and depth are known from the text, in whatever pieces it comes`() throws {
    let text = Array(#"{"a": [1, {"b": "]}\\\"[,"}], "c": [[[]]], "\\": "\u00e9,"}"#.utf8)
    var whole = JSONMeasure()
    text.withUnsafeBytes { whole.add($0) }
    #expect(whole.bytes == text.count)
    #expect(whole.depth == 4)
    for cut in 0...text.count {
      var parts = JSONMeasure()
      text[..<cut].withUnsafeBytes { parts.add($0) }
      text[cut...].withUnsafeBytes { parts.add($0) }
      #expect((parts.values, parts.depth) == (whole.values, whole.depth))
    }
    // What it counts is what the reader refuses.
    let deep = String(repeating: "[", count: JSONDocument.maximumDepth)
    var measure = JSONMeasure()
    deep.utf8.withContiguousStorageIfAvailable { measure.add(UnsafeRawBufferPointer($0)) }
    #expect(measure.depth == JSONDocument.maximumDepth)
    let ends = String(repeating: "]", count: JSONDocument.maximumDepth)
    #expect(throws: Never.self) { try JSONDocument(deep + ends) }
    #expect(throws: JSONSyntaxError.self) { try JSONDocument("[" + deep + ends + "]") }
  }
}
