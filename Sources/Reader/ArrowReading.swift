// Reads a layer by columns through GDAL's Apache Arrow interface: several times faster than feature by feature.

import CGDAL
import Reading

extension FeatureDataset {
  /// Calls `send` with blocks of the features of `layer`.
  ///
  /// - Returns: nil when all are sent; else the number of features, the first ones, after which they have to be read one by one: 0 if the
  ///   Arrow columns would lose information or GDAL has none: times with and without a zone, lists, binary values, coordinates of CSV,
  ///   booleans (GDAL 3.6 gives wrong ones for a GeoPackage).
  func readColumns(
    of layer: FeatureLayer, _ send: (inout FeatureBlockBuilder) throws(ReadError) -> Void
  ) throws(ReadError) -> Int? {
    guard driver.record.hasColumns, layer.columns.allSatisfy(\.isPlain) else { return 0 }
    var stream = ArrowArrayStream()
    // Batches of about 8 MiB.
    let size = max(1, files.mainSize / max(1, layer.description.featureCount ?? 1))
    let rows = Int32(min(max((8 << 20) / size, 16), 16_384))
    guard cgdal_arrow_stream(layer.handle, &stream, rows) != 0 else { return 0 }
    defer { stream.release?(&stream) }
    guard let formats = formats(of: &stream), let columns = ArrowColumns(formats, layer) else { return 0 }

    var block = FeatureBlockBuilder(columns: layer.columns.map(\.kind))
    var (count, last) = (0, Int64.min)
    while true {
      var batch = ArrowArray()
      guard stream.get_next(&stream, &batch) == 0 else {
        throw failure(
          layer, call.complaint ?? stream.get_last_error(&stream).map { String(cString: $0) } ?? "no reason")
      }
      guard let release = batch.release else { break }
      defer { release(&batch) }
      // Behind what is damaged, and where a GeoPackage has fewer features than it says, GDAL 3.6 gives batches without rows for ever, or
      // the last row again and again.
      let ids = ArrowColumn(batch, 0, "l").map { Array($0.values(Int64.self)) } ?? []
      guard batch.length > 0, zip([last] + ids, ids).allSatisfy(<) else {
        call.forget()
        return count
      }
      try append(batch, columns, layer, after: count, to: &block)
      count += Int(batch.length)
      last = ids.last ?? last
      if block.count > 0 { try send(&block) }
    }
    try checkEnd(of: layer, after: count)
    return nil
  }

  /// Arrow's codes of the types of the columns.
  private func formats(of stream: inout ArrowArrayStream) -> [String]? {
    var schema = ArrowSchema()
    guard stream.get_schema(&stream, &schema) == 0 else { return nil }
    defer { schema.release?(&schema) }
    return (0..<Int(schema.n_children)).map { index in
      schema.children[index].flatMap { $0.pointee.format }.map { String(cString: $0) } ?? ""
    }
  }

  /// - Parameter count: the number of features in earlier batches.
  private func append(
    _ batch: ArrowArray, _ columns: ArrowColumns, _ layer: FeatureLayer, after count: Int,
    to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    let rows = Int(batch.length)
    guard batch.n_children == columns.formats.count, batch.offset == 0, rows > 0,
      let ids = ArrowColumn(batch, 0, "l")
    else { throw failure(layer, "columns of another form than announced") }
    block.begin(ids: ids.values(Int64.self))
    for index in layer.columns.indices {
      guard let column = ArrowColumn(batch, 1 + index, columns.formats[1 + index]) else {
        throw failure(layer, "a column without values")
      }
      column.append(to: &block.columns[index])
    }
    guard let geometry = columns.geometry else {
      for _ in 0..<rows { block.appendNoGeometry() }
      return
    }
    guard let shapes = ArrowColumn(batch, geometry, columns.formats[geometry]) else {
      throw failure(layer, "no geometries")
    }
    for row in 0..<rows {
      if row & 15 == 0, let total = layer.description.featureCount, total > 0 {
        files.reached(min(Double(count + row) / Double(total), 0.99))
      }
      try append(wkb: shapes.bytes(row), layer, to: &block)
    }
  }

  private func append(
    wkb bytes: UnsafeRawBufferPointer?, _ layer: FeatureLayer, to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    guard let bytes, bytes.count >= 5 else { return block.appendNoGeometry() }
    let type = bytes[0] == 1 ? UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) : 0
    func ordinate(_ index: Int) -> Double { bytes.loadUnaligned(fromByteOffset: 5 + index * 8, as: Double.self) }
    switch (type, bytes.count) {
    case (1, 21) where !ordinate(0).isNaN: block.appendPoint(x: ordinate(0), y: ordinate(1), z: nil)
    case (1001, 29) where !ordinate(0).isNaN: block.appendPoint(x: ordinate(0), y: ordinate(1), z: ordinate(2))
    case _ where (1...7).contains(type % 1000): block.appendWKB { $0.append(contentsOf: bytes) }
    default:
      // A geometry that has to be converted, such as a curve.
      var shape: OGRGeometryH?
      let failed = gdal.pointee.OGR_G_CreateFromWkb(bytes.baseAddress, nil, &shape, Int32(bytes.count))
      defer { gdal.pointee.OGR_G_DestroyGeometry(shape) }
      guard failed == OGRERR_NONE, let shape else {
        throw failure(layer, call.complaint ?? "a geometry cannot be read")
      }
      try append(geometry: shape, layer, to: &block)
    }
  }
}

extension FieldColumn {
  /// Whether an Arrow column can represent all values of this column.
  fileprivate var isPlain: Bool {
    switch type {
    case OFTInteger, OFTInteger64, OFTReal, OFTString: kind != .bools
    default: false
    }
  }

  /// Arrow's codes of the types that its values may have.
  fileprivate var formats: [String] {
    switch kind {
    case .bools: []
    case .integers: ["l", "i", "s"]
    case .doubles: ["g", "f"]
    case .texts, .json: ["u", "U"]
    }
  }
}

/// The columns of a stream: ids, fields in the order of the layer, then the geometry, if there is one.
private struct ArrowColumns {
  let formats: [String]
  let geometry: Int?

  /// Nil if the columns are not the expected ones.
  init?(_ formats: [String], _ layer: FeatureLayer) {
    self.formats = formats
    let hasGeometry = layer.description.geometryType != nil
    geometry = hasGeometry ? layer.columns.count + 1 : nil
    guard formats.count == layer.columns.count + (hasGeometry ? 2 : 1), formats[0] == "l",
      zip(layer.columns, formats.dropFirst()).allSatisfy({ $0.formats.contains($1) }),
      geometry.map({ ["z", "Z"].contains(formats[$0]) }) ?? true
    else { return nil }
  }
}

/// One column of a batch: a validity bitmap, then values, or offsets and bytes.
private struct ArrowColumn {
  let count: Int
  private let format: String
  private let valid: UnsafePointer<UInt8>?
  private let first: UnsafeRawPointer
  private let second: UnsafeRawPointer?
  private let offset: Int
  /// Whether offsets have 64 bits.
  private let hasLongOffsets: Bool

  init?(_ batch: ArrowArray, _ index: Int, _ format: String) {
    guard let array = batch.children[index]?.pointee, array.length == batch.length, array.n_buffers >= 2,
      let buffers = array.buffers, let first = buffers[1]
    else { return nil }
    count = Int(array.length)
    self.format = format
    hasLongOffsets = format == "U" || format == "Z"
    offset = Int(array.offset)
    valid = array.null_count == 0 ? nil : buffers[0]?.assumingMemoryBound(to: UInt8.self)
    self.first = first
    second = array.n_buffers > 2 ? buffers[2] : nil
  }

  private func bit(_ bits: UnsafePointer<UInt8>, _ row: Int) -> Bool {
    bits[(row + offset) / 8] >> ((row + offset) % 8) & 1 == 1
  }

  private var isNull: [Bool]? { valid.map { valid in (0..<count).map { !bit(valid, $0) } } }

  func values<Value: BitwiseCopyable>(_ type: Value.Type) -> UnsafeBufferPointer<Value> {
    UnsafeBufferPointer(start: first.assumingMemoryBound(to: Value.self) + offset, count: count)
  }

  /// Offset of a row's bytes; `count` is allowed as a row, for the end of the last one.
  private func start(_ row: Int) -> Int {
    hasLongOffsets
      ? Int(first.assumingMemoryBound(to: Int64.self)[row + offset])
      : Int(first.assumingMemoryBound(to: Int32.self)[row + offset])
  }

  /// The bytes of a row; nil without a value.
  func bytes(_ row: Int) -> UnsafeRawBufferPointer? {
    if let valid, !bit(valid, row) { return nil }
    let (from, to) = (start(row), start(row + 1))
    guard let second, 0 <= from, from <= to else { return nil }
    return UnsafeRawBufferPointer(start: second + from, count: to - from)
  }

  func append(to column: inout BlockColumnBuilder) {
    let isNull = isNull
    switch format {
    case "l": column.append(words: values(Int64.self).map { UInt64(bitPattern: $0) }, isNull: isNull)
    case "i": column.append(words: values(Int32.self).map { UInt64(bitPattern: Int64($0)) }, isNull: isNull)
    case "s": column.append(words: values(Int16.self).map { UInt64(bitPattern: Int64($0)) }, isNull: isNull)
    case "g": column.append(doubles: Array(values(Double.self)), isNull: isNull)
    case "f": column.append(doubles: values(Float.self).map(Double.init), isNull: isNull)
    default:
      let start = start(0)
      let text = UnsafeRawBufferPointer(start: second.map { $0 + start }, count: self.start(count) - start)
      column.append(texts: text, ends: (1...count).map { self.start($0) - start }, isNull: isNull)
    }
  }
}
