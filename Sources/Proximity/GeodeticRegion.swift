// The area within a distance of a geometry on the ellipsoid: parts made by `Geodetics`, united by GEOS.

import Geodetics
import Geometry
import GeometryEngine

/// Areas around geometries in longitude and latitude on WGS 84, cut at the antimeridian.
public struct GeodeticRegion {
  private let tracer: CurveTracer
  let curve: GeodeticCurve
  public let deviation: Double

  /// - Parameter deviation: metres that the outline may be off; nil for a metre, or a thousandth of a small distance.
  public init(_ tracer: CurveTracer, _ curve: GeodeticCurve, within deviation: Double?, of distance: Double) {
    (self.tracer, self.curve) = (tracer, curve)
    self.deviation = deviation ?? min(1, max(abs(distance) / 1000, 0.001))
  }

  /// The distance, in metres, within which areas can be made around a geometry.
  public static func mostDistance(_ geometry: Geometry) -> Double {
    geometry.dimension == 0 ? Surroundings.mostAround : Surroundings.most
  }

  /// What is within a distance of a geometry; with a negative one, what is left of polygons.
  ///
  /// - Parameter outline: the geometry before it was ``traced(_:)``, whose sides are the same lines, but fewer.
  public func area(
    around geometry: Geometry, outline: Geometry? = nil, _ distance: Double, mends: Bool, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    if case .collection = geometry {
      // Polygons of a collection may overlap, which those of one geometry may not.
      let members = geometry.flattened.filter { !$0.isEmpty }
      let polygons = members.filter { $0.dimension == 2 }
      if polygons.count > 1 {
        let parts = polygons + (distance > 0 ? [.collection(members.filter { $0.dimension < 2 })] : [])
        let made = try parts.map { try area(around: $0, distance, mends: mends, calculate) }
        return try calculate(GeometryOperation(.union, mends: true), made).geometries[0].part(ofDimension: 2)
      }
    }
    // GEOS would give the outline heights of other places.
    let geometry = geometry.mapPositions { line in
      guard line.stride > 2 else { return line }
      var values: [Double] = []
      values.append(xy: line)
      return Positions(values: values)
    }
    if let planar = try planar(around: geometry, distance, calculate) { return planar }
    var areas = geometry.part(ofDimension: 2)
    var valid = areas
    if !areas.isEmpty {
      // What is invalid is found before it is followed.
      valid = try calculate(GeometryOperation(.union, mends: mends), [areas]).geometries[0]
      areas = try tracer.densified(valid, curve, .deviation(deviation * 0.8)).cut(at: Seam(west: -180, width: 360))
    }
    guard distance != 0, distance > 0 || !areas.isEmpty else { return distance == 0 ? areas : .polygon([]) }
    let isMended = try distance < 0 && mends && outline.map { try GeometryEngine.validity(of: $0) } != .valid
    let outlines = isMended ? valid : outline ?? (distance > 0 ? geometry : geometry.part(ofDimension: 2))
    let around = try shapes.around(outlines, abs(distance))
    if areas.isEmpty, around.count == 1, case .polygon(let rings) = around[0], rings.count == 1 { return around[0] }
    let union = GeometryOperation(.union, mends: true)
    guard distance < 0 else { return try calculate(union, [areas] + around).geometries[0].part(ofDimension: 2) }
    let taken = try calculate(union, around).geometries[0]
    return try calculate(GeometryOperation(.difference, mends: true), [areas, taken]).geometries[0].part(ofDimension: 2)
  }

  /// A geometry with positions along its sides, between which straight lines stay near them.
  public func traced(_ geometry: Geometry) throws -> Geometry { try tracer.densified(geometry, curve, .deviation(deviation * 0.1)) }

  /// Circles, ellipses and sectors.
  public var shapes: Surroundings { Surroundings(tracer, curve, within: deviation) }
}
