// The spatial index of a store: finds the rows in a box at any time, without rebuilds.

import Geometry

/// Rows by the boxes of their geometries: points in one tree, other geometries in another.
///
/// A value: a copy is O(1) and shares memory; a change copies only the nodes on its path. Rows with non-finite
/// coordinates are ignored on insertion and removal.
///
/// ```swift
/// var index = SpatialIndex()
/// index.insert(points: [0, 1], x: [10, 20], y: [50, 60])
/// index.rows(in: Envelope(xMin: 0, yMin: 0, xMax: 15, yMax: 90))  // [0]
/// ```
public struct SpatialIndex: Sendable {
  private(set) var points = HilbertTree<IndexedPoint>()
  private(set) var boxes = HilbertTree<IndexedBox>()

  public init() {}

  /// Number of rows.
  public var count: Int { points.count + boxes.count }

  /// The box around everything, exact after removals; nil if empty. O(1).
  public var bounds: Envelope? {
    guard var box = points.bounds ?? boxes.bounds else { return nil }
    if let more = boxes.bounds { box.include(more) }
    return box.envelope
  }

  /// Adds points: `rows[i]` at `x[i]`, `y[i]`. None of the rows may be in the index.
  ///
  /// - Complexity: O(k log n) for k points; about 0.3 microseconds each.
  public mutating func insert(points rows: [UInt32], x: [Double], y: [Double]) {
    Self.gather(rows, x: x, y: y) { points.insert($0, rows: $1) }
  }

  /// Adds boxes. None of the rows may be in the index.
  public mutating func insert(boxes rows: [UInt32], _ envelopes: [Envelope]) {
    Self.gather(rows, envelopes) { boxes.insert($0, rows: $1) }
  }

  /// Removes points, given as inserted. Unknown ones are ignored.
  public mutating func remove(points rows: [UInt32], x: [Double], y: [Double]) {
    Self.gather(rows, x: x, y: y) { _ = points.remove($0, rows: $1) }
  }

  /// Removes boxes, given as inserted. Unknown ones are ignored.
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

  /// The number of rows of ``rows(in:)``, without visiting nodes entirely inside.
  public func count(in envelope: Envelope) -> Int {
    let box = IndexedBox(envelope)
    return points.count(in: box) + boxes.count(in: box)
  }

  /// An upper bound of ``count(in:)`` in a fraction of the time: leaves at the edge of the envelope count in full.
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
