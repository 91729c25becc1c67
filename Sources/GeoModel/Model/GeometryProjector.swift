// Transforms whole geometries to another reference, unbroken across the edge of the world, for spatial comparisons.

import Geometry

/// Transforms the positions of geometries to a reference in which they are compared with others.
///
/// In a reference that wraps around the world, a line or ring that crosses the edge continues beyond it, so x may exceed the
/// world by a turn or more; a ring around a pole is closed along the pole. Otherwise positions equal the transformer's results:
/// unlike ``ProjectedExtent``, this does not clamp latitudes where poles are at infinity. Do not use it for drawing: see
/// ``MapTransform``.
public struct GeometryProjector: Sendable {
  private let source: SpatialReference
  private let target: SpatialReference
  private let transformer: any CoordinateTransformer
  private let sourceWrap: WorldWrap?
  /// The period of x in the target.
  private let wrap: WorldWrap?
  /// y of the poles in the target.
  private let poles: ClosedRange<Double>

  public init(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    (self.source, self.target, self.transformer) = (source, target, transformer)
    let (from, to) = (try transformer.describe(source), try transformer.describe(target))
    sourceWrap = WorldWrap(from, transformer)
    wrap = WorldWrap(to, transformer)
    poles = Self.poles(of: to, transformer)
  }

  /// The range is unbounded if the poles have no coordinates.
  private static func poles(
    of target: SpatialReferenceInfo, _ transformer: any CoordinateTransformer
  ) -> ClosedRange<Double> {
    func y(_ latitude: Double) -> Double? {
      try? transformer.transform(Point(x: 0, y: latitude), from: .wgs84, to: target.reference).y
    }
    if target.kind == .geographic { return -90...90 }
    guard let south = y(-90), let north = y(90), south < north else { return -1e9...1e9 }
    return south...north
  }

  /// - Parameter check: called at least every few thousand positions.
  /// - Throws: `TransformError` if a position has no coordinates in the target.
  public func project(_ geometry: Geometry, checking check: () throws -> Void) throws -> Geometry {
    let moved = try transformer.transform(geometry, from: source, to: target, checking: check)
    guard let wrap else { return moved }
    guard let sourceWrap else { return moved.unwrapped(wrap, poles) }
    // Both references are cylindrical, so x in one is linear in x of the other.
    return wrap.shifted(moved, near: geometry, sourceWrap)
  }

  /// A geometry whose positions have been transformed one by one, but in one piece if it crosses the edge of the target's world; nil if it
  /// does not: then no edge that was straight goes around the rest of the world now, with its middle elsewhere.
  public func unfolded(_ moved: Geometry, of original: Geometry, checking check: () throws -> Void) throws -> Geometry? {
    guard let wrap, moved.dimension > 0, let box = moved.envelope, box.width > wrap.width / 2 else { return nil }
    var runs: [Positions] = []
    original.forEachPositions { runs.append($0) }
    var (number, isFolded) = (0, false)
    moved.forEachPositions { run in
      defer { number += 1 }
      guard !isFolded, number < runs.count, runs[number].count == run.count, run.count > 1 else { return }
      for index in 1..<run.count where abs(run[index].x - run[index - 1].x) > wrap.width / 2 {
        let (from, to) = (runs[number][index - 1], runs[number][index])
        let middle = Point(x: (from.x + to.x) / 2, y: (from.y + to.y) / 2)
        guard let found = try? transformer.transform(middle, from: source, to: target) else { continue }
        isFolded = abs(found.x - (run[index].x + run[index - 1].x) / 2) > wrap.width / 4
        if isFolded { return }
      }
    }
    return isFolded ? try project(original, checking: check) : nil
  }
}

extension WorldWrap {
  /// Shifts each x by whole turns to be nearest to x of the same position in another cylindrical reference.
  fileprivate func shifted(_ geometry: Geometry, near original: Geometry, _ other: WorldWrap) -> Geometry {
    var expected: [Double] = []
    original.forEachPositions { expected += $0.points.map { xMin + ($0.x - other.xMin) / other.width * width } }
    var index = 0
    return geometry.mapPositions { run in
      run.mapX { x in
        defer { index += 1 }
        return x + shift(x, nearest: expected[index])
      }
    }
  }
}

extension Geometry {
  /// Makes lines and rings continuous: shifts each position by whole turns to be nearest to the previous one.
  fileprivate func unwrapped(_ wrap: WorldWrap, _ poles: ClosedRange<Double>) -> Geometry {
    switch self {
    case .point, .multiPoint: self
    case .lineString(let line): .lineString(line.unwrapped(wrap))
    case .multiLineString(let lines): .multiLineString(lines.map { $0.unwrapped(wrap) })
    case .polygon(let rings): .polygon(Self.unwrapped(rings, wrap, poles))
    case .multiPolygon(let polygons): .multiPolygon(polygons.map { Self.unwrapped($0, wrap, poles) })
    case .collection(let parts): .collection(parts.map { $0.unwrapped(wrap, poles) })
    }
  }

  /// Holes are moved into the turn of the shell.
  private static func unwrapped(
    _ rings: [Positions], _ wrap: WorldWrap, _ poles: ClosedRange<Double>
  ) -> [Positions] {
    guard let shell = rings.first?.unwrapped(wrap).closed(along: poles, wrap), let box = shell.box else { return rings }
    let middle = (box.xMin + box.xMax) / 2
    return [shell]
      + rings.dropFirst().map { ring in
        let hole = ring.unwrapped(wrap).closed(along: poles, wrap)
        guard let box = hole.box else { return hole }
        let shift = wrap.shift((box.xMin + box.xMax) / 2, nearest: middle)
        return shift == 0 ? hole : hole.mapX { $0 + shift }
      }
  }
}

extension Positions {
  fileprivate var box: Envelope? { Geometry.multiPoint(self).envelope }

  fileprivate func unwrapped(_ wrap: WorldWrap) -> Positions {
    var last: Double?
    return mapX { x in
      let near = last.map { x + wrap.shift(x, nearest: $0) } ?? x
      last = near
      return near
    }
  }

  /// Closes a ring around a pole, which ends a turn away from its start, along the nearer pole. Other rings stay.
  fileprivate func closed(along poles: ClosedRange<Double>, _ wrap: WorldWrap) -> Positions {
    guard count >= 4, abs(self[count - 1].x - self[0].x) > wrap.width / 2, let box else { return self }
    let middle = (poles.lowerBound + poles.upperBound) / 2
    let pole = (box.yMin + box.yMax) / 2 < middle ? poles.lowerBound : poles.upperBound
    let (first, last) = (self[0], self[count - 1])
    return Positions(
      points.map { Point(x: $0.x, y: $0.y) }
        + [Point(x: last.x, y: pole), Point(x: first.x, y: pole), Point(x: first.x, y: first.y)])
  }
}
