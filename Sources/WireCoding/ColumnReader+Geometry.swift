// Reads geometry columns: the well-known binary of all rows in one text, with the offset of each row.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

/// The geometries of a bulk request by row.
package enum GeometryColumn {
  case points(x: [Double], y: [Double], z: [Double]?)
  /// Nil for rows without a geometry.
  case any([Geometry?])

  package var count: Int {
    switch self {
    case .points(let x, _, _): x.count
    case .any(let geometries): geometries.count
    }
  }

  /// The simple features type of all geometries; `Unknown` if they have several types or there are none.
  package var type: String {
    switch self {
    case .points: return "Point"
    case .any(let geometries):
      let types = Set(geometries.lazy.compactMap { $0?.typeName })
      return types.count == 1 ? types.first ?? "Unknown" : "Unknown"
    }
  }
}

extension ColumnReader {
  /// A column of geometries.
  ///
  /// - Parameter refusal: of invalid geometries.
  /// - Throws: an error of the column if offsets do not fit the bytes.
  package static func geometries(_ opaque: JSONOpaque, _ refusal: Refusal = .ofAll) throws -> [Geometry?] {
    guard let value = opaque.value else { return [] }
    try value.requireObject()
    guard try value["type"].string() == "WKB" else { throw value["type"].error(expected: "\"WKB\"") }
    return try withBytes(value["data"]) { bytes in Result { try geometries(bytes, try offsets(value["offsets"], of: bytes.count), refusal) } }.get()
  }

  private static func geometries(_ bytes: UnsafeRawBufferPointer, _ offsets: [Int], _ refusal: Refusal) throws -> [Geometry?] {
    var geometries: [Geometry?] = []
    geometries.reserveCapacity(offsets.count - 1)
    var failures: [ItemError] = []
    var failureCount = 0
    for (start, end) in zip(offsets, offsets.dropFirst()) {
      do throws(GeometryReader.Refusal) {
        geometries.append(start == end ? nil : try geometry(UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
      } catch {
        failureCount += 1
        if failures.count < refusal.most { failures.append(ItemError(error, at: geometries.count)) }
        geometries.append(nil)
      }
    }
    if failureCount > 0 { try refusal.refuse(failures, failureCount) }
    return geometries
  }

  private static func geometry(_ bytes: UnsafeRawBufferPointer) throws(GeometryReader.Refusal) -> Geometry {
    let geometry = try GeometryReader.geometry(wkb: bytes)
    if let fault = geometry.fault { throw GeometryReader.Refusal(expected: fault.expected) }
    return geometry
  }

  /// The offset of each row's first byte, followed by the end of the last row.
  private static func offsets(_ value: JSONValue, of byteCount: Int) throws -> [Int] {
    let offsets = try integers(value)
    guard offsets.first == 0 else { throw value.error(expected: "offsets of which the first is 0") }
    if let row = offsets.indices.dropFirst().first(where: { offsets[$0] < offsets[$0 - 1] }) {
      throw value.error(
        expected: "offsets of which none is less than the one before: the one at \(row) is \(offsets[row])")
    }
    guard let last = offsets.last, last == byteCount else {
      throw value.error(expected: "offsets of which the last is the number of bytes, \(byteCount)")
    }
    return offsets
  }

  // MARK: Features

  /// The geometries of features in columns; nil if there are none.
  ///
  /// - Parameters:
  ///   - path: the JSON Pointer of the columns in the params.
  ///   - refusal: of rows that are no geometry.
  package static func geometry(
    _ columns: OverlayProtocol.FeatureColumns, at path: String = "", _ refusal: Refusal = .ofAll
  ) throws -> GeometryColumn? {
    if let geometry = columns.geometry {
      guard columns.x == nil, columns.y == nil, columns.z == nil else { throw ModelError.oneOf(["geometry", "x"]) }
      return .any(try geometries(geometry, refusal))
    }
    guard columns.x != nil || columns.y != nil || columns.z != nil else { return nil }
    guard let x = try columns.x.map({ try numbers($0, refusal) }),
      let y = try columns.y.map({ try numbers($0, refusal) })
    else {
      throw RPCError(
        .invalidParams, "x and y are required together, and z with both.",
        path: "/params\(path)/\(columns.x == nil ? "x" : "y")", expected: "a column")
    }
    let z = try columns.z.map { try numbers($0, refusal) }
    for (name, column) in [("y", y), ("z", z ?? x)] { try equal(column.count, x.count, name, path) }
    return .points(x: x, y: y, z: z)
  }

  /// Makes a batch of features in columns. `geometry` is already in the store's spatial reference.
  package static func batch(
    _ columns: OverlayProtocol.FeatureColumns, _ geometry: GeometryColumn?, at path: String = ""
  ) throws -> FeatureBatch {
    var batch = FeatureBatch()
    switch geometry {
    case .points(let x, let y, let z): try batch.setPoints(x: x, y: y, z: z)
    case .any(let geometries): try batch.setGeometries(geometries)
    case nil: break
    }
    var rows = geometry?.count
    if let ids = try columns.ids.map(ids) {
      try equal(ids.count, rows, "ids", path)
      rows = ids.count
      try batch.setIDs(ids)
    }
    for (name, column) in try named(columns.attributes) {
      let values = try attribute(column, named: name)
      try equal(values.count, rows, "attributes/\(jsonPointerEscaped(name))", path)
      rows = values.count
      try set(values, named: name, in: &batch)
    }
    return batch
  }

  /// Columns by name, in their order.
  package static func named(_ columns: JSONOpaque?) throws(JSONError) -> [(name: String, column: JSONOpaque)] {
    guard let value = columns?.value else { return [] }
    // Refuses names that are the same text.
    let columns = try value.dictionary { (column) throws(JSONError) in try column.opaque("Column") }
    return value.members.compactMap { name, _ in columns[name].map { (name, $0) } }
  }

  /// - Parameter expected: nil for the first column.
  private static func equal(_ count: Int, _ expected: Int?, _ column: String, _ path: String) throws {
    guard let expected, expected != count else { return }
    throw ModelError.columnLengths(expected: expected, found: count, column: String("\(path)/\(column)".dropFirst()))
  }
}

extension ItemError {
  fileprivate init(_ refusal: GeometryReader.Refusal, at index: Int) {
    self.init(
      index: index,
      .failure(Failure(.invalidGeometry, "The geometry is invalid.", path: "/geometry", expected: refusal.expected)))
  }
}
