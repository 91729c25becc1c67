// What the index holds of a feature, and the small values that its algorithms pass around.

import Geometry

/// What a leaf keeps for one row: a point or a box, tested alike.
protocol IndexedShape: BitwiseCopyable, Sendable {
  var lower: SIMD2<Double> { get }
  var upper: SIMD2<Double> { get }
}

extension IndexedShape {
  /// Whether it shares a position with `box`, edges included.
  @inline(__always)
  func touches(_ box: IndexedBox) -> Bool { touching(box) != 0 }

  /// 1 where it ``touches(_:)``, else 0: two comparisons of pairs and no branch, which would be guessed wrong half the time.
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
struct IndexedPoint: IndexedShape, Equatable {
  var position: SIMD2<Double>
  @inline(__always) var lower: SIMD2<Double> { position }
  @inline(__always) var upper: SIMD2<Double> { position }
  @inline(__always) var center: SIMD2<Double> { position }
}

/// 32 bytes; also the boxes of the tree's nodes.
struct IndexedBox: IndexedShape, Equatable {
  var lower: SIMD2<Double>
  var upper: SIMD2<Double>

  static let none = IndexedBox(lower: .init(repeating: .infinity), upper: .init(repeating: -.infinity))

  init(lower: SIMD2<Double>, upper: SIMD2<Double>) {
    self.lower = lower
    self.upper = upper
  }

  init(_ envelope: Envelope) {
    self.init(lower: [envelope.xMin, envelope.yMin], upper: [envelope.xMax, envelope.yMax])
  }

  var envelope: Envelope { Envelope(xMin: lower.x, yMin: lower.y, xMax: upper.x, yMax: upper.y) }

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

/// The place of one entry in the tree's order: the key, then the row, so that equal positions have an order too.
struct IndexItem: BitwiseCopyable {
  var key: UInt64
  var row: UInt32
  /// Where its shape lies in the batch.
  var source: UInt32

  @inline(__always)
  func isBefore(_ key: UInt64, _ row: UInt32) -> Bool {
    self.key != key ? self.key < key : self.row < row
  }

  /// Sorts by key and row, in linear time where rows come ascending: a stable radix sort over the digits that differ.
  static func sort(_ items: inout [IndexItem]) {
    guard items.count > 1 else { return }
    if items.count < 96 {
      items.withUnsafeMutableBufferPointer { insertionSort($0) }
      return
    }
    var common = ~UInt64(0)
    var any = UInt64(0)
    var rowsAscend = true
    var previous = items[0].row
    for item in items {
      common &= item.key
      any |= item.key
      if item.row < previous { rowsAscend = false }
      previous = item.row
    }
    if !rowsAscend { items.sort { $0.row < $1.row } }
    let differing = common ^ any
    var spare = items
    var counts = [Int](repeating: 0, count: 2048)
    for shift in stride(from: UInt64(0), to: 64, by: 11) where differing >> shift & 2047 != 0 {
      items.withUnsafeBufferPointer { from in
        spare.withUnsafeMutableBufferPointer { to in
          counts.withUnsafeMutableBufferPointer { counts in
            counts.update(repeating: 0)
            for item in from { counts[Int(truncatingIfNeeded: item.key >> shift & 2047)] &+= 1 }
            var start = 0
            for digit in counts.indices {
              let count = counts[digit]
              counts[digit] = start
              start &+= count
            }
            for item in from {
              let digit = Int(truncatingIfNeeded: item.key >> shift & 2047)
              to[counts[digit]] = item
              counts[digit] &+= 1
            }
          }
        }
      }
      swap(&items, &spare)
    }
  }

  /// Puts the first `middle` items before all others, in no order on either side.
  ///
  /// Source: C. A. R. Hoare, "Algorithm 65: Find", CACM 4 (7), 1961.
  static func part(_ items: UnsafeMutableBufferPointer<IndexItem>, at middle: Int) {
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

  static func insertionSort(_ items: UnsafeMutableBufferPointer<IndexItem>) {
    guard items.count > 1 else { return }
    for index in 1..<items.count {
      let item = items[index]
      var hole = index
      while hole > 0, item.isBefore(items[hole - 1].key, items[hole - 1].row) {
        items[hole] = items[hole - 1]
        hole -= 1
      }
      items[hole] = item
    }
  }
}
