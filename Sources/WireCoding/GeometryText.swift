// Geometries as text of standard forms.

import GeoProtocol
import Geometry
import JSON
import JSONRPC

package enum GeometryText {
  /// - Parameter wkt: the reference of ESRI JSON if it has no code.
  /// - Throws: `invalidGeometry` for a form that has no such geometry.
  package static func write(
    _ geometry: Geometry, as form: GeometryProtocol.GeometryFormat, in reference: SpatialReference?, wkt: String?
  ) throws(RPCError) -> String {
    switch form {
    case .wkt: return geometry.wkt
    case .wkb: return String(decoding: geometry.wkb().withUnsafeBytes { Base64.encode($0) }, as: UTF8.self)
    case .ewkb: return hexadecimal(geometry.ewkb(reference?.epsgCode))
    case .geojson: return text { GeometryWriter.write(geometry, measures: false, to: &$0) {} }
    case .esriJson:
      if case .collection = geometry {
        throw RPCError(.invalidGeometry, "ESRI JSON has no collections.", expected: "points, lines or polygons")
      }
      return text { EsriGeometry.write(geometry, in: reference?.esriNumber, wkt, to: &$0) }
    }
  }

  private static func text(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter(capacity: 256)
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The geometry of a text, and the spatial reference that it states.
  package static func read(
    _ text: String, as form: GeometryProtocol.GeometryFormat, checking check: () throws -> Void
  ) throws -> (geometry: Geometry, reference: SpatialReference?) {
    func wrapped(_ type: String, _ member: StaticString, _ value: String) throws -> Geometry {
      let json = self.text { writer in
        writer.beginObject()
        writer.member("type", type)
        writer.member(member, value)
        writer.endObject()
      }
      return try document(json) { value in try GeometryReader.read(value) }
    }
    switch form {
    case .wkt: return (try wrapped("WKT", "text", text), nil)
    case .wkb: return (try wrapped("WKB", "data", text), nil)
    case .ewkb:
      guard let bytes = bytes(ofHexadecimal: text) else {
        throw RPCError(.invalidGeometry, "The geometry is invalid.", expected: "pairs of hexadecimal digits")
      }
      let code = bytes.withUnsafeBytes { WKB.spatialReference(of: $0) }
      let read = bytes.withUnsafeBytes { bytes in Result { () throws(WKBError) in try Geometry(wkb: bytes) } }
      switch read {
      case .success(let geometry): return (geometry, code.map { SpatialReference("EPSG:\($0)") })
      case .failure(let error): throw RPCError(.invalidGeometry, "The geometry is invalid.", expected: error.description)
      }
    case .geojson: return try document(text) { value in (try GeometryReader.read(value), try reference(ofGeoJSON: value)) }
    case .esriJson:
      return try document(text) { value in
        do { return try EsriGeometry.read(value, checking: check) } catch let error as JSONError { throw WireFault(.invalidGeometry, error) }
      }
    }
  }

  /// What the member `crs` names, which GeoJSON had before RFC 7946, and PostGIS writes.
  private static func reference(ofGeoJSON value: JSONValue) throws(WireFault) -> SpatialReference? {
    let given = value["crs"]
    guard given.isPresent else { return nil }
    guard (try? given["type"].string()) == "name", let name = try? given["properties"]["name"].string(), !name.isEmpty else {
      throw WireFault(.invalidGeometry, given.error(expected: #"{"type": "name", "properties": {"name": "EPSG:..."}}"#))
    }
    return SpatialReference(name)
  }

  private static func document<R>(_ text: String, _ read: (JSONValue) throws -> R) throws -> R {
    try JSONDocument(text).read { value in try read(value) }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}

extension SpatialReference {
  /// The number of an EPSG code.
  var epsgCode: Int? { code(of: "EPSG:") }
  /// The number by which Esri has it: an EPSG code, or one of Esri's, which are beyond those.
  package var esriNumber: Int? { epsgCode ?? code(of: "ESRI:") }

  private func code(of authority: String) -> Int? {
    definition.hasPrefix(authority) ? Int(definition.dropFirst(authority.count)) : nil
  }

  /// That of a code which is of EPSG up to 32767, and then of Esri, which has some of EPSG's under another number.
  fileprivate init(wkid code: Int) {
    self.init(code == 102100 || code == 102113 ? "EPSG:3857" : code > 32767 ? "ESRI:\(code)" : "EPSG:\(code)")
  }
}

/// The JSON of the ArcGIS REST API: points, multipoints, paths and rings; outer rings are clockwise.
enum EsriGeometry {
  static func write(_ geometry: Geometry, in code: Int?, _ wkt: String?, to writer: inout JSONWriter) {
    writer.beginObject()
    switch geometry {
    case .point(let point):
      // An empty point has NaN as text.
      if let point {
        writer.member("x", point.x)
        writer.member("y", point.y)
        writer.member("z", point.z)
        writer.member("m", point.m)
      } else {
        writer.member("x", "NaN")
      }
    case .multiPoint(let points):
      flags(points, &writer)
      writer.key("points")
      run(points, &writer)
    case .lineString, .multiLineString, .polygon, .multiPolygon, .collection:
      var lines: [Positions] = []
      geometry.flippedRings.forEachPositions { lines.append($0) }
      if let first = lines.first { flags(first, &writer) }
      if geometry.dimension == 2 { writer.key("rings") } else { writer.key("paths") }
      writer.beginArray()
      for line in lines { run(line, &writer) }
      writer.endArray()
    }
    if code != nil || wkt != nil {
      writer.key("spatialReference")
      writer.beginObject()
      if let code { writer.member("wkid", code) } else { writer.member("wkt", wkt) }
      writer.endObject()
    }
    writer.endObject()
  }

  private static func flags(_ positions: Positions, _ writer: inout JSONWriter) {
    if positions.hasZ { writer.member("hasZ", true) }
    if positions.hasM { writer.member("hasM", true) }
  }

  private static func run(_ positions: Positions, _ writer: inout JSONWriter) {
    writer.beginArray()
    for start in stride(from: 0, to: positions.values.count, by: positions.stride) {
      writer.beginArray()
      for value in positions.values[start..<start + positions.stride] {
        if value.isNaN { writer.null() } else { writer.value(value) }
      }
      writer.endArray()
    }
    writer.endArray()
  }

  static func read(_ value: JSONValue, checking check: () throws -> Void) throws -> (Geometry, SpatialReference?) {
    try value.requireObject()
    let given = value["spatialReference"]
    var reference: SpatialReference?
    if given.isPresent {
      try given.requireObject()
      let code = given["latestWkid"].isPresent ? given["latestWkid"] : given["wkid"]
      if code.isPresent {
        reference = SpatialReference(wkid: try code.integer())
      } else if given["wkt"].isPresent {
        reference = SpatialReference(try given["wkt"].string())
      }
    }
    let geometry = try shape(value, check)
    var hasZ = false
    geometry.forEachPositions { hasZ = hasZ || $0.hasZ }
    if hasZ, let code = reference?.epsgCode, let height = try vertical(given) { reference = SpatialReference("EPSG:\(code)+\(height)") }
    if let fault = geometry.fault { throw WireFault(.invalidGeometry, value.error(expected: fault.expected)) }
    return (geometry, reference)
  }

  /// The code of heights, if it is one of EPSG.
  private static func vertical(_ given: JSONValue) throws(JSONError) -> Int? {
    let code = given["latestVcsWkid"].isPresent ? given["latestVcsWkid"] : given["vcsWkid"]
    guard code.isPresent, case let number = try code.integer(), (1...32767).contains(number) else { return nil }
    return number
  }

  private static func shape(_ value: JSONValue, _ check: () throws -> Void) throws -> Geometry {
    for name: StaticString in ["curveRings", "curvePaths"] where value[name].isPresent {
      throw WireFault(.invalidGeometry, value[name].error(expected: "straight sides: arcs and curves are not read"))
    }
    let hasZ = try value["hasZ"].isPresent && value["hasZ"].bool()
    let hasM = try value["hasM"].isPresent && value["hasM"].bool()
    func positions(_ run: JSONValue) throws -> Positions {
      guard run.kind == .array else { throw WireFault(.invalidGeometry, run.error(expected: "an array of positions")) }
      var positions = Positions(hasZ: hasZ, hasM: hasM)
      for index in 0..<run.count {
        let numbers = run[index]
        guard numbers.kind == .array, numbers.count >= 2 else {
          throw WireFault(.invalidGeometry, numbers.error(expected: "a position of two to four numbers"))
        }
        positions.append(
          Point(
            x: try numbers[0].double(), y: try numbers[1].double(), z: hasZ ? try ordinate(numbers[2]) : nil,
            m: hasM ? try ordinate(numbers[hasZ ? 3 : 2]) : nil))
      }
      return positions
    }
    func runs(_ name: StaticString) throws -> [Positions] {
      guard value[name].kind == .array else { throw WireFault(.invalidGeometry, value[name].error(expected: "an array")) }
      return try (0..<value[name].count).map { try positions(value[name][$0]) }
    }
    if value["rings"].isPresent { return try .polygons(ofRings: try runs("rings"), checking: check) }
    if value["paths"].isPresent {
      let lines = try runs("paths")
      return lines.count == 1 ? .lineString(lines[0]) : .multiLineString(lines)
    }
    if value["points"].isPresent { return .multiPoint(try positions(value["points"])) }
    if value["xmin"].isPresent { return try envelope(value) }
    let x = value["x"]
    // That of an empty point.
    if x.isNull || isNaN(x) { return .point(nil) }
    guard let x = x.number, let y = value["y"].number else {
      throw WireFault(.invalidGeometry, value.error(expected: "numbers `x` and `y`, `points`, `paths`, `rings`, or `xmin`, `ymin`, `xmax` and `ymax`"))
    }
    return .point(Point(x: x, y: y, z: try ordinate(value["z"]), m: try ordinate(value["m"])))
  }

  /// A polygon in two dimensions; empty if `xmin` is NaN.
  private static func envelope(_ value: JSONValue) throws -> Geometry {
    if isNaN(value["xmin"]) { return .polygon([]) }
    let box = Envelope(
      xMin: try value["xmin"].double(), yMin: try value["ymin"].double(), xMax: try value["xmax"].double(), yMax: try value["ymax"].double())
    guard box.xMin <= box.xMax, box.yMin <= box.yMax else {
      throw WireFault(.invalidGeometry, value.error(expected: "`xmin` <= `xmax` and `ymin` <= `ymax`"))
    }
    return Geometry(box)
  }

  /// Z or M, which may be null, or NaN as text.
  private static func ordinate(_ value: JSONValue) throws(JSONError) -> Double? {
    value.isPresent && !isNaN(value) ? try value.double() : nil
  }

  private static func isNaN(_ value: JSONValue) -> Bool { (try? value.string()) == "NaN" }
}

extension Geometry {
  /// Polygons with outer rings clockwise.
  fileprivate var flippedRings: Geometry {
    guard dimension == 2 else { return self }
    return withRightHandRings.mapPositions { $0.reversed }
  }
}
