// Geometries as they go out: GeoJSON, straight into the buffer; well-known text where there is M, for which GeoJSON has no place.

import Geometry
import JSON

enum GeometryWriter {
  /// Writes all that there is of a geometry.
  static func write(_ geometry: Geometry, to writer: inout JSONWriter) {
    write(geometry, measures: true, to: &writer) {}
  }

  /// - Parameters:
  ///   - measures: whether M is written, by well-known text for the whole; else it is left out.
  ///   - check: as with GeoJSON; well-known text is made at one go.
  static func write(
    _ geometry: Geometry, measures: Bool, to writer: inout JSONWriter, checking check: () throws -> Void
  ) rethrows {
    guard measures, geometry.hasM else { return try writeGeoJSON(geometry, to: &writer, checking: check) }
    writer.beginObject()
    writer.key("type")
    writer.value("WKT")
    writer.key("text")
    writer.value(geometry.wkt)
    writer.endObject()
  }

  /// Writes a geometry without its M.
  ///
  /// - Parameter check: called every few thousand positions, and for each ring and line; what it throws ends it, with what was written being of no use.
  private static func writeGeoJSON(
    _ geometry: Geometry, to writer: inout JSONWriter, checking check: () throws -> Void
  ) rethrows {
    writer.beginObject()
    writer.key("type")
    switch geometry {
    case .point(let point):
      writer.value("Point")
      writer.key("coordinates")
      if let point { position(point, &writer) } else { empty(&writer) }
    case .lineString(let line):
      writer.value("LineString")
      writer.key("coordinates")
      try positions(line, &writer, check)
    case .polygon(let rings):
      writer.value("Polygon")
      writer.key("coordinates")
      try runs(rings, &writer, check)
    case .multiPoint(let points):
      writer.value("MultiPoint")
      writer.key("coordinates")
      try positions(points, &writer, check)
    case .multiLineString(let lines):
      writer.value("MultiLineString")
      writer.key("coordinates")
      try runs(lines, &writer, check)
    case .multiPolygon(let polygons):
      writer.value("MultiPolygon")
      writer.key("coordinates")
      writer.beginArray()
      for rings in polygons { try runs(rings, &writer, check) }
      writer.endArray()
    case .collection(let parts):
      writer.value("GeometryCollection")
      writer.key("geometries")
      writer.beginArray()
      for part in parts { try writeGeoJSON(part, to: &writer, checking: check) }
      writer.endArray()
    }
    writer.endObject()
  }

  /// The commonest geometry of all, without making one.
  @inline(__always)
  static func writePoint(x: Double, y: Double, z: Double?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.value("Point")
    writer.key("coordinates")
    writer.beginArray()
    writer.value(x)
    writer.value(y)
    if let z { writer.value(z) }
    writer.endArray()
    writer.endObject()
  }

  private static func position(_ point: Point, _ writer: inout JSONWriter) {
    writer.beginArray()
    writer.value(point.x)
    writer.value(point.y)
    if let z = point.z, !z.isNaN { writer.value(z) }
    writer.endArray()
  }

  private static func runs(
    _ parts: [Positions], _ writer: inout JSONWriter, _ check: () throws -> Void
  ) rethrows {
    writer.beginArray()
    for part in parts {
      try check()
      try positions(part, &writer, check)
    }
    writer.endArray()
  }

  private static func positions(
    _ positions: Positions, _ writer: inout JSONWriter, _ check: () throws -> Void
  ) rethrows {
    writer.beginArray()
    let stride = positions.stride
    let pause = 4096 * stride
    try positions.values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
        if base > 0, base.isMultiple(of: pause) { try check() }
        writer.beginArray()
        writer.value(values[base])
        writer.value(values[base + 1])
        if positions.hasZ { writer.value(values[base + 2]) }
        writer.endArray()
      }
    }
    writer.endArray()
  }

  private static func empty(_ writer: inout JSONWriter) {
    writer.beginArray()
    writer.endArray()
  }
}
