// The features nearest to a place, exactly: in the plane, or on the ellipsoid.

import FeatureStore
import Geometry
import SpatialIndex

/// Finds the features of a store that are nearest to places.
///
/// Distances are exact: bounds only determine which features are skipped. Distances are measured to points, and to the nearest
/// position of lines and polygons; inside a polygon they are 0.
///
/// A class, because a search passes it on at every step, and copying a store costs more than reading a leaf of the index.
public final class NearestQuery: Sendable {
  let store: FeatureStore
  /// The rows to search; nil for all.
  let rows: RowSet?
  /// The maximum number of neighbours for each place.
  let count: Int
  /// Farther features are ignored.
  let radius: Double
  /// Called at least every few hundred microseconds of work; throws to cancel.
  public let check: @Sendable () throws -> Void

  public init(
    _ store: FeatureStore, rows: RowSet?, count: Int, radius: Double = .infinity,
    checking check: @escaping @Sendable () throws -> Void = {}
  ) {
    (self.store, self.rows, self.count, self.radius, self.check) = (store, rows, count, radius, check)
  }

  @inline(__always)
  func includes(_ row: UInt32) -> Bool { rows?.contains(row) ?? true }

  /// The nearest features in the plane, ascending by distance in units of the coordinates, ties by id.
  ///
  /// - Complexity: O(log n + count log count) for points that are spread out.
  public func planar(to place: SIMD2<Double>) throws -> [Neighbour] {
    let points = try planarPoints(to: place)
    guard store.index.boxes.count > 0 else { return points }
    let geometry = Geometry.point(Point(x: place.x, y: place.y))
    guard let shape = try EdgeTree(geometry, on: .plane(1), checking: check) else { return points }
    var list = ShapeList(capacity: count, radius: radius)
    for point in points { list.insert(point.distance, point.row, 0, of: self) }
    try addPlanar(to: &list, shape, geometry, takesPoints: false)
    return list.neighbours(of: self) { ($0.distance, 0) }
  }

  /// Points are compared by squared distances, unless one of these overflows.
  private func planarPoints(to place: SIMD2<Double>) throws -> [Neighbour] {
    var points = PlanarPoints(query: self, place: place)
    try store.index.points.visitNearest(&points)
    if points.list.greatestDistance == .infinity {
      // With coordinates beyond 1e154 squared distances overflow, so distances are compared.
      var far = FarPlanarPoints(query: self, place: place)
      try store.index.points.visitNearest(&far)
      return far.list.neighbours(of: self) { ($0.distance, 0) }
    }
    let found = points.list.neighbours(of: self) { ($0.distance.squareRoot(), 0) }
    return radius.isFinite ? found.filter { $0.distance <= radius } : found
  }
}

/// Collects points by distances, of which no square overflows.
private struct FarPlanarPoints: NearestVisitor {
  let query: NearestQuery
  let place: SIMD2<Double>
  var list: NeighbourList<Void>

  init(query: NearestQuery, place: SIMD2<Double>) {
    (self.query, self.place) = (query, place)
    list = NeighbourList(capacity: query.count, radius: query.radius)
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { box.way(to: place).length * (1 - 1e-15) }

  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    try query.check()
    for index in 0..<leaf.count where query.includes(leaf.rows[index]) {
      list.insert((leaf.shapes[index].position - place).length, leaf.rows[index], (), of: query)
    }
  }
}

private struct PlanarPoints: NearestVisitor {
  let query: NearestQuery
  let place: SIMD2<Double>
  /// Squared distances.
  var list: NeighbourList<Void>
  private var leaves = 0

  init(query: NearestQuery, place: SIMD2<Double>) {
    (self.query, self.place) = (query, place)
    let square = query.radius * query.radius
    // The square of a radius is rounded, so it is enlarged to include features at the radius itself.
    list = NeighbourList(capacity: query.count, radius: square.isFinite ? square.nextUp.nextUp : .infinity)
  }

  @inline(__always) var limit: Double { list.limit }

  @inline(__always)
  func bound(_ box: IndexedBox) -> Double { box.squaredDistance(to: place) }

  @inline(__always)
  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    leaves &+= 1
    if leaves & 63 == 0 { try query.check() }
    let shapes = leaf.shapes
    let rows = leaf.rows
    for index in 0..<leaf.count {
      let way = shapes[index].position - place
      let square = way.x * way.x + way.y * way.y
      guard square <= list.limit, query.includes(rows[index]) else { continue }
      list.insert(square, rows[index], (), of: query)
    }
  }
}

extension IndexedBox {
  /// Squared distance from the nearest position of the box; zero inside.
  @inline(__always)
  func way(to place: SIMD2<Double>) -> SIMD2<Double> {
    // `pointwiseMax` would branch for NaN, which no box has.
    let (below, above) = (lower - place, place - upper)
    let way = below.replacing(with: above, where: above .> below)
    return way.replacing(with: 0, where: way .< 0)
  }

  @inline(__always)
  func squaredDistance(to place: SIMD2<Double>) -> Double {
    let way = way(to: place)
    return way.x * way.x + way.y * way.y
  }
}

extension SIMD2<Double> {
  /// A factor by which the squares of all differences stay finite.
  private static var shrinking: Double { 0x1p-514 }

  /// The length, at most the greatest finite number.
  var length: Double {
    let square = (self * self).sum()
    if square.isFinite { return square.squareRoot() }
    let shrunk = self * Self.shrinking
    return Swift.min((shrunk * shrunk).sum().squareRoot() / Self.shrinking, .greatestFiniteMagnitude)
  }
}
