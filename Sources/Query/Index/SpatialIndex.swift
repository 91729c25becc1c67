// The spatial index of a store: which rows lie in a box, at any moment, without a rebuild behind anybody's back.

import Geometry

/// Rows by the boxes of their geometries: points in one tree, everything else in another.
///
/// A value: a copy is O(1) and shares memory until either side changes, then only the nodes on the way of the change are copied.
/// Coordinates that are not finite are left out of it, when inserted and when removed.
public struct SpatialIndex: Sendable {
  private(set) var points = HilbertTree<IndexedPoint>()
  private(set) var boxes = HilbertTree<IndexedBox>()

  public init() {}

  /// How many rows are in it.
  public var count: Int { points.count + boxes.count }

  /// The box around everything in it; nil when empty. O(1), and exact after removals.
  public var bounds: Envelope? {
    guard var box = points.bounds ?? boxes.bounds else { return nil }
    if let more = boxes.bounds { box.include(more) }
    return box.envelope
  }

  /// Adds points: `rows[i]` at `x[i]`, `y[i]`, none of the rows in the index yet.
  ///
  /// - Complexity: O(k log n) for k points; about 0.3 microseconds each.
  public mutating func insert(points rows: [UInt32], x: [Double], y: [Double]) {
    Self.gather(rows, x: x, y: y) { points.insert($0, rows: $1) }
  }

  /// Adds boxes, none of the rows in the index yet.
  public mutating func insert(boxes rows: [UInt32], _ envelopes: [Envelope]) {
    Self.gather(rows, envelopes) { boxes.insert($0, rows: $1) }
  }

  /// Removes points, given as they were inserted. Those that are not there are passed over.
  public mutating func remove(points rows: [UInt32], x: [Double], y: [Double]) {
    Self.gather(rows, x: x, y: y) { _ = points.remove($0, rows: $1) }
  }

  /// Removes boxes, given as they were inserted. Those that are not there are passed over.
  public mutating func remove(boxes rows: [UInt32], _ envelopes: [Envelope]) {
    Self.gather(rows, envelopes) { _ = boxes.remove($0, rows: $1) }
  }

  /// The rows whose box shares a position with `envelope`, edges included, in no order.
  ///
  /// - Complexity: O(log n + hits) on data that is spread out; 2 to 3 microseconds for 100 hits among a million points.
  public func rows(in envelope: Envelope) -> [UInt32] {
    withRows(in: envelope) { Array($0) }
  }

  /// As ``rows(in:)``, without an array.
  public func withRows<Result>(in envelope: Envelope, _ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
    var found = FoundRows()
    search(envelope, into: &found)
    return found.withRows(body)
  }

  func search(_ envelope: Envelope, into found: inout FoundRows) {
    let box = IndexedBox(envelope)
    points.search(box, into: &found)
    boxes.search(box, into: &found)
  }

  /// How many rows ``rows(in:)`` would give, without visiting those of nodes that lie wholly inside.
  public func count(in envelope: Envelope) -> Int {
    let box = IndexedBox(envelope)
    return points.count(in: box) + boxes.count(in: box)
  }

  /// No fewer than ``count(in:)`` gives, and at most some leaves' more along the edge of the envelope; in a fraction of the time.
  public func countAtMost(in envelope: Envelope) -> Int {
    let box = IndexedBox(envelope)
    return points.countAtMost(in: box) + boxes.countAtMost(in: box)
  }

  private static func gather(
    _ rows: [UInt32], x: [Double], y: [Double],
    _ body: (UnsafeBufferPointer<IndexedPoint>, UnsafeBufferPointer<UInt32>) -> Void
  ) {
    var shapes: [IndexedPoint] = []
    let count = min(rows.count, x.count, y.count)
    shapes.reserveCapacity(count)
    for index in 0..<count { shapes.append(IndexedPoint(position: SIMD2(x[index], y[index]))) }
    pass(shapes, rows, body)
  }

  private static func gather(
    _ rows: [UInt32], _ envelopes: [Envelope],
    _ body: (UnsafeBufferPointer<IndexedBox>, UnsafeBufferPointer<UInt32>) -> Void
  ) {
    pass(envelopes.prefix(rows.count).map(IndexedBox.init), rows, body)
  }

  private static func pass<Shape: IndexedShape>(
    _ shapes: [Shape], _ rows: [UInt32], _ body: (UnsafeBufferPointer<Shape>, UnsafeBufferPointer<UInt32>) -> Void
  ) {
    var shapes = shapes
    var rows = rows
    if !shapes.allSatisfy(\.isFinite) {
      rows = zip(shapes, rows).filter { $0.0.isFinite }.map(\.1)
      shapes = shapes.filter(\.isFinite)
    }
    shapes.withUnsafeBufferPointer { shapes in rows.withUnsafeBufferPointer { body(shapes, $0) } }
  }
}
