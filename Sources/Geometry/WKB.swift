// Errors and type codes shared by reading and writing WKB, the format of GDAL, GEOS, GeoPackage and clients.

/// Why bytes are not a WKB geometry. Every case has the offset of the byte where reading stopped.
public enum WKBError: Error, Hashable, Sendable {
  /// `needed` more bytes are missing.
  case truncated(offset: Int, needed: Int)
  /// Neither 0 (big endian) nor 1 (little endian).
  case badByteOrder(offset: Int, value: UInt8)
  /// Not one of GeoJSON's seven types.
  case unsupportedType(offset: Int, code: UInt32)
  /// A member type that the parent cannot hold, or a layout other than its siblings'.
  case unexpectedMember(offset: Int, code: UInt32)
  /// Collections nested deeper than ``Geometry/maximumDepth``.
  case tooDeep(offset: Int)
  /// A position that is not finite: x and y have to be, and Z and M if they are known.
  case notFinite(offset: Int)
  /// Bytes follow the end of the geometry.
  case trailingBytes(offset: Int)
}

extension WKBError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .truncated(let offset, let needed): "\(needed) bytes more at byte \(offset)"
    case .badByteOrder(let offset, let value): "0 or 1 for the order of bytes, not \(value), at byte \(offset)"
    case .unsupportedType(let offset, let code): "the code of a simple type, not \(code), at byte \(offset)"
    case .unexpectedMember(let offset, let code): "a member that fits, not one of the code \(code), at byte \(offset)"
    case .tooDeep(let offset): "at most \(Geometry.maximumDepth) nested collections, at byte \(offset)"
    case .notFinite: "finite coordinates"
    case .trailingBytes(let offset): "nothing more at byte \(offset)"
    }
  }
}

/// Constants of the format: type codes of ISO 19125-2, with Z, M and ZM of ISO 13249-3.
public enum WKB {
  /// The EPSG code in an EWKB header; nil without one, as in ISO WKB.
  public static func spatialReference(of bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 9, bytes[0] <= 1 else { return nil }
    func integer(at offset: Int) -> UInt32 {
      let number = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return bytes[0] == 1 ? number.littleEndian : number.bigEndian
    }
    guard integer(at: 1) & Flag.srid != 0, case let number = Int32(bitPattern: integer(at: 5)), number > 0 else { return nil }
    return Int(number)
  }

  enum Shape: UInt32 {
    case point = 1
    case lineString, polygon, multiPoint, multiLineString, multiPolygon, collection
  }

  /// Which coordinates follow x and y.
  struct Layout: Hashable {
    var hasZ = false
    var hasM = false
    var stride: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }
    /// ISO adds 1000 for Z and 2000 for M.
    var isoOffset: UInt32 { (hasZ ? 1000 : 0) + (hasM ? 2000 : 0) }
  }

  /// PostGIS's flags (EWKB), which some writers use instead of ISO's thousands.
  enum Flag {
    static let z: UInt32 = 0x8000_0000
    static let m: UInt32 = 0x4000_0000
    static let srid: UInt32 = 0x2000_0000
    static let all = z | m | srid
  }
}
