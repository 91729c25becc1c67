// Two geometries in one file of shared memory, for an engine.

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

/// The length of the first geometry in eight bytes, little-endian, and both as WKB, in x and y.
public enum GeometryPair {
  /// A sealed file; nil with `errno` set on failure. The caller closes it.
  public static func file(_ first: Geometry, _ second: Geometry) -> CInt? {
    let one = first.planarWKB()
    let head = (0..<8).map { UInt8(truncatingIfNeeded: one.count >> ($0 * 8)) }
    return SharedMemory.file(holding: head + one + second.planarWKB())
  }

  /// Nil if the file is not sealed or has no two geometries.
  public static func read(_ file: CInt) -> (first: Geometry, second: Geometry)? {
    guard let bytes = SharedMemory.map(file) else { return nil }
    defer { SharedMemory.unmap(bytes) }
    guard bytes.count > 8 else { return nil }
    let length = bytes.loadUnaligned(as: UInt64.self).littleEndian
    guard length < bytes.count - 8 else { return nil }
    let middle = 8 + Int(length)
    guard let first = try? Geometry(wkb: UnsafeRawBufferPointer(rebasing: bytes[8..<middle]), keepsEmptyPoints: true),
      let second = try? Geometry(wkb: UnsafeRawBufferPointer(rebasing: bytes[middle...]), keepsEmptyPoints: true)
    else { return nil }
    return (first, second)
  }
}
