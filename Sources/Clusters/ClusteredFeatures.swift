// The clusters of a store's points, updated to follow the store.

import FeatureStore
import Geometry
import Sorting

/// Clusters, and the snapshot of the store from which they were computed.
public struct ClusteredFeatures: Sendable {
  /// Filters rows: returns those that are shown.
  public typealias Shown = @Sendable ([UInt32]) -> [UInt32]

  public private(set) var tree: ClusterTree
  public private(set) var store: FeatureStore
  public let plane: ClusterPlane
  /// For each chunk, by its first row, the leaves of its rows; ``ClusterNode/none`` for a row without a leaf.
  private var leaves: [UInt32: [ClusterNode]] = [:]

  /// - Parameter check: called every few thousand features.
  public init(
    _ store: FeatureStore, _ plane: ClusterPlane, _ settings: ClusterSettings, shown: Shown,
    checking check: CancellationCheck
  ) rethrows {
    self.store = store
    self.plane = plane
    var points: [ClusterPoint] = []
    points.reserveCapacity(store.count)
    for (number, slot) in store.slots.enumerated() {
      if number & 7 == 0 { try check(0.3 * Double(number) / Double(store.slots.count)) }
      points += Self.points(in: slot, of: store, plane, shown)
    }
    tree = try ClusterTree(of: points, settings: plane.settings(settings)) { try check(0.3 + 0.65 * $0) }
    for (index, leaf) in tree.leaves.enumerated() {
      if index & 0xffff == 0 { try check(0.95) }
      note(.leaf(index), at: leaf.row)
    }
  }

  private static func points(
    in slot: FeatureStore.Slot, of store: FeatureStore, _ plane: ClusterPlane, _ shown: Shown
  ) -> [ClusterPoint] {
    let rows = (0..<slot.chunk.count).filter { slot.chunk.isLive($0) && !slot.chunk.hidden[$0] }
      .map { slot.base + UInt32($0) }
    return shown(rows).compactMap { row in
      guard let feature = store[row], let point = feature.position else { return nil }
      let place = plane.coordinates(x: point.x, y: point.y)
      return ClusterPoint(id: feature.id, row: row, x: place.x, y: place.y)
    }
  }

  private mutating func note(_ leaf: ClusterNode, at row: UInt32) {
    let base = row & ~UInt32(FeatureChunk.capacity - 1)
    leaves[base, default: Array(repeating: .none, count: FeatureChunk.capacity)][Int(row - base)] = leaf
  }

  /// The leaf of a row; nil if the row is not clustered.
  public func leaf(ofRow row: UInt32) -> ClusterNode? {
    let base = row & ~UInt32(FeatureChunk.capacity - 1)
    guard let leaf = leaves[base]?[Int(row - base)], leaf != .none else { return nil }
    return leaf
  }

  /// The cluster or single point that represents a row at a zoom; nil for a row that is not clustered.
  public func node(ofRow row: UInt32, zoom: Int) -> ClusterNode? {
    leaf(ofRow: row).map { tree.node(of: $0, zoom: zoom) }
  }

  /// The position in the features' reference; for a single point, its original position.
  public func position(of node: ClusterNode) -> Point {
    if !node.isCluster, let point = store[tree.row(of: node)]?.position { return point }
    let place = tree.position(of: node)
    return plane.position(x: place.x, y: place.y)
  }

  /// The nodes in boxes of the features' reference at a zoom, by ascending id; all nodes if `boxes` is nil.
  public func nodes(
    in boxes: [Envelope]?, zoom: Int, checking check: CancellationCheck
  ) rethrows -> [ClusterNode] {
    try tree.orderedNodes(in: boxes.map { $0.map(plane.box) } ?? [.init()], zoom: zoom, checking: check)
  }

  /// Whether boxes of the features' reference have no node at a zoom; false also where finding that out would take long.
  public func isEmpty(in boxes: [Envelope], zoom: Int) -> Bool { tree.isEmpty(in: boxes.map(plane.box), zoom: zoom) }

  /// Whether the clusters were computed from the current state of `other`. O(chunks).
  public func isCurrent(for other: FeatureStore) -> Bool {
    store.slots.count == other.slots.count
      && zip(store.slots, other.slots).allSatisfy { $0.base == $1.base && $0.chunk === $1.chunk }
  }

  /// Updates the clusters to a newer store: chunks that differ from the snapshot are compared row by row.
  ///
  /// - Returns: false if so much has changed that computing new clusters costs less. These clusters are then unusable, as they
  ///   are after `check` throws.
  public mutating func follow(_ next: FeatureStore, shown: Shown, checking check: CancellationCheck) throws -> Bool {
    var known: [UInt32: FeatureChunk] = [:]
    for slot in store.slots { known[slot.base] = slot.chunk }
    var (removed, added): ([ClusterNode], [ClusterPoint]) = ([], [])
    for slot in next.slots {
      let old = known.removeValue(forKey: slot.base)
      if old === slot.chunk { continue }
      try check(0.1)
      compare(slot, Self.points(in: slot, of: next, plane, shown), &removed, &added)
    }
    for base in known.keys.sorted() { removed += (leaves.removeValue(forKey: base) ?? []).filter { $0 != .none } }
    store = next
    guard !removed.isEmpty || !added.isEmpty else { return true }
    guard removed.count + added.count + tree.edits <= tree.count / 4 + 64 else { return false }
    do {
      let made = try tree.update(removing: removed, adding: added) { try check(0.2 + 0.8 * $0) }
      for (leaf, point) in zip(made, added) { note(leaf, at: point.row) }
      return true
    } catch is ClusterEditTooLarge { return false }
  }

  private mutating func compare(
    _ slot: FeatureStore.Slot, _ points: [ClusterPoint], _ removed: inout [ClusterNode], _ added: inout [ClusterPoint]
  ) {
    var gone = leaves[slot.base] ?? []
    for point in points {
      let index = Int(point.row - slot.base)
      if let leaf = gone.isEmpty ? nil : gone[index], leaf != .none {
        let old = tree.leaves[leaf.index]
        if old.x == point.x, old.y == point.y, old.id == point.id {
          gone[index] = .none
          continue
        }
      }
      added.append(point)
    }
    for (index, leaf) in gone.enumerated() where leaf != .none {
      removed.append(leaf)
      leaves[slot.base]?[index] = .none
    }
  }
}
