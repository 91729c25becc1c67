// Clusters of points for every zoom: the nodes of the tree, and which of them are shown at a zoom.

import Sorting

/// How points are clustered.
public struct ClusterSettings: Hashable, Sendable {
  /// The distance in pixels up to which points are clustered; a tile of a zoom has ``tileSize`` pixels.
  public var radius: Double
  /// The last zoom with clusters; beyond it points are single.
  public var maxZoom: Int

  public static let tileSize = 512.0
  /// At zoom 24 the radius of 60 pixels is 30 units of a coordinate.
  public static let zoomLimit = 24

  public init(radius: Double = 60, maxZoom: Int = 16) {
    self.radius = radius
    self.maxZoom = max(0, min(maxZoom, Self.zoomLimit))
  }

  /// The radius in units of coordinates, 2^32 of which are the plane's side.
  func reach(at zoom: Int) -> Reach {
    Reach(radius / Self.tileSize / Double(1 << zoom) * 0x1p32)
  }
}

/// A distance in units of coordinates.
struct Reach: Sendable {
  /// The greatest difference of one coordinate.
  let span: UInt32
  private let squared: Double

  init(_ distance: Double) {
    span = distance >= 0x1p32 - 1 ? .max : UInt32(max(distance, 0))
    squared = distance * distance
  }

  @inline(__always)
  func covers(_ a: ClusterEntry, _ b: ClusterEntry) -> Bool {
    let (x, y) = (Double(a.x) - Double(b.x), Double(a.y) - Double(b.y))
    return x * x + y * y <= squared
  }
}

/// A point to be clustered, in the plane's coordinates.
public struct ClusterPoint: Sendable {
  /// Points are visited by ascending id. Unique.
  public var id: Int
  /// The row of its feature.
  public var row: UInt32
  public var x: UInt32
  public var y: UInt32

  public init(id: Int, row: UInt32, x: UInt32, y: UInt32) {
    (self.id, self.row, self.x, self.y) = (id, row, x, y)
  }
}

/// A leaf or a cluster of a tree. Do not keep one across an edit, after which it may denote another node.
public struct ClusterNode: Hashable, Sendable {
  /// The index of a leaf or, with the highest bit set, of a cluster.
  let raw: UInt32

  static let none = ClusterNode(raw: .max)
  static func leaf(_ index: Int) -> ClusterNode { ClusterNode(raw: UInt32(truncatingIfNeeded: index)) }
  static func cluster(_ index: Int) -> ClusterNode {
    ClusterNode(raw: UInt32(truncatingIfNeeded: index) | 0x8000_0000)
  }

  public var isCluster: Bool { raw >= 0x8000_0000 }
  @inline(__always) var index: Int { Int(raw & 0x7fff_ffff) }
}

/// A node and its position at a zoom.
struct ClusterEntry: Sendable {
  var x: UInt32
  var y: UInt32
  var node: ClusterNode
}

/// Points clustered for the zooms 0 to ``ClusterSettings/maxZoom``, as supercluster does it (Agafonkin 2016): from the last zoom
/// down, each node that is not yet in a cluster takes the nodes within the radius. Nodes are visited by the id of their first
/// point, so the result depends neither on the order of insertion nor on the history of edits.
///
/// At each zoom the nodes are in rows: bands of y at least as high as the radius, each sorted by x. Equal rows of several zooms
/// are stored once. A copy is O(1), and a change copies the rows that it touches.
///
/// Invariant: a node is the first of a cluster, or alone, if and only if no such node with a lower id is within the radius; else
/// it belongs to the one with the lowest id. So an edit affects only nodes that it reaches through such neighbours.
public struct ClusterTree: Sendable {
  struct Leaf: Sendable {
    var id: Int
    var row: UInt32
    var x: UInt32
    var y: UInt32
    var parent = ClusterNode.none
    /// The next child of the parent.
    var next = ClusterNode.none
  }

  struct Cluster: Sendable {
    /// Sums of the coordinates of all points: exact in any order of addition.
    var sumX: UInt64 = 0
    var sumY: UInt64 = 0
    /// Sum of the mixed ids of all points; wraps.
    var hash: UInt64 = 0
    var x: UInt32 = 0
    var y: UInt32 = 0
    var count: UInt32 = 0
    var parent = ClusterNode.none
    var next = ClusterNode.none
    /// Children are linked by ascending first point.
    var first = ClusterNode.none
    /// The leaf with the lowest id.
    var lead: UInt32 = 0
    /// The last zoom at which the cluster is shown.
    var zoom: UInt8 = 0
  }

  /// The nodes shown at a zoom.
  struct Level: Sendable {
    /// The lowest y of each row, ascending from 0.
    var bounds: [UInt32] = [0]
    var rows: [ContiguousArray<ClusterEntry>] = [[]]

    /// The index of the row that contains a y.
    @inline(__always)
    func row(of y: UInt32) -> Int { bounds.partitioningIndex { $0 > y } - 1 }
  }

  public let settings: ClusterSettings
  var leaves: ContiguousArray<Leaf> = []
  var clusters: ContiguousArray<Cluster> = []
  /// By zoom; the last level has the points.
  var levels: [Level]
  var freeLeaves: [UInt32] = []
  var freeClusters: [UInt32] = []
  /// Number of points added or removed since the tree was built.
  var edits = 0

  init(settings: ClusterSettings) {
    self.settings = settings
    levels = [Level](repeating: Level(), count: settings.maxZoom + 2)
  }

  /// Number of points.
  public var count: Int { leaves.count - freeLeaves.count }

  // MARK: Nodes

  @inline(__always)
  func lead(of node: ClusterNode) -> UInt32 { node.isCluster ? clusters[node.index].lead : node.raw }
  /// The order in which nodes are visited: the id of the first point.
  func order(of node: ClusterNode) -> Int { leaves[Int(lead(of: node))].id }

  func parent(of node: ClusterNode) -> ClusterNode {
    node.isCluster ? clusters[node.index].parent : leaves[node.index].parent
  }

  func next(of node: ClusterNode) -> ClusterNode {
    node.isCluster ? clusters[node.index].next : leaves[node.index].next
  }

  func entry(of node: ClusterNode) -> ClusterEntry {
    if node.isCluster {
      let cluster = clusters[node.index]
      return ClusterEntry(x: cluster.x, y: cluster.y, node: node)
    }
    let leaf = leaves[node.index]
    return ClusterEntry(x: leaf.x, y: leaf.y, node: node)
  }

  @inline(__always)
  mutating func link(_ node: ClusterNode, to parent: ClusterNode, before next: ClusterNode) {
    if node.isCluster {
      clusters[node.index].parent = parent
      clusters[node.index].next = next
    } else {
      leaves[node.index].parent = parent
      leaves[node.index].next = next
    }
  }

  /// Adds a cluster of nodes, given by ascending order.
  @discardableResult
  mutating func makeCluster(of nodes: [ClusterNode], at zoom: Int) -> ClusterNode {
    var made = Cluster()
    made.zoom = UInt8(truncatingIfNeeded: zoom)
    made.lead = nodes.first.map(lead) ?? 0
    made.first = nodes.first ?? .none
    for node in nodes { add(node, to: &made) }
    let count = UInt64(max(made.count, 1))
    made.x = UInt32(truncatingIfNeeded: (made.sumX + count / 2) / count)
    made.y = UInt32(truncatingIfNeeded: (made.sumY + count / 2) / count)
    let index: Int
    if let free = freeClusters.popLast() {
      index = Int(free)
      clusters[index] = made
    } else {
      index = clusters.count
      clusters.append(made)
    }
    let cluster = ClusterNode.cluster(index)
    for (number, node) in nodes.enumerated() {
      link(node, to: cluster, before: number + 1 < nodes.count ? nodes[number + 1] : .none)
    }
    return cluster
  }

  private func add(_ node: ClusterNode, to cluster: inout Cluster) {
    if node.isCluster {
      let child = clusters[node.index]
      cluster.sumX += child.sumX
      cluster.sumY += child.sumY
      cluster.hash &+= child.hash
      cluster.count += child.count
    } else {
      let leaf = leaves[node.index]
      cluster.sumX += UInt64(leaf.x)
      cluster.sumY += UInt64(leaf.y)
      cluster.hash &+= Self.mixed(leaf.id)
      cluster.count += 1
    }
  }

  /// splitmix64 (Steele, Lea, Flood 2014): the sum over a set's ids identifies the set.
  private static func mixed(_ id: Int) -> UInt64 {
    var z = UInt64(bitPattern: Int64(id)) &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
