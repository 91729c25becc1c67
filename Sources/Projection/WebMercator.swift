// WGS 84 and Web Mercator without PROJ, which takes 10 ms and 16 MB to load: most maps need no other reference. Values equal PROJ's, bit
// by bit, as the steps are PROJ's (src/projections/merc.cpp, src/fwd.cpp, src/inv.cpp).

import Geometry
import Platform

enum WebMercator {
  static let descriptions: [String: SpatialReferenceInfo] = [
    SpatialReference.wgs84.definition: SpatialReferenceInfo(
      reference: .wgs84, name: "WGS 84", kind: .geographic, unitName: "degree", metersPerUnit: nil,
      areaOfUse: Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)),
    SpatialReference.webMercator.definition: SpatialReferenceInfo(
      reference: .webMercator, name: "WGS 84 / Pseudo-Mercator", kind: .projected, unitName: "metre", metersPerUnit: 1,
      areaOfUse: Envelope(xMin: -180, yMin: -85.06, xMax: 180, yMax: 85.06)),
  ]

  private static let radius = 6_378_137.0
  private static let radians = Double.pi / 180

  /// The operation between two canonical definitions; nil where PROJ has it.
  static func operation(from: String, to: String) -> ((_ x: inout Double, _ y: inout Double) -> Void)? {
    let (geographic, projected) = (SpatialReference.wgs84.definition, SpatialReference.webMercator.definition)
    if from == geographic, to == projected { return project }
    if from == projected, to == geographic { return unproject }
    return nil
  }

  /// Infinite where there are no coordinates, as PROJ says it.
  private static func project(_ x: inout Double, _ y: inout Double) {
    let (longitude, latitude) = (x * radians, y * radians)
    guard abs(longitude) <= 10, abs(latitude) - .pi / 2 <= 1e-12 else { return (x, y) = (.infinity, .infinity) }
    x = wrapped(longitude) * radius
    y = asinh(tan(min(max(latitude, -.pi / 2), .pi / 2))) * radius
  }

  private static func unproject(_ x: inout Double, _ y: inout Double) {
    guard x != .infinity, y != .infinity else { return (x, y) = (.infinity, .infinity) }
    x = wrapped(x * (1 / radius)) * (180 / .pi)
    y = atan(sinh(y * (1 / radius))) * (180 / .pi)
  }

  /// The longitude within a half turn, with a tolerance as the sign would change at the antimeridian.
  private static func wrapped(_ longitude: Double) -> Double {
    guard abs(longitude) >= .pi + 1e-12 else { return longitude }
    let turned = longitude + .pi
    return turned - 2 * .pi * (turned / (2 * .pi)).rounded(.down) - .pi
  }

  /// The bounds of a box that crosses neither antimeridian nor pole; nil for another, and where PROJ has the operation.
  static func bounds(of box: Envelope, from: String, to: String) -> Envelope? {
    guard let operation = operation(from: from, to: to), box.xMin <= box.xMax, box.yMin <= box.yMax else { return nil }
    let limit = from == SpatialReference.wgs84.definition ? (x: 180.0, y: 89.9) : (x: radius * .pi, y: 1e8)
    guard abs(box.xMin) <= limit.x, abs(box.xMax) <= limit.x, abs(box.yMin) <= limit.y, abs(box.yMax) <= limit.y else { return nil }
    var result = box
    operation(&result.xMin, &result.yMin)
    operation(&result.xMax, &result.yMax)
    return result
  }
}
