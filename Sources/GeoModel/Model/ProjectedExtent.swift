// The extent of positions in another reference, computed from each position: the transform of their box could miss some.

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
  private let transform: MapTransform

  private var whole = Envelope.none
  /// The extent with longitudes below 0 shifted by 360.
  private var crossing = Envelope.none

  public init(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    transform = try MapTransform(from: source, to: target, transformer)
  }

  /// The extent; nil while it is empty. In a geographic target, `xMin > xMax` means that it crosses the antimeridian.
  public var box: Envelope? {
    if whole.isNone { return nil }
    guard transform.mayCross, crossing.width < whole.width else { return whole }
    return crossing.moved(toX: crossing.xMin, crossing.xMax > 180 ? crossing.xMax - 360 : crossing.xMax)
  }

  /// The extent in one piece, which goes the long way around if ``box`` crosses the antimeridian.
  public var span: Envelope? { whole.isNone ? nil : whole }

  /// Includes positions as alternating x and y. Latitudes are clamped if the target has poles at infinity.
  ///
  /// - Parameter values: undefined afterwards.
  /// - Throws: if a position has no coordinates in the target. Then none of the positions is included.
  public mutating func include(_ values: inout [Double]) throws(TransformError) {
    try transform.transform(&values)
    let mayCross = transform.mayCross
    for index in stride(from: 0, to: values.count, by: 2) {
      let (x, y) = (values[index], values[index + 1])
      whole.include(x: x, y: y)
      if mayCross { crossing.include(x: x < 0 ? x + 360 : x, y: y) }
    }
  }
}
