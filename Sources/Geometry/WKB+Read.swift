// Reads WKB from files and clients. Untrusted input: counts are checked against the remaining bytes before allocation.

extension Geometry {
  /// Reads ISO WKB or EWKB in either byte order. An SRID is skipped: containers name the reference.
  ///
  /// An empty point is written as NaN, NaN; empty members of a multipoint are dropped. Other coordinates have to be finite,
  /// except that Z and M may be NaN if unknown.
  /// - Complexity: O(n) in bytes, memory too.
  public init(wkb bytes: [UInt8]) throws(WKBError) {
    self = try bytes.withUnsafeBytes { raw in
      Result { () throws(WKBError) in try Geometry(wkb: raw) }
    }.get()
  }

  /// Reads ISO WKB or EWKB from memory that stays valid during the call.
  ///
  /// - Parameter keepsEmptyPoints: whether empty members of a multipoint are positions of NaN; otherwise they are dropped.
  public init(wkb bytes: UnsafeRawBufferPointer, keepsEmptyPoints: Bool = false) throws(WKBError) {
    var reader = WKBReader(bytes: bytes, keepsEmptyPoints: keepsEmptyPoints)
    self = try reader.geometry(depth: 0)
    guard reader.offset == bytes.count else { throw .trailingBytes(offset: reader.offset) }
  }
}

private struct WKBReader {
  struct Header {
    let offset: Int
    let code: UInt32
    let shape: WKB.Shape
    let layout: WKB.Layout
    let swapped: Bool
  }

  let bytes: UnsafeRawBufferPointer
  let keepsEmptyPoints: Bool
  var offset = 0

  private var remaining: Int { bytes.count - offset }

  private func require(_ count: Int) throws(WKBError) {
    guard count <= remaining else { throw .truncated(offset: offset, needed: count - remaining) }
  }

  private mutating func integer(swapped: Bool) throws(WKBError) -> UInt32 {
    try require(4)
    let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    offset += 4
    return swapped ? value.byteSwapped : value
  }

  /// Reads a count of parts of at least `size` bytes each, and checks it before anything is allocated.
  private mutating func count(of size: Int, _ header: Header) throws(WKBError) -> Int {
    let count = Int(try integer(swapped: header.swapped))
    // UInt32 times a stride of 32 bytes cannot overflow 64 bits.
    try require(count * size)
    return count
  }

  private mutating func header() throws(WKBError) -> Header {
    let start = offset
    try require(5)
    let order = bytes[offset]
    guard order <= 1 else { throw .badByteOrder(offset: offset, value: order) }
    offset += 1
    let swapped = (order == 1) != (1.littleEndian == 1)
    let code = try integer(swapped: swapped)
    let iso = code & ~WKB.Flag.all
    guard iso < 4000, let shape = WKB.Shape(rawValue: iso % 1000) else {
      throw .unsupportedType(offset: start + 1, code: code)
    }
    let layout = WKB.Layout(
      hasZ: code & WKB.Flag.z != 0 || iso / 1000 & 1 != 0, hasM: code & WKB.Flag.m != 0 || iso / 1000 & 2 != 0)
    if code & WKB.Flag.srid != 0 { _ = try integer(swapped: swapped) }
    return Header(offset: start, code: code, shape: shape, layout: layout, swapped: swapped)
  }

  /// - Parameter allowsEmpty: whether the numbers are those of a point, which are NaN if it is empty, and are not checked.
  private mutating func positions(
    _ count: Int, _ header: Header, allowsEmpty: Bool = false
  ) throws(WKBError) -> Positions {
    let numbers = count * header.layout.stride
    try require(numbers * 8)
    let start = offset
    let source = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + numbers * 8])
    offset += numbers * 8
    let values = [Double](unsafeUninitializedCapacity: numbers) { buffer, filled in
      UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
      filled = numbers
      guard header.swapped else { return }
      for index in 0..<numbers { buffer[index] = Double(bitPattern: buffer[index].bitPattern.byteSwapped) }
    }
    let positions = Positions(values: values, hasZ: header.layout.hasZ, hasM: header.layout.hasM)
    guard allowsEmpty || positions.isFinite else { throw .notFinite(offset: start) }
    return positions
  }

  private mutating func run(_ header: Header) throws(WKBError) -> Positions {
    try positions(try count(of: header.layout.stride * 8, header), header)
  }

  private mutating func point(_ header: Header) throws(WKBError) -> Point? {
    let start = offset
    let read = try positions(1, header, allowsEmpty: true)
    if read[0].x.isNaN && read[0].y.isNaN { return nil }
    guard read.isFinite else { throw .notFinite(offset: start) }
    return read[0]
  }

  private mutating func rings(_ header: Header) throws(WKBError) -> [Positions] {
    try (0..<count(of: 4, header)).map { (_) throws(WKBError) in try run(header) }
  }

  /// Reads the header of a member that must have the given shape.
  private mutating func member(_ shape: WKB.Shape) throws(WKBError) -> Header {
    let header = try header()
    guard header.shape == shape else { throw .unexpectedMember(offset: header.offset, code: header.code) }
    return header
  }

  private mutating func points(_ parent: Header) throws(WKBError) -> Positions {
    let count = try count(of: 5 + parent.layout.stride * 8, parent)
    var result = Positions(hasZ: parent.layout.hasZ, hasM: parent.layout.hasM)
    for _ in 0..<count {
      let header = try member(.point)
      // One run of positions has one layout.
      guard header.layout == parent.layout else {
        throw .unexpectedMember(offset: header.offset, code: header.code)
      }
      let point = try point(header)
      if point != nil || keepsEmptyPoints { result.append(point ?? Point(x: .nan, y: .nan)) }
    }
    return result
  }

  mutating func geometry(depth: Int) throws(WKBError) -> Geometry {
    let header = try header()
    switch header.shape {
    case .point: return .point(try point(header))
    case .lineString: return .lineString(try run(header))
    case .polygon: return .polygon(try rings(header))
    case .multiPoint: return .multiPoint(try points(header))
    case .multiLineString:
      let lines = try (0..<count(of: 9, header)).map { (_) throws(WKBError) in try run(member(.lineString)) }
      return .multiLineString(lines)
    case .multiPolygon:
      return .multiPolygon(try (0..<count(of: 9, header)).map { (_) throws(WKBError) in try rings(member(.polygon)) })
    case .collection:
      guard depth < Geometry.maximumDepth else { throw .tooDeep(offset: header.offset) }
      return .collection(try (0..<count(of: 9, header)).map { (_) throws(WKBError) in try geometry(depth: depth + 1) })
    }
  }
}
