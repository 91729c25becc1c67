// CQL2 JSON: examples of the standard in both encodings, random expressions through both, and errors with their place.

import Geometry
import JSON
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionJSONTests {
  static func expression(json text: String) throws -> Expression {
    let document = try JSONDocument(text)
    return try document.read { try Expression($0) }
  }

  /// Text and JSON of the same expressions; from the examples of OGC 21-065r2 where they have names of its data.
  static let pairs: [(String, String)] = [
    (
      "CASEI(road_class) IN (CASEI('Οδος'), CASEI('Straße'))",
      #"{"op":"in","args":[{"op":"casei","args":[{"property":"road_class"}]},[{"op":"casei","args":["Οδος"]},{"op":"casei","args":["Straße"]}]]}"#
    ),
    (
      "category NOT IN (1, 2)", #"{"op":"not","args":[{"op":"in","args":[{"property":"category"},[1,2]]}]}"#
    ),
    (
      "depth BETWEEN 100.0 AND 150.0", #"{"op":"between","args":[{"property":"depth"},100.0,150.0]}"#
    ),
    (
      "eo:cloud_cover > 0.1 OR name IS NOT NULL",
      #"{"op":"or","args":[{"op":">","args":[{"property":"eo:cloud_cover"},0.1]},{"op":"not","args":[{"op":"isNull","args":[{"property":"name"}]}]}]}"#
    ),
    (
      "name NOT LIKE CASEI('mcdonald''s%')",
      #"{"op":"not","args":[{"op":"like","args":[{"property":"name"},{"op":"casei","args":["mcdonald's%"]}]}]}"#
    ),
    (
      "S_CROSSES(road, BBOX(160.6, -55.95, -170.0, -25.89))",
      #"{"op":"s_crosses","args":[{"property":"road"},{"bbox":[160.6,-55.95,-170.0,-25.89]}]}"#
    ),
    (
      "S_WITHIN(POINT Z (1.0 2.0 3.0), GEOMETRYCOLLECTION (LINESTRING (0.0 0.0, 1.0 1.0), POLYGON ((0.0 0.0, 1.0 0.0, 1.0 1.0, 0.0 0.0))))",
      #"{"op":"s_within","args":[{"type":"Point","coordinates":[1.0,2.0,3.0]},{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0.0,0.0],[1.0,1.0]]},{"type":"Polygon","coordinates":[[[0.0,0.0],[1.0,0.0],[1.0,1.0],[0.0,0.0]]]}]}]}"#
    ),
    (
      "T_FINISHEDBY(INTERVAL(starts, '..'), INTERVAL('1969-07-16', '1969-07-24T16:50:35Z'))",
      #"{"op":"t_finishedBy","args":[{"interval":[{"property":"starts"},".."]},{"interval":["1969-07-16","1969-07-24T16:50:35Z"]}]}"#
    ),
    (
      "updated >= TIMESTAMP('1969-07-16T05:32:00Z') AND day = DATE('1969-07-16')",
      #"{"op":"and","args":[{"op":">=","args":[{"property":"updated"},{"timestamp":"1969-07-16T05:32:00Z"}]},{"op":"=","args":[{"property":"day"},{"date":"1969-07-16"}]}]}"#
    ),
    (
      "A_CONTAINS(layer:ids, ('a', (1, ()), TRUE))",
      #"{"op":"a_contains","args":[{"property":"layer:ids"},["a",[1,[]],true]]}"#
    ),
    (
      "vehicle_height > bridge_clearance - 1 + 2 * 3 % 4 / 5 ^ 2",
      #"{"op":">","args":[{"property":"vehicle_height"},{"op":"+","args":[{"op":"-","args":[{"property":"bridge_clearance"},1]},{"op":"/","args":[{"op":"%","args":[{"op":"*","args":[2,3]},4]},{"op":"^","args":[5,2]}]}]}]}"#
    ),
    (
      "(a + 1) * -2 DIV (3 - (4 - b)) = -1 ^ (2 ^ 3)",
      #"{"op":"=","args":[{"op":"div","args":[{"op":"*","args":[{"op":"+","args":[{"property":"a"},1]},-2]},{"op":"-","args":[3,{"op":"-","args":[4,{"property":"b"}]}]}]},{"op":"^","args":[-1,{"op":"^","args":[2,3]}]}]}"#
    ),
    (
      "NOT (a = 1 OR NOT b = (c = TRUE)) AND (d AND e)",
      #"{"op":"and","args":[{"op":"not","args":[{"op":"or","args":[{"op":"=","args":[{"property":"a"},1]},{"op":"not","args":[{"op":"=","args":[{"property":"b"},{"op":"=","args":[{"property":"c"},true]}]}]}]}]},{"op":"and","args":[{"property":"d"},{"property":"e"}]}]}"#
    ),
    (
      "CASE WHEN a > 1 THEN 'x' ELSE upper(b) END = 'it''s \\\\ \"q\"'",
      #"{"op":"=","args":[{"op":"case","args":[{"op":">","args":[{"property":"a"},1]},"x",{"op":"upper","args":[{"property":"b"}]}]},"it's \\ \"q\""]}"#
    ),
    (
      "\"end\" = \"a \"\"b\"\" c\" AND \"1st\" LIKE 'a\\%\\_\\\\b'",
      #"{"op":"and","args":[{"op":"=","args":[{"property":"end"},{"property":"a \"b\" c"}]},{"op":"like","args":[{"property":"1st"},"a\\%\\_\\\\b"]}]}"#
    ),
    (
      "format('%.1f', a) = formatDate(b, '%Y')",
      #"{"op":"=","args":[{"op":"format","args":["%.1f",{"property":"a"}]},{"op":"formatDate","args":[{"property":"b"},"%Y"]}]}"#
    ),
  ]

  @Test func `NOT has one normal form, and what cannot be written is the whole expression's fault`() throws {
    for (text, normal) in [
      ("NOT (NOT (NOT (u > 'ab')))", "NOT u > 'ab'"), ("NOT NOT NOT NOT a", "NOT (NOT a)"),
      ("NOT (NOT NOT a)", "NOT a"),
      ("NOT (NOT (NOT (NOT (a AND b))))", "NOT (NOT (a AND b))"), ("(NOT (a)) = TRUE", "(NOT a) = TRUE"),
    ] {
      #expect(try Expression(text).normalized() == normal, "\(text)")
      #expect(try Expression(normal).normalized() == normal, "\(text)")
    }
    let long = try Expression(Array(repeating: "n=1", count: 9000).joined(separator: " OR "))
    #expect {
      try long.normalized()
    } throws: { error in
      let error = error as? ExpressionError
      return error?.kind == .tooLong && error?.steps == nil
        && error?.expected == "at most 65536 bytes as text in the normal form"
    }
  }

  @Test func `backslashes keep their meaning through both encodings`() throws {
    for (text, json) in [
      (#"a = 'C:\dir\\new'"#, #"{"op":"=","args":[{"property":"a"},"C:\\dir\\new"]}"#),
      (#"a = 'x\ny'"#, #"{"op":"=","args":[{"property":"a"},"x\ny"]}"#),
      (#"a LIKE 'x\\ny\_\d'"#, #"{"op":"like","args":[{"property":"a"},"x\\\\ny\\_\\d"]}"#),
      (#"a LIKE '%\t'"#, #"{"op":"like","args":[{"property":"a"},"%\t"]}"#),
    ] {
      #expect(try Expression(text).json() == json)
      #expect(try Expression(Self.expression(json: json).text).json() == json)
    }
    // In JSON a backslash before a letter is itself.
    let pattern = try Self.expression(json: #"{"op":"like","args":[{"property":"a"},"x\\ny"]}"#)
    #expect(try pattern.evaluated { _ in .string(#"x\ny"#) } == .bool(true))
    #expect(try Expression(pattern.normalized()).evaluated { _ in .string(#"x\ny"#) } == .bool(true))
  }

  @Test(arguments: pairs)
  func `both encodings of an expression convert to each other`(text: String, json: String) throws {
    let (fromText, fromJSON) = (try Expression(text), try Self.expression(json: json))
    #expect(try fromText.json() == json)
    #expect(
      fromJSON.text
        == text.replacing("eo:cloud_cover", with: "\"eo:cloud_cover\"").replacing("layer:ids", with: "\"layer:ids\""))
    #expect(try fromJSON.json() == json)
    #expect(try fromText.normalized() == fromJSON.text)
  }

  @Test func `random expressions mean the same in both encodings, and convert stably`() throws {
    var random = SplitMix(21_065)
    for _ in 0..<3000 {
      let text = NaiveExpression.condition(&random, depth: 4).text
      guard let first = try? Expression(text) else { continue }
      let json = try first.json()
      let second = try Self.expression(json: json)
      #expect(try second.json() == json, "\(text)")
      #expect(try first.normalized() == second.text, "\(text)")
      #expect(try Expression(second.text).json() == json, "\(text)")
      for number in 0..<3 {
        let values = NaiveExpression.names.map { ($0, AttributeValue.integer(Int64(number * $0.utf8.count - 3))) }
        let value = { (name: String) in values.first { $0.0 == name }?.1 }
        #expect(try first.evaluated(value) == second.evaluated(value), "\(text)")
      }
    }
  }

  @Test func `forms that CQL2 JSON has no word for are written with others`() throws {
    #expect(try Expression("-(a)").json() == #"{"op":"*","args":[-1,{"property":"a"}]}"#)
    #expect(try Expression("iif(a, 1, 2)").normalized() == "CASE WHEN a THEN 1 ELSE 2 END")
    #expect(try Expression("S_EQUALS(g, ENVELOPE(1,2,3,4))").normalized() == "S_EQUALS(g, BBOX(1.0, 2.0, 3.0, 4.0))")
    #expect(try Expression("S_EQUALS(g, POINT EMPTY)").normalized() == "S_EQUALS(g, POINT EMPTY)")
    #expect(
      try Expression("S_EQUALS(g, MULTIPOINT(1 2,3 4))").normalized() == "S_EQUALS(g, MULTIPOINT (1.0 2.0, 3.0 4.0))")
    #expect(try Self.expression(json: "5").text == "5")
    #expect(try Self.expression(json: "\"a = 1\"").text == "a = 1")
  }

  @Test(arguments: [
    (
      #"{"op":"and","args":[{"op":"=","args":[{"property":"a"},1]},{"op":"=","args":[{"property":"b"}]}]}"#,
      "argumentCount", "/args/1/args"
    ),
    (#"{"op":"uper","args":[1]}"#, "unknownFunction", "/op"),
    (#"{"op":"date","args":["2024-01-01"]}"#, "unknownFunction", "/op"),
    (#"{"args":[1]}"#, "syntax", ""), (#"{"op":"=","args":{}}"#, "syntax", "/args"),
    (#"{"op":7,"args":[]}"#, "syntax", "/op"),
    (#"{"op":"or","args":[true,{"op":"+","args":[{"property":"a"},"x"]}]}"#, "type", "/args/1/args/1"),
    (#"{"op":"=","args":[{"property":"a"},null]}"#, "syntax", "/args/1"), (#"{"property":7}"#, "syntax", "/property"),
    (#"{"op":"=","args":[{"property":"a"},{"date":"2024-13-01"}]}"#, "badLiteral", "/args/1/date"),
    (#"{"op":"like","args":[{"property":"a"},{"op":"upper","args":["x"]}]}"#, "syntax", "/args/1"),
    (#"{"op":"in","args":[{"property":"a"},7]}"#, "syntax", "/args/1"),
    (#"{"op":"in","args":[{"property":"a"},["x",null]]}"#, "syntax", "/args/1/1"),
    (#"{"op":"t_after","args":[{"property":"a"},{"interval":["2024-01-01"]}]}"#, "syntax", "/args/1/interval"),
    (
      #"{"op":"t_after","args":[{"property":"a"},{"interval":["2024-01-01","x"]}]}"#, "badLiteral", "/args/1/interval/1"
    ),
    (#"{"op":"s_within","args":[{"property":"a"},{"type":"Circle"}]}"#, "syntax", "/args/1/type"),
    (
      #"{"op":"s_within","args":[{"property":"a"},{"type":"Point","coordinates":[1]}]}"#, "syntax",
      "/args/1/coordinates"
    ),
    (
      #"{"op":"s_within","args":[{"property":"a"},{"type":"LineString","coordinates":[[1,2],[3,"4"]]}]}"#, "syntax",
      "/args/1/coordinates/1/1"
    ),
    (
      #"{"op":"s_within","args":[{"property":"a"},{"type":"LineString","coordinates":[[1,2],[3,4,5]]}]}"#, "badLiteral",
      "/args/1/coordinates/1"
    ),
    (
      #"{"op":"s_within","args":[{"property":"a"},{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}]}"#,
      "badLiteral", "/args/1"
    ),
    (#"{"op":"s_within","args":[{"property":"a"},{"bbox":[0,0,1]}]}"#, "argumentCount", "/args/1/bbox"),
    (#"{"op":"a_equals","args":[{"property":"a"},7]}"#, "type", "/args/1"),
    (#"{"casei":{"property":"a"}}"#, "syntax", ""),
    (#"{"op":"=","args":[{"property":"a","type":"x"},1]}"#, "syntax", "/args/0/type"),
    (#"{"op":"=","args":[1,1],"argz":[]}"#, "syntax", "/argz"),
    (#"{"op":"=","args":[{"property":"a"},{"date":"2024-01-01","timestamp":"x"}]}"#, "syntax", "/args/1/timestamp"),
    (#"{"op":"=","args":[{"property":"a"},{"timestamp":"2024-01-01T00:00:00+01:00"}]}"#, "badLiteral", "/args/1/timestamp"),
    (#"{"op":"s_within","args":[{"property":"a"},{"bbox":[0,0,1,1],"crs":"x"}]}"#, "syntax", "/args/1/crs"),
    (#"{"op":"s_within","args":[{"property":"a"},{"type":"Point","coordinates":[1,2],"crs":4}]}"#, "syntax", "/args/1/crs"),
    (#"{"op":"==","args":[1,1]}"#, "unknownFunction", "/op"),
    (#"{"op":"not","args":[{"op":"between","args":[1,2]}]}"#, "argumentCount", "/args/0/args"),
  ])
  func `errors in JSON lead to the value`(json: String, kind: String, pointer: String) throws {
    let error = try #require(throws: ExpressionError.self) { try Self.expression(json: json) }
    #expect(error.kind.rawValue == kind, "\(error)")
    #expect(error.steps.map { $0.map { "/" + $0 }.joined() } == pointer, "\(error)")
  }

  @Test func `an unknown property of JSON is named where it is, with those there are`() throws {
    let expression = try Self.expression(
      json:
        #"{"op":"and","args":[{"op":">","args":[{"property":"name"},"a"]},{"op":"isNull","args":[{"property":"nam"}]}]}"#
    )
    let schema = FeatureStore(fields: [Field(name: "name", type: .string)]).schema
    let error = try #require(throws: ExpressionError.self) { try expression.compiled(for: schema, as: .condition) }
    #expect(error.kind == .unknownProperty && error.steps == ["args", "1", "args", "0"], "\(error)")
    #expect(error.available == ["name"])
  }

  @Test func `nothing is in an empty list, which JSON has and text has not`() throws {
    let list = #"{"op":"in","args":[{"property":"a"},[]]}"#
    let isIn = try Self.expression(json: list)
    let isNotIn = try Self.expression(json: #"{"op":"not","args":[\#(list)]}"#)
    let compared = try Self.expression(json: #"{"op":"=","args":[true,{"op":"not","args":[\#(list)]}]}"#)
    for value: AttributeValue in [.null, .integer(1), .string("x")] {
      #expect(try isIn.evaluated { _ in value } == .bool(false))
      #expect(try isNotIn.evaluated { _ in value } == .bool(true))
      #expect(try compared.evaluated { _ in value } == .bool(true))
    }
    #expect(try Expression(isIn.normalized()).json() == isIn.json())
    let unknown = try #require(throws: ExpressionError.self) {
      try isIn.compiled(for: FeatureStore().schema, as: .condition)
    }
    #expect(unknown.kind == .unknownProperty && unknown.steps == ["args", "0"])
  }

  @Test func `depth and length are limited in both encodings`() throws {
    let deep = String(repeating: #"{"op":"not","args":["#, count: 200) + "true" + String(repeating: "]}", count: 200)
    #expect(throws: ExpressionError.self) { try Self.expression(json: deep) }
    let limit = Expression.depthLimit
    let calls = String(repeating: "abs(", count: limit) + "a" + String(repeating: ")", count: limit) + " = 3"
    #expect(try Self.expression(json: Expression(calls).json()).text == calls)
    let chain = try Expression("0" + String(repeating: "+1", count: 2000))
    let error = try #require(throws: ExpressionError.self) { try chain.json() }
    #expect(error.kind == .tooDeep)
    #expect(try Expression("0" + String(repeating: "+1", count: 290)).normalized().utf8.count > 290)
    let long = #"{"op":"in","args":[{"property":"a"},["# + String(repeating: "1234567,", count: 9000) + "1]]}"
    let tooLong = try #require(throws: ExpressionError.self) { try Self.expression(json: long) }
    #expect(tooLong.kind == .tooLong)
    let flat = try Expression((0..<3000).map { "a = \($0)" }.joined(separator: " OR "))
    #expect(try Self.expression(json: flat.json()).text == flat.text)
  }
}
