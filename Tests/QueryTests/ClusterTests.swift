// Clusters: against a naive judge of the published algorithm, and after edits against fresh ones.

import Geometry
import TestSupport
import Testing

@testable import Clusters
@testable import FeatureStore

/// What is shown at each zoom, as text: first id, count and position, for edits also expansion zoom and hash.
private func shown(_ tree: ClusterTree, isFull: Bool) -> [[String]] {
  (0...tree.settings.maxZoom + 1).map { zoom in
    tree.nodes(in: .init(), zoom: zoom).map { node in
      let place = tree.position(of: node)
      let text = "\(tree.firstID(of: node)) \(tree.count(of: node)) \(place)"
      return isFull ? text + " \(tree.expansionZoom(of: node)) \(tree.hash(of: node))" : text
    }.sorted()
  }
}

/// The algorithm as it is published, node by node.
private func naive(_ points: [ClusterPoint], _ settings: ClusterSettings) -> [[String]] {
  struct Node {
    let id: Int
    var x: UInt32
    var y: UInt32
    var count: UInt64 = 1
    var sumX: UInt64
    var sumY: UInt64
    var text: String { "\(id) \(count) \((x: x, y: y))" }
  }
  var nodes = points.sorted { $0.id < $1.id }.map {
    Node(id: $0.id, x: $0.x, y: $0.y, sumX: UInt64($0.x), sumY: UInt64($0.y))
  }
  var levels = [nodes.map(\.text).sorted()]
  for zoom in (0...settings.maxZoom).reversed() {
    let radius = settings.radius / 512 / Double(1 << zoom) * 0x1p32
    var isTaken = [Bool](repeating: false, count: nodes.count)
    var next: [Node] = []
    for first in nodes.indices where !isTaken[first] {
      isTaken[first] = true
      var node = nodes[first]
      for other in nodes.indices where !isTaken[other] {
        let (x, y) = (Double(nodes[first].x) - Double(nodes[other].x), Double(nodes[first].y) - Double(nodes[other].y))
        guard x * x + y * y <= radius * radius else { continue }
        isTaken[other] = true
        node.count += nodes[other].count
        node.sumX += nodes[other].sumX
        node.sumY += nodes[other].sumY
      }
      if node.count > nodes[first].count {
        node.x = UInt32((node.sumX + node.count / 2) / node.count)
        node.y = UInt32((node.sumY + node.count / 2) / node.count)
      }
      next.append(node)
    }
    nodes = next
    levels.append(nodes.map(\.text).sorted())
  }
  return levels.reversed()
}

/// Points all over, in a town, on a lattice (equal distances and coincident ones), or in a few places.
private struct PointMaker {
  var random: SplitMix
  let kind: Int

  init(_ seed: UInt64) {
    random = SplitMix(seed)
    kind = Int(seed % 4)
  }

  mutating func below(_ limit: Int) -> Int { min(Int(random.unit() * Double(limit)), limit - 1) }

  mutating func coordinate() -> UInt32 {
    switch kind {
    case 0: UInt32(random.unit() * 4_294_967_295)
    case 1: UInt32(2e9 + random.unit() * 3e6)
    case 2: UInt32(below(30)) * 143_165_576
    default: UInt32(below(4)) * 1_000_000_000 + UInt32(random.unit() * random.unit() * random.unit() * 3e8)
    }
  }

  mutating func point(_ id: Int) -> ClusterPoint {
    ClusterPoint(id: id, row: UInt32(id), x: coordinate(), y: coordinate())
  }
}

@Suite struct ClusterTests {
  @Test(arguments: UInt64(0)..<40)
  func `clusters are those of the naive algorithm, and after edits those of a new tree`(seed: UInt64) throws {
    var maker = PointMaker(seed)
    let settings = ClusterSettings(
      radius: [0, 1, 40, 60, 500, 1e9][maker.below(6)], maxZoom: maker.below(18))
    var points: [Int: ClusterPoint] = [:]
    for _ in 0..<maker.below(150) {
      let id = maker.below(5000)
      points[id] = maker.point(id)
    }
    var tree = ClusterTree(of: Array(points.values), settings: settings) { _ in }
    #expect(shown(tree, isFull: false) == naive(Array(points.values), settings))
    var leaves: [Int: ClusterNode] = [:]
    for (index, leaf) in tree.leaves.enumerated() { leaves[leaf.id] = .leaf(index) }
    for _ in 0..<8 {
      let gone = points.keys.sorted().filter { _ in maker.below(12) == 0 }
      let removed = gone.compactMap { leaves[$0] }
      var added = gone.filter { _ in maker.below(2) == 0 }.map { maker.point($0) }
      for id in gone { (points[id], leaves[id]) = (nil, nil) }
      for _ in 0..<maker.below(6) {
        let id = maker.below(5000)
        if points[id] == nil, !added.contains(where: { $0.id == id }) { added.append(maker.point(id)) }
      }
      for point in added { points[point.id] = point }
      do {
        for (point, leaf) in zip(added, try tree.update(removing: removed, adding: added)) { leaves[point.id] = leaf }
      } catch is ClusterEditTooLarge { return }
      let fresh = ClusterTree(of: Array(points.values), settings: settings) { _ in }
      #expect(shown(tree, isFull: true) == shown(fresh, isFull: true))
      expectMembers(of: tree)
      for _ in 0..<20 {
        let ends = [maker.coordinate(), maker.coordinate(), maker.coordinate(), maker.coordinate()]
        let box = ClusterTree.Box(x: min(ends[0], ends[1])...max(ends[0], ends[1]), y: min(ends[2], ends[3])...max(ends[2], ends[3]))
        let zoom = maker.below(20)
        // Trees with so few points have few rows.
        #expect(tree.isEmpty(in: [box], zoom: zoom) == tree.nodes(in: box, zoom: zoom).isEmpty)
      }
    }
  }

  private func expectMembers(of tree: ClusterTree) {
    for zoom in 0...tree.settings.maxZoom {
      for node in tree.nodes(in: .init(), zoom: zoom) {
        var rows: Set<UInt32> = []
        tree.forEachRow(of: node) { rows.insert($0).inserted }
        #expect(rows.count == tree.count(of: node))
      }
    }
  }

  @Test func `coincident points are one cluster, at once`() {
    let points = (0..<30_000).map { ClusterPoint(id: $0, row: UInt32($0), x: 7, y: 9) }
    let tree = ClusterTree(of: points, settings: ClusterSettings()) { _ in }
    #expect((0...17).map { tree.nodeCount(zoom: $0) } == Array(repeating: 1, count: 17) + [30_000])
  }

  @Test func `clustering ends where the check throws`() {
    let points = (0..<50_000).map {
      ClusterPoint(id: $0, row: 0, x: UInt32($0 % 223) * 19_000_000, y: UInt32($0 / 223) * 19_000_000)
    }
    var last = 0.0
    var count = 0
    #expect(throws: CancellationError.self) {
      _ = try ClusterTree(of: points, settings: ClusterSettings()) { fraction in
        #expect(fraction >= last && fraction <= 1)
        (last, count) = (fraction, count + 1)
        if fraction > 0.5 { throw CancellationError() }
      }
    }
    #expect(count > 10)
  }

  @Test(.slow, arguments: UInt64(0)..<12)
  func `clusters of a store follow its edits`(seed: UInt64) throws {
    var maker = PointMaker(seed)
    let shown: ClusteredFeatures.Shown = { rows in rows.filter { $0 % 7 != 0 } }
    func place(_ maker: inout PointMaker) -> Point {
      Point(x: maker.random.unit() * 400 - 200, y: maker.random.unit() * 180 - 90)
    }
    var store = FeatureStore()
    func add(_ count: Int) throws {
      var batch = FeatureBatch()
      for _ in 0..<count {
        batch.begin(id: nil)
        let point = place(&maker)
        batch.setPoint(x: point.x, y: point.y)
      }
      try store.append(batch)
    }
    try add(3000)
    var features = ClusteredFeatures(store, .degrees, ClusterSettings(), shown: shown) { _ in }
    for _ in 0..<6 {
      let ids = (0..<8).map { _ in maker.below(3000) }.filter { store.contains(id: $0) }
      let places = ids.map { _ in place(&maker) }
      var record: StoreUndoRecord?
      try store.move(ids, x: places.map(\.x), y: places.map(\.y), recording: &record)
      try add(maker.below(5))
      #expect(!features.isCurrent(for: store))
      #expect(try features.follow(store, shown: shown) { _ in })
      #expect(features.isCurrent(for: store))
      let fresh = ClusteredFeatures(store, .degrees, ClusterSettings(), shown: shown) { _ in }
      #expect(QueryTests.shown(features.tree, isFull: true) == QueryTests.shown(fresh.tree, isFull: true))
    }
  }

  @Test func `positions go to the plane and back`() {
    for plane in [ClusterPlane.degrees, .mercator, .own(metersPerUnit: 0.3048)] {
      for (x, y) in [(0.0, 0.0), (13.4, 52.5), (-179.99, -85.05), (180, 85.05), (12.5, -33)] {
        let place = plane.coordinates(x: x, y: y)
        let back = plane.position(x: place.x, y: place.y)
        let unit = plane == .degrees ? 1e-7 : 0.1
        #expect(abs(back.x - x) < unit && abs(back.y - y) < unit)
      }
    }
    #expect(ClusterPlane.degrees.coordinates(x: 0, y: 90).y == 0)
    #expect(ClusterPlane.degrees.coordinates(x: 0, y: -90).y == .max)
    #expect(ClusterPlane.degrees.coordinates(x: 190, y: 0).x == ClusterPlane.degrees.coordinates(x: -170, y: 0).x)
    #expect(ClusterPlane.own(metersPerUnit: 1).coordinates(x: 1e300, y: -1e300) == (.max, .max))
    for plane in [ClusterPlane.degrees, .mercator, .own(metersPerUnit: 1000)] {
      let far = plane == .degrees ? [86, 100, 360, 1e17] : [5e7, 1e17]
      for far in far + [1e308, .greatestFiniteMagnitude, .infinity] {
        #expect(plane.coordinates(x: 0, y: far).y == 0)
        #expect(plane.coordinates(x: 0, y: -far).y == .max)
      }
    }
  }

  @Test func `clusters of closed objects are dropped, and of the others the eight used last are kept`() throws {
    let cache = ClusterCache()
    var store = FeatureStore()
    var batch = FeatureBatch()
    for x in [0.0, 0.1, 50] {
      batch.begin()
      batch.setPoint(x: x, y: 0)
    }
    try store.append(batch)
    func ask(_ object: String, filter: String = "") throws {
      let key = ClusterCache.Key(object: object, settings: ClusterSettings(), plane: .degrees, filter: filter)
      #expect(try cache.features(key, of: store, shown: { $0 }, checking: { _ in }).tree.nodeCount(zoom: 4) == 2)
    }
    let first = ClusterCache.Key(object: "a", settings: ClusterSettings(), plane: .degrees, filter: "")
    #expect(cache.current(first, of: store) == nil)
    for object in ["a", "b", "c"] { try ask(object) }
    #expect(cache.current(first, of: store)?.tree.nodeCount(zoom: 4) == 2)
    #expect(cache.current(first, of: FeatureStore()) == nil)
    try ask("b", filter: "TRUE")
    cache.forget("a")
    cache.forget("none")
    #expect(cache.objects == ["b", "c"])
    for number in 0..<8 { try ask("o\(number)") }
    #expect(cache.objects == Set((0..<8).map { "o\($0)" }))
    cache.removeAll()
    #expect(cache.objects == [])
  }
}

extension ClusterTree {
  /// The nodes in a box at a zoom: clusters and single points, in no particular order.
  func nodes(in box: Box, zoom: Int) -> [ClusterNode] {
    var found: [ClusterNode] = []
    forEachEntry(in: box, at: levels[level(zoom)]) { found.append($0.node) }
    return found
  }

  func nodeCount(zoom: Int) -> Int { levels[level(zoom)].rows.reduce(0) { $0 + $1.count } }
}
