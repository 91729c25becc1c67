// One feature's geometry in a tile: cut at the buffer, rounded to the grid, written as drawing commands.

import Geometry

/// Collects the commands of one feature; kept from feature to feature, so that nothing is allocated for each.
///
/// Positions are given in units of the tile; see ``TileAddress/place(_:)``.
package struct TileShape {
  package enum Kind: UInt64 { case point = 1, line, polygon }

  package private(set) var commands: [UInt32] = []
  private var cursor: (x: Int32, y: Int32) = (0, 0)
  private var pointCount: UInt32 = 0
  /// The run that is being rounded: alternating x and y.
  private var grid: [Int32] = []
  /// A ring before and after it is cut at one side.
  private var ring: [Double] = []
  private var cut: [Double] = []
  private var rings = TileRings()

  package static let low = Double(-TileAddress.buffer)
  package static let high = Double(TileAddress.extent + TileAddress.buffer)

  package init() {}

  package var isEmpty: Bool { commands.isEmpty }

  package mutating func removeAll() {
    commands.removeAll(keepingCapacity: true)
    rings.removeAll()
    (cursor, pointCount) = ((0, 0), 0)
  }

  // MARK: Points

  /// - Parameter shift: what is added to each x.
  package mutating func addPoints(_ values: UnsafeBufferPointer<Double>, shift: Double) {
    for index in stride(from: 0, to: values.count - 1, by: 2) {
      let (x, y) = (values[index] + shift, values[index + 1])
      guard x >= Self.low, x <= Self.high, y >= Self.low, y <= Self.high else { continue }
      if pointCount == 0 { commands.append(0) }
      pointCount += 1
      commands[0] = 1 | pointCount << 3
      move(Self.rounded(x), Self.rounded(y))
    }
  }

  // MARK: Lines

  package mutating func addLine(_ values: UnsafeBufferPointer<Double>, shift: Double) {
    grid.removeAll(keepingCapacity: true)
    guard values.count >= 4 else { return }
    var (ax, ay) = (values[0] + shift, values[1])
    for index in stride(from: 2, to: values.count - 1, by: 2) {
      let (bx, by) = (values[index] + shift, values[index + 1])
      defer { (ax, ay) = (bx, by) }
      guard let part = Self.inside(ax, ay, bx, by) else {
        endLine()
        continue
      }
      if part.first > 0 { endLine() }
      if grid.isEmpty { push(ax + part.first * (bx - ax), ay + part.first * (by - ay)) }
      if part.last < 1 {
        push(ax + part.last * (bx - ax), ay + part.last * (by - ay))
        endLine()
      } else {
        push(bx, by)
      }
    }
    endLine()
  }

  private mutating func endLine() {
    let count = grid.count / 2
    if count >= 2 { for index in 0..<count { write(index, of: count, grid[2 * index], grid[2 * index + 1]) } }
    grid.removeAll(keepingCapacity: true)
  }

  /// The part of a segment that is in the box, as fractions of its length (Liang and Barsky, 1984).
  @inline(__always)
  private static func inside(_ ax: Double, _ ay: Double, _ bx: Double, _ by: Double) -> (first: Double, last: Double)? {
    if min(ax, bx) >= low, max(ax, bx) <= high, min(ay, by) >= low, max(ay, by) <= high { return (0, 1) }
    var (first, last) = (0.0, 1.0)
    func narrow(_ start: Double, _ change: Double) -> Bool {
      guard change != 0 else { return start >= low && start <= high }
      let (one, other) = ((low - start) / change, (high - start) / change)
      first = max(first, min(one, other))
      last = min(last, max(one, other))
      return first < last
    }
    return narrow(ax, bx - ax) && narrow(ay, by - ay) ? (first, last) : nil
  }

  // MARK: Rings

  /// Adds a closed ring: the outer one of a polygon, or a hole in the outer one before. ``writeRings(mending:)`` writes them.
  ///
  /// - Returns: whether anything of it is left.
  @discardableResult
  package mutating func addRing(_ values: UnsafeBufferPointer<Double>, shift: Double, isHole: Bool) -> Bool {
    guard values.count >= 6 else { return false }
    var (left, right, top, bottom) = (Double.infinity, -Double.infinity, Double.infinity, -Double.infinity)
    for index in stride(from: 0, to: values.count - 1, by: 2) {
      let (x, y) = (values[index] + shift, values[index + 1])
      if x < left { left = x }
      if x > right { right = x }
      if y < top { top = y }
      if y > bottom { bottom = y }
    }
    guard right >= Self.low, left <= Self.high, bottom >= Self.low, top <= Self.high else { return false }
    grid.removeAll(keepingCapacity: true)
    if left >= Self.low, right <= Self.high, top >= Self.low, bottom <= Self.high {
      for index in stride(from: 0, to: values.count - 1, by: 2) { push(values[index] + shift, values[index + 1]) }
    } else {
      ring.removeAll(keepingCapacity: true)
      for index in stride(from: 0, to: values.count - 1, by: 2) {
        ring.append(values[index] + shift)
        ring.append(values[index + 1])
      }
      if left < Self.low { cutRing(axis: 0, at: Self.low, keepsAbove: true) }
      if right > Self.high { cutRing(axis: 0, at: Self.high, keepsAbove: false) }
      if top < Self.low { cutRing(axis: 1, at: Self.low, keepsAbove: true) }
      if bottom > Self.high { cutRing(axis: 1, at: Self.high, keepsAbove: false) }
      for index in stride(from: 0, to: ring.count - 1, by: 2) { push(ring[index], ring[index + 1]) }
    }
    return endRing(isHole: isHole)
  }

  /// Cuts a ring at one side of the box (Sutherland and Hodgman, 1974).
  private mutating func cutRing(axis: Int, at limit: Double, keepsAbove: Bool) {
    cut.removeAll(keepingCapacity: true)
    let count = ring.count
    guard count >= 2 else { return }
    ring.withUnsafeBufferPointer { ring in
      var (ax, ay) = (ring[count - 2], ring[count - 1])
      var isInside = keepsAbove ? ring[count - 2 + axis] >= limit : ring[count - 2 + axis] <= limit
      for index in stride(from: 0, to: count - 1, by: 2) {
        let (bx, by) = (ring[index], ring[index + 1])
        let isNext = keepsAbove ? ring[index + axis] >= limit : ring[index + axis] <= limit
        if isInside != isNext {
          let fraction = axis == 0 ? (limit - ax) / (bx - ax) : (limit - ay) / (by - ay)
          cut.append(axis == 0 ? limit : ax + fraction * (bx - ax))
          cut.append(axis == 1 ? limit : ay + fraction * (by - ay))
        }
        if isNext {
          cut.append(bx)
          cut.append(by)
        }
        (ax, ay, isInside) = (bx, by, isNext)
      }
    }
    swap(&ring, &cut)
  }

  private mutating func endRing(isHole: Bool) -> Bool {
    // The first position is not repeated.
    while grid.count >= 4, grid[0] == grid[grid.count - 2], grid[1] == grid[grid.count - 1] { grid.removeLast(2) }
    return rings.add(grid, isHole: isHole)
  }

  /// Writes the rings that were added, as polygons that are valid.
  ///
  /// - Parameter mend: makes polygons on the grid valid, with positions on the grid; called where rings touch.
  package mutating func writeRings(mending mend: (Geometry) throws -> Geometry) rethrows {
    guard !rings.isEmpty else { return }
    if !rings.areApart() {
      let mended = try mend(rings.geometry)
      rings.removeAll()
      for part in mended.flattened {
        for polygon in part.polygons {
          for (index, ring) in polygon.enumerated() {
            grid.removeAll(keepingCapacity: true)
            ring.values.withUnsafeBufferPointer { values in
              for index in stride(from: 0, to: values.count - 1, by: 2) { push(values[index], values[index + 1]) }
            }
            guard endRing(isHole: index > 0) || index > 0 else { break }
          }
        }
      }
    }
    var all = TileRings()
    swap(&all, &rings)
    all.forEach { positions, isReversed in
      for index in 0..<positions.count {
        let position = positions[isReversed ? positions.endIndex - 1 - index : positions.startIndex + index]
        write(index, of: positions.count, position.x, position.y)
      }
      commands.append(7 | 1 << 3)
    }
    swap(&all, &rings)
  }

  // MARK: The grid

  @inline(__always)
  private static func rounded(_ value: Double) -> Int32 { Int32((value + 0.5).rounded(.down)) }

  /// Adds a position to the run, without repetitions and without positions on a straight line.
  @inline(__always)
  private mutating func push(_ x: Double, _ y: Double) {
    // A position without coordinates is left out.
    guard x >= Self.low - 1, x <= Self.high + 1, y >= Self.low - 1, y <= Self.high + 1 else { return }
    let (x, y) = (Self.rounded(x), Self.rounded(y))
    let count = grid.count
    if count >= 2 {
      let (dx, dy) = (x &- grid[count - 2], y &- grid[count - 1])
      if dx == 0, dy == 0 { return }
      if count >= 4 {
        let (ex, ey) = (grid[count - 2] &- grid[count - 4], grid[count - 1] &- grid[count - 3])
        if ex &* dy == ey &* dx, ex &* dx &+ ey &* dy > 0 {
          grid[count - 2] = x
          grid[count - 1] = y
          return
        }
      }
    }
    grid.append(x)
    grid.append(y)
  }

  private mutating func write(_ index: Int, of count: Int, _ x: Int32, _ y: Int32) {
    if index == 0 { commands.append(1 | 1 << 3) }
    if index == 1 { commands.append(2 | UInt32(count - 1) << 3) }
    move(x, y)
  }

  @inline(__always)
  private mutating func move(_ x: Int32, _ y: Int32) {
    let (dx, dy) = (x &- cursor.x, y &- cursor.y)
    commands.append(UInt32(bitPattern: dx << 1 ^ dx >> 31))
    commands.append(UInt32(bitPattern: dy << 1 ^ dy >> 31))
    cursor = (x, y)
  }
}
