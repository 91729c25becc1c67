// Writes features in columns: ids, geometries as well-known binary, and a column for each attribute.

import FeatureStore
import GeoProtocol
import Geometry
import JSON

/// Collects features row by row and makes columns of them.
package struct FeatureColumnsWriter: ~Copyable {
  private let selection: FeatureWriter.Selection
  /// The indexes of ``attributes`` in the store.
  private let numbers: [Int]
  private let names: [String]
  private var ids: [Int64] = []
  private var geometry: [UInt8] = []
  private var offsets: [Int64] = [0]
  private var attributes: [AttributeColumn]
  private var scratch = JSONWriter(capacity: 256)

  package init(_ schema: FeatureSchema, _ selection: FeatureWriter.Selection) {
    self.selection = selection
    numbers = selection.columns ?? Array(0..<schema.count)
    names = numbers.map(schema.name)
    attributes = numbers.map { _ in AttributeColumn() }
  }

  /// The approximate size of the columns as text.
  package var byteCount: Int {
    let bytes = (ids.count + (selection.geometry ? offsets.count : 0)) * 8 + geometry.count
    return attributes.reduce(bytes * 4 / 3) { $0 + $1.byteCount }
  }

  /// - Parameter shape: the geometry to write.
  package mutating func append(_ row: FeatureRow, _ shape: FeatureWriter.Shape = .own) {
    ids.append(Int64(row.id))
    if selection.geometry { appendGeometry(row, shape) }
    for index in numbers.indices {
      row.withAttribute(numbers[index]) { attributes[index].append($0, &scratch) }
    }
  }

  private mutating func appendGeometry(_ row: FeatureRow, _ shape: FeatureWriter.Shape) {
    switch shape {
    case .own:
      if let point = row.point {
        appendPoint(point.x, point.y, point.z)
      } else if let geometry = row.geometry {
        self.geometry += geometry.wkb(measures: selection.measures)
      }
    case .given(let geometry):
      if let geometry { self.geometry += geometry.wkb(measures: selection.measures) }
    }
    offsets.append(Int64(geometry.count))
  }

  /// Appends the same bytes as `Geometry.wkb`, without an array for each point.
  private mutating func appendPoint(_ x: Double, _ y: Double, _ z: Double) {
    geometry.append(1)
    withUnsafeBytes(of: UInt32(z.isNaN ? 1 : 1001).littleEndian) { geometry.append(contentsOf: $0) }
    withUnsafeBytes(of: x.bitPattern.littleEndian) { geometry.append(contentsOf: $0) }
    withUnsafeBytes(of: y.bitPattern.littleEndian) { geometry.append(contentsOf: $0) }
    if !z.isNaN { withUnsafeBytes(of: z.bitPattern.littleEndian) { geometry.append(contentsOf: $0) } }
  }

  /// The text of all features of a store, including M.
  ///
  /// - Parameter geometry: whether to write geometries; false for a table.
  package static func all(
    of store: FeatureStore, geometry: Bool, checking check: () throws -> Void
  ) throws -> JSONWriter {
    var selection = FeatureWriter.Selection()
    selection.geometry = geometry
    selection.measures = true
    var columns = FeatureColumnsWriter(store.schema, selection)
    for (index, row) in try store.rowsAscending(checking: { _ in try check() }).enumerated() {
      if index.isMultiple(of: 1024) { try check() }
      if let feature = store[row] { columns.append(feature) }
    }
    var writer = JSONWriter(capacity: columns.byteCount + 4096)
    columns.columns().encode(to: &writer)
    return writer
  }

  /// The columns as text, so that sending them only copies bytes.
  package func columns() -> OverlayProtocol.FeatureColumns {
    var columns = OverlayProtocol.FeatureColumns()
    columns.ids = PackedColumn.integers(ids)
    if selection.geometry {
      columns.geometry = PackedColumn.geometries(geometry, offsets)
    }
    let attributes = zip(names, attributes).map { (name: $0, column: $1.column) }
    columns.attributes = .written { writer in
      writer.beginObject()
      var written: Set<String> = []
      for attribute in attributes where written.insert(attribute.name).inserted {
        writer.key(attribute.name)
        attribute.column.encode(to: &writer)
      }
      writer.endObject()
    }
    return columns
  }
}

/// Packed numbers.
package enum PackedColumn {
  package static func integers(_ values: [Int64]) -> JSONOpaque { column("int64", .integers(values)) }

  /// Packs doubles; NaN stands for null.
  package static func doubles(_ values: [Double]) -> JSONOpaque { doubles(parts: [values]) }

  /// - Parameter parts: all but the last of a multiple of three numbers.
  package static func doubles(parts: [[Double]]) -> JSONOpaque { column("float64", .doubles(parts)) }

  /// Packs geometries as well-known binary; nothing stands for none.
  package static func geometries(_ geometries: [Geometry?]) -> JSONOpaque {
    var (bytes, offsets): ([UInt8], [Int64]) = ([], [0])
    offsets.reserveCapacity(geometries.count + 1)
    var numbers = 0
    for case let geometry? in geometries { geometry.forEachPositions { numbers += $0.values.count } }
    bytes.reserveCapacity(numbers * 8 + geometries.count * 32)
    for geometry in geometries {
      geometry?.appendWKB(to: &bytes)
      offsets.append(Int64(bytes.count))
    }
    return self.geometries(bytes, offsets)
  }

  fileprivate static func geometries(_ wkb: [UInt8], _ offsets: [Int64]) -> JSONOpaque {
    let offsets = integers(offsets)
    return .written { writer in
      writer.beginObject()
      writer.member("type", "WKB")
      writer.key("data")
      writer.value(.bytes(wkb))
      writer.member("offsets", offsets)
      writer.endObject()
    }
  }

  /// Number of values up to which a column is written as a list.
  private static let shortCount = 64

  /// Doubles as a list if they are few, else packed; NaN stands for null.
  package static func short(_ values: [Double]) -> JSONOpaque {
    guard values.count <= shortCount else { return doubles(values) }
    return .written { writer in writer.array(values) { $0.isNaN ? $1.null() : $1.value($0) } }
  }

  /// Integers as a list if they are few, else packed.
  package static func short(_ values: [Int]) -> JSONOpaque {
    guard values.count <= shortCount else { return integers(values.map(Int64.init)) }
    return .written { writer in writer.array(values) { $1.value($0) } }
  }

  static func column(_ type: String, _ bytes: PackedBytes) -> JSONOpaque {
    .written { writer in
      writer.beginObject()
      writer.member("type", type)
      writer.key("data")
      writer.value(bytes)
      writer.endObject()
    }
  }
}
