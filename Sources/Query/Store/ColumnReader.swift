// Reading of rows without reference counting: plain pointers to a chunk's arrays.

import Geometry

/// Addresses of a column's values.
///
/// An atomic reference count waits for all previous loads, so that reading scattered rows would wait for memory one
/// load after another. A chunk records these addresses after each change of a column. They are valid while the chunk is
/// held and not changed: an array's elements are in one heap object that the chunk's array holds, and they do not move
/// in it (`ArraySlice` relies on the same: an address and the owner); and a chunk held by a reader is never changed.
/// The chunk has to be held explicitly, since the optimiser does not count an address as a use: addresses are only
/// passed to closures (``FeatureChunk/withReader(_:)``). Tests compare them with the actual addresses of the arrays.
struct ColumnReader: BitwiseCopyable, Equatable {
  fileprivate var layout = Column.Layout.sparse
  fileprivate var count = 0
  /// Values, offsets or codes.
  fileprivate var values: UnsafeRawPointer?
  /// The texts that offsets refer to.
  fileprivate var texts: UnsafeRawPointer?
  /// The offsets that codes refer to.
  fileprivate var distinct: UnsafePointer<UInt32>?
  fileprivate var nulls: UnsafePointer<UInt64>?
  fileprivate var nullRows = 0

  /// Whether the values are not in one of the arrays that this can read.
  @inline(__always)
  var isElsewhere: Bool { layout == .sparse || layout == .mixed }

  @inline(__always)
  private func isNull(_ row: Int) -> Bool {
    guard row < nullRows, let nulls else { return false }
    return nulls[row &>> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1
  }

  @inline(__always)
  private func load<T: BitwiseCopyable>(_ row: Int, as type: T.Type) -> T? {
    guard row < count, let values else { return nil }
    // A raw load, since `touch` reads doubles as integers.
    return values.load(fromByteOffset: row &* MemoryLayout<T>.stride, as: type)
  }

  /// The start of a row's text, at its length; nil for null.
  @inline(__always)
  private func text(_ row: Int) -> UnsafePointer<UInt8>? {
    var offset: UInt32?
    if layout == .codes {
      if let code = load(row, as: UInt8.self), code != CodeColumn.none { offset = distinct?[Int(code)] }
    } else {
      offset = load(row, as: UInt32.self)
    }
    guard let offset, offset != TextArena.none else { return nil }
    return texts.map { ($0 + Int(offset)).assumingMemoryBound(to: UInt8.self) }
  }

  /// The value of a row; not for a column that ``isElsewhere``.
  @inline(__always)
  func attribute(_ row: Int) -> FeatureRow.Attribute {
    switch layout {
    case .sparse, .mixed: return .null
    case .bools:
      if let value = load(row, as: Bool.self), !isNull(row) { return .bool(value) }
    case .integers:
      if let value = load(row, as: Int64.self), !isNull(row) { return .integer(value) }
    case .doubles:
      if let value = load(row, as: Double.self), !isNull(row) { return .double(value) }
    case .codes, .strings, .json:
      guard var next = text(row) else { return .null }
      // See TextArena: seven bits of the length per byte.
      var length = Int(next.pointee)
      var shift = 7
      if length > 127 {
        length &= 127
        repeat {
          next += 1
          length |= Int(next.pointee & 127) << shift
          shift += 7
        } while next.pointee > 127
      }
      let bytes = UnsafeRawBufferPointer(start: next + 1, count: length)
      return layout == .json ? .json(bytes) : .string(bytes)
    }
    return .null
  }

  /// Loads the row's values into the processor's caches; the result is meaningless.
  @inline(__always)
  func touch(_ row: Int) -> Int {
    switch layout {
    case .sparse, .mixed, .bools: 0
    case .codes: Int(load(row, as: UInt8.self) ?? 0)
    case .integers, .doubles: Int(truncatingIfNeeded: (load(row, as: Int64.self) ?? 0) & 1)
    case .strings, .json: Int(text(row)?.pointee ?? 0)
    }
  }
}

extension Column {
  /// The current addresses of the values.
  var reader: ColumnReader {
    var reader = ColumnReader()
    func note<T>(_ values: [T]) {
      reader.count = values.count
      values.withUnsafeBytes { reader.values = $0.baseAddress }
    }
    reader.layout = layout
    switch layout {
    case .sparse, .mixed: return reader
    case .bools: note(bools)
    case .integers, .doubles: note(words)
    case .strings, .json: note(texts.offsets)
    case .codes:
      note(codes.codes)
      codes.distinct.offsets.withUnsafeBufferPointer { reader.distinct = $0.baseAddress }
    }
    (layout == .codes ? codes.distinct : texts).arena.bytes.withUnsafeBytes { reader.texts = $0.baseAddress }
    nulls.withWords {
      reader.nulls = $0.baseAddress
      reader.nullRows = $0.count * 64
    }
    return reader
  }
}

/// Addresses of all data of a chunk, itself at a fixed address.
struct ChunkReader {
  /// Number of packed points; 0 if geometries are not packed.
  fileprivate(set) var points = 0
  fileprivate(set) var x: UnsafePointer<Double>?
  fileprivate(set) var y: UnsafePointer<Double>?
  fileprivate(set) var z: UnsafePointer<Double>?
  fileprivate(set) var zCount = 0
  fileprivate(set) var columns: UnsafeMutablePointer<ColumnReader>?
  fileprivate(set) var columnCount = 0

  mutating func note(_ geometry: GeometryColumn) {
    points = geometry.isPacked ? geometry.x.count : 0
    x = geometry.x.withUnsafeBufferPointer(\.baseAddress)
    y = geometry.y.withUnsafeBufferPointer(\.baseAddress)
    z = geometry.z.withUnsafeBufferPointer(\.baseAddress)
    zCount = geometry.z.count
  }

  mutating func note(_ all: [Column]) {
    if all.count != columnCount {
      columns?.deallocate()
      columnCount = all.count
      columns = all.isEmpty ? nil : .allocate(capacity: all.count)
    }
    for index in all.indices { columns?[index] = all[index].reader }
  }

  mutating func note(_ column: Column, at index: Int) {
    columns?[index] = column.reader
  }

  func free() { columns?.deallocate() }

  /// The point of a row, without M; z is NaN for none.
  @inline(__always)
  func point(_ row: Int) -> (x: Double, y: Double, z: Double)? {
    guard row < points, let x, let y, !x[row].isNaN else { return nil }
    return (x[row], y[row], row < zCount ? z?[row] ?? .nan : .nan)
  }

  @inline(__always)
  func touch(_ row: Int) -> Int {
    var sum = 0
    if row < points, let x, let y {
      sum = Int(truncatingIfNeeded: (x[row].bitPattern ^ y[row].bitPattern) & 1)
    }
    guard let columns else { return sum }
    for index in 0..<columnCount { sum &+= columns[index].touch(row) }
    return sum
  }
}
