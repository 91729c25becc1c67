// Writes a geometry as ISO WKB, little-endian.

extension GeometryText {
  /// Appends the geometry, which must not be absent.
  public func appendWKB(to bytes: inout [UInt8]) {
    var writer = WKBWriter(bytes: bytes, hasZ: hasZ)
    bytes = []
    if kind == .collection { writer.head(.collection, count: parts.count) }
    for part in parts { append(part, to: &writer) }
    bytes = writer.bytes
  }

  private func append(_ part: Part, to writer: inout WKBWriter) {
    switch part.kind {
    case .point: append(part.positions.lowerBound, to: &writer)
    case .lineString: append(part.positions, .lineString, to: &writer)
    case .multiPoint:
      writer.head(.multiPoint, count: part.positions.count)
      for position in part.positions { append(position, to: &writer) }
    case .multiLineString:
      writer.head(.multiLineString, count: part.lists.count)
      var first = part.positions.lowerBound
      for list in part.lists {
        append(first..<listEnds[list], .lineString, to: &writer)
        first = listEnds[list]
      }
    case .polygon: append(part.lists, from: part.positions.lowerBound, to: &writer)
    case .multiPolygon:
      writer.head(.multiPolygon, count: part.groups.count)
      var first = part.lists.lowerBound
      var position = part.positions.lowerBound
      for group in part.groups {
        append(first..<groupEnds[group], from: position, to: &writer)
        first = groupEnds[group]
        position = listEnds[first - 1]
      }
    case .collection: break
    }
  }

  /// A point.
  private func append(_ position: Int, to writer: inout WKBWriter) {
    writer.head(.point, count: nil)
    writer.positions(ordinates, position..<position + 1)
  }

  /// A line.
  private func append(_ positions: Range<Int>, _ kind: Kind, to writer: inout WKBWriter) {
    writer.head(kind, count: positions.count)
    writer.positions(ordinates, positions)
  }

  /// A polygon of rings.
  private func append(_ rings: Range<Int>, from position: Int, to writer: inout WKBWriter) {
    writer.head(.polygon, count: rings.count)
    var first = position
    for ring in rings {
      writer.word(UInt32(truncatingIfNeeded: listEnds[ring] - first))
      writer.positions(ordinates, first..<listEnds[ring])
      first = listEnds[ring]
    }
  }
}

private struct WKBWriter {
  var bytes: [UInt8]
  let hasZ: Bool

  mutating func head(_ kind: GeometryText.Kind, count: Int?) {
    bytes.append(1)
    word(kind.rawValue + (hasZ ? 1000 : 0))
    if let count { word(UInt32(truncatingIfNeeded: count)) }
  }

  mutating func word(_ value: UInt32) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func positions(_ ordinates: [Double], _ range: Range<Int>) {
    let stride = hasZ ? 3 : 2
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: range.count * stride * 8))
    bytes.withUnsafeMutableBytes { target in
      var place = start
      for position in range {
        for ordinate in 0..<stride {
          target.storeBytes(
            of: ordinates[position * 3 + ordinate].bitPattern.littleEndian, toByteOffset: place, as: UInt64.self)
          place += 8
        }
      }
    }
  }
}
