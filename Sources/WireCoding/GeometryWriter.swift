// Writes geometries into the output buffer: as GeoJSON, or as well-known text where they have M, which GeoJSON cannot express.

import Geometry
import JSON

package enum GeometryWriter {
  /// Writes a geometry with all its coordinates.
  package static func write(_ geometry: Geometry, to writer: inout JSONWriter) {
    write(geometry, measures: true, to: &writer) {}
  }

  /// - Parameters:
  ///   - measures: whether M is written, which makes the whole geometry well-known text; otherwise M is omitted.
  ///   - checkpoint: called every 4096 positions and for each ring and line of GeoJSON, and not for well-known text.
  ///     What it throws ends the writing; the buffer then holds incomplete JSON.
  package static func write(
    _ geometry: Geometry, measures: Bool, to writer: inout JSONWriter, checkpoint: () throws -> Void
  ) rethrows {
    guard measures, geometry.hasM else { return try writeGeoJSON(geometry, to: &writer, checkpoint) }
    writer.beginObject()
    writer.key("type")
    writer.value("WKT")
    writer.key("text")
    writer.value(geometry.wkt)
    writer.endObject()
  }

  /// Writes a geometry without M.
  private static func writeGeoJSON(
    _ geometry: Geometry, to writer: inout JSONWriter, _ checkpoint: () throws -> Void
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
      try positions(line, &writer, checkpoint)
    case .polygon(let rings):
      writer.value("Polygon")
      writer.key("coordinates")
      try runs(rings, &writer, checkpoint)
    case .multiPoint(let points):
      writer.value("MultiPoint")
      writer.key("coordinates")
      try positions(points, &writer, checkpoint)
    case .multiLineString(let lines):
      writer.value("MultiLineString")
      writer.key("coordinates")
      try runs(lines, &writer, checkpoint)
    case .multiPolygon(let polygons):
      writer.value("MultiPolygon")
      writer.key("coordinates")
      writer.beginArray()
      for rings in polygons { try runs(rings, &writer, checkpoint) }
      writer.endArray()
    case .collection(let parts):
      writer.value("GeometryCollection")
      writer.key("geometries")
      writer.beginArray()
      for part in parts { try writeGeoJSON(part, to: &writer, checkpoint) }
      writer.endArray()
    }
    writer.endObject()
  }

  /// Writes a point from its coordinates, without a `Geometry` value: points are the most frequent geometry.
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
    let interval = 4096 * stride
    try positions.values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
        if base > 0, base.isMultiple(of: interval) { try checkpoint() }
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
