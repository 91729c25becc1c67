// The distance from a screen point to a drawn geometry.

import GeoModel
import Geometry

/// Measures distances in device-independent pixels from a screen point to geometries drawn with one symbol.
struct GeometryDistance {
  let frame: ScreenFrame
  let symbol: Symbol
  /// Has measured the symbol's texts; nil to estimate their sizes.
  var meter: TextMeter?
  /// Called every few ten thousand positions; throws to cancel.
  let check: () throws -> Void

  /// Positions between two checks.
  private static let block = 1 << 14

  /// The distance; infinite if nothing is drawn.
  ///
  /// - Parameter geometry: in the map's reference.
  func distance(to geometry: Geometry) throws -> Double {
    switch geometry {
    case .point(let point): return point.map { symbol.distance(from: -frame.offset(x: $0.x, y: $0.y), meter) } ?? .infinity
    case .multiPoint(let points): return try distance(toPoints: points)
    case .lineString(let line): return try distance(toLines: [line])
    case .multiLineString(let lines): return try distance(toLines: lines)
    case .polygon(let rings): return try distance(toArea: rings)
    case .multiPolygon(let polygons): return try nearest(polygons, distance(toArea:))
    case .collection(let parts): return try nearest(parts, distance(to:))
    }
  }

  private func nearest<Part>(_ parts: [Part], _ distance: (Part) throws -> Double) throws -> Double {
    var result = Double.infinity
    for part in parts where result > 0 { result = min(result, try distance(part)) }
    return result
  }

  private func distance(toPoints points: Positions) throws -> Double {
    var result = Double.infinity
    try forEach(points) { offset in result = min(result, symbol.distance(from: -offset, meter)) }
    return result
  }

  private func distance(toLines lines: [Positions]) throws -> Double {
    guard let reach = symbol.lineReach else { return .infinity }
    let nearest = try nearest(lines) { try edges($0).distance }
    return max(nearest - reach, 0)
  }

  private func distance(toArea rings: [Positions]) throws -> Double {
    guard let reach = symbol.edgeReach else { return .infinity }
    var (distance, isInside) = (Double.infinity, false)
    for ring in rings {
      let edges = try edges(ring)
      distance = min(distance, edges.distance)
      if !edges.isEven { isInside.toggle() }
    }
    return isInside && symbol.isFill ? 0 : max(distance - reach, 0)
  }

  /// The distance to a run's edges, and whether a ray to the right crosses an even number of them.
  private func edges(_ run: Positions) throws -> RunDistance {
    var result = RunDistance()
    try forEach(run) { result.add($0) }
    return result
  }

  /// Calls `body` with the offset of each position from the screen point.
  @inline(__always)
  private func forEach(_ run: Positions, _ body: (ScreenVector) -> Void) throws {
    let stride = run.stride
    for start in Swift.stride(from: 0, to: run.values.count, by: Self.block * stride) {
      if start > 0 { try check() }
      run.values.withUnsafeBufferPointer { values in
        for index in Swift.stride(from: start, to: min(start + Self.block * stride, values.count), by: stride) {
          body(frame.offset(x: values[index], y: values[index + 1]))
        }
      }
    }
  }
}

/// How near the edges of a run come to a point, and whether a ray to the right from there crosses an even number of them.
struct RunDistance {
  private var square = Double.infinity
  private(set) var isEven = true
  private var last: ScreenVector?

  /// Infinite if there are no positions.
  var distance: Double { square.squareRoot() }

  /// - Parameter next: from the point.
  @inline(__always)
  mutating func add(_ next: ScreenVector) {
    let start = last ?? next
    last = next
    let edge = next - start
    let length = (edge * edge).sum()
    let along = length > 0 ? min(max(-(start * edge).sum() / length, 0), 1) : 0
    let foot = start + edge * along
    square = min(square, (foot * foot).sum())
    if (start.y > 0) != (next.y > 0), (start.x * next.y - next.x * start.y) * (next.y - start.y) > 0 { isEven.toggle() }
  }
}
