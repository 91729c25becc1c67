// Contour lines of a grid, by marching squares between the middles of cells.

import Geometry
import Sorting

/// Lines of equal height. The ground is linear along the sides of a square between the middles of four cells; a square with a gap has no lines.
/// A height that equals a level is above it. In a square whose corners are above and below in turn, the mean of the four decides which are joined.
public struct Contours: Sendable {
  /// Maximum number of levels.
  public static let levelLimit = 10_000
  /// Levels that are counted one by one from a cell to the next; more are bisected.
  private static let near = 64
  /// A cell without a height.
  static let gap = UInt16.max

  let heights: [Float]
  let width: Int
  let height: Int
  let levels: [Double]
  /// Where a height equals a level, rings of areas pass beside it, in cells: they would touch there. Greater where positions are rounded more.
  public var margin = 1e-9
  /// For each cell the number of levels that are not above it.
  let ranks: [UInt16]
  /// The squares that a level crosses, by their first cells, level by level.
  let squares: [UInt32]
  let offsets: [Int]

  /// The number of pieces of lines, one or two in each square that a level crosses, was greater than allowed.
  public struct TooMany: Error {
    public let count: Int
  }

  /// - Parameters:
  ///   - heights: row by row; NaN without a value.
  ///   - levels: ascending, at most ``levelLimit``.
  ///   - limit: maximum number of squares that levels cross, each time counted.
  ///   - check: called for each row; throws to cancel.
  /// - Complexity: O(n) in cells, and in squares that levels cross.
  public init(
    _ heights: [Float], width: Int, levels: [Double], limit: Int, checking check: () throws -> Void
  ) throws {
    self.heights = heights
    self.width = width
    self.levels = levels
    height = width > 0 ? heights.count / width : 0
    let (width, height) = (width, height)
    let levels = levels.prefix(Self.levelLimit)
    var ranks = [UInt16](repeating: Self.gap, count: heights.count)
    var rank = 0
    for start in stride(from: 0, to: heights.count, by: max(width, 1)) {
      try check()
      for index in start..<start + width where !heights[index].isNaN {
        let value = Double(heights[index])
        if rank + Self.near < levels.count && levels[rank + Self.near] <= value || rank > Self.near && levels[rank - Self.near] > value {
          rank = levels.partitioningIndex { $0 > value }
        }
        while rank < levels.count, levels[rank] <= value { rank += 1 }
        while rank > 0, levels[rank - 1] > value { rank -= 1 }
        ranks[index] = UInt16(rank)
      }
    }
    self.ranks = ranks
    // The levels between the least and the greatest corner.
    func crossed(_ index: Int, _ ranks: UnsafeBufferPointer<UInt16>) -> Range<Int> {
      let (a, b, c, d) = (ranks[index], ranks[index + 1], ranks[index + width], ranks[index + width + 1])
      let (low, high) = (min(min(a, b), min(c, d)), max(max(a, b), max(c, d)))
      return high == Self.gap ? 0..<0 : Int(low)..<Int(high)
    }
    var counts = [Int](repeating: 0, count: levels.count + 1)
    var total = 0
    for row in 0..<max(height - 1, 0) {
      try check()
      ranks.withUnsafeBufferPointer { ranks in
        for index in row * width..<row * width + max(width - 1, 0) {
          let levels = crossed(index, ranks)
          guard !levels.isEmpty else { continue }
          total += levels.count
          if total <= limit { for level in levels { counts[level] += 1 } }
        }
      }
    }
    guard total <= limit else { throw TooMany(count: total) }
    var next = 0
    for level in counts.indices {
      let count = counts[level]
      counts[level] = next
      next += count
    }
    offsets = counts
    var squares = [UInt32](repeating: 0, count: total)
    for row in 0..<max(height - 1, 0) {
      try check()
      ranks.withUnsafeBufferPointer { ranks in
        for index in row * width..<row * width + max(width - 1, 0) {
          for level in crossed(index, ranks) {
            squares[counts[level]] = UInt32(index)
            counts[level] += 1
          }
        }
      }
    }
    self.squares = squares
  }

  /// Traces the lines, level by level, with the higher ground on the left.
  ///
  /// - Parameters:
  ///   - check: called every few thousand positions, with the fraction that is done; throws to cancel.
  ///   - body: gets a level's index and a line of columns and rows from the outer corner of the first cell; a closed line ends where it begins.
  public func trace(checking check: (Double) throws -> Void, _ body: (Int, [SIMD2<Double>]) throws -> Void) throws {
    // For each square the level that was traced last, and the sides at which its pieces begin.
    var marks = [UInt32](repeating: 0, count: heights.count)
    var line: [SIMD2<Double>] = []
    var (steps, done) = (0, 0)
    for level in levels.indices where level < offsets.count - 1 {
      let squares = squares[offsets[level]..<offsets[level + 1]]
      for square in squares {
        for side in 0..<4 {
          guard var way = piece(Int(square), from: side, level), mark(&marks, Int(square), side, level) else { continue }
          let first = (square: Int(square), side: side)
          line = [point(first.square, side, level), point(first.square, way, level)]
          var at = first.square
          var isClosed = false
          while let (next, from) = neighbour(at, way) {
            guard let to = piece(next, from: from, level) else { break }
            if next == first.square, from == first.side {
              isClosed = true
              break
            }
            _ = mark(&marks, next, from, level)
            line.append(point(next, to, level))
            (at, way) = (next, to)
            steps += 1
            if steps & 8191 == 0 { try check(Double(done) / Double(self.squares.count)) }
          }
          if !isClosed {
            var before: [SIMD2<Double>] = []
            (at, way) = first
            while let (next, to) = neighbour(at, way) {
              guard let from = (0..<4).first(where: { piece(next, from: $0, level) == to }) else { break }
              _ = mark(&marks, next, from, level)
              before.append(point(next, from, level))
              (at, way) = (next, from)
              steps += 1
              if steps & 8191 == 0 { try check(Double(done) / Double(self.squares.count)) }
            }
            if !before.isEmpty { line = before.reversed() + line }
          }
          // Pieces that end in the middle of a cell, as high as the level, have no length there.
          var kept = 1
          for index in line.indices.dropFirst() where line[index] != line[kept - 1] {
            line[kept] = line[index]
            kept += 1
          }
          line.removeSubrange(kept...)
          if line.count > (isClosed ? 3 : 1) { try body(level, line) }
        }
        done += 1
        if done & 8191 == 0 { try check(Double(done) / Double(self.squares.count)) }
      }
    }
  }

  /// - Returns: whether the piece had not been traced.
  private func mark(_ marks: inout [UInt32], _ square: Int, _ side: Int, _ level: Int) -> Bool {
    let (stamp, bit) = (UInt32(level + 1) << 4, UInt32(1) << UInt32(side))
    let known = marks[square] >> 4 == UInt32(level + 1) ? marks[square] : stamp
    marks[square] = known | bit
    return known & bit == 0
  }

  /// The side at which the piece of a square ends that begins at a side; nil if none does. Sides are top, right, bottom and left.
  @inline(__always)
  func piece(_ square: Int, from side: Int, _ level: Int) -> Int? {
    let (a, b, c, d) = (ranks[square], ranks[square + 1], ranks[square + width + 1], ranks[square + width])
    guard max(max(a, b), max(c, d)) != Self.gap else { return nil }
    let line = UInt16(level)
    var corners = (a > line ? 1 : 0) | (b > line ? 2 : 0) | (c > line ? 4 : 0) | (d > line ? 8 : 0)
    if corners == 5 || corners == 10, isJoined(square, level) { corners += corners == 5 ? 11 : 7 }
    let end = Self.pieces[corners * 4 + side]
    return end < 0 ? nil : Int(end)
  }

  /// For the corners that are above (top left 1, top right 2, bottom right 4, bottom left 8; 16 and 17 are 5 and 10 with their middle above)
  /// and a side: the side at which the piece from it ends.
  private static let pieces: [Int8] = [
    -1, -1, -1, -1, -1, -1, -1, 0, 1, -1, -1, -1, -1, -1, -1, 1, -1, 2, -1, -1, -1, 2, -1, 0, 2, -1, -1, -1, -1, -1, -1, 2,
    -1, -1, 3, -1, -1, -1, 0, -1, 1, -1, 3, -1, -1, -1, 1, -1, -1, 3, -1, -1, -1, 0, -1, -1, 3, -1, -1, -1, -1, -1, -1, -1,
    -1, 0, -1, 2, 3, -1, 1, -1,
  ]

  private func isJoined(_ square: Int, _ level: Int) -> Bool {
    let sum = Double(heights[square]) + Double(heights[square + 1]) + Double(heights[square + width]) + Double(heights[square + width + 1])
    return sum / 4 >= levels[level]
  }

  /// The square beyond a side, and the side of it that is the same; nil at the edge of the grid.
  @inline(__always)
  func neighbour(_ square: Int, _ side: Int) -> (Int, Int)? {
    switch side {
    case 0: square >= width ? (square - width, 2) : nil
    case 1: square % width < width - 2 ? (square + 1, 3) : nil
    case 2: square / width < height - 2 ? (square + width, 0) : nil
    default: square % width > 0 ? (square - 1, 1) : nil
    }
  }

  /// Where a level crosses a side.
  ///
  /// - Parameter margin: least distance from the corners, in cells.
  @inline(__always)
  func point(_ square: Int, _ side: Int, _ level: Int, margin: Double = 0) -> SIMD2<Double> {
    let first = side == 1 ? square + 1 : side == 2 ? square + width : square
    let isAcross = side == 0 || side == 2
    let (low, high) = (Double(heights[first]), Double(heights[first + (isAcross ? 1 : width)]))
    let part = min(max((levels[level] - low) / (high - low), margin), 1 - margin)
    let middle = SIMD2(Double(first % width) + 0.5, Double(first / width) + 0.5)
    return middle + (isAcross ? SIMD2(part, 0) : SIMD2(0, part))
  }
}
