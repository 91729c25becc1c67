// Builds a block: columns grow row by row and are then written to a file in memory.

import CReader
import Geometry
import Platform

/// A column being filled, with one value per row.
public struct BlockColumnBuilder {
  public enum Kind: Sendable { case integers, doubles, bools, texts, json }

  let kind: Kind
  private(set) var words: [UInt64] = []
  private(set) var flags: [UInt8] = []
  private(set) var offsets: [UInt32] = [0]
  private(set) var bytes: [UInt8] = []
  private(set) var nulls: [UInt8] = []
  private(set) var hasNulls = false

  public init(_ kind: Kind) { self.kind = kind }

  public mutating func appendNull() {
    hasNulls = true
    nulls.append(1)
    switch kind {
    case .integers, .doubles: words.append(0)
    case .bools: flags.append(0)
    case .texts, .json: offsets.append(UInt32(truncatingIfNeeded: bytes.count))
    }
  }

  public mutating func append(_ integer: Int64) {
    nulls.append(0)
    words.append(UInt64(bitPattern: integer))
  }

  public mutating func append(_ number: Double) {
    guard number.isFinite else { return appendNull() }
    nulls.append(0)
    words.append(number.bitPattern)
  }

  public mutating func append(_ flag: Bool) {
    nulls.append(0)
    flags.append(flag ? 1 : 0)
  }

  /// Appends a text of any bytes; invalid UTF-8 is repaired.
  public mutating func append(utf8 text: UnsafeRawBufferPointer) {
    nulls.append(0)
    if text.contains(where: { $0 >= 128 }), String(validating: text, as: UTF8.self) == nil {
      bytes.append(contentsOf: String(windows1252: text).utf8)
    } else {
      bytes.append(contentsOf: text)
    }
    offsets.append(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// Appends a text that is known to be valid UTF-8.
  public mutating func append(valid text: UnsafeRawBufferPointer) {
    nulls.append(0)
    bytes.append(contentsOf: text)
    offsets.append(UInt32(truncatingIfNeeded: bytes.count))
  }

  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
  }

  // MARK: Whole columns. `isNull` has for each row whether it is null; nil if no row is. The parameters are arrays, because
  // generic code of another module is not specialized, and would take longer than GDAL.

  public mutating func append(words more: [UInt64], isNull: [Bool]?) {
    words.append(contentsOf: more)
    note(isNull, upTo: words.count)
  }

  /// NaN and infinities are null.
  public mutating func append(doubles more: [Double], isNull: [Bool]?) {
    guard !more.allSatisfy(\.isFinite) else { return append(words: more.map(\.bitPattern), isNull: isNull) }
    let known = isNull ?? [Bool](repeating: false, count: more.count)
    append(
      words: more.map { $0.isFinite ? $0.bitPattern : 0 }, isNull: zip(known, more).map { $0 || !$1.isFinite })
  }

  /// Texts, separated in `text` at `ends`. A text that is not UTF-8 is read as Windows-1252.
  public mutating func append(texts text: UnsafeRawBufferPointer, ends: [Int], isNull: [Bool]?) {
    let start = bytes.count
    if text.contains(where: { $0 >= 128 }) {
      var last = 0
      for (row, end) in ends.enumerated() {
        if isNull?[row] == true {
          appendNull()
        } else {
          append(utf8: UnsafeRawBufferPointer(rebasing: text[last..<end]))
        }
        last = end
      }
      return
    }
    bytes.append(contentsOf: text)
    offsets.append(contentsOf: ends.lazy.map { UInt32(truncatingIfNeeded: start + $0) })
    note(isNull, upTo: offsets.count - 1)
  }

  private mutating func note(_ isNull: [Bool]?, upTo rows: Int) {
    if let isNull {
      hasNulls = true
      nulls.append(contentsOf: isNull.lazy.map { $0 ? 1 : 0 })
    } else {
      nulls.append(contentsOf: repeatElement(0, count: rows - nulls.count))
    }
  }

  mutating func reset() {
    words.removeAll(keepingCapacity: true)
    flags.removeAll(keepingCapacity: true)
    offsets.removeAll(keepingCapacity: true)
    offsets.append(0)
    bytes.removeAll(keepingCapacity: true)
    nulls.removeAll(keepingCapacity: true)
    hasNulls = false
  }
}

/// Features in columns, being filled. Every column gets a value for every row.
public struct FeatureBlockBuilder {
  /// A block is sent once it has this many rows or bytes.
  static let rowLimit = 16_384
  private static let byteLimit = 4 << 20

  public private(set) var count = 0
  public var columns: [BlockColumnBuilder]
  private var ids: [Int64] = []
  private var hasIDs = false
  private var points: [Double] = []
  /// Numbers per point: 2, or 3 with z; 0 before the first point.
  private var stride = 0
  private var wkb: [UInt8] = []
  private var offsets: [UInt64] = [0]
  /// Whether all geometries so far are points with the same number of coordinates.
  private var isPacked = true

  public init(columns: [BlockColumnBuilder.Kind]) { self.columns = columns.map { BlockColumnBuilder($0) } }

  public var isFull: Bool {
    count >= Self.rowLimit || wkb.count + columns.reduce(0) { $0 + $1.bytes.count } >= Self.byteLimit
  }

  /// Begins a row; the row's geometry and values follow.
  public mutating func begin(id: Int64?) {
    count += 1
    ids.append(id ?? -1)
    if id != nil { hasIDs = true }
  }

  /// Begins rows whose geometries and values follow, column by column.
  public mutating func begin(ids more: UnsafeBufferPointer<Int64>) {
    count += more.count
    ids.append(contentsOf: more)
    hasIDs = true
  }

  public mutating func appendPoint(x: Double, y: Double, z: Double?) {
    let wanted = z == nil ? 2 : 3
    if isPacked, stride == wanted || stride == 0 {
      stride = wanted
      points.append(x)
      points.append(y)
      if let z { points.append(z) }
      return
    }
    appendWKB { $0.append(contentsOf: Geometry.point(Point(x: x, y: y, z: z)).wkb()) }
  }

  public mutating func appendNoGeometry() { appendWKB { _ in } }

  /// `write` appends the bytes of one geometry, ISO WKB.
  public mutating func appendWKB(_ write: (inout [UInt8]) -> Void) {
    if isPacked { unpack() }
    write(&wkb)
    offsets.append(UInt64(wkb.count))
  }

  private mutating func unpack() {
    isPacked = false
    guard stride > 0 else { return }
    for base in Swift.stride(from: 0, to: points.count, by: stride) {
      let z = stride == 3 ? points[base + 2] : nil
      wkb.append(contentsOf: Geometry.point(Point(x: points[base], y: points[base + 1], z: z)).wkb())
      offsets.append(UInt64(wkb.count))
    }
    points = []
  }

  /// Writes the block to a file in memory, seals it, and empties the builder. Nil with `errno` set on failure.
  public mutating func finish() -> CInt? {
    defer { reset() }
    let file = creader_memory_file()
    guard file >= 0 else { return nil }
    guard write(to: file), SharedMemory.seal(file) else {
      close(file)
      return nil
    }
    return file
  }

  private mutating func reset() {
    count = 0
    ids.removeAll(keepingCapacity: true)
    hasIDs = false
    points.removeAll(keepingCapacity: true)
    stride = 0
    wkb.removeAll(keepingCapacity: true)
    offsets = [0]
    isPacked = true
    for column in columns.indices { columns[column].reset() }
  }

  private func write(to file: CInt) -> Bool {
    var layout = BlockWriter(entries: columns.count + 2)
    layout.add(hasIDs ? .integers : .none, hasIDs ? [bytes(ids)] : [])
    if isPacked {
      layout.add(stride == 0 ? .none : stride == 2 ? .points : .pointsZ, [bytes(points)])
    } else {
      layout.add(.wkb, [bytes(offsets), wkb[...]])
    }
    for column in columns {
      let nulls = column.hasNulls ? column.nulls[...] : nil
      switch column.kind {
      case .integers: layout.add(.integers, [bytes(column.words)], nulls: nulls)
      case .doubles: layout.add(.doubles, [bytes(column.words)], nulls: nulls)
      case .bools: layout.add(.bools, [column.flags[...]], nulls: nulls)
      case .texts: layout.add(.texts, [bytes(column.offsets), column.bytes[...]], nulls: nulls)
      case .json: layout.add(.json, [bytes(column.offsets), column.bytes[...]], nulls: nulls)
      }
    }
    return layout.write(to: file, rows: count)
  }

  private func bytes<Value: BitwiseCopyable>(_ values: [Value]) -> ArraySlice<UInt8> {
    values.withUnsafeBytes { ArraySlice($0) }
  }
}

/// Collects the sections of a block, then writes them after the head.
private struct BlockWriter {
  private var head: [UInt64] = []
  private var parts: [ArraySlice<UInt8>] = []
  private var end: Int
  private let entries: Int

  init(entries: Int) {
    self.entries = entries
    end = 24 + entries * blockEntrySize
  }

  mutating func add(_ section: BlockSection, _ parts: [ArraySlice<UInt8>], nulls: ArraySlice<UInt8>? = nil) {
    let start = end
    for part in parts { append(part) }
    let length = end - start
    pad()
    head += [section.rawValue, UInt64(start), UInt64(length), nulls == nil ? 0 : UInt64(end)]
    if let nulls {
      append(nulls)
      pad()
    }
  }

  private mutating func append(_ part: ArraySlice<UInt8>) {
    parts.append(part)
    end += part.count
  }

  private mutating func pad() {
    if end & 7 != 0 { append(ArraySlice(repeating: 0, count: 8 - end & 7)) }
  }

  func write(to file: CInt, rows: Int) -> Bool {
    let words = [blockMark, UInt64(rows), UInt64(entries - 2)] + head
    return words.withUnsafeBytes { writeAll($0, to: file) }
      && parts.allSatisfy { part in part.withUnsafeBytes { writeAll($0, to: file) } }
  }
}

extension String {
  /// A text in Windows-1252, the most frequent encoding of files that state none. No byte is lost: the five undefined bytes
  /// become control characters, as in WHATWG's encoding standard.
  public init(windows1252 bytes: some Sequence<UInt8>) {
    let upper: [UInt16] = [
      0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
      0x017D,
      0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
      0x017E, 0x0178,
    ]
    self.init(
      decoding: bytes.map { 0x80...0x9F ~= $0 ? upper[Int($0) - 0x80] : UInt16($0) }, as: UTF16.self)
  }
}
