// Builds a cluster tree: sorts the points into rows, then clusters zoom by zoom, starting with the last.

import Sorting

extension ClusterTree {
  /// Clusters points for all zooms.
  ///
  /// - Parameters:
  ///   - points: in any order.
  ///   - check: called every few thousand nodes.
  /// - Complexity: O(n log n) for n points; a zoom at which no points are within the radius takes one pass.
  public init(
    of points: [ClusterPoint], settings: ClusterSettings, checking check: CancellationCheck
  ) rethrows {
    self.init(settings: settings)
    leaves.reserveCapacity(points.count)
    if zip(points, points.dropFirst()).allSatisfy({ $0.id < $1.id }) {
      for point in points { leaves.append(Leaf(id: point.id, row: point.row, x: point.x, y: point.y)) }
    } else {
      var order = points.enumerated().map {
        SortItem(key: UInt64(bitPattern: Int64($1.id)) ^ 1 << 63, row: UInt32($0))
      }
      try SortItem.sort(&order) { try check(0.05 * $0) }
      for each in order {
        let point = points[Int(each.row)]
        leaves.append(Leaf(id: point.id, row: point.row, x: point.x, y: point.y))
      }
    }
    try check(0.05)
    var first = try ClusterRows(leaves, reach: settings.reach(at: settings.maxZoom)) { try check(0.05 + 0.1 * $0) }
    levels[settings.maxZoom + 1] = first.stored()
    // An upper bound, because a cluster has at least two nodes. The system commits no memory that is not written.
    clusters.reserveCapacity(leaves.count)
    var build = ClusterBuild(first, leaves.count)
    for zoom in stride(from: settings.maxZoom, through: 0, by: -1) {
      let (done, zooms) = (Double(settings.maxZoom - zoom), Double(settings.maxZoom + 1))
      try build.cluster(&self, at: zoom) { try check(0.15 + 0.85 * (done + $0) / zooms) }
      levels[zoom] = build.rows.stored()
    }
  }
}

/// The state between zooms.
struct ClusterBuild {
  var rows: ClusterRows
  /// By first leaf: whether a node may have neighbours within the radius.
  private var near: BitTable
  /// By first leaf: whether a node has become part of a cluster at this zoom.
  private var taken: BitTable
  /// By first leaf: whether the node's neighbours have to be searched, because ``pairs`` is incomplete for it.
  private var dense: BitTable
  /// By entry: whether the node has become part of a cluster at this zoom.
  private var removed: BitTable
  /// By first leaf, for nodes that may have neighbours: the entry, and a copy of its node, so that both are read together.
  private var places: [(entry: UInt32, node: ClusterNode)]
  /// Pairs of neighbours as first leaves, the lower one in the upper half.
  private var pairs: [UInt64] = []
  private var sortedPairs = PairTable()
  private var nodes: [ClusterNode] = []
  private var made: [ClusterEntry] = []

  /// Maximum number of candidates of an entry. If one has more, its row is not examined further: all its entries may have
  /// neighbours.
  private static let denseCount = 48

  init(_ rows: ClusterRows, _ leafCount: Int) {
    self.rows = rows
    near = BitTable(count: leafCount)
    (taken, dense, removed) = (near, near, near)
    places = [(entry: UInt32, node: ClusterNode)](repeating: (0, .none), count: leafCount)
  }

  mutating func cluster(_ tree: inout ClusterTree, at zoom: Int, checking check: CancellationCheck) rethrows {
    let reach = tree.settings.reach(at: zoom)
    try rows.merge(to: reach) { try check(0.2 * $0) }
    made = []
    pairs.removeAll(keepingCapacity: true)
    try findNear(tree, reach) { try check(0.2 + 0.3 * $0) }
    sortedPairs.sort(pairs, count: places.count)
    try takeNeighbours(&tree, reach, zoom) { try check(0.5 + 0.3 * $0) }
    try rows.replace(removed, adding: made) { try check(0.8 + 0.2 * $0) }
    near.removeAll()
    taken.removeAll()
    dense.removeAll()
    removed.removeAll()
  }

  // MARK: Neighbours

  /// Marks the nodes that have, or may have, another node within reach.
  private mutating func findNear(_ tree: ClusterTree, _ reach: Reach, checking check: CancellationCheck) rethrows {
    var sinceCheck = 0
    for row in 0..<rows.count {
      sinceCheck += rows.starts[row + 1] - rows.starts[row]
      if sinceCheck > 1 << 15 {
        sinceCheck = 0
        try check(Double(row) / Double(rows.count))
      }
      let isDense = findNear(row, tree, reach)
      guard isDense else { continue }
      for index in rows.starts[row]..<rows.starts[min(row + 2, rows.count)] {
        dense.insert(Int(mark(index, tree)))
      }
    }
  }

  /// - Returns: whether the row is dense.
  private mutating func findNear(_ row: Int, _ tree: ClusterTree, _ reach: Reach) -> Bool {
    let (start, end) = (rows.starts[row], rows.starts[row + 1])
    let nextEnd = row + 1 < rows.count ? rows.starts[row + 2] : end
    var below = end
    return rows.entries.withUnsafeBufferPointer { entries in
      for index in start..<end {
        let entry = entries[index]
        let (limit, isBeyond) = entry.x.addingReportingOverflow(reach.span)
        let highest = isBeyond ? .max : limit
        var other = index + 1
        while other < end, entries[other].x <= highest {
          if reach.covers(entry, entries[other]) { markBoth(index, other, tree) }
          other += 1
        }
        if other - index > Self.denseCount { return true }
        let lowest = entry.x > reach.span ? entry.x - reach.span : 0
        while below < nextEnd, entries[below].x < lowest { below += 1 }
        other = below
        while other < nextEnd, entries[other].x <= highest {
          if reach.covers(entry, entries[other]) { markBoth(index, other, tree) }
          other += 1
        }
        if other - below > Self.denseCount { return true }
      }
      return false
    }
  }

  private mutating func markBoth(_ one: Int, _ other: Int, _ tree: ClusterTree) {
    let (first, second) = (mark(one, tree), mark(other, tree))
    pairs.append(UInt64(min(first, second)) << 32 | UInt64(max(first, second)))
  }

  /// - Returns: the first leaf of the entry.
  @inline(__always)
  @discardableResult
  private mutating func mark(_ index: Int, _ tree: ClusterTree) -> UInt32 {
    let node = rows.entries[index].node
    let lead = tree.lead(of: node)
    near.insert(Int(lead))
    places[Int(lead)] = (UInt32(truncatingIfNeeded: index), node)
    return lead
  }

  // MARK: Clusters

  /// Visits nodes by ascending first leaf; each takes those within reach that have not been taken.
  private mutating func takeNeighbours(
    _ tree: inout ClusterTree, _ reach: Reach, _ zoom: Int, checking check: CancellationCheck
  ) rethrows {
    var group: [UInt32] = []
    var sinceCheck = 0
    for word in near.words.indices {
      if sinceCheck > 1 << 12 {
        sinceCheck = 0
        try check(Double(word) / Double(near.words.count))
      }
      var open = near.words[word]
      while open != 0 {
        let lead = UInt32(word << 6 + open.trailingZeroBitCount)
        open &= open - 1
        guard !isTaken(lead) else { continue }
        group.removeAll(keepingCapacity: true)
        if dense.contains(Int(lead)) {
          sinceCheck += 8 + collect(lead, tree, reach, into: &group)
        } else {
          for other in sortedPairs.others(of: lead) where !isTaken(other) { group.append(other) }
          sinceCheck += 1 + group.count
        }
        if !group.isEmpty { makeCluster(lead, &group, &tree, zoom) }
      }
    }
  }

  @inline(__always)
  private func isTaken(_ lead: UInt32) -> Bool { taken.contains(Int(lead)) }

  /// Collects the leads of the nodes that a node takes into its cluster.
  ///
  /// - Returns: the number of entries examined.
  private func collect(_ lead: UInt32, _ tree: ClusterTree, _ reach: Reach, into group: inout [UInt32]) -> Int {
    let place = Int(places[Int(lead)].entry)
    let entry = rows.entries[place]
    let row = rows.row(ofEntry: place)
    var examined = 0
    for other in max(row - 1, 0)...min(row + 1, rows.count - 1) {
      let (start, end) = (rows.starts[other], rows.starts[other + 1])
      let lowest = entry.x > reach.span ? entry.x - reach.span : 0
      let (limit, isBeyond) = entry.x.addingReportingOverflow(reach.span)
      let highest = isBeyond ? .max : limit
      rows.entries.withUnsafeBufferPointer { entries in
        var index = entries[start..<end].partitioningIndex { $0.x >= lowest }
        while index < end, entries[index].x <= highest {
          if reach.covers(entry, entries[index]) {
            let found = tree.lead(of: entries[index].node)
            if found > lead, !isTaken(found) { group.append(found) }
          }
          index += 1
          examined += 1
        }
      }
    }
    return examined
  }

  private mutating func makeCluster(_ lead: UInt32, _ group: inout [UInt32], _ tree: inout ClusterTree, _ zoom: Int) {
    group.append(lead)
    group.sort()
    nodes.removeAll(keepingCapacity: true)
    for each in group {
      taken.insert(Int(each))
      let place = places[Int(each)]
      removed.insert(Int(place.entry))
      nodes.append(place.node)
    }
    // A statement of its own, because the tree is read after it has been changed.
    let cluster = tree.makeCluster(of: nodes, at: zoom)
    made.append(tree.entry(of: cluster))
  }
}

/// A bit for each number from 0 up to a limit.
struct BitTable {
  private(set) var words: [UInt64]

  init(count: Int) { words = [UInt64](repeating: 0, count: count / 64 + 1) }

  @inline(__always)
  func contains(_ number: Int) -> Bool { words[number &>> 6] &>> UInt64(number & 63) & 1 != 0 }

  @inline(__always)
  mutating func insert(_ number: Int) { words[number &>> 6] |= 1 &<< UInt64(number & 63) }

  mutating func removeAll() { for index in words.indices { words[index] = 0 } }
}

/// Pairs of numbers grouped by the first, in two passes of a counting sort.
private struct PairTable {
  private var starts: [UInt32] = []
  private var seconds: [UInt32] = []

  mutating func sort(_ pairs: [UInt64], count: Int) {
    if starts.count != count + 2 { starts = [UInt32](repeating: 0, count: count + 2) }
    for index in starts.indices { starts[index] = 0 }
    for pair in pairs { starts[Int(pair >> 32) + 2] += 1 }
    for index in 2..<starts.count { starts[index] += starts[index - 1] }
    if seconds.count < pairs.count { seconds = [UInt32](repeating: 0, count: pairs.count) }
    for pair in pairs {
      let first = Int(pair >> 32) + 1
      seconds[Int(starts[first])] = UInt32(truncatingIfNeeded: pair)
      starts[first] += 1
    }
  }

  @inline(__always)
  func others(of first: UInt32) -> ArraySlice<UInt32> {
    seconds[Int(starts[Int(first)])..<Int(starts[Int(first) + 1])]
  }
}
