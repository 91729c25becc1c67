// Shapes of features in the index, and small value types of its algorithms.

import Geometry
import Sorting

/// The shape in a leaf for one row: a point or a box, with the same tests.
package protocol IndexedShape: BitwiseCopyable, Sendable {
  var lower: SIMD2<Double> { get }
  var upper: SIMD2<Double> { get }
}

extension IndexedShape {
  /// Whether it shares a position with `box`, edges included.
  @inline(__always)
  package func touches(_ box: IndexedBox) -> Bool { touching(box) != 0 }

  /// 1 if it ``touches(_:)``, else 0: two comparisons of pairs without a branch, which would be mispredicted half the
  /// time.
  @inline(__always)
  func touching(_ box: IndexedBox) -> Int {
    let both = SIMD2<Int64>.zero.replacing(with: 1, where: (lower .<= box.upper) .& (upper .>= box.lower))
    return Int(truncatingIfNeeded: both.x & both.y)
  }

  /// Halves first: the sum of two huge coordinates would overflow.
  @inline(__always)
  var center: SIMD2<Double> { lower * 0.5 + upper * 0.5 }

  var isFinite: Bool { lower.x.isFinite && lower.y.isFinite && upper.x.isFinite && upper.y.isFinite }
}

/// 16 bytes.
package struct IndexedPoint: IndexedShape, Equatable {
  package var position: SIMD2<Double>
  @inline(__always) package var lower: SIMD2<Double> { position }
  @inline(__always) package var upper: SIMD2<Double> { position }
  @inline(__always) var center: SIMD2<Double> { position }
}

/// 32 bytes; also used for the boxes of nodes.
package struct IndexedBox: IndexedShape, Equatable {
  package var lower: SIMD2<Double>
  package var upper: SIMD2<Double>

  static let none = IndexedBox(lower: .init(repeating: .infinity), upper: .init(repeating: -.infinity))

  package init(lower: SIMD2<Double>, upper: SIMD2<Double>) {
    self.lower = lower
    self.upper = upper
  }

  package init(_ envelope: Envelope) {
    self.init(lower: [envelope.xMin, envelope.yMin], upper: [envelope.xMax, envelope.yMax])
  }

  var envelope: Envelope { Envelope(xMin: lower.x, yMin: lower.y, xMax: upper.x, yMax: upper.y) }

  /// Whether edges that are straight in another reference may reach another box: within half of the longer side, or anywhere if that is
  /// longer than `longest`. True for a box if it is for one in it.
  func mayBend(into other: IndexedBox, longest: Double) -> Bool {
    let size = upper - lower
    let length = max(size.x, size.y)
    let more = SIMD2(repeating: length / 2)
    return length > longest || IndexedBox(lower: lower - more, upper: upper + more).touches(other)
  }

  @inline(__always)
  mutating func include(_ shape: some IndexedShape) {
    let low = shape.lower
    let high = shape.upper
    if low.x < lower.x { lower.x = low.x }
    if low.y < lower.y { lower.y = low.y }
    if high.x > upper.x { upper.x = high.x }
    if high.y > upper.y { upper.y = high.y }
  }

  @inline(__always)
  func contains(_ other: IndexedBox) -> Bool {
    lower.x <= other.lower.x && lower.y <= other.lower.y && upper.x >= other.upper.x && upper.y >= other.upper.y
  }
}

/// Rows and their shapes, in two columns of equal length.
struct IndexEntries<Shape: IndexedShape> {
  private(set) var shapes: [Shape] = []
  private(set) var rows: [UInt32] = []

  @inline(__always)
  mutating func append(_ shape: Shape, _ row: UInt32) {
    shapes.append(shape)
    rows.append(row)
  }

  mutating func reserve(_ count: Int) {
    shapes.reserveCapacity(count)
    rows.reserveCapacity(count)
  }
}

extension SortItem {
  /// Moves the first `middle` items before all others, unordered on either side.
  ///
  /// Source: C. A. R. Hoare, "Algorithm 65: Find", CACM 4 (7), 1961.
  static func part(_ items: UnsafeMutableBufferPointer<SortItem>, at middle: Int) {
    var low = 0
    var high = items.count - 1
    while low < high {
      let pivot = items[middle]
      var left = low
      var right = high
      while left <= right {
        while items[left].isBefore(pivot.key, pivot.row) { left &+= 1 }
        while pivot.isBefore(items[right].key, items[right].row) { right &-= 1 }
        if left <= right {
          items.swapAt(left, right)
          left &+= 1
          right &-= 1
        }
      }
      if right < middle { low = left }
      if middle < left { high = right }
    }
  }
}
