// Geometries as they go out: GeoJSON, straight into the buffer.

import Geometry
import JSON

enum GeometryWriter {
  static func write(_ geometry: Geometry, to writer: inout JSONWriter) {
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
      positions(line, &writer)
    case .polygon(let rings):
      writer.value("Polygon")
      writer.key("coordinates")
      writer.array(rings, positions)
    case .multiPoint(let points):
      writer.value("MultiPoint")
      writer.key("coordinates")
      positions(points, &writer)
    case .multiLineString(let lines):
      writer.value("MultiLineString")
      writer.key("coordinates")
      writer.array(lines, positions)
    case .multiPolygon(let polygons):
      writer.value("MultiPolygon")
      writer.key("coordinates")
      writer.array(polygons) { rings, writer in writer.array(rings, positions) }
    case .collection(let parts):
      writer.value("GeometryCollection")
      writer.key("geometries")
      writer.array(parts, write)
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
    if let z = point.z { writer.value(z) }
    writer.endArray()
  }

  private static func positions(_ positions: Positions, _ writer: inout JSONWriter) {
    writer.beginArray()
    let stride = positions.stride
    positions.values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
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
