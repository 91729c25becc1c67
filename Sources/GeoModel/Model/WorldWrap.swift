// Maps that wrap around the world in x, so that animations and boxes take the short way across the antimeridian.

import Geometry

/// The period of x in a map whose reference covers the full circle: 360 degrees, or the width of Web Mercator.
public struct WorldWrap: Hashable, Sendable {
  /// The western edge, in map units.
  public let xMin: Double
  public let width: Double
  public var xMax: Double { xMin + width }
  public var seam: Seam { Seam(west: xMin, width: width) }
  /// Whether the reference has poles of its own: x is then in no proportion to x of others.
  let isTilted: Bool

  /// Half the width of Web Mercator, in metres: half the circumference of its sphere. A constant, since most maps use
  /// it and each query reads it.
  static let webMercatorReach = 6_378_137 * Double.pi

  /// Nil for a reference that does not cover all longitudes, or that is not cylindrical.
  public init?(_ info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer) {
    isTilted = info.isTilted
    guard info.kind != .geographic else {
      (xMin, width) = (-info.turn / 2, info.turn)
      return
    }
    guard info.reference != .webMercator else {
      (xMin, width) = (-Self.webMercatorReach, 2 * Self.webMercatorReach)
      return
    }
    // Only cylindrical projections have the same x along a meridian.
    guard info.mayBeWorldProjection,
      let west = try? transformer.transform(Point(x: -180, y: 0), from: .wgs84, to: info.reference),
      let east = try? transformer.transform(Point(x: 180, y: 0), from: .wgs84, to: info.reference),
      let north = try? transformer.transform(Point(x: 180, y: 60), from: .wgs84, to: info.reference),
      east.x > west.x, abs(north.x - east.x) < (east.x - west.x) * 1e-9
    else { return nil }
    (xMin, width) = (west.x, east.x - west.x)
  }

  /// A box that may cross the edge of the world, together with its copies whole turns away that meet the world or
  /// `extent`: the same place may be stored under several x.
  ///
  /// - Parameter extent: of the positions; more than a turn beyond the world is ignored.
  public func turns(of box: Envelope, over extent: Envelope?) -> [Envelope] {
    let box = box.unrolled(around: width)
    let low = max(min(xMin, extent?.xMin ?? xMin), xMin - width)
    let high = min(max(xMax, extent?.xMax ?? xMax), xMax + width)
    // A box wider than a turn covers everything.
    guard box.width < width else { return [box.moved(toX: min(box.xMin, low), max(box.xMax, high))] }
    let first = ((low - box.xMax) / width).rounded(.up)
    let last = ((high - box.xMin) / width).rounded(.down)
    let others = stride(from: first, through: last, by: 1).filter { $0 != 0 }.map { box.moved(byX: $0 * width) }
    return [box] + others
  }

  /// The whole turns by which copies of a geometry with this extent meet the world or `extent`, 0 first.
  ///
  /// - Parameter extent: of the positions; nil for positions up to a turn beyond the world.
  public func shifts(of box: Envelope, over extent: Envelope?) -> [Double] {
    let low = extent.map { max(min(xMin, $0.xMin), xMin - width) } ?? xMin - width
    let high = extent.map { min(max(xMax, $0.xMax), xMax + width) } ?? xMax + width
    guard box.width < 4 * width else { return [0] }
    let first = ((low - box.xMax) / width).rounded(.up)
    let last = ((high - box.xMin) / width).rounded(.down)
    return [0] + stride(from: first, through: last, by: 1).filter { $0 != 0 }.map { $0 * width }
  }

  /// The equivalent x within the first turn.
  package func normalized(_ x: Double) -> Double {
    guard x < xMin || x > xMax, x.isFinite else { return x }
    let turns = ((x - xMin) / width).rounded(.down)
    return x - turns * width
  }

  /// The point moved by whole turns into the range of x of an extent; itself if none of its writings is there.
  package func turned(_ point: Point, into extent: Envelope) -> Point {
    guard point.x < extent.xMin || point.x > extent.xMax else { return point }
    let x = point.x + ((extent.xMin - point.x) / width).rounded(.up) * width
    return x <= extent.xMax ? Point(x: x, y: point.y) : point
  }

  /// The whole turns to add to `x` to bring it nearest to `other`; 0 unless the short way crosses the edge.
  public func shift(_ x: Double, nearest other: Double) -> Double {
    ((other - x) / width).rounded() * width
  }

  /// The geometry in its narrowest form: parts in the western half are moved beyond the eastern edge if that makes it
  /// narrower.
  ///
  /// Only whole parts move, since an edge is the straight line between its ends (RFC 7946, 3.1.9).
  func narrowed(_ geometry: Geometry) -> Geometry {
    // Files contain boxes that exceed a turn by a rounding error.
    guard let box = geometry.envelope, box.width > width / 2, box.width <= width * (1 + 1e-9) else { return geometry }
    let middle = xMin + width / 2
    var isMultiPoint = false
    if case .multiPoint = geometry { isMultiPoint = true }
    let moved = geometry.mapPositions { (positions) -> Positions in
      let points = positions.points
      guard isMultiPoint || points.allSatisfy({ $0.x < middle }) else { return positions }
      return Positions(points.map { Point(x: $0.x < middle ? $0.x + width : $0.x, y: $0.y) })
    }
    guard let other = moved.envelope, other.width < box.width else { return geometry }
    return moved
  }
}

extension WorldWrap {
  /// Whether x of both is in proportion, and y increases in both: lines between two positions stay in their box.
  public static func keepsLines(_ first: WorldWrap?, _ second: WorldWrap?) -> Bool {
    guard let first, let second else { return false }
    return !first.isTilted && !second.isTilted
  }

  /// A geometry with parts on both sides of the edge, side by side: if it is cut there, or within half of the world so; nil for others.
  package func joined(_ geometry: Geometry) -> Geometry? {
    guard let box = geometry.envelope, box.width > width / 2, case let joined = narrowed(geometry), let narrow = joined.envelope,
      narrow.width < box.width, narrow.width <= width / 2 || seam.isGirdled(by: box)
    else { return nil }
    return joined
  }

  /// Unwraps the longitudes of a geometry that was computed from map positions beyond the edge.
  ///
  /// - Parameter positions: the original positions in map units, as many as the geometry has.
  func unrolled(_ geometry: Geometry, from positions: Positions) -> Geometry {
    // In a cylindrical projection x is linear in longitude.
    unrolled(geometry, near: positions.points.map { -180 + ($0.x - xMin) / width * 360 }, period: 360)
  }

  /// Unwraps x of a geometry that was computed from longitudes beyond ±180 degrees.
  func unrolled(_ geometry: Geometry, fromDegrees source: Geometry) -> Geometry {
    var expected: [Double] = []
    source.forEachPositions { expected += $0.points.map { xMin + ($0.x + 180) / 360 * width } }
    return unrolled(geometry, near: expected, period: width)
  }

  /// Shifts each x by whole periods to be nearest to the expected x with the same index.
  private func unrolled(_ geometry: Geometry, near expected: [Double], period: Double) -> Geometry {
    var index = 0
    return geometry.mapPositions { (run) -> Positions in
      Positions(
        run.points.map { point in
          defer { index += 1 }
          guard index < expected.count else { return point }
          return Point(x: point.x + ((expected[index] - point.x) / period).rounded() * period, y: point.y)
        })
    }
  }
}

extension Envelope {
  /// The envelope with other x bounds.
  func moved(toX low: Double, _ high: Double) -> Envelope { Envelope(xMin: low, yMin: yMin, xMax: high, yMax: yMax) }
}

extension View {
  /// The visible area in the map's reference, split into pieces within one turn of the world, from west to east.
  public var visiblePieces: [Positions] {
    let area = visibleArea
    guard let wrap, let box = Geometry.multiPoint(area).envelope, box.xMin < wrap.xMin || box.xMax > wrap.xMax else {
      return [area]
    }
    // More than one turn shows everything at least once.
    let west = max(box.xMin, camera.x - wrap.width / 2)
    let east = min(box.xMax, camera.x + wrap.width / 2)
    let first = Int(((west - wrap.xMin) / wrap.width).rounded(.down))
    let last = Int(((east - wrap.xMin) / wrap.width).rounded(.down))
    return (first...max(first, last)).compactMap { turn in
      let shift = Double(turn) * wrap.width
      let piece = area.clipped(fromX: max(west, wrap.xMin + shift), toX: min(east, wrap.xMax + shift))
      // Rounding leaves slivers at the edge.
      guard let box = Geometry.multiPoint(piece).envelope, box.width > wrap.width * 1e-12 else { return nil }
      return Positions(piece.points.map { Point(x: $0.x - shift, y: $0.y) })
    }
  }

  /// Whether a whole turn of the world is visible.
  public var showsWholeTurn: Bool {
    guard let wrap, let box = Geometry.multiPoint(visibleArea).envelope else { return false }
    return box.width >= wrap.width
  }
}

extension Positions {
  /// Clips a closed convex ring to a range of x (Sutherland and Hodgman, 1974, for two edges).
  func clipped(fromX low: Double, toX high: Double) -> Positions {
    func cut(_ ring: [Point], _ isInside: (Point) -> Bool, at x: Double) -> [Point] {
      var result: [Point] = []
      for (start, end) in zip(ring, ring.dropFirst() + ring.prefix(1)) {
        if isInside(start) { result.append(start) }
        guard isInside(start) != isInside(end), end.x != start.x else { continue }
        result.append(Point(x: x, y: start.y + (end.y - start.y) * (x - start.x) / (end.x - start.x)))
      }
      return result
    }
    var ring = Array(points.dropLast())
    ring = cut(ring, { $0.x >= low }, at: low)
    ring = cut(ring, { $0.x <= high }, at: high)
    guard let first = ring.first else { return Positions() }
    return Positions(ring + [first])
  }
}
