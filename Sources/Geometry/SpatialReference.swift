// Names of spatial references, what the model needs to know of one, and who answers: two protocols, no library.

/// The name of a spatial reference as clients give it: an authority code (`EPSG:4326`), WKT or PROJJSON.
///
/// Two are equal when their text is; ``CoordinateTransformer/describe(_:)`` gives the canonical one.
public struct SpatialReference: Hashable, Sendable {
  private let text: Text
  public init(_ definition: String) { text = Text(definition) }
  public var definition: String { text.string }

  /// Longitude and latitude in degrees on WGS 84.
  public static let wgs84 = SpatialReference("EPSG:4326")
  /// Web Mercator, metres.
  public static let webMercator = SpatialReference("EPSG:3857")
}

/// What the model needs to know of a spatial reference.
public struct SpatialReferenceInfo: Hashable, Sendable {
  public enum Kind: String, Sendable { case geographic, projected, geocentric, local, vertical }
  /// `AUTHORITY:CODE` where one identifies it, else the definition as given.
  public let reference: SpatialReference
  /// As its authority names it: "WGS 84 / Pseudo-Mercator".
  public let name: String
  public let kind: Kind
  /// "degree", "metre", "US survey foot" ...
  public let unitName: String
  /// Metres in one unit when projected; nil for degrees, which are never metres.
  public let metersPerUnit: Double?
  /// Where it is meant to be used, longitude and latitude in degrees; nil when not known.
  public let areaOfUse: Envelope?

  public init(
    reference: SpatialReference, name: String, kind: Kind, unitName: String, metersPerUnit: Double?,
    areaOfUse: Envelope?
  ) {
    self.reference = reference
    self.name = name
    self.kind = kind
    self.unitName = unitName
    self.metersPerUnit = metersPerUnit
    self.areaOfUse = areaOfUse
  }
}

/// Why a reference or a transformation could not be had.
public enum TransformError: Error, Hashable, Sendable {
  /// No such reference; `reason` is the library's.
  case unknownReference(String, reason: String)
  /// Both are known, but no operation leads from one to the other.
  case noOperation(from: String, to: String)
  /// The position at `index` of those given lies where the operation is not defined.
  case outsideDomain(index: Int, from: String, to: String)
  /// The library behind it is not on this machine.
  case unavailable(reason: String)
}

extension TransformError {
  /// The same, `count` positions behind which those that were given begin.
  fileprivate func moved(by count: Int) -> TransformError {
    guard case .outsideDomain(let index, let source, let target) = self else { return self }
    return .outsideDomain(index: index + count, from: source, to: target)
  }
}

/// Takes coordinates from one spatial reference to another, x always easting or longitude.
public protocol CoordinateTransformer: Sendable {
  /// - Complexity: the first call for a reference parses it; later ones look it up.
  func describe(_ reference: SpatialReference) throws(TransformError) -> SpatialReferenceInfo

  /// Transforms in place `values.count / stride` positions: x and y, and z where `hasZ` (then the third number).
  /// On a throw the values are undefined.
  func transform(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool,
    from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError)

  /// The box around what becomes of all positions of `envelope`, not of its corners alone.
  ///
  /// In a geographic `target` `xMin > xMax` says that it crosses the antimeridian.
  func bounds(
    of envelope: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope
}

extension CoordinateTransformer {
  /// The geometry in `target`; itself when both are the same. M is kept, Z goes through the operation.
  public func transform(
    _ geometry: Geometry, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Geometry {
    guard source != target else { return geometry }
    return try geometry.mapPositions { (positions) throws(TransformError) -> Positions in
      var moved = positions
      let stride = positions.stride
      let hasZ = positions.hasZ
      try moved.withMutableValues { (buffer) throws(TransformError) in
        try transform(buffer, stride: stride, hasZ: hasZ, from: source, to: target)
      }
      return moved
    }
  }

  /// The same for long work.
  ///
  /// - Parameter look: called at least every few thousand positions; what it throws ends it.
  public func transform(
    _ geometry: Geometry, from source: SpatialReference, to target: SpatialReference, looking look: () throws -> Void
  ) throws -> Geometry {
    var sinceLook = Int.max / 2
    return try geometry.mapPositions { (positions) throws -> Positions in
      var moved = positions
      let (count, stride, hasZ) = (positions.count, positions.stride, positions.hasZ)
      try moved.withMutableValues { buffer in
        for start in Swift.stride(from: 0, to: count, by: 4096) {
          let end = min(start + 4096, count)
          sinceLook += end - start
          if sinceLook >= 4096 {
            sinceLook = 0
            try look()
          }
          let piece = UnsafeMutableBufferPointer(rebasing: buffer[start * stride..<end * stride])
          do throws(TransformError) {
            try transform(piece, stride: stride, hasZ: hasZ, from: source, to: target)
          } catch {
            throw error.moved(by: start)
          }
        }
      }
      return moved
    }
  }

  public func transform(
    _ point: Point, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Point {
    guard case .point(let moved?) = try transform(.point(point), from: source, to: target) else { return point }
    return moved
  }
}

/// Lines on the WGS 84 ellipsoid. Positions are longitude and latitude in degrees; azimuths degrees clockwise from north.
public protocol Geodesy: Sendable {
  /// The shortest line from one position to another: metres, and the azimuths at both ends, forwards.
  func inverse(from start: Point, to end: Point) throws(TransformError) -> GeodesicLine
  /// The position `distance` metres from `start` along `azimuth`, and the azimuth there.
  func direct(from start: Point, azimuth: Double, distance: Double) throws(TransformError) -> (Point, azimuth: Double)
}

/// The shortest line between two positions on the ellipsoid.
public struct GeodesicLine: Hashable, Sendable {
  /// Metres.
  public let distance: Double
  /// Degrees clockwise from north, in [0, 360), at the start and at the end, both in the direction of travel.
  public let startAzimuth: Double
  public let endAzimuth: Double

  public init(distance: Double, startAzimuth: Double, endAzimuth: Double) {
    self.distance = distance
    self.startAzimuth = startAzimuth
    self.endAzimuth = endAzimuth
  }
}
