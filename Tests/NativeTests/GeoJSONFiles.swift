// GeoJSON to be read here and by GDAL: members of collections.

/// Splitmix64.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

enum Files {
  private static func collection(_ features: [String], _ more: String = "") -> String {
    #""type":"FeatureCollection"\#(more),"features":[\#(features.joined(separator: ",\n"))]"#
  }

  private static func properties(_ texts: String...) -> String {
    collection(texts.map { #"{"type":"Feature","properties":\#($0),"geometry":null}"# })
  }

  private static func geometries(_ texts: String...) -> String {
    collection(texts.map { #"{"type":"Feature","properties":{},"geometry":\#($0)}"# })
  }

  private static func ids(_ features: (id: String?, properties: String)...) -> String {
    collection(
      features.map { feature in
        #"{"type":"Feature",\#(feature.id.map { #""id":\#($0),"# } ?? "")"properties":\#(feature.properties)}"#
      })
  }

  private static let plain = #"{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#

  static let taken: [String] = [
    collection([]), collection([plain, plain]),
    #""features":[\#(plain)], "bbox":[1,2,3,4] ,"type":"FeatureCollection""#,
    collection([plain], #","name":"n\u00e4me \"x\"","generator":{"a":[1,{"b":null}]}"#),
    collection([plain], #","name":5"#),
    // References.
    collection([plain], #","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}}"#),
    collection([plain], #","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#),
    collection([plain], #","crs":null"#), collection([plain], #","crs":{"type":"EPSG","properties":{"code":3857}}"#),
    // Types.
    properties(#"{"a":1}"#, #"{"a":2.5}"#, #"{"a":null}"#, "{}"), properties(#"{"a":5000000000}"#, #"{"a":1}"#),
    properties(#"{"a":true}"#, #"{"a":false}"#, #"{"a":null}"#), properties(#"{"a":true}"#, #"{"a":7}"#),
    properties(#"{"a":1.5}"#, #"{"a":true}"#, #"{"a":9007199254740993}"#),
    properties(#"{"a":"x"}"#, #"{"a":7}"#, #"{"a":true}"#),
    properties(#"{"a":1}"#, #"{"a":"x"}"#, #"{"a":0.1}"#, #"{"a":"7"}"#, #"{"a":true}"#, #"{"a":{"b":"\n"}}"#),
    properties(#"{"a":null}"#, #"{"a":null}"#), properties(#"{"a":null}"#, #"{"a":3}"#),
    properties(#"{"a":-0}"#, #"{"a":-0.0}"#),
    properties(#"{"a":{"b":[1, 2.50, "é\u00e9", {"c":null}]}}"#, #"{"a":{}}"#, #"{"a":"s"}"#),
    properties(#"{"a":[1,2]}"#, #"{"a":[]}"#, #"{"a":[5000000000]}"#), properties(#"{"a":[1.5,2]}"#, #"{"a":[3]}"#),
    properties(#"{"a":["x","y\""]}"#, #"{"a":[]}"#), properties(#"{"a":[1,"x"]}"#, #"{"a":[[1]]}"#, #"{"a":[null]}"#),
    properties(#"{"a":[]}"#, #"{"a":[1]}"#), properties(#"{"a":[1]}"#, #"{"a":"x"}"#),
    properties(#"{"a":[1]}"#, #"{"a":{}}"#),
    properties(#"{"s":"\u00fc\ud83d\ude00\/\b\f\n\r\t\"\\é漢😀"}"#), properties(#"{"b c":2,"\u0061":3}"#),
    properties(
      #"{"a":1e5}"#, #"{"a":1E-7}"#, #"{"a":123456789012345678901234567890.5}"#, #"{"a":0.30000000000000004}"#),
    // Dates and times.
    properties(#"{"a":"2024-02-29"}"#, #"{"a":"2024/3/1"}"#, #"{"a":null}"#),
    properties(
      #"{"a":"2024-02-29T12:30:00Z"}"#, #"{"a":"2024-02-29 12:30:00.25"}"#, #"{"a":"2024-02-29T12:30:00+05:30"}"#),
    properties(#"{"a":"2024-02-29"}"#, #"{"a":"2024-02-29T12:30:00-0330"}"#),
    properties(#"{"a":"12:30"}"#, #"{"a":"12:30:59.999"}"#),
    properties(#"{"a":"2024-02-29T12:30"}"#, #"{"a":"2024-02-29"}"#),
    properties(#"{"a":"12:30"}"#, #"{"a":"2024-02-29"}"#),
    properties(#"{"a":"2024-02-29"}"#, #"{"a":"tomorrow"}"#), properties(#"{"a":"2024-02-29"}"#, #"{"a":5}"#),
    properties(#"{"a":"2024-13-01"}"#), properties(#"{"a":"1-2"}"#), properties(#"{"a":"12:30 Uhr"}"#),
    properties(#"{"a":"+1-2-3"}"#),
    properties(#"{"a":" 2024-02-29T12:30:00+1"}"#), properties(#"{"a":"99-1-1 1:2:60 +130"}"#),
    properties(#"{"a":"24:00"}"#),
    properties(#"{"a":"x"}"#, #"{"a":"2024-02-29"}"#), properties(#"{"a":"40000-01-01"}"#),
    properties(#"{"a":"2024-02-29\u0020"}"#),
    // The order of fields.
    properties(#"{"b":1,"a":2}"#, #"{"a":1,"c":2}"#), properties(#"{"a":1,"c":2}"#, #"{"a":1,"b":2,"c":3}"#),
    properties(#"{"b":1,"a":2}"#, #"{"a":1,"b":2}"#),
    properties(#"{"z":1}"#, #"{"y":1}"#, #"{"x":1,"y":2,"z":3}"#, #"{"ä":1,"Z":2}"#),
    // Ids.
    ids(("7", "{}"), ("9", "{}")), ids(("7", "{}"), (nil, "{}"), (nil, "{}")),
    ids(("0", #"{"a":1,"id":5}"#), ("3", #"{"a":1}"#)),
    ids((#""x""#, #"{"a":1}"#), (#""y\n""#, #"{"a":2}"#)),
    ids((#""x""#, #"{"a":1,"id":"p"}"#), (#""y""#, #"{"id":"q"}"#)),
    ids((nil, #"{"a":1,"id":5}"#), (nil, #"{"id":null,"a":1}"#), (nil, #"{"a":1}"#)), ids(("-4", "{}"), ("-5", "{}")),
    ids((nil, #"{"id":"s"}"#), (#""t""#, "{}")), ids((#""x""#, #"{"id":null}"#), (#""y""#, "{}")), ids(("null", "{}")),
    ids((#""x""#, #"{"id":5}"#), (#""y""#, #"{"id":6}"#)), ids((nil, #"{"id":-1}"#), (nil, #"{"id":-7}"#)),
    ids(("7", "{}"), ("-1", "{}"), ("8", "{}")), ids((#""2024-01-01""#, "{}")), ids((#""x""#, "{}"), ("5", "{}")),
    // Geometries.
    geometries(#"{"type":"Point","coordinates":[1,2,3]}"#, #"{"type":"Point","coordinates":[4.25,-5e1]}"#),
    geometries(#"{"type":"Point","coordinates":[1,2]}"#, "null", #"{"coordinates":[1,2,3,4,5],"type":"Point"}"#),
    geometries(
      #"{"type":"LineString","coordinates":[[0,0],[1,1,5],[2,2]]}"#, #"{"type":"LineString","coordinates":[[0,0]]}"#),
    geometries(
      #"{"type":"MultiPoint","coordinates":[[0,0],[1,1]]}"#, #"{"type":"MultiPoint","coordinates":[[0,0],[1,1,2]]}"#),
    geometries(
      #"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2],[3,3],[4,4]]],"bbox":[0,0,4,4],"x":{}}"#),
    geometries(#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}"#),
    geometries(
      #"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]],[[5,5],[5.5,5],[5.5,5.5],[5,5]]]]}"#
    ),
    geometries(
      #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"MultiPolygon","coordinates":[[[[0,0,9],[1,0],[1,1],[0,0]]]]},{"coordinates":[[0,0],[1,1]],"type":"LineString"}]}"#
    ),
    geometries(#"{"type":"Point","coordinates":[1,2]}"#, #"{"type":"MultiPoint","coordinates":[[1,2,3]]}"#),
    geometries(#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4]]]}"#, "null"),
    // Members of features.
    collection([#"{"properties":null,"type":"Feature","geometry":null}"#, plain]),
    collection([#"{"bbox":[1,2,3,4],"type":"Feature","properties":{"type":"x","geometry":1},"title":"t"}"#]),
  ]

  /// What is not read here.
  static let left: [String] = [
    properties(#"{"a":"x"}"#, #"{"a":1.5}"#), properties(#"{"a":[true]}"#), properties(#"{"a":1}"#, #"{"a":[1]}"#),
    properties(#"{"a":1,"a":2}"#), properties(#"{"a":{"b":1,"b":2}}"#), properties(#"{"a":9223372036854775808}"#),
    properties(#"{"a":NaN}"#), properties(#"{"a":1e400}"#), properties(#"{"a":"\ud800"}"#),
    properties("[]"), properties(#"{"":1}"#), ids(("1.5", "{}")), ids(("1", "{}"), (#""x""#, "{}")),
    ids((nil, #"{"id":1,"ID":2}"#)),
    collection([#"{"type":"feature","properties":{}}"#]), collection([#"{"type":"Feature","Properties":{}}"#]),
    collection([#"{"type":"Feature","a":1}"#]), collection(["null"]), #""type":"Feature","properties":{}"#,
    #""type":"Point","coordinates":[1,2]"#, #""type":"Topology","objects":{},"arcs":[]"#, #""features":[]"#,
    geometries(#"{"type":"Point","coordinates":[]}"#), geometries(#"{"type":"Point","coordinates":["1",2]}"#),
    geometries(#"{"type":"Point"}"#), geometries(#"{"type":"Circle","coordinates":[1,2]}"#),
    geometries(#"{"type":"Polygon","coordinates":[[]]}"#),
    geometries(#"{"type":"GeometryCollection","geometries":[]}"#),
    geometries(#"{"type":"Point","coordinates":[1,2],"crs":{}}"#),
    geometries(#"{"type":"LineString","coordinates":[1,2]}"#),
    collection([
      #"{"properties":null,"type":"Feature","geometry":null}"#, #"{"type":"Feature","properties":{"type":1}}"#,
    ]),
  ]
}

/// Collections whose features have some names, types and geometries in common.
struct RandomCollection {
  private var random: SplitMix64
  init(seed: UInt64) { random = SplitMix64(state: seed) }

  private mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<100, using: &random) < part }
  private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

  private static let values: [[String]] = [
    ["1", "-7", "2147483648", "0", "null"], ["1.5", "-0.25", "1e3", "12", "0.1234567890123456789"],
    ["true", "false", "null"],
    [#""a""#, #""é\n""#, #""\u00e9\ud83d\ude00""#, #""""#, "null"],
    [#""2024-01-31""#, #""2024-01-31T10:20:30Z""#, "null", #""2024/1/2""#, #""2024-01-31T10:20:30.125+02:00""#],
    ["{}", #"{"k":[1,2,{"z":0.1}]}"#, #"{"k" : "v\"" , "l":null}"#], ["[1,2]", "[]", "[5000000000]", "[3]"],
    ["[0.5,1]", "[2]", "[1e3]"], [#"["x"]"#, #"["y","z"]"#, "[]"], ["1", #""x""#, "null", "{}", "2.5", "true"],
    [#""10:30""#, #""10:30:15.5""#], [#""1-1-1""#, #""x-y""#, #""12:5""#],
  ]
  private static let geometries = [
    #"{"type":"Point","coordinates":[1.5,-2]}"#, #"{"type":"Point","coordinates":[1,2,3]}"#, "null",
    #"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#, #"{"type":"MultiPoint","coordinates":[[0,0,1],[1,1]]}"#,
    #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#,
    #"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#,
    #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#,
  ]
  private static let identifiers = [[], ["1", "2", "77"], [#""x""#, #""y""#], ["-3", "-4", "null"]]

  mutating func members() -> String {
    let names = ["a", "b", "B", "id", "name", "é", "x y"].filter { _ in chance(60) }
    let types = names.map { _ in Int.random(in: 0..<Self.values.count, using: &random) }
    let shapes = chance(60) ? [pick(Self.geometries), "null"] : Self.geometries
    let identifiers = Self.identifiers.randomElement(using: &random) ?? []
    let features = (0..<Int.random(in: 1...8, using: &random)).map { _ in
      var fields = zip(names, types).filter { _ in chance(85) }
      if chance(20) { fields.shuffle(using: &random) }
      let properties = fields.map { name, type in
        #""\#(name)":\#(pick(Self.values[chance(97) ? type : Int.random(in: 0..<Self.values.count, using: &random)]))"#
      }
      var members = [
        #""type":"Feature""#, #""properties":\#(chance(3) ? "null" : "{\(properties.joined(separator: " , "))}")"#,
      ]
      if chance(95) { members.append(#""geometry":\#(pick(shapes))"#) }
      if !identifiers.isEmpty, chance(90) { members.append(#""id":\#(pick(identifiers))"#) }
      if chance(20) { members.shuffle(using: &random) }
      return "{\(members.joined(separator: chance(50) ? "," : ",\n  "))}"
    }
    var members = [#""type":"FeatureCollection""#, #""features":[\#(features.joined(separator: ",\n"))]"#]
    if chance(20) { members.append(#""name":"layer""#) }
    if chance(10) { members.append(#""crs":{"type":"name","properties":{"name":"EPSG:3857"}}"#) }
    if chance(30) { members.swapAt(0, members.count - 1) }
    return members.joined(separator: ",")
  }
}
