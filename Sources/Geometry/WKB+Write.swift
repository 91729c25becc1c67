// Writes geometries as WKB in native byte order, so that positions are copied and not converted.

extension Geometry {
  /// ISO WKB, with Z and M if any position has them; a missing coordinate is NaN.
  ///
  /// - Parameter measures: false leaves M out.
  /// - Complexity: O(n) in positions.
  public func wkb(measures: Bool = true) -> [UInt8] {
    var layout = WKB.Layout()
    forEachPositions { positions in
      if positions.hasZ { layout.hasZ = true }
      if positions.hasM { layout.hasM = measures }
    }
    return wkb(layout)
  }

  /// Appends ISO WKB, with Z and M if any position has them.
  public func appendWKB(to bytes: inout [UInt8]) {
    var layout = WKB.Layout()
    forEachPositions { positions in
      if positions.hasZ { layout.hasZ = true }
      if positions.hasM { layout.hasM = true }
    }
    var writer = WKBWriter(layout: layout, form: .iso)
    swap(&writer.bytes, &bytes)
    writer.write(self)
    swap(&writer.bytes, &bytes)
  }

  /// ISO WKB with Z and M as given; a missing coordinate is NaN.
  public func wkb(hasZ: Bool, hasM: Bool) -> [UInt8] { wkb(WKB.Layout(hasZ: hasZ, hasM: hasM)) }

  /// ISO WKB of x and y only, for planar predicates.
  public func planarWKB() -> [UInt8] { wkb(WKB.Layout()) }

  /// EWKB, the form of PostGIS, with an EPSG code in the header if there is one.
  public func ewkb(_ code: Int?) -> [UInt8] {
    var layout = WKB.Layout()
    forEachPositions { positions in
      if positions.hasZ { layout.hasZ = true }
      if positions.hasM { layout.hasM = true }
    }
    return wkb(layout, .extended(code.map { UInt32(truncatingIfNeeded: $0) }))
  }

  private func wkb(_ layout: WKB.Layout, _ form: WKBWriter.Form = .iso) -> [UInt8] {
    var writer = WKBWriter(layout: layout, form: form)
    var numbers = 0
    forEachPositions { numbers += $0.values.count }
    writer.bytes.reserveCapacity(numbers * 8 + 64)
    writer.write(self)
    return writer.bytes
  }
}

private struct WKBWriter {
  enum Form {
    case iso
    /// Flags in place of thousands; the code in the header of the whole.
    case extended(UInt32?)
  }

  let layout: WKB.Layout
  let form: Form
  var bytes: [UInt8] = []

  private mutating func append<T: BitwiseCopyable>(_ value: T) {
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }

  private mutating func header(_ shape: WKB.Shape) {
    bytes.append(1.littleEndian == 1 ? 1 : 0)
    switch form {
    case .iso: append(shape.rawValue + layout.isoOffset)
    case .extended(let code):
      let known = bytes.count == 1 ? code : nil
      append(shape.rawValue | (layout.hasZ ? WKB.Flag.z : 0) | (layout.hasM ? WKB.Flag.m : 0) | (known == nil ? 0 : WKB.Flag.srid))
      if let known { append(known) }
    }
  }

  private mutating func header(_ shape: WKB.Shape, count: Int) {
    header(shape)
    append(UInt32(count))
  }

  private mutating func values(_ positions: Positions) {
    if positions.hasZ == layout.hasZ && positions.hasM == layout.hasM {
      positions.values.withUnsafeBytes { bytes.append(contentsOf: $0) }
    } else {
      for index in 0..<positions.count { position(positions[index]) }
    }
  }

  private mutating func position(_ point: Point?) {
    append(point?.x ?? .nan)
    append(point?.y ?? .nan)
    if layout.hasZ { append(point?.z ?? .nan) }
    if layout.hasM { append(point?.m ?? .nan) }
  }

  private mutating func run(_ positions: Positions) {
    append(UInt32(positions.count))
    values(positions)
  }

  private mutating func polygon(_ rings: [Positions]) {
    header(.polygon, count: rings.count)
    for ring in rings { run(ring) }
  }

  mutating func write(_ geometry: Geometry) {
    switch geometry {
    case .point(let point):
      header(.point)
      position(point)
    case .lineString(let positions):
      header(.lineString)
      run(positions)
    case .polygon(let rings): polygon(rings)
    case .multiPoint(let positions):
      header(.multiPoint, count: positions.count)
      for index in 0..<positions.count {
        header(.point)
        position(positions[index])
      }
    case .multiLineString(let parts):
      header(.multiLineString, count: parts.count)
      for part in parts {
        header(.lineString)
        run(part)
      }
    case .multiPolygon(let polygons):
      header(.multiPolygon, count: polygons.count)
      for rings in polygons { polygon(rings) }
    case .collection(let parts):
      header(.collection, count: parts.count)
      for part in parts { write(part) }
    }
  }
}
