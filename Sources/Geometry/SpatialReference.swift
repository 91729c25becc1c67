// Spatial references, and the protocols of coordinate transformation and geodesy, which other rooms implement.

/// The name of a spatial reference as clients give it: an authority code (`EPSG:4326`), WKT or PROJJSON.
///
/// Equal if the texts are; ``CoordinateTransformer/describe(_:)`` gives the canonical name.
public struct SpatialReference: Hashable, Sendable {
  private let text: Text
  public init(_ definition: String) { text = Text(definition) }
  public var definition: String { text.string }

  /// Longitude and latitude in degrees on WGS 84.
  public static let wgs84 = SpatialReference("EPSG:4326")
  /// The reference of data that state none; no transformation from it or to it exists.
  public static let unknown = SpatialReference("unknown")
  /// Web Mercator, metres.
  public static let webMercator = SpatialReference("EPSG:3857")
}

/// Properties of a spatial reference that the model uses.
public struct SpatialReferenceInfo: Hashable, Sendable {
  public enum Kind: String, Sendable { case geographic, projected, geocentric, local, vertical }
  /// `AUTHORITY:CODE` if one identifies the reference, else the definition as given.
  public let reference: SpatialReference
  /// The authority's name: "WGS 84 / Pseudo-Mercator".
  public let name: String
  public let kind: Kind
  /// "degree", "metre", "US survey foot" ...
  public let unitName: String
  /// Metres per unit when projected; nil for degrees.
  public let metersPerUnit: Double?
  /// The area of use, longitude and latitude in degrees; nil when unknown.
  public let areaOfUse: Envelope?
  /// What heights in it are above.
  public let heightDatum: HeightDatum
  /// The name of its vertical part; nil without one.
  public let verticalName: String?
  /// Units of a full turn: 360 degrees, 400 grads. Only when geographic.
  public let turn: Double
  /// Whether its poles are not those of the earth.
  public let isTilted: Bool

  /// Whether x and y are longitude and latitude in degrees.
  public var isInDegrees: Bool { kind == .geographic && turn == 360 && !isTilted }

  /// Whether it is a projection of all longitudes, for all that its area of use says.
  public var mayBeWorldProjection: Bool { kind == .projected && areaOfUse.map { $0.unrolled(around: 360).width > 359.9 } ?? true }

  public init(
    reference: SpatialReference, name: String, kind: Kind, unitName: String, metersPerUnit: Double?,
    areaOfUse: Envelope?, heightDatum: HeightDatum = .unknown, verticalName: String? = nil, turn: Double = 360, isTilted: Bool = false
  ) {
    self.reference = reference
    self.name = name
    self.kind = kind
    self.unitName = unitName
    self.metersPerUnit = metersPerUnit
    self.areaOfUse = areaOfUse
    self.heightDatum = heightDatum
    self.verticalName = verticalName
    (self.turn, self.isTilted) = (turn, isTilted)
  }
}

/// Why a reference or a transformation is not available.
public enum TransformError: Error, Hashable, Sendable {
  /// Unknown reference; `reason` is the library's message.
  case unknownReference(String, reason: String)
  /// Both references are known, but there is no operation between them.
  case noOperation(from: String, to: String)
  /// The position at `index` lies outside the domain of the operation. `latitude` is its y, where that should be a latitude and is none.
  case outsideDomain(index: Int, from: String, to: String, latitude: Double? = nil)
  /// The heights of a reference are above nothing that is known.
  case noHeightDatum(String)
  /// The operation needs grids that are not installed.
  case gridMissing(from: String, to: String, grids: [String])
  /// There is no such transformation between the references; perhaps between others.
  case unknownTransformation(String, from: String, to: String, isElsewhere: Bool)
  /// The library is not installed.
  case unavailable(reason: String)
}

extension TransformError {
  /// The same error for positions that follow `count` others.
  fileprivate func moved(by count: Int) -> TransformError {
    guard case .outsideDomain(let index, let source, let target, let latitude) = self else { return self }
    return .outsideDomain(index: index + count, from: source, to: target, latitude: latitude)
  }
}

/// Transforms coordinates between spatial references; x is always easting or longitude.
public protocol CoordinateTransformer: Sendable {
  /// - Complexity: O(1) after the first call for a reference, which parses it.
  func describe(_ reference: SpatialReference) throws(TransformError) -> SpatialReferenceInfo

  /// A reference as WKT: in Esri's dialect where that says all of it, else WKT 2; nil where it cannot be written.
  func esriWKT(of reference: SpatialReference) throws(TransformError) -> String?

  /// Transforms `values.count / stride` positions in place: x and y, and z where `hasZ` (the third number). On a throw
  /// the values are undefined.
  func transform(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool,
    from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError)

  /// Transforms alternating x and y in place; both of a position without coordinates in `target` become NaN.
  func transformKnown(
    _ values: inout [Double], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError)

  /// Converts heights in metres at longitudes and latitudes in WGS 84, in place.
  ///
  /// - Parameters:
  ///   - source: a vertical reference, one with a vertical part, or a geographic one with heights; as `target`.
  func convertHeights(
    _ heights: inout [Double], at points: [Point], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError)

  /// A box around the whole transformed `envelope`, not only around its corners.
  ///
  /// In a geographic `target`, `xMin > xMax` is a box that crosses the antimeridian.
  func bounds(
    of envelope: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope

  /// The transformations between two references that overlap an area, the best first, whether or not their grids are available.
  ///
  /// - Complexity: milliseconds, up to hundreds.
  func transformations(
    from source: SpatialReference, to target: SpatialReference, in area: Envelope?
  ) throws(TransformError) -> [Transformation]

  /// A transformer that uses one transformation between two references everywhere.
  func choosing(
    _ choice: TransformationChoice, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> (transformer: any CoordinateTransformer, transformation: Transformation)
}

extension CoordinateTransformer {
  /// The geometry in `target`; unchanged if both references are the same. M is kept, Z is transformed.
  public func transform(
    _ geometry: Geometry, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Geometry {
    guard source != target else { return geometry }
    var done = 0
    return try geometry.mapPositions { (positions) throws(TransformError) -> Positions in
      var moved = positions
      let stride = positions.stride
      let hasZ = positions.hasZ
      do throws(TransformError) {
        try moved.withMutableValues { (buffer) throws(TransformError) in
          try transform(buffer, stride: stride, hasZ: hasZ, from: source, to: target)
        }
      } catch { throw error.moved(by: done) }
      done += positions.count
      return moved
    }
  }

  /// As ``transform(_:from:to:)``, for long work.
  ///
  /// - Parameter check: called at least every few thousand positions; throws to cancel.
  public func transform(
    _ geometry: Geometry, from source: SpatialReference, to target: SpatialReference, checking check: () throws -> Void
  ) throws -> Geometry {
    var sinceCheck = Int.max / 2
    var done = 0
    return try geometry.mapPositions { (positions) throws -> Positions in
      var moved = positions
      let (count, stride, hasZ) = (positions.count, positions.stride, positions.hasZ)
      try moved.withMutableValues { buffer in
        for start in Swift.stride(from: 0, to: count, by: 4096) {
          let end = min(start + 4096, count)
          sinceCheck += end - start
          if sinceCheck >= 4096 {
            sinceCheck = 0
            try check()
          }
          let piece = UnsafeMutableBufferPointer(rebasing: buffer[start * stride..<end * stride])
          do throws(TransformError) {
            try transform(piece, stride: stride, hasZ: hasZ, from: source, to: target)
          } catch {
            throw error.moved(by: done + start)
          }
        }
      }
      done += count
      return moved
    }
  }

  /// Transforms points in columns, in place; without Z where `z` is empty. On a throw the columns are undefined.
  public func transform(
    x: inout [Double], y: inout [Double], z: inout [Double], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) {
    let (hasZ, stride) = (!z.isEmpty, z.isEmpty ? 2 : 3)
    var values = [Double](repeating: 0, count: x.count * stride)
    for row in x.indices {
      (values[row * stride], values[row * stride + 1]) = (x[row], y[row])
      if hasZ { values[row * stride + 2] = z[row] }
    }
    try values.withUnsafeMutableBufferPointer { buffer in
      Result { () throws(TransformError) in try transform(buffer, stride: stride, hasZ: hasZ, from: source, to: target) }
    }.get()
    for row in x.indices {
      (x[row], y[row]) = (values[row * stride], values[row * stride + 1])
      if hasZ { z[row] = values[row * stride + 2] }
    }
  }

  public func transform(
    _ point: Point, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Point {
    guard case .point(let moved?) = try transform(.point(point), from: source, to: target) else { return point }
    return moved
  }

  /// The positions in `target`, individually; `outsideDomain` with its index for one that has no coordinates there.
  ///
  /// - Complexity: one call for each block of 64 positions; in a block where some have no coordinates, one call for each
  ///   position.
  public func transformEach(
    _ points: [Point], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> [Result<Point, TransformError>] {
    var results: [Result<Point, TransformError>] = []
    results.reserveCapacity(points.count)
    for start in stride(from: 0, to: points.count, by: 64) {
      let piece = points[start..<min(start + 64, points.count)]
      do throws(TransformError) {
        let moved = try transform(.multiPoint(Positions(Array(piece))), from: source, to: target)
        guard case .multiPoint(let moved) = moved else { continue }
        results += moved.points.map { .success($0) }
      } catch {
        for index in piece.indices {
          results.append(try result(of: points[index], index, from: source, to: target))
        }
      }
    }
    return results
  }

  private func result(
    of point: Point, _ index: Int, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Result<Point, TransformError> {
    do throws(TransformError) { return .success(try transform(point, from: source, to: target)) } catch {
      guard case .outsideDomain = error else { throw error }
      return .failure(error.moved(by: index))
    }
  }
}

/// Geodesics on the WGS 84 ellipsoid. Positions are longitude and latitude in degrees, azimuths degrees clockwise from
/// north.
public protocol Geodesy: Sendable {
  /// The shortest line between two positions: metres, and the azimuths at both ends in the direction of travel.
  func inverse(from start: Point, to end: Point) throws(TransformError) -> GeodesicLine
  /// The position `distance` metres from `start` along `azimuth`, and the azimuth there.
  func direct(from start: Point, azimuth: Double, distance: Double) throws(TransformError) -> (Point, azimuth: Double)
  /// The positions at distances in metres from `start` along one azimuth. Longitudes continue beyond ±180 degrees.
  func line(from start: Point, azimuth: Double, distances: [Double]) throws(TransformError) -> [Point]
  /// Metres along the shortest lines between consecutive positions, and the square metres that they enclose: those to the left of a ring,
  /// negative if that is more than half of the ellipsoid. A line that is not a ring encloses nothing.
  func measure(_ line: Positions, isRing: Bool) throws(TransformError) -> (length: Double, area: Double)
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
