// The box around positions in another reference: of each as it is there, so that none is left out.

import Geometry

/// Grows with the positions it is given.
public struct MovedExtent: Sendable {
  private let source: SpatialReference
  private let target: SpatialReference
  private let transformer: any CoordinateTransformer
  private let limit: PolarLimit?
  /// The latitudes that have a place near enough in a map that is no rectangle; nil for all.
  private let latitudes: ClosedRange<Double>?
  private let isFromDegrees: Bool
  /// Whether it may cross the antimeridian: in degrees, out of a map that is in one piece there.
  private let mayCross: Bool

  private var whole = Envelope.none
  /// The same with the western half behind the eastern.
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

  /// In a geographic target `xMin > xMax` says that it crosses the antimeridian; nil while there is nothing.
  public var box: Envelope? {
    if whole.isNone { return nil }
    guard mayCross, crossing.width < whole.width else { return whole }
    return crossing.moved(toX: crossing.xMin, crossing.xMax > 180 ? crossing.xMax - 360 : crossing.xMax)
  }

  /// The same in one piece, the long way around where ``box`` crosses the antimeridian.
  public var span: Envelope? { whole.isNone ? nil : whole }

  /// Includes positions, x and y by turns; where a pole lies at infinity, no further than ``PolarLimit/latitude``.
  ///
  /// - Parameter values: undefined afterwards.
  /// - Throws: when one has no place in the target; nothing is included then.
  public mutating func include(_ values: inout [Double]) throws(TransformError) {
    if let latitudes {
      if !isFromDegrees { try move(&values, from: source, to: .wgs84) }
      clamp(&values, to: latitudes)
      try move(&values, from: isFromDegrees ? source : .wgs84, to: target)
    } else {
      if limit != nil, isFromDegrees { clamp(&values, to: -PolarLimit.latitude...PolarLimit.latitude) }
      try move(&values, from: source, to: target)
      if let limit { clamp(&values, to: limit.y) }
    }
    for place in stride(from: 0, to: values.count, by: 2) {
      let (x, y) = (values[place], values[place + 1])
      whole.include(x: x, y: y)
      if mayCross { crossing.include(x: x < 0 ? x + 360 : x, y: y) }
    }
  }

  private func move(
    _ values: inout [Double], from: SpatialReference, to: SpatialReference
  ) throws(TransformError) {
    var positions = Positions(values: values)
    values = []
    try positions.withMutableValues { (buffer) throws(TransformError) in
      try transformer.transform(buffer, stride: 2, hasZ: false, from: from, to: to)
    }
    values = positions.values
  }

  private func clamp(_ values: inout [Double], to range: ClosedRange<Double>) {
    for place in stride(from: 1, to: values.count, by: 2) {
      values[place] = min(max(values[place], range.lowerBound), range.upperBound)
    }
  }
}
