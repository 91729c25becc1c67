// The extent of the features that match a query, in any spatial reference.

import FeatureStore
import GeoModel
import Geometry

extension FeatureQuery {
  /// The number of matching features and their extent in `target`; nil if none has a geometry with coordinates there.
  package struct Extent {
    package let count: Int
    package let box: Envelope?
    /// The first features that have no coordinates in `target`.
    package var failed: [(id: Int, error: TransformError)] = []
  }

  /// Maximum number of failed features in the result.
  private static let failureLimit = 1000

  /// - Parameter isNarrowest: whether the box may cross the edge of a world that wraps, if it is narrower then.
  package func extent(
    in target: SpatialReference, isNarrowest: Bool, _ transformer: any CoordinateTransformer, _ share: WorkShare
  ) throws -> Extent {
    if isNarrowest, let wrap = WorldWrap(try transformer.describe(target), transformer) {
      return try narrowestExtent(in: target, wrap.seam, transformer, share)
    }
    if isAll, target == reference { return Extent(count: store.count, box: store.extent) }
    let isMoved = target != reference
    let shares = share.split(by: max(effort, 1), store.count * (isMoved ? Self.transformCost : 1))
    let rows = try rows(shares[0])
    if !isMoved {
      var box = Envelope.none
      for (index, row) in rows.enumerated() {
        if index.isMultiple(of: 1 << 12) { try shares[1].checkpoint(index, of: rows.count) }
        if let own = store[row]?.envelope { box.include(own) }
      }
      return Extent(count: rows.count, box: box.isNone ? nil : box)
    }
    var extent = try ProjectedExtent(from: reference, to: target, transformer)
    var failed: [(id: Int, error: TransformError)] = []
    // One call transforms the positions of 1024 features, since a call costs more than a position.
    for start in stride(from: 0, to: rows.count, by: 1024) {
      try shares[1].checkpoint(start, of: rows.count)
      try include(rows[start..<min(start + 1024, rows.count)], in: &extent, &failed)
    }
    return Extent(count: rows.count, box: extent.box, failed: failed)
  }

  private func narrowestExtent(
    in target: SpatialReference, _ seam: Seam, _ transformer: any CoordinateTransformer, _ share: WorkShare
  ) throws -> Extent {
    let transform = target == reference ? nil : try MapTransform(from: reference, to: target, transformer)
    let shares = share.split(by: max(effort, 1), store.count * (transform == nil ? 1 : Self.transformCost))
    let rows = try rows(shares[0])
    var extent = NarrowestExtent(seam)
    var failed: [(id: Int, error: TransformError)] = []
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 64) { try shares[1].checkpoint(index, of: rows.count) }
      guard let feature = store[row], let box = feature.envelope else { continue }
      if transform == nil, box.width <= seam.width / 2 {
        extent.include(box)
        continue
      }
      guard let geometry = feature.geometry else { continue }
      do {
        let moved = try transform?.drawn(geometry) { try share.work?.checkCancelled() } ?? geometry
        for piece in moved.pieces { if let box = piece.envelope { extent.include(box) } }
      } catch let error as TransformError {
        guard case .outsideDomain = error else { throw error }
        if failed.count < Self.failureLimit { failed.append((feature.id, error)) }
      }
    }
    return Extent(count: rows.count, box: extent.box, failed: failed)
  }

  private func include(
    _ rows: ArraySlice<UInt32>, in extent: inout ProjectedExtent, _ failed: inout [(id: Int, error: TransformError)]
  ) throws {
    var values: [Double] = []
    for row in rows { store[row]?.geometry?.forEachPositions { values.append(xy: $0) } }
    do throws(TransformError) {
      try extent.include(&values)
    } catch {
      // Repeats feature by feature, to leave out those without coordinates.
      for row in rows {
        guard let feature = store[row] else { continue }
        var values: [Double] = []
        feature.geometry?.forEachPositions { values.append(xy: $0) }
        do throws(TransformError) { try extent.include(&values) } catch {
          guard case .outsideDomain = error else { throw error }
          if failed.count < Self.failureLimit { failed.append((feature.id, error)) }
        }
      }
    }
  }
}
