// Reads rows without reference counting: plain pointers to a chunk's arrays.

import Platform

/// Addresses of a column's values.
///
/// An atomic reference count waits for all previous loads, so that reading scattered rows would wait for memory one
/// load after another. A chunk records these addresses after each change of a column. They are valid while the chunk is
/// held and not changed: an array's elements are in one heap object that the chunk's array holds, and they do not move
/// in it (`ArraySlice` relies on the same: an address and the owner); and a chunk held by a reader is never changed.
/// The chunk has to be held explicitly, since the optimiser does not count an address as a use: addresses are only
/// passed to closures (``FeatureChunk/withReader(_:)``). Tests compare them with the actual addresses of the arrays.
package struct ColumnReader: BitwiseCopyable, Equatable {
  package fileprivate(set) var layout = ValueColumn.Layout.sparse
  fileprivate var count = 0
  /// Values, offsets or codes.
  fileprivate var values: UnsafeRawPointer?
  /// The texts that offsets refer to.
  fileprivate var texts: UnsafeRawPointer?
  /// The offsets that codes refer to.
  fileprivate var distinct: UnsafePointer<UInt32>?
  package fileprivate(set) var distinctCount = 0
  fileprivate var nulls: UnsafePointer<UInt64>?
  fileprivate var nullRows = 0
  /// For the layouts `integers` and `doubles`, the bits of the bounds.
  fileprivate var least: UInt64 = 0
  fileprivate var greatest: UInt64 = 0

  /// Whether the layout has no array that this type can read; use ``FeatureRow`` then.
  @inline(__always)
  package var isElsewhere: Bool { layout == .sparse || layout == .mixed }

  /// The numbers of the layouts `integers` and `doubles`.
  package var words: UnsafeBufferPointer<UInt64> { buffer() }
  /// The codes of the layout `codes`.
  package var codes: UnsafeBufferPointer<UInt8> { buffer() }
  /// For the layouts `bools`, `integers` and `doubles`, a bit for each null row.
  package var nullWords: UnsafeBufferPointer<UInt64> {
    UnsafeBufferPointer(start: nulls, count: nulls == nil ? 0 : nullRows / 64)
  }
  package var integerBounds: ValueBounds<Int64> {
    ValueBounds(least: Int64(bitPattern: least), greatest: Int64(bitPattern: greatest))
  }
  package var doubleBounds: ValueBounds<Double> {
    ValueBounds(least: Double(bitPattern: least), greatest: Double(bitPattern: greatest))
  }

  private func buffer<Value: BitwiseCopyable>() -> UnsafeBufferPointer<Value> {
    UnsafeBufferPointer(start: values?.assumingMemoryBound(to: Value.self), count: values == nil ? 0 : count)
  }

  /// The text of a code, in place.
  @inline(__always)
  package func distinctText(_ code: Int) -> UnsafeRawBufferPointer? {
    guard code < distinctCount, let distinct, let texts, distinct[code] != TextArena.none else { return nil }
    return Self.bytes(at: (texts + Int(distinct[code])).assumingMemoryBound(to: UInt8.self))
  }

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
  package func attribute(_ row: Int) -> FeatureRow.Attribute {
    switch layout {
    case .sparse, .mixed: return .null
    case .bools:
      if let value = load(row, as: Bool.self), !isNull(row) { return .bool(value) }
    case .integers:
      if let value = load(row, as: Int64.self), !isNull(row) { return .integer(value) }
    case .doubles:
      if let value = load(row, as: Double.self), !isNull(row) { return .double(value) }
    case .codes, .strings, .json:
      guard let start = text(row) else { return .null }
      let bytes = Self.bytes(at: start)
      return layout == .json ? .json(bytes) : .string(bytes)
    }
    return .null
  }

  /// The bytes of a text, which follow its length.
  @inline(__always)
  private static func bytes(at start: UnsafePointer<UInt8>) -> UnsafeRawBufferPointer {
    var next = start
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
    return UnsafeRawBufferPointer(start: next + 1, count: length)
  }

  fileprivate func prefetchValues() {
    guard let values else { return }
    prefetch(values)
    if layout == .codes {
      prefetch(distinct)
    } else {
      prefetch(values + 4096)
    }
    if nullRows > 0 { prefetch(nulls) }
  }

  fileprivate func prefetchTexts() {
    guard layout == .codes, distinctCount > 0, let distinct, let texts, distinct[0] != TextArena.none else { return }
    prefetch(texts + Int(distinct[0]))
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

extension ValueColumn {
  /// The current addresses of the values.
  package var reader: ColumnReader {
    var reader = ColumnReader()
    func note<T>(_ values: [T]) {
      reader.count = values.count
      values.withUnsafeBytes { reader.values = $0.baseAddress }
    }
    reader.layout = layout
    switch layout {
    case .sparse, .mixed: return reader
    case .bools: note(bools)
    case .integers:
      note(words)
      reader.least = UInt64(bitPattern: integerBounds.least)
      reader.greatest = UInt64(bitPattern: integerBounds.greatest)
    case .doubles:
      note(words)
      (reader.least, reader.greatest) = (doubleBounds.least.bitPattern, doubleBounds.greatest.bitPattern)
    case .strings, .json: note(texts.offsets)
    case .codes:
      note(codes.codes)
      codes.distinct.offsets.withUnsafeBufferPointer { reader.distinct = $0.baseAddress }
      reader.distinctCount = codes.distinct.count
    }
    (layout == .codes ? codes.distinct : texts).arena.bytes.withUnsafeBytes { reader.texts = $0.baseAddress }
    nulls.withWords {
      reader.nulls = $0.baseAddress
      reader.nullRows = $0.count * 64
    }
    return reader
  }
}

/// Addresses of all data of a chunk; the structure itself has a fixed address.
package struct ChunkReader {
  /// The number of rows, removed ones included.
  fileprivate(set) var count = 0
  /// Number of leading columns whose number in the chunk equals their number in the store.
  private var aligned = 0
  package fileprivate(set) var columns: UnsafeMutablePointer<ColumnReader>?
  fileprivate(set) var columnCount = 0
  /// Number of packed points; 0 if geometries are not packed.
  fileprivate(set) var points = 0
  fileprivate(set) var x: UnsafePointer<Double>?
  fileprivate(set) var y: UnsafePointer<Double>?
  fileprivate(set) var z: UnsafePointer<Double>?
  fileprivate(set) var zCount = 0
  /// The first id, if ids are consecutive.
  private var firstID = 0
  private var ids: UnsafePointer<Int>?

  mutating func note(_ column: IDColumn) {
    (firstID, ids) = column.address
    count = column.count
  }

  mutating func note(numbers: [Int]) {
    aligned = numbers.enumerated().prefix { $0.offset == $0.element }.count
  }

  /// The values of a column of the store; nil if the column's number differs in the chunk, or its layout cannot be read here.
  @inline(__always)
  package func values(ofAligned column: Int) -> ColumnReader? {
    guard column < aligned, let values = columns?[column], !values.isElsewhere else { return nil }
    return values
  }

  /// Asks the processor to load the addresses of a column's values.
  @inline(__always)
  package func prefetchAddresses(ofAligned column: Int) {
    guard column < aligned, let columns else { return }
    prefetch(columns + column)
    prefetch(UnsafeRawPointer(columns + column + 1) - 1)
  }

  /// Asks the processor to load the first values of a column, and the first of each further page.
  @inline(__always)
  package func prefetchValues(ofAligned column: Int) { if column < aligned { columns?[column].prefetchValues() } }

  /// Asks the processor to load the first of a column's distinct texts; their offsets were loaded with the values.
  @inline(__always)
  package func prefetchTexts(ofAligned column: Int) { if column < aligned { columns?[column].prefetchTexts() } }

  /// The id of a row that exists.
  @inline(__always)
  func id(_ row: Int) -> Int { ids.map { $0[row] } ?? firstID &+ row }

  mutating func note(_ geometry: GeometryColumn) {
    points = geometry.isPacked ? geometry.x.count : 0
    x = geometry.x.withUnsafeBufferPointer(\.baseAddress)
    y = geometry.y.withUnsafeBufferPointer(\.baseAddress)
    z = geometry.z.withUnsafeBufferPointer(\.baseAddress)
    zCount = geometry.z.count
  }

  mutating func note(_ all: [ValueColumn]) {
    if all.count != columnCount {
      columns?.deallocate()
      columnCount = all.count
      columns = all.isEmpty ? nil : .allocate(capacity: all.count)
    }
    for index in all.indices { columns?[index] = all[index].reader }
  }

  mutating func note(_ column: ValueColumn, at index: Int) {
    columns?[index] = column.reader
  }

  func free() { columns?.deallocate() }

  /// The point of a row, without M; z is NaN for none.
  @inline(__always)
  package func point(_ row: Int) -> (x: Double, y: Double, z: Double)? {
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
