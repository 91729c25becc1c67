// The error and the type codes that reading and writing WKB share: what GDAL, GEOS, GeoPackage and clients exchange.

/// Why bytes are not a WKB geometry. Every case names the offset of the byte where reading stopped.
public enum WKBError: Error, Hashable, Sendable {
  /// `needed` more bytes had to follow than do.
  case truncated(offset: Int, needed: Int)
  /// Neither 0 (big endian) nor 1 (little endian).
  case badByteOrder(offset: Int, value: UInt8)
  /// Not one of GeoJSON's seven types.
  case unsupportedType(offset: Int, code: UInt32)
  /// A member that its parent cannot hold, or whose layout differs from its siblings'.
  case unexpectedMember(offset: Int, code: UInt32)
  /// Collections nested deeper than ``WKB/maximumDepth``.
  case tooDeep(offset: Int)
  /// The geometry ended before its bytes did.
  case trailingBytes(offset: Int)

  public var offset: Int {
    switch self {
    case .truncated(let offset, _), .badByteOrder(let offset, _), .unsupportedType(let offset, _),
      .unexpectedMember(let offset, _), .tooDeep(let offset), .trailingBytes(let offset):
      offset
    }
  }
}

/// What the format fixes: type codes of ISO 19125-2 with the Z, M and ZM of ISO 13249-3.
public enum WKB {
  /// Collections in collections; more is refused, so that hostile bytes cannot exhaust the stack.
  public static let maximumDepth = 64

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
