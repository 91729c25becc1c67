// The extent of positions in another reference, from each position: transforming their box could leave some out.

import Geometry

/// An extent that grows with the positions included. Use it for a stream of positions in batches.
///
/// ```swift
/// var extent = try ProjectedExtent(from: .wgs84, to: .webMercator, transformer)
/// var batch = [8.54, 47.38, 13.40, 52.52]
/// try extent.include(&batch)
/// extent.box  // Envelope of both positions, in metres
/// ```
public struct ProjectedExtent: Sendable {
  private let source: SpatialReference
  private let target: SpatialReference
  private let transformer: any CoordinateTransformer
  private let limit: PolarLimit?
  /// Latitudes with a finite position in a target that is not cylindrical; nil for all.
  private let latitudes: ClosedRange<Double>?
  private let isFromDegrees: Bool
  /// Whether the result may cross the antimeridian: in degrees, from a map that does not wrap there.
  private let mayCross: Bool

  private var whole = Envelope.none
  /// The same with longitudes below 0 shifted by 360.
  private var crossing = Envelope.none

  public init(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    (self.source, self.target, self.transformer) = (source, target, transformer)
    let from = try transformer.describe(source)
    let to = try transformer.describe(target)
    limit = PolarLimit(to, transformer)
    latitudes = limit == nil ? PolarLimit.latitudes(near: to, transformer) : nil
    isFromDegrees = from.kind == .geographic
    mayCross = to.kind == .geographic && WorldWrap(from, transformer) == nil
  }

  /// The extent; nil while it is empty. In a geographic target, `xMin > xMax` means that it crosses the antimeridian.
  public var box: Envelope? {
    if whole.isNone { return nil }
    guard mayCross, crossing.width < whole.width else { return whole }
    return crossing.moved(toX: crossing.xMin, crossing.xMax > 180 ? crossing.xMax - 360 : crossing.xMax)
  }

  /// The extent in one piece, which goes the long way around if ``box`` crosses the antimeridian.
  public var span: Envelope? { whole.isNone ? nil : whole }

  /// Includes positions as alternating x and y. Latitudes are clamped if the target has poles at infinity.
  ///
  /// - Parameter values: undefined afterwards.
  /// - Throws: if a position has no coordinates in the target. None is included then.
  public mutating func include(_ values: inout [Double]) throws(TransformError) {
    if let latitudes {
      if !isFromDegrees { try transform(&values, from: source, to: .wgs84) }
      clamp(&values, to: latitudes)
      try transform(&values, from: isFromDegrees ? source : .wgs84, to: target)
    } else {
      if limit != nil, isFromDegrees { clamp(&values, to: -PolarLimit.latitude...PolarLimit.latitude) }
      try transform(&values, from: source, to: target)
      if let limit { clamp(&values, to: limit.y) }
    }
    for index in stride(from: 0, to: values.count, by: 2) {
      let (x, y) = (values[index], values[index + 1])
      whole.include(x: x, y: y)
      if mayCross { crossing.include(x: x < 0 ? x + 360 : x, y: y) }
    }
  }

  private func transform(
    _ values: inout [Double], from: SpatialReference, to: SpatialReference
  ) throws(TransformError) {
    try values.withUnsafeMutableBufferPointer { (buffer) throws(TransformError) in
      try transformer.transform(buffer, stride: 2, hasZ: false, from: from, to: to)
    }
  }

  private func clamp(_ values: inout [Double], to range: ClosedRange<Double>) {
    for index in stride(from: 1, to: values.count, by: 2) {
      values[index] = min(max(values[index], range.lowerBound), range.upperBound)
    }
  }
}
