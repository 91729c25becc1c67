// The outlines of cells of a grid as polygons.

import Geometry

/// Polygons around the cells that are connected by their sides. Their corners are corners of cells: columns and rows from the outer corner of
/// the first cell. Rings are closed, the first of a polygon is its outer one; none touches itself but in single points of two rings.
public struct Outline: Sendable {
  /// Columns and rows of the corners.
  public typealias Ring = [SIMD2<Int32>]

  public private(set) var polygons: [[Ring]] = []
  /// Number of corners.
  public private(set) var count = 0

  private let width: Int
  private let height: Int
  private let value: UInt8
  /// Every so many cells a straight side has a corner.
  private let longest: Int32

  /// - Parameters:
  ///   - cells: row by row; those that equal `value` are outlined.
  ///   - longest: maximum number of cells along a side without a corner.
  ///   - check: called for each row with the number of corners so far, and within large rings; throws to cancel.
  /// - Complexity: O(n) in cells.
  public init(
    _ cells: [UInt8], width: Int, of value: UInt8, longest: Int = .max, checking check: (Int) throws -> Void
  ) rethrows {
    (self.width, self.height, self.value) = (width, width > 0 ? cells.count / width : 0, value)
    self.longest = Int32(clamping: longest)
    let (starts, areas) = try cells.withUnsafeBufferPointer { try Self.areas($0, width, value, check) }
    var visited = [Bool](repeating: false, count: cells.count)
    var outer: [Int32: Int] = [:]
    var holes: [(area: Int32, ring: Ring)] = []
    try cells.withUnsafeBufferPointer { cells in
      try visited.withUnsafeMutableBufferPointer { visited in
        for (number, run) in starts.enumerated() {
          if number & 255 == 0 { try check(count) }
          for index in run where !visited[index] && (index < width || cells[index - width] != value) {
            for ring in try trace(from: index, cells, visited, check) {
              count += ring.count
              if Self.isOuter(ring) {
                outer[areas[number]] = polygons.count
                polygons.append([ring])
              } else {
                holes.append((areas[number], ring))
              }
            }
          }
        }
      }
    }
    for hole in holes { if let polygon = outer[hole.area] { polygons[polygon].append(hole.ring) } }
  }

  /// The runs of cells in rows, and for each the number of its connected area.
  private static func areas(
    _ cells: UnsafeBufferPointer<UInt8>, _ width: Int, _ value: UInt8, _ check: (Int) throws -> Void
  ) rethrows -> ([Range<Int>], [Int32]) {
    var runs: [Range<Int>] = []
    var parents: [Int32] = []
    func root(_ run: Int) -> Int {
      var run = run
      while Int(parents[run]) != run {
        parents[run] = parents[Int(parents[run])]
        run = Int(parents[run])
      }
      return run
    }
    var above = 0..<0
    for start in stride(from: 0, to: cells.count, by: max(width, 1)) {
      try check(0)
      let first = runs.count
      var (index, upper) = (start, above.lowerBound)
      while index < start + width {
        while index < start + width, cells[index] != value { index += 1 }
        let begin = index
        while index < start + width, cells[index] == value { index += 1 }
        guard begin < index else { break }
        let number = runs.count
        runs.append(begin..<index)
        parents.append(Int32(number))
        while upper < above.upperBound, runs[upper].upperBound + width <= begin { upper += 1 }
        var other = upper
        while other < above.upperBound, runs[other].lowerBound + width < index {
          let (a, b) = (root(other), root(number))
          parents[max(a, b)] = Int32(min(a, b))
          other += 1
        }
      }
      above = first..<runs.count
    }
    return (runs, runs.indices.map { Int32(root($0)) })
  }

  private static func isOuter(_ ring: Ring) -> Bool {
    var area = 0
    for (a, b) in zip(ring, ring.dropFirst()) { area += Int(a.x) * Int(b.y) - Int(b.x) * Int(a.y) }
    return area > 0
  }

  /// Follows the border that begins with the upper side of a cell, with the cells on the right. Where cells meet at a corner alone it stays with
  /// its own; where it comes back to such a corner, what lies between is a ring of its own.
  private func trace(
    from index: Int, _ cells: UnsafeBufferPointer<UInt8>, _ visited: UnsafeMutableBufferPointer<Bool>, _ check: (Int) throws -> Void
  ) rethrows -> [Ring] {
    func isIn(_ column: Int, _ row: Int) -> Bool {
      column >= 0 && column < width && row >= 0 && row < height && cells[row * width + column] == value
    }
    let (startColumn, startRow) = (index % width, index / width)
    var (column, row, dx, dy) = (startColumn, startRow, 1, 0)
    var (rings, ring, crossings) = ([Ring](), Ring(), [Int: Int]())
    var since: Int32 = 0
    var steps = 0
    ring.append(SIMD2(Int32(column), Int32(row)))
    repeat {
      if dx == 1 { visited[row * width + column] = true }
      (column, row) = (column + dx, row + dy)
      since += 1
      steps += 1
      if steps & 65535 == 0 { try check(count + ring.count) }
      // The cells ahead, of which the corner is the middle.
      let right = isIn(column + (dx - dy - 1) / 2, row + (dy + dx - 1) / 2)
      let left = isIn(column + (dx + dy - 1) / 2, row + (dy - dx - 1) / 2)
      let (oldX, oldY) = (dx, dy)
      if !right { (dx, dy) = (-oldY, oldX) } else if left { (dx, dy) = (oldY, -oldX) }
      guard (dx, dy) != (oldX, oldY) || since >= longest else { continue }
      ring.append(SIMD2(Int32(column), Int32(row)))
      since = 0
      guard !right, left else { continue }
      let corner = row * (width + 1) + column
      if let first = crossings[corner] {
        rings.append(Array(ring[first...]))
        for point in ring[(first + 1)...] { crossings[Int(point.y) * (width + 1) + Int(point.x)] = nil }
        ring.removeSubrange((first + 1)...)
      }
      crossings[corner] = ring.count - 1
    } while !(column == startColumn && row == startRow && dx == 1)
    if ring.count > 3 { rings.append(ring) }
    return rings
  }
}
