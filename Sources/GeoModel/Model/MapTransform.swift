// Transforms positions of features to a map: clamps latitudes if its poles are at infinity, and keeps lines unbroken where it wraps.

import Geometry

/// Transforms positions to the reference of a map, in the form in which they are drawn.
public struct MapTransform: Sendable {
  let source: SpatialReference
  let target: SpatialReference
  let transformer: any CoordinateTransformer
  private let limit: PolarLimit?
  /// Latitudes with a finite position in a target that is not cylindrical; nil for all.
  private let latitudes: ClosedRange<Double>?
  let isFromDegrees: Bool
  /// The period of x in each reference that wraps.
  let sourceWrap: WorldWrap?
  let targetWrap: WorldWrap?
  /// y of the poles of a geographic target.
  private let poles: ClosedRange<Double>?

  public init(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    (self.source, self.target, self.transformer) = (source, target, transformer)
    let from = try transformer.describe(source)
    let to = try transformer.describe(target)
    limit = PolarLimit(to, transformer)
    latitudes = limit == nil ? PolarLimit.latitudes(near: to, transformer) : nil
    isFromDegrees = from.isInDegrees
    poles = to.kind == .geographic ? -to.turn / 4...to.turn / 4 : nil
    targetWrap = WorldWrap(to, transformer)
    let own = WorldWrap(from, transformer)
    sourceWrap = targetWrap == nil || WorldWrap.keepsLines(own, targetWrap) ? own : nil
  }

  /// Whether lines stay straight: both references wrap, so x and y are transformed independently.
  public var keepsLines: Bool { sourceWrap != nil && targetWrap != nil }

  /// Whether the result may cross the antimeridian: from a map that does not wrap, to degrees.
  var mayCross: Bool { poles != nil && sourceWrap == nil }

  /// Transforms positions as alternating x and y. Latitudes are clamped where the target's poles are at infinity. x is
  /// within one turn of the world.
  ///
  /// - Throws: if a position has no coordinates in the target; the values are undefined then.
  public func transform(_ values: inout [Double]) throws(TransformError) {
    if let latitudes {
      if !isFromDegrees { try transform(&values, from: source, to: .wgs84) }
      clamp(&values, to: latitudes)
      try transform(&values, from: isFromDegrees ? source : .wgs84, to: target)
    } else {
      if limit != nil, isFromDegrees { clamp(&values, to: -PolarLimit.latitude...PolarLimit.latitude) }
      try transform(&values, from: source, to: target)
      if let limit { clamp(&values, to: limit.y) }
    }
  }

  /// As ``transform(_:)``, but positions without coordinates in the target become NaN.
  ///
  /// - Throws: if a reference is not known.
  func transformKnown(_ values: inout [Double]) throws(TransformError) {
    if let latitudes {
      if !isFromDegrees { try transformer.transformKnown(&values, from: source, to: .wgs84) }
      clamp(&values, to: latitudes)
      try transformer.transformKnown(&values, from: isFromDegrees ? source : .wgs84, to: target)
    } else {
      if limit != nil, isFromDegrees { clamp(&values, to: -PolarLimit.latitude...PolarLimit.latitude) }
      try transformer.transformKnown(&values, from: source, to: target)
      if let limit { clamp(&values, to: limit.y) }
    }
  }

  /// The geometry as it is drawn, including parts beyond the edge of the world or around a pole.
  ///
  /// - Parameter check: called every few thousand positions; throws to cancel.
  /// - Throws: also if a position has no coordinates in the target.
  public func drawn(_ geometry: Geometry, checking check: () throws -> Void) throws -> Geometry {
    switch geometry {
    case .polygon(let rings): .polygon(try rings.map { try drawn($0, isRing: true, check) })
    case .multiPolygon(let polygons):
      .multiPolygon(try polygons.map { try $0.map { try drawn($0, isRing: true, check) } })
    case .collection(let parts): .collection(try parts.map { try drawn($0, checking: check) })
    case .point, .multiPoint, .lineString, .multiLineString:
      try geometry.mapPositions { try drawn($0, isRing: false, check) }
    }
  }

  /// Changes alternating x and y of any number of geometries to those with which they are drawn. Only if ``keepsLines``.
  ///
  /// - Throws: if a position has no coordinates in the target; the values are undefined then.
  public func draw(_ values: inout [Double]) throws(TransformError) {
    guard let targetWrap, let sourceWrap else { return try transform(&values) }
    let original = values
    try transform(&values)
    unroll(&values, targetWrap, from: original, sourceWrap)
  }

  private func drawn(_ run: Positions, isRing: Bool, _ check: () throws -> Void) throws -> Positions {
    var values: [Double] = []
    values.reserveCapacity(2 * run.count)
    values.append(xy: run)
    let original = targetWrap == nil || sourceWrap == nil ? [] : values
    for start in stride(from: 0, to: values.count, by: 8192) {
      try check()
      var piece = Array(values[start..<min(start + 8192, values.count)])
      try transform(&piece)
      values.replaceSubrange(start..<start + piece.count, with: piece)
    }
    guard let targetWrap else { return Positions(values: values) }
    if let sourceWrap {
      unroll(&values, targetWrap, from: original, sourceWrap)
    } else {
      unroll(&values, targetWrap)
      if isRing { close(&values, targetWrap) }
    }
    return Positions(values: values)
  }

  /// Shifts each x by whole turns to the position of the original x. Between references that wrap, x is linear.
  func unroll(_ values: inout [Double], _ wrap: WorldWrap, from original: [Double], _ source: WorldWrap) {
    for index in stride(from: 0, to: values.count, by: 2) {
      let expected = wrap.xMin + (original[index] - source.xMin) / source.width * wrap.width
      values[index] += wrap.shift(values[index], nearest: expected)
    }
  }

  /// Shifts each x by whole turns to be nearest to the previous one.
  func unroll(_ values: inout [Double], _ wrap: WorldWrap) {
    for index in stride(from: 2, to: values.count, by: 2) {
      values[index] += wrap.shift(values[index], nearest: values[index - 2])
    }
  }

  /// Completes a ring around a pole, which ends a turn away from its start, along the edge of the map.
  func close(_ values: inout [Double], _ wrap: WorldWrap) {
    guard values.count >= 8, abs(values[values.count - 2] - values[0]) > wrap.width / 2 else { return }
    let sum = stride(from: 1, to: values.count, by: 2).reduce(0) { $0 + values[$1] }
    let edges = limit?.y ?? poles
    guard let edges else { return }
    let middle = (edges.lowerBound + edges.upperBound) / 2
    let edge = sum / Double(values.count / 2) < middle ? edges.lowerBound : edges.upperBound
    values += [values[values.count - 2], edge, values[0], edge, values[0], values[1]]
  }

  private func transform(
    _ values: inout [Double], from: SpatialReference, to: SpatialReference
  ) throws(TransformError) {
    try values.withUnsafeMutableBufferPointer { (buffer) throws(TransformError) in
      try transformer.transform(buffer, stride: 2, hasZ: false, from: from, to: to)
    }
  }

  /// NaN stays NaN.
  private func clamp(_ values: inout [Double], to range: ClosedRange<Double>) {
    for index in stride(from: 1, to: values.count, by: 2) {
      values[index] = min(max(values[index], range.lowerBound), range.upperBound)
    }
  }
}
