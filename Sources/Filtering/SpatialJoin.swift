// Finds pairs of features of two stores that have a spatial relation.

import FeatureStore
import Geometry
import SpatialIndex
import SpatialRelations

/// Finds, for each feature of one store, the driver, the features of `targets` that have a relation to it.
///
/// Features are used without transformation (see ``SpatialPredicate``); points in polygons are read from the leaves of the index.
public struct SpatialJoin: Sendable {
  private let drivers: FeatureStore
  private let targets: FeatureStore
  /// The rows of targets to use; nil for all.
  private let targetRows: RowSet?
  /// The relation of a target to a driver.
  private let relation: SpatialRelation
  private let shifts: @Sendable (Envelope) -> [Double]
  private let seam: Seam?

  /// - Parameters:
  ///   - relation: the relation of a target to a driver. It has to require a common position.
  ///   - shifts: distances in x by which copies of a driver's box are moved to meet targets; see ``SpatialPredicate``.
  ///   - seam: the edge of a reference that goes around the world.
  public init(
    _ relation: SpatialRelation, of targets: FeatureStore, rows: RowSet?, to drivers: FeatureStore,
    shifts: @escaping @Sendable (Envelope) -> [Double], seam: Seam? = nil
  ) {
    (self.relation, self.targets, targetRows, self.drivers) = (relation, targets, rows, drivers)
    (self.shifts, self.seam) = (shifts, seam)
  }

  /// Pairs of drivers and targets, in the order of `rows`; the targets of each driver are ascending.
  ///
  /// - Parameters:
  ///   - rows: the rows of drivers.
  ///   - count: called with the number of pairs of each driver; may throw to limit them.
  ///   - check: called before each driver that takes long, and often enough between others.
  /// - Throws: ``SpatialError`` with the id of the driver that caused it; errors of `count` and `check`.
  public func pairs(
    _ rows: ArraySlice<UInt32>, counting count: (Int) throws -> Void, checking check: () throws -> Void
  ) throws -> RowPairs {
    var pairs = RowPairs()
    for (index, row) in rows.enumerated() {
      if index & 63 == 0 { try check() }
      guard let driver = drivers[row], let geometry = driver.geometry, let box = driver.envelope else { continue }
      var found: [UInt32] = []
      let shifts = shifts(box)
      for shift in shifts {
        let moved = Envelope(xMin: box.xMin + shift, yMin: box.yMin, xMax: box.xMax + shift, yMax: box.yMax)
        let inside = geometry.isPolygonal ? pointTest(box) : nil
        if let inside {
          addPoints(in: geometry, moved, shift, inside, to: &found)
          guard targets.index.boxes.count > 0 else { continue }
        }
        do { try addOthers(geometry, moved, shift, takesPoints: inside == nil, to: &found, check) } catch SpatialError.mixedCollection {
          // The relation to a mixed collection is unknown.
        } catch let error as SpatialError { throw error.of(driver.id) }
      }
      found.sort()
      if shifts.count > 1 { found = found.ascendingOnce() }
      try count(found.count)
      for target in found { pairs.append(row, target) }
    }
    return pairs
  }

  /// The locations of a point in a polygon with this box that satisfy the relation; nil if GEOS has to decide.
  private func pointTest(_ box: Envelope) -> (AreaLocation, AreaLocation)? {
    switch relation {
    case .intersects: (.interior, .boundary)
    // A polygon may go on beyond the edge of the world.
    case .within: seam?.reaches(box) == true ? nil : (.interior, .interior)
    case .touches: seam?.reaches(box) == true ? nil : (.boundary, .boundary)
    case .contains, .crosses, .overlaps, .disjoint, .equals, .envelopeIntersects, .relate: nil
    }
  }

  /// Minimum number of edges of a polygon to be indexed, if it is tested with many points.
  private static let indexedEdges = 48

  private func addPoints(
    in geometry: Geometry, _ box: Envelope, _ shift: Double, _ wanted: (AreaLocation, AreaLocation),
    to found: inout [UInt32]
  ) {
    let search = IndexedBox(box)
    var index: EdgeIndex?
    if geometry.positionCount > Self.indexedEdges, targets.index.points.count(in: search, wholeLeaves: true) > 32 {
      index = EdgeIndex(geometry)
    }
    // All edges in one array, since rings would be retained and released for each point.
    let edges = index == nil ? geometry.edges : []
    targets.index.points.forEachLeaf(touching: search) { leaf in
      let (shapes, rows) = (leaf.shapes, leaf.rows)
      for place in 0..<leaf.count where shapes[place].touches(search) {
        let row = rows[place]
        if let targetRows, !targetRows.contains(row) { continue }
        var position = shapes[place].position
        position.x -= shift
        let location = index?.location(of: position) ?? RingCrossings.location(of: position, edges)
        if location == wanted.0 || location == wanted.1 { found.append(row) }
      }
    }
  }

  private func addOthers(
    _ geometry: Geometry, _ box: Envelope, _ shift: Double, takesPoints: Bool, to found: inout [UInt32],
    _ check: () throws -> Void
  ) throws {
    let predicate = try SpatialPredicate(unchecked: relation, geometry.shifted(by: shift), seam: seam)
    var candidates = FoundRows()
    if takesPoints { targets.index.points.search(IndexedBox(box), into: &candidates) }
    targets.index.boxes.search(IndexedBox(box), into: &candidates)
    try candidates.withRows { rows in
      Result {
        for (index, row) in rows.enumerated() {
          guard targetRows?.contains(row) ?? true, let target = targets[row] else { continue }
          if index & 15 == 15 { try check() }
          if try predicate.holds(for: target) == true { found.append(row) }
        }
      }
    }.get()
  }
}

extension Geometry {
  /// The edges of all rings or lines.
  fileprivate var edges: [Edge] {
    var edges: [Edge] = []
    edges.reserveCapacity(positionCount)
    forEachPositions { ring in ring.forEachEdge { edges.append(Edge(start: $0, end: $1)) } }
    return edges
  }

  /// Number of positions. O(parts).
  var positionCount: Int {
    var count = 0
    forEachPositions { count += $0.count }
    return count
  }
}
