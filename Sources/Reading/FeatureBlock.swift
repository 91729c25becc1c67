// Features in columns in shared memory: written by a reader, checked and read by the server.

import Geometry

/// Layout of a section of a block. Numbers are little-endian and aligned to eight bytes.
enum BlockSection: UInt64 {
  /// No values: all rows are null.
  case none
  /// Eight bytes per row.
  case integers, doubles
  /// One byte per row, 0 or 1.
  case bools
  /// Offsets of four bytes each, one more than rows, then UTF-8.
  case texts, json
  /// x and y of every row, or x, y and z.
  case points, pointsZ
  /// Offsets of eight bytes each, one more than rows, then ISO WKB; a row without a geometry has no bytes.
  case wkb
}

/// First word of a block. The number of rows and of columns follow, then an entry each for ids, geometries and every column.
let blockMark: UInt64 = 0x31_4B4C_424F_4547
/// Size of an entry. Its four words: section, offset, length in bytes, offset of the null mask (one byte per row) or 0.
let blockEntrySize = 32

/// One column of a block.
public enum BlockColumn {
  case none
  case integers(UnsafeBufferPointer<Int64>)
  case doubles(UnsafeBufferPointer<Double>)
  case bools(UnsafeBufferPointer<UInt8>)
  case texts(BlockTexts)
  case json(BlockTexts)
}

/// Texts of a column; each is well-formed UTF-8.
public struct BlockTexts {
  let offsets: UnsafeBufferPointer<UInt32>
  let bytes: UnsafeRawBufferPointer

  public subscript(row: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[Int(offsets[row])..<Int(offsets[row + 1])])
  }
}

/// Geometries of a block.
public enum BlockGeometries {
  case none
  /// x and y interleaved, or x, y and z.
  case points(UnsafeBufferPointer<Double>, stride: Int)
  case wkb(offsets: UnsafeBufferPointer<UInt64>, bytes: UnsafeRawBufferPointer)

  /// The geometry of a row; checks the reader's bytes.
  public func geometry(_ row: Int) throws(WKBError) -> Geometry? {
    switch self {
    case .none: return nil
    case .points(let values, let stride):
      let base = row * stride
      let point = Positions(values: Array(values[base..<base + stride]), hasZ: stride == 3)
      if point[0].x.isNaN, point[0].y.isNaN { return .point(nil) }
      guard point.isFinite else { throw .notFinite(offset: 0) }
      return .point(point[0])
    case .wkb(let offsets, let bytes):
      let range = Int(offsets[row])..<Int(offsets[row + 1])
      guard !range.isEmpty else { return nil }
      return try Geometry(wkb: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }
}

/// Features in columns. Everything is checked on mapping, except geometries, which are checked when they are read.
public struct FeatureBlock: ~Copyable {
  public let count: Int
  /// The format's ids, -1 without one; nil if no row has one.
  public let ids: UnsafeBufferPointer<Int64>?
  public let geometries: BlockGeometries
  public let columns: [BlockColumn]
  private let nulls: [UnsafeBufferPointer<UInt8>?]
  private let memory: UnsafeRawBufferPointer

  /// Maps a sealed file in memory. Nil if it is not one, or does not hold a block of `columns` columns.
  public init?(mapping file: CInt, columns: Int) {
    guard let memory = SharedMemory.map(file) else { return nil }
    guard let layout = BlockLayout(memory, columns: columns) else {
      SharedMemory.unmap(memory)
      return nil
    }
    self.memory = memory
    count = layout.count
    ids = layout.ids
    geometries = layout.geometries
    self.columns = layout.columns
    nulls = layout.nulls
  }

  deinit { SharedMemory.unmap(memory) }

  /// Whether a column's value in a row is null.
  @inline(__always)
  public func isNull(column: Int, row: Int) -> Bool {
    if case .none = columns[column] { return true }
    return nulls[column].map { $0[row] != 0 } ?? false
  }

  /// Whether a column has nulls.
  public func hasNulls(column: Int) -> Bool { nulls[column] != nil }

  /// One value. NaN and infinities are null.
  public func value(column: Int, row: Int) -> AttributeValue {
    if isNull(column: column, row: row) { return .null }
    switch columns[column] {
    case .none: return .null
    case .integers(let values): return .integer(values[row])
    case .doubles(let values): return values[row].isFinite ? .double(values[row]) : .null
    case .bools(let values): return .bool(values[row] != 0)
    case .texts(let texts): return .string(String(decoding: texts[row], as: UTF8.self))
    case .json(let texts): return .json(String(decoding: texts[row], as: UTF8.self))
    }
  }
}

/// The sections of a block in memory whose content is not trusted.
struct BlockLayout {
  let count: Int
  var ids: UnsafeBufferPointer<Int64>?
  var geometries = BlockGeometries.none
  var columns: [BlockColumn] = []
  var nulls: [UnsafeBufferPointer<UInt8>?] = []
  private let memory: UnsafeRawBufferPointer

  /// Nil if a section is outside of the memory or malformed.
  init?(_ memory: UnsafeRawBufferPointer, columns columnCount: Int) {
    guard memory.count >= 24, memory.load(as: UInt64.self) == blockMark else { return nil }
    let rows = memory.load(fromByteOffset: 8, as: UInt64.self)
    guard memory.load(fromByteOffset: 16, as: UInt64.self) == UInt64(columnCount),
      // A row takes at least one byte, unless all sections are empty.
      rows <= 1 << 24, 24 + (columnCount + 2) * blockEntrySize <= memory.count
    else { return nil }
    self.memory = memory
    count = Int(rows)
    guard readIDs(), readGeometries() else { return nil }
    for column in 0..<columnCount {
      guard let (values, nulls) = readColumn(2 + column) else { return nil }
      columns.append(values)
      self.nulls.append(nulls)
    }
  }

  private func entry(_ index: Int) -> (section: BlockSection, bytes: UnsafeRawBufferPointer, nulls: Int)? {
    let start = 24 + index * blockEntrySize
    func word(_ number: Int) -> UInt64 { memory.load(fromByteOffset: start + number * 8, as: UInt64.self) }
    guard let section = BlockSection(rawValue: word(0)), let bytes = bytes(word(1), word(2)),
      let nulls = Int(exactly: word(3))
    else { return nil }
    return (section, bytes, nulls)
  }

  /// The bytes at an offset, which has to be a multiple of eight.
  private func bytes(_ offset: UInt64, _ length: UInt64) -> UnsafeRawBufferPointer? {
    let (end, overflow) = offset.addingReportingOverflow(length)
    guard !overflow, offset & 7 == 0, end <= UInt64(memory.count) else { return nil }
    return UnsafeRawBufferPointer(rebasing: memory[Int(offset)..<Int(end)])
  }

  private func values<Value>(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> UnsafeBufferPointer<Value>? {
    guard bytes.count == count * MemoryLayout<Value>.size else { return nil }
    return bytes.bindMemory(to: Value.self)
  }

  private mutating func readIDs() -> Bool {
    guard let (section, bytes, _) = entry(0) else { return false }
    if section == .none { return true }
    guard section == .integers, let values: UnsafeBufferPointer<Int64> = values(bytes, count) else { return false }
    ids = values
    return true
  }

  private mutating func readGeometries() -> Bool {
    guard let (section, bytes, _) = entry(1) else { return false }
    switch section {
    case .none: return true
    case .points, .pointsZ:
      let stride = section == .points ? 2 : 3
      guard let values: UnsafeBufferPointer<Double> = values(bytes, count * stride) else { return false }
      geometries = .points(values, stride: stride)
      return true
    case .wkb:
      guard let (offsets, rest): (UnsafeBufferPointer<UInt64>, _) = split(bytes) else { return false }
      geometries = .wkb(offsets: offsets, bytes: rest)
      return true
    default: return false
    }
  }

  /// Ascending offsets, and the bytes after them that they divide.
  private func split<Offset: FixedWidthInteger>(
    _ bytes: UnsafeRawBufferPointer
  ) -> (UnsafeBufferPointer<Offset>, UnsafeRawBufferPointer)? {
    let size = (count + 1) * MemoryLayout<Offset>.size
    guard bytes.count >= size else { return nil }
    let offsets = UnsafeRawBufferPointer(rebasing: bytes[..<size]).bindMemory(to: Offset.self)
    let rest = UnsafeRawBufferPointer(rebasing: bytes[size...])
    guard offsets[0] == 0, offsets[count] == rest.count else { return nil }
    var previous: Offset = 0
    for offset in offsets {
      guard offset >= previous else { return nil }
      previous = offset
    }
    return (offsets, rest)
  }

  private func readColumn(_ index: Int) -> (BlockColumn, UnsafeBufferPointer<UInt8>?)? {
    guard let (section, bytes, nullOffset) = entry(index) else { return nil }
    var nulls: UnsafeBufferPointer<UInt8>?
    if nullOffset != 0 {
      guard let found = self.bytes(UInt64(nullOffset), UInt64(count)) else { return nil }
      nulls = found.bindMemory(to: UInt8.self)
    }
    switch section {
    case .none: return (.none, nil)
    case .integers: return values(bytes, count).map { (.integers($0), nulls) }
    case .doubles: return values(bytes, count).map { (.doubles($0), nulls) }
    case .bools: return values(bytes, count).map { (.bools($0), nulls) }
    case .texts: return texts(bytes).map { (.texts($0), nulls) }
    case .json: return texts(bytes).map { (.json($0), nulls) }
    case .points, .pointsZ, .wkb: return nil
    }
  }

  private func texts(_ bytes: UnsafeRawBufferPointer) -> BlockTexts? {
    guard let (offsets, rest): (UnsafeBufferPointer<UInt32>, _) = split(bytes) else { return nil }
    let texts = BlockTexts(offsets: offsets, bytes: rest)
    if isASCII(rest) { return texts }
    for row in 0..<count {
      let text = texts[row]
      if !isASCII(text), String(validating: text, as: UTF8.self) == nil { return nil }
    }
    return texts
  }

  private func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var all: UInt8 = 0
    for byte in bytes { all |= byte }
    return all < 128
  }
}
