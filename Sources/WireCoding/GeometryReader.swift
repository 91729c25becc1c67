// Reads geometries from requests and documents: GeoJSON, WKT, WKB and envelopes. Validates them while reading.

import GeoProtocol
import Geometry
import JSON

/// An invalid value with its own error kind; `error` names the value, the expected form and what was found.
package struct WireFault: Error {
  package let kind: ErrorKind
  package let error: JSONError
  package init(_ kind: ErrorKind, _ error: JSONError) {
    self.kind = kind
    self.error = error
  }
}

enum GeometryReader {
  /// Reads any geometry of the protocol.
  ///
  /// - Parameter keepsEmptyPoints: whether empty members of a multipoint are positions of NaN; otherwise they are dropped.
  static func read(_ value: JSONValue, keepsEmptyPoints: Bool = false) throws(WireFault) -> Geometry {
    try read(value, depth: 0, keepsEmptyPoints)
  }

  /// Reads a point.
  ///
  /// - Throws: `invalidGeometry` for other types, `emptyGeometry` for a point without coordinates.
  static func point(_ value: JSONValue) throws(WireFault) -> Point {
    guard case .point(let point) = try read(value) else {
      throw WireFault(.invalidGeometry, value.typeError(expected: "a point"))
    }
    guard let point else { throw WireFault(.emptyGeometry, value.typeError(expected: "a point that is not empty")) }
    return point
  }

  /// Fast path for `{"type": "Point", "coordinates": [x, y]}` without allocation; nil for other forms, which ``read(_:)`` handles.
  @inline(__always)
  static func plainPoint(_ value: JSONValue) -> (x: Double, y: Double)? {
    guard value["type"].withUTF8({ isPoint($0) }) else { return nil }
    let coordinates = value["coordinates"]
    guard coordinates.count == 2, let x = coordinates[0].number, let y = coordinates[1].number else { return nil }
    return (x, y)
  }

  @inline(__always)
  private static func isPoint(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count == 5 && name[0] == UInt8(ascii: "P") && name[1] == UInt8(ascii: "o") && name[2] == UInt8(ascii: "i")
      && name[3] == UInt8(ascii: "n") && name[4] == UInt8(ascii: "t")
  }

  private static func read(
    _ value: JSONValue, depth: Int, _ keepsEmptyPoints: Bool
  ) throws(WireFault) -> Geometry {
    guard value.kind == .object, let type = try? value["type"].string() else { throw fault(value, form) }
    let coordinates = value["coordinates"]
    switch type {
    case "Point": return .point(try position(coordinates, allowEmpty: true))
    case "LineString": return .lineString(try line(coordinates))
    case "Polygon": return .polygon(try rings(coordinates))
    case "MultiPoint": return .multiPoint(try positions(coordinates))
    case "MultiLineString": return .multiLineString(try list(coordinates, line))
    case "MultiPolygon": return .multiPolygon(try list(coordinates, rings))
    case "GeometryCollection":
      guard depth < Geometry.maximumDepth else {
        throw fault(value, "at most \(Geometry.maximumDepth) nested collections")
      }
      return .collection(
        try list(value["geometries"]) { part throws(WireFault) in try read(part, depth: depth + 1, keepsEmptyPoints) })
    case "Envelope": return try area(value)
    case "WKT": return try checked(try wkt(value["text"], keepsEmptyPoints), value, depth)
    case "WKB": return try checked(try wkb(value["data"], keepsEmptyPoints), value, depth)
    default:
      throw fault(
        value["type"],
        "Point, MultiPoint, LineString, MultiLineString, Polygon, MultiPolygon, GeometryCollection, WKT, WKB or Envelope"
      )
    }
  }

  // MARK: GeoJSON

  private static let form = #"a geometry such as {"type": "Point", "coordinates": [x, y]}, the longitude first"#

  private static func fault(_ value: JSONValue, _ expected: String) -> WireFault {
    WireFault(.invalidGeometry, value.error(expected: expected))
  }

  private static func list<T>(
    _ value: JSONValue, _ read: (JSONValue) throws(WireFault) -> T
  ) throws(WireFault) -> [T] {
    guard value.kind == .array else { throw fault(value, "array") }
    return try (0..<value.count).map { (index) throws(WireFault) in try read(value[index]) }
  }

  private static func position(_ value: JSONValue, allowEmpty: Bool) throws(WireFault) -> Point? {
    guard value.kind == .array else { throw fault(value, "a position: [x, y] or [x, y, z]") }
    if allowEmpty, value.count == 0 { return nil }
    guard value.count >= 2 else { throw fault(value, "a position: [x, y] or [x, y, z]") }
    do {
      return Point(x: try value[0].double(), y: try value[1].double(), z: value.count > 2 ? try value[2].double() : nil)
    } catch { throw WireFault(.invalidGeometry, error) }
  }

  /// Reads positions that all have as many coordinates (2 or 3) as the first. A mixed array is an error, since Z would be
  /// invented or dropped.
  private static func positions(_ value: JSONValue) throws(WireFault) -> Positions {
    guard value.kind == .array else { throw fault(value, "an array of positions") }
    let count = value.count
    guard count > 0 else { return Positions() }
    let stride = value[0].count > 2 ? 3 : 2
    var numbers: [Double] = []
    numbers.reserveCapacity(count * stride)
    for index in 0..<count {
      let element = value[index]
      guard element.kind == .array, min(element.count, 3) == stride else {
        throw fault(element, "a position as the first one: \(stride == 3 ? "[x, y, z]" : "[x, y]")")
      }
      for axis in 0..<stride {
        guard let number = element[axis].number else { throw fault(element[axis], "number") }
        numbers.append(number)
      }
    }
    return Positions(values: numbers, hasZ: stride == 3)
  }

  private static func line(_ value: JSONValue) throws(WireFault) -> Positions {
    let line = try positions(value)
    guard line.count != 1 else { throw fault(value, "at least two positions") }
    return line
  }

  private static func rings(_ value: JSONValue) throws(WireFault) -> [Positions] {
    let rings = try list(value, ring)
    if let outer = rings.first, outer.isEmpty, let fault = Geometry.polygon(rings).fault { throw self.fault(value, fault.expected) }
    return rings
  }

  private static func ring(_ value: JSONValue) throws(WireFault) -> Positions {
    let ring = try positions(value)
    guard !ring.isEmpty else { return ring }
    guard ring.count >= 4 else { throw fault(value, "a ring of at least four positions") }
    guard ring[0] == ring[ring.count - 1] else {
      throw fault(value, "a closed ring: the last position equal to the first")
    }
    return ring
  }

  // MARK: Other forms

  /// Reads a box; nil for a geometry of another type.
  static func envelope(_ value: JSONValue) throws(WireFault) -> Envelope? {
    guard value.kind == .object, (try? value["type"].string()) == "Envelope" else { return nil }
    let box: Envelope
    do { box = try GeometryReader.box(value) } catch { throw WireFault(.invalidGeometry, error) }
    guard box.yMin <= box.yMax else { throw fault(value["yMax"], "not below yMin") }
    return box
  }

  /// A box as polygons. Where the world has its edge is not said here: it is known of degrees alone.
  private static func area(_ value: JSONValue) throws(WireFault) -> Geometry {
    let box = try envelope(value) ?? .none
    guard box.xMin <= box.xMax || box.isInDegrees else { throw fault(value["xMax"], "not below xMin, or both degrees") }
    return Geometry(box)
  }

  private static func box(_ value: JSONValue) throws(JSONError) -> Envelope {
    Envelope(
      xMin: try value["xMin"].double(), yMin: try value["yMin"].double(), xMax: try value["xMax"].double(),
      yMax: try value["yMax"].double())
  }

  private static func wkt(_ value: JSONValue, _ keepsEmptyPoints: Bool) throws(WireFault) -> Geometry {
    let text: String
    do { text = try value.string() } catch { throw WireFault(.invalidGeometry, error) }
    let geometry: Geometry
    do { geometry = try Geometry(wkt: text, keepsEmptyPoints: keepsEmptyPoints) } catch {
      throw fault(value, "well-known text: \(error.expected) at column \(error.column)")
    }
    return geometry
  }

  private static func wkb(_ value: JSONValue, _ keepsEmptyPoints: Bool) throws(WireFault) -> Geometry {
    let read: Result<Geometry, Refusal>
    do {
      read = try ColumnReader.withBytes(value) { raw in Result { () throws(Refusal) in try geometry(wkb: raw, keepsEmptyPoints) } }
    } catch { throw WireFault(.invalidGeometry, error) }
    do { return try read.get() } catch { throw WireFault(.invalidGeometry, value.typeError(expected: error.expected)) }
  }

  /// The expected form of a geometry that cannot be read.
  struct Refusal: Error {
    let expected: String
  }

  /// Reads well-known binary without an SRID, which could contradict the given spatial reference.
  static func geometry(
    wkb bytes: UnsafeRawBufferPointer, _ keepsEmptyPoints: Bool = false
  ) throws(Refusal) -> Geometry {
    if let number = WKB.spatialReference(of: bytes) {
      throw Refusal(expected: "well-known binary without an SRID: EPSG:\(number) is for `spatialReference`")
    }
    do { return try Geometry(wkb: bytes, keepsEmptyPoints: keepsEmptyPoints) } catch {
      throw Refusal(expected: "well-known binary: \(error)")
    }
  }

  /// Applies the rules of the GeoJSON reader (closed rings, two positions per line) to geometries from WKT and WKB.
  ///
  /// - Parameter depth: the number of enclosing collections.
  private static func checked(_ geometry: Geometry, _ value: JSONValue, _ depth: Int) throws(WireFault) -> Geometry {
    // Both readers refuse numbers that are not finite, except for the NaN of empty members that are kept.
    if case .multiPoint = geometry { return geometry }
    if let fault = geometry.fault { throw WireFault(.invalidGeometry, value.typeError(expected: fault.expected)) }
    guard depth + geometry.depth <= Geometry.maximumDepth else {
      throw fault(value, "at most \(Geometry.maximumDepth) nested collections")
    }
    return geometry
  }
}
