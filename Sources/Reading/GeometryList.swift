// Geometries in one file of shared memory, to and from an engine.

import Geometry

extension SpatialRelation {
  /// All but patterns.
  private static let plain: [SpatialRelation] = [
    .intersects, .contains, .crosses, .within, .overlaps, .touches, .disjoint, .equals, .envelopeIntersects,
  ]

  /// Nil if no relation has the name.
  init?(word: String) {
    guard let relation = Self.plain.first(where: { "\($0)" == word }) else { return nil }
    self = relation
  }
}

/// Geometries as WKB, each after its length in eight bytes, little-endian. Their number comes first, so that a file of none is not empty.
public enum GeometryList {
  /// A sealed file; nil with `errno` set on failure. The caller closes it.
  ///
  /// - Parameter isPlanar: whether Z and M are left out.
  public static func file(_ geometries: [Geometry], isPlanar: Bool) -> CInt? {
    var bytes: [UInt8] = []
    func add(_ number: Int) { withUnsafeBytes(of: UInt64(number).littleEndian) { bytes.append(contentsOf: $0) } }
    add(geometries.count)
    for geometry in geometries {
      let one = isPlanar ? geometry.planarWKB() : geometry.wkb()
      add(one.count)
      bytes += one
    }
    return SharedMemory.file(holding: bytes)
  }

  /// Nil if the file is not sealed or holds something else.
  public static func read(_ file: CInt) -> [Geometry]? {
    guard let bytes = SharedMemory.map(file) else { return nil }
    defer { SharedMemory.unmap(bytes) }
    var geometries: [Geometry] = []
    guard bytes.count >= 8 else { return nil }
    let count = bytes.loadUnaligned(as: UInt64.self).littleEndian
    var start = 8
    while start < bytes.count {
      guard bytes.count - start > 8 else { return nil }
      let length = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self).littleEndian
      start += 8
      guard length <= bytes.count - start,
        let geometry = try? Geometry(
          wkb: UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(length)]), keepsEmptyPoints: true)
      else { return nil }
      geometries.append(geometry)
      start += Int(length)
    }
    return geometries.count == count ? geometries : nil
  }
}
