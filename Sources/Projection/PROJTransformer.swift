// Implements `CoordinateTransformer` and `Geodesy` with PROJ.

import CPROJ
import Geometry

/// Transforms by PROJ, x always easting or longitude; geodesics on the WGS 84 ellipsoid.
///
/// Creating one is free: the first call with a reference other than WGS 84 and Web Mercator, or for a geodesic, loads PROJ. Calls from several threads run in parallel, each in its own PROJ
/// context. PROJ never uses the network: grids are used where they are installed.
///
/// `OGC:CRS84` and `EPSG:4326` differ only in axis order, which is normalized here: both become `EPSG:4326`.
///
/// ```swift
/// let projection = PROJTransformer()
/// let mercator = try projection.transform(geometry, from: .wgs84, to: .webMercator)
/// ```
public final class PROJTransformer: CoordinateTransformer, Geodesy, Sendable {
  private let pool = PROJPool()

  public init() {}

  /// Accepts `AUTHORITY:CODE`, OGC's URNs and URLs, WKT and PROJJSON, but not PROJ strings, which can name files.
  /// - Complexity: O(1) after the first call for a definition, which parses it (microseconds to milliseconds).
  public func describe(_ reference: SpatialReference) throws(TransformError) -> SpatialReferenceInfo {
    if let known = pool.description(of: reference) { return known }
    guard reference != .unknown else {
      return SpatialReferenceInfo(
        reference: reference, name: "unknown", kind: .local, unitName: "", metersPerUnit: nil, areaOfUse: nil)
    }
    let definition = try canonicalDefinition(reference.definition)
    let info: SpatialReferenceInfo
    if let known = WebMercator.descriptions[definition] { info = known } else {
      let context = try pool.take()
      defer { pool.giveBack(context) }
      info = try context.describe(definition, given: reference.definition)
    }
    pool.keep(info, of: reference)
    return info
  }

  public func esriWKT(of reference: SpatialReference) throws(TransformError) -> String? {
    guard reference != .unknown else { return nil }
    let definition = try canonicalDefinition(reference.definition)
    let context = try pool.take()
    defer { pool.giveBack(context) }
    return try context.esriWKT(definition, given: reference.definition)
  }

  /// - Throws: ``TransformError/outsideDomain(index:from:to:)`` for the first position outside the domain of the
  ///   operation.
  /// - Complexity: O(n); the first call between two references finds the operation (milliseconds).
  public func transform(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool, from source: SpatialReference,
    to target: SpatialReference
  ) throws(TransformError) {
    try transform(values, stride: stride, hasZ: hasZ, from: source, to: target, by: nil)
  }

  func transform(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool, from source: SpatialReference,
    to target: SpatialReference, by choice: TransformationChoice?
  ) throws(TransformError) {
    guard let base = values.baseAddress, values.count >= stride else { return }
    let count = values.count / stride
    // The operation overwrites the positions.
    let beyond =
      try describe(source).kind == .geographic
      ? (0..<count).first { abs(base[$0 * stride + 1]) > 90 }.map { (index: $0, y: base[$0 * stride + 1]) } : nil
    guard try move(values, stride: stride, hasZ: hasZ, from: source, to: target, by: choice) else { return }
    for index in 0..<count where !(base[index * stride].isFinite && base[index * stride + 1].isFinite) {
      throw .outsideDomain(
        index: index, from: source.definition, to: target.definition, latitude: beyond?.index == index ? beyond?.y : nil
      )
    }
  }

  public func transformKnown(
    _ values: inout [Double], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) {
    try transformKnown(&values, from: source, to: target, by: nil)
  }

  func transformKnown(
    _ values: inout [Double], from source: SpatialReference, to target: SpatialReference, by choice: TransformationChoice?
  ) throws(TransformError) {
    try values.withUnsafeMutableBufferPointer { (values) throws(TransformError) in
      guard try move(values, stride: 2, hasZ: false, from: source, to: target, by: choice) else { return }
      for index in stride(from: 0, to: values.count - 1, by: 2) where !(values[index].isFinite && values[index + 1].isFinite) {
        (values[index], values[index + 1]) = (.nan, .nan)
      }
    }
  }

  /// Transforms positions, of which those without coordinates become infinite or NaN: PROJ reports no failure but HUGE_VAL in the position.
  ///
  /// - Returns: false if the references are the same.
  private func move(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool, from source: SpatialReference,
    to target: SpatialReference, by choice: TransformationChoice?
  ) throws(TransformError) -> Bool {
    let (one, other) = (try describe(source), try describe(target))
    let (from, to) = (one.reference.definition, other.reference.definition)
    guard from != to, let base = values.baseAddress, values.count >= stride else { return false }
    // PROJ has operations between places and heights, in which x and y are not in our order.
    guard source != .unknown, target != .unknown, one.kind != .vertical, other.kind != .vertical else { throw .noOperation(from: from, to: to) }
    let count = values.count / stride
    if choice == nil, let operation = WebMercator.operation(from: from, to: to) {
      for index in 0..<count { operation(&base[index * stride], &base[index * stride + 1]) }
    } else {
      let context = try pool.take()
      defer { pool.giveBack(context) }
      let operation =
        if let choice { try context.operation(from: from, to: to, choice).operation } else { try context.operation(from: from, to: to) }
      func run(_ base: UnsafeMutablePointer<Double>, _ count: Int) {
        let step = stride * MemoryLayout<Double>.stride
        _ = context.proj.pointee.proj_errno_reset(operation)
        _ = context.proj.pointee.proj_trans_generic(
          operation, PJ_FWD, base, step, count, base + 1, step, count, hasZ ? base + 2 : nil, hasZ ? step : 0,
          hasZ ? count : 0, nil, 0, 0)
      }
      let given = one.mayBeWorldProjection && one.reference != .webMercator ? Array(values) : []
      run(base, count)
      for start in Swift.stride(from: 0, to: given.count / stride * stride, by: stride)
      where !(base[start].isFinite && base[start + 1].isFinite) && given[start].isFinite {
        retry(given[start..<start + stride]) { position in
          run(position, 1)
          guard position[0].isFinite && position[1].isFinite else { return false }
          base.advanced(by: start).update(from: position, count: stride)
          return true
        }
      }
    }
    return true
  }

  /// Tries a position on the edge of the world nearer to its middle: where the edge is curved, PROJ takes rounding errors for what is
  /// beyond it, also of positions of its own. At most two millimetres.
  private func retry(_ position: ArraySlice<Double>, _ body: (UnsafeMutablePointer<Double>) -> Bool) {
    for (x, y) in [(1 - 1e-12, 1), (1 - 1e-12, 1 - 1e-12), (1 - 1e-10, 1 - 1e-10)] {
      var moved = Array(position)
      moved[0] *= x
      moved[1] *= y
      let isFound = moved.withUnsafeMutableBufferPointer { $0.baseAddress.map(body) ?? true }
      if isFound { return }
    }
  }

  public func convertHeights(
    _ heights: inout [Double], at points: [Point], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) {
    let context = try pool.take()
    defer { pool.giveBack(context) }
    let conversion = try context.heightConversion(
      from: try canonicalDefinition(source.definition), to: try canonicalDefinition(target.definition))
    var numbers = [Double](repeating: 0, count: points.count * 3)
    for (index, point) in points.enumerated() {
      (numbers[index * 3], numbers[index * 3 + 1], numbers[index * 3 + 2]) = (point.x, point.y, heights[index] / conversion.from)
    }
    let (step, count) = (3 * MemoryLayout<Double>.stride, points.count)
    _ = context.proj.pointee.proj_errno_reset(conversion.operation)
    numbers.withUnsafeMutableBufferPointer { numbers in
      guard let base = numbers.baseAddress else { return }
      _ = context.proj.pointee.proj_trans_generic(
        conversion.operation, PJ_FWD, base, step, count, base + 1, step, count, base + 2, step, count, nil, 0, 0)
    }
    for index in heights.indices where !heights[index].isNaN {
      guard numbers[index * 3 + 2].isFinite else {
        throw .outsideDomain(index: index, from: source.definition, to: target.definition)
      }
      heights[index] = numbers[index * 3 + 2] * conversion.to
    }
  }

  /// Uses PROJ's sampling of the box's edges, which handles poles and the antimeridian.
  public func bounds(
    of envelope: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope {
    let from = try describe(source).reference.definition
    let to = try describe(target).reference.definition
    guard from != to else { return envelope }
    guard source != .unknown, target != .unknown else { throw .noOperation(from: from, to: to) }
    if let bounds = WebMercator.bounds(of: envelope, from: from, to: to) { return bounds }
    let inside = try boundsInside(envelope, from: source, to: target)
    let context = try pool.take()
    defer { pool.giveBack(context) }
    let operation = try context.operation(from: from, to: to)
    _ = context.proj.pointee.proj_errno_reset(operation)
    var box = Envelope.none
    // 21 points for each side is PROJ's own choice for this purpose.
    let isFound = context.proj.pointee.proj_trans_bounds(
      context.handle, operation, PJ_FWD, envelope.xMin, envelope.yMin, envelope.xMax, envelope.yMax, &box.xMin,
      &box.yMin,
      &box.xMax, &box.yMax, 21)
    guard isFound != 0, [box.xMin, box.yMin, box.xMax, box.yMax].allSatisfy(\.isFinite) else {
      throw .outsideDomain(index: 0, from: source.definition, to: target.definition)
    }
    if let inside { box.include(inside) }
    return box
  }

  /// The bounds of places within a box: what a reference tears apart, as one around a place does the world, is not within the image of its
  /// edges. Nil for longitudes and latitudes, where PROJ looks for poles.
  private func boundsInside(
    _ box: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope? {
    guard try describe(target).kind != .geographic else { return nil }
    let info = try describe(source)
    let width = box.width + (box.width < 0 && info.kind == .geographic ? info.turn : 0)
    let pieces = 20
    var places: [Double] = []
    for row in 1..<pieces {
      for column in 1..<pieces {
        let (u, v) = (Double(column) / Double(pieces), Double(row) / Double(pieces))
        places += [box.xMin + width * u, box.yMin + box.height * v]
      }
    }
    try transformKnown(&places, from: source, to: target)
    return Geometry.multiPoint(Positions(values: places)).envelope
  }

  public func transformations(
    from source: SpatialReference, to target: SpatialReference, in area: Envelope?
  ) throws(TransformError) -> [Transformation] {
    let (from, to) = try definitions(source, target)
    let context = try pool.take()
    defer { pool.giveBack(context) }
    return try context.transformations(from: from, to: to, in: area)
  }

  public func choosing(
    _ choice: TransformationChoice, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> (transformer: any CoordinateTransformer, transformation: Transformation) {
    let (from, to) = try definitions(source, target)
    let context = try pool.take()
    defer { pool.giveBack(context) }
    return (ChosenTransformer(whole: self, choice: choice), try context.operation(from: from, to: to, choice).transformation)
  }

  private func definitions(_ source: SpatialReference, _ target: SpatialReference) throws(TransformError) -> (String, String) {
    let (from, to) = (try describe(source).reference.definition, try describe(target).reference.definition)
    guard source != .unknown, target != .unknown else { throw .noOperation(from: from, to: to) }
    return (from, to)
  }

  public func inverse(from start: Point, to end: Point) throws(TransformError) -> GeodesicLine {
    let geodesic = try Geodesic.wgs84.get()
    try Geodesic.check(start, 0)
    try Geodesic.check(end, 1)
    return geodesic.inverse(start, end)
  }

  /// - Parameters:
  ///   - azimuth: degrees clockwise from north, any finite number.
  ///   - distance: metres, any finite number; negative goes backwards.
  public func direct(
    from start: Point, azimuth: Double, distance: Double
  ) throws(TransformError) -> (Point, azimuth: Double) {
    let geodesic = try Geodesic.wgs84.get()
    try Geodesic.check(start, 0)
    guard azimuth.isFinite, distance.isFinite else { throw Geodesic.outside(0) }
    return geodesic.direct(start, azimuth, distance)
  }

  public func line(from start: Point, azimuth: Double, distances: [Double]) throws(TransformError) -> [Point] {
    let geodesic = try Geodesic.wgs84.get()
    try Geodesic.check(start, 0)
    guard azimuth.isFinite, distances.allSatisfy(\.isFinite) else { throw Geodesic.outside(0) }
    return geodesic.line(start, azimuth, distances)
  }

  public func measure(_ line: Positions, isRing: Bool) throws(TransformError) -> (length: Double, area: Double) {
    let geodesic = try Geodesic.wgs84.get()
    for (index, point) in line.points.enumerated() { try Geodesic.check(point, index) }
    return geodesic.measure(line, isRing: isRing)
  }
}
