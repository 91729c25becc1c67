// Writes geometries: as GeoJSON, or as well-known text if they have M or lack Z at some positions, which GeoJSON cannot express.

import Geometry
import JSON

package enum GeometryWriter {
  /// Writes a geometry with all its coordinates.
  package static func write(_ geometry: Geometry, to writer: inout JSONWriter) {
    write(geometry, measures: true, to: &writer) {}
  }

  /// - Parameters:
  ///   - measures: whether M is written. A geometry with M, or with Z at only some positions, is then written as well-known text.
  ///     Otherwise M is omitted, and so is Z of lines and rings that have it at only some positions.
  ///   - checkpoint: called every 4096 positions, and for each ring and line of GeoJSON; not for well-known text. An error that
  ///     it throws ends the writing; the buffer then holds incomplete JSON.
  package static func write(
    _ geometry: Geometry, measures: Bool, to writer: inout JSONWriter, checkpoint: () throws -> Void
  ) rethrows {
    guard measures, geometry.hasM || geometry.lacksZ else { return try writeGeoJSON(geometry, to: &writer, checkpoint) }
    begin("WKT", "text", &writer)
    writer.value(geometry.wkt)
    writer.endObject()
  }

  /// Writes a geometry without M.
  private static func writeGeoJSON(
    _ geometry: Geometry, to writer: inout JSONWriter, _ checkpoint: () throws -> Void
  ) rethrows {
    switch geometry {
    case .point(let point):
      begin("Point", "coordinates", &writer)
      writer.beginArray()
      if let point { numbers(point.x, point.y, point.z, &writer) }
      writer.endArray()
    case .lineString(let line):
      begin("LineString", "coordinates", &writer)
      try positions(line, &writer, checkpoint)
    case .polygon(let rings):
      begin("Polygon", "coordinates", &writer)
      try runs(rings, &writer, checkpoint)
    case .multiPoint(let points):
      begin("MultiPoint", "coordinates", &writer)
      try positions(points, &writer, checkpoint)
    case .multiLineString(let lines):
      begin("MultiLineString", "coordinates", &writer)
      try runs(lines, &writer, checkpoint)
    case .multiPolygon(let polygons):
      begin("MultiPolygon", "coordinates", &writer)
      writer.beginArray()
      for rings in polygons { try runs(rings, &writer, checkpoint) }
      writer.endArray()
    case .collection(let parts):
      begin("GeometryCollection", "geometries", &writer)
      writer.beginArray()
      for part in parts { try writeGeoJSON(part, to: &writer, checkpoint) }
      writer.endArray()
    }
    writer.endObject()
  }

  static func write(_ box: Envelope, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", "Envelope")
    writer.member("xMin", box.xMin)
    writer.member("yMin", box.yMin)
    writer.member("xMax", box.xMax)
    writer.member("yMax", box.yMax)
    writer.endObject()
  }

  /// Writes a point from its coordinates without making a `Geometry`, since points are the most frequent geometry.
  @inline(__always)
  static func writePoint(x: Double, y: Double, z: Double?, to writer: inout JSONWriter) {
    begin("Point", "coordinates", &writer)
    writer.beginArray()
    numbers(x, y, z, &writer)
    writer.endArray()
    writer.endObject()
  }

  /// Begins an object with its type and the name of the member whose value is written next.
  @inline(__always)
  private static func begin(_ type: StaticString, _ member: StaticString, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.value(type)
    writer.key(member)
  }

  @inline(__always)
  private static func numbers(_ x: Double, _ y: Double, _ z: Double?, _ writer: inout JSONWriter) {
    writer.value(x)
    writer.value(y)
    if let z, !z.isNaN { writer.value(z) }
  }

  private static func runs(
    _ parts: [Positions], _ writer: inout JSONWriter, _ checkpoint: () throws -> Void
  ) rethrows {
    writer.beginArray()
    for part in parts {
      try checkpoint()
      try positions(part, &writer, checkpoint)
    }
    writer.endArray()
  }

  private static func positions(
    _ positions: Positions, _ writer: inout JSONWriter, _ checkpoint: () throws -> Void
  ) rethrows {
    writer.beginArray()
    let stride = positions.stride
    let hasZ = positions.hasZ && !positions.lacksZ
    let interval = 4096 * stride
    try positions.values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
        if base > 0, base.isMultiple(of: interval) { try checkpoint() }
        writer.beginArray()
        writer.value(values[base])
        writer.value(values[base + 1])
        if hasZ { writer.value(values[base + 2]) }
        writer.endArray()
      }
    }
    writer.endArray()
  }
}
