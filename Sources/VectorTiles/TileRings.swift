// The rings of one feature on a tile's grid, and whether they are valid polygons: rounding makes rings touch that did not.

import Geometry

/// A position on the grid.
struct GridPosition: Equatable {
  var x: Int32
  var y: Int32
}

/// Rings on the grid, each outer one before its holes; kept from feature to feature, so that little is allocated for each.
struct TileRings {
  private struct Ring {
    let range: Range<Int>
    let isHole: Bool
    /// Twice the area, positive where the outer ring of a tile has it: clockwise, with y downwards.
    let area: Int
    /// Whether so little is in it that rounding may have moved it across another ring.
    let isNarrow: Bool
    let low: GridPosition
    let high: GridPosition
  }
  private struct Segment {
    let a: GridPosition
    let b: GridPosition
    let ring: Int32
    /// The number of the segment in its ring, and whether it is the last.
    let number: Int32
    let isLast: Bool
  }

  private var positions: [GridPosition] = []
  private var rings: [Ring] = []
  private var segments: [Segment] = []
  /// The end of each cell's numbers of segments.
  private var cells: [Int32] = []
  private var numbers: [Int32] = []

  /// Segments of which each is compared with each.
  private static let few = 32
  /// Comparisons for each position, beyond which rings are taken for invalid: GEOS has better means then.
  private static let most = 64

  var isEmpty: Bool { rings.isEmpty }

  mutating func removeAll() {
    positions.removeAll(keepingCapacity: true)
    rings.removeAll(keepingCapacity: true)
  }

  /// Adds a ring of alternating x and y without its first position at the end, unless it has no area.
  mutating func add(_ grid: [Int32], isHole: Bool) -> Bool {
    guard grid.count >= 6 else { return false }
    let start = positions.count
    var (area, length) = (0, 0)
    var (low, high) = (GridPosition(x: grid[0], y: grid[1]), GridPosition(x: grid[0], y: grid[1]))
    grid.withUnsafeBufferPointer { grid in
      var last = GridPosition(x: grid[grid.count - 2], y: grid[grid.count - 1])
      for index in stride(from: 0, to: grid.count, by: 2) {
        let next = GridPosition(x: grid[index], y: grid[index + 1])
        positions.append(next)
        area &+= Int(last.x) &* Int(next.y) &- Int(next.x) &* Int(last.y)
        length &+= Int(abs(next.x &- last.x) &+ abs(next.y &- last.y))
        if next.x < low.x { low.x = next.x }
        if next.y < low.y { low.y = next.y }
        if next.x > high.x { high.x = next.x }
        if next.y > high.y { high.y = next.y }
        last = next
      }
    }
    guard area != 0 else {
      positions.removeLast(positions.count - start)
      return false
    }
    rings.append(Ring(range: start..<positions.count, isHole: isHole, area: area, isNarrow: abs(area) <= 4 * length, low: low, high: high))
    return true
  }

  /// Calls `body` with each ring, and whether it is to be written from the end: holes wind against outer rings.
  func forEach(_ body: (ArraySlice<GridPosition>, _ isReversed: Bool) -> Void) {
    for ring in rings { body(positions[ring.range], (ring.area > 0) == ring.isHole) }
  }

  var geometry: Geometry {
    var polygons: [[Positions]] = []
    for ring in rings {
      let all = positions[ring.range] + positions[ring.range].prefix(1)
      let line = Positions(values: all.flatMap { [Double($0.x), Double($0.y)] })
      if ring.isHole { polygons[polygons.count - 1].append(line) } else { polygons.append([line]) }
    }
    return .multiPolygon(polygons)
  }

  // MARK: Validity

  /// Whether no ring touches itself or another, and each is where it belongs. Valid polygons that touch at a position are not found so.
  mutating func areApart() -> Bool {
    if rings.count == 1, positions.count == 3 { return true }
    segments.removeAll(keepingCapacity: true)
    for (number, ring) in rings.enumerated() {
      let isFolded = positions.withUnsafeBufferPointer { positions in
        let ends = UnsafeBufferPointer(rebasing: positions[ring.range])
        var a = ends[ends.count - 1]
        var (wayX, wayY) = (a.x &- ends[ends.count - 2].x, a.y &- ends[ends.count - 2].y)
        for index in 0..<ends.count {
          let b = ends[index]
          let (dx, dy) = (b.x &- a.x, b.y &- a.y)
          if wayX &* dy == wayY &* dx, wayX &* dx &+ wayY &* dy < 0 { return true }
          segments.append(Segment(a: a, b: b, ring: Int32(number), number: Int32(index), isLast: index + 1 == ends.count))
          (a, wayX, wayY) = (b, dx, dy)
        }
        return false
      }
      if isFolded { return false }
    }
    return (segments.count <= Self.few ? areFewApart() : areManyApart()) && areNested()
  }

  private func areFewApart() -> Bool {
    segments.withUnsafeBufferPointer { segments in
      for index in 1..<segments.count {
        for other in 0..<index where Self.meet(segments[other], segments[index]) { return false }
      }
      return true
    }
  }

  /// Compares the segments that have a cell of a grid in common.
  private mutating func areManyApart() -> Bool {
    let low = GridPosition(x: rings.reduce(.max) { min($0, $1.low.x) }, y: rings.reduce(.max) { min($0, $1.low.y) })
    let high = GridPosition(x: rings.reduce(.min) { max($0, $1.high.x) }, y: rings.reduce(.min) { max($0, $1.high.y) })
    var shift: Int32 = 0
    while Int(((high.x - low.x) >> shift) + 1) * Int(((high.y - low.y) >> shift) + 1) > 2 * segments.count { shift += 1 }
    let width = ((high.x - low.x) >> shift) + 1
    cells.removeAll(keepingCapacity: true)
    cells.append(contentsOf: repeatElement(0, count: Int(width * (((high.y - low.y) >> shift) + 1)) + 1))
    return segments.withUnsafeBufferPointer { segments in
      var count = 0
      let hasRoom = cells.withUnsafeMutableBufferPointer { cells in
        for segment in segments {
          Self.forEachCell(of: segment, from: low, shift, width) { cell in
            cells[Int(cell) + 1] &+= 1
            count &+= 1
          }
          if count > Self.most * segments.count { return false }
        }
        var comparisons = 0
        for cell in 1..<cells.count {
          comparisons += Int(cells[cell]) * Int(cells[cell])
          cells[cell] &+= cells[cell - 1]
        }
        return comparisons <= Self.most * segments.count
      }
      guard hasRoom else { return false }
      numbers.removeAll(keepingCapacity: true)
      numbers.append(contentsOf: repeatElement(0, count: count))
      return cells.withUnsafeMutableBufferPointer { cells in
        numbers.withUnsafeMutableBufferPointer { numbers in
          var starts = cells[0]
          for number in 0..<segments.count {
            Self.forEachCell(of: segments[number], from: low, shift, width) { cell in
              numbers[Int(cells[Int(cell)])] = Int32(truncatingIfNeeded: number)
              cells[Int(cell)] &+= 1
            }
          }
          for cell in 0..<cells.count - 1 {
            for index in Int(starts)..<Int(cells[cell]) {
              let segment = segments[Int(numbers[index])]
              for other in Int(starts)..<index where Self.meet(segments[Int(numbers[other])], segment) { return false }
            }
            starts = cells[cell]
          }
          return true
        }
      }
    }
  }

  /// Calls `body` with the cells through which a segment goes: those of its box, in each column no more than it has there.
  @inline(__always)
  private static func forEachCell(of segment: Segment, from low: GridPosition, _ shift: Int32, _ width: Int32, _ body: (Int32) -> Void) {
    let (ax, ay, bx, by) = (segment.a.x &- low.x, segment.a.y &- low.y, segment.b.x &- low.x, segment.b.y &- low.y)
    let (left, right) = (min(ax, bx) &>> shift, max(ax, bx) &>> shift)
    let (top, bottom) = (min(ay, by) &>> shift, max(ay, by) &>> shift)
    if left == right, top == bottom { return body(top &* width &+ left) }
    let slope = right > left ? Double(by &- ay) / Double(bx &- ax) : 0
    for x in left...right {
      var (first, last) = (top, bottom)
      if right > left, bottom > top {
        let (one, other) = (Double(ay) + slope * Double((x << shift) - ax), Double(ay) + slope * Double(((x + 1) << shift) - ax))
        // One more at each end, for the rounding of the slope.
        first = max(top, (Int32(min(one, other)) - 1) &>> shift)
        last = min(bottom, (Int32(max(one, other)) + 2) &>> shift)
      }
      var y = first
      while y <= last {
        body(y &* width &+ x)
        y &+= 1
      }
    }
  }

  /// Whether two segments have a position in common other than that where one follows the other.
  @inline(__always)
  private static func meet(_ one: Segment, _ other: Segment) -> Bool {
    if max(one.a.x, one.b.x) < min(other.a.x, other.b.x) || min(one.a.x, one.b.x) > max(other.a.x, other.b.x)
      || max(one.a.y, one.b.y) < min(other.a.y, other.b.y) || min(one.a.y, one.b.y) > max(other.a.y, other.b.y)
    { return false }
    if one.ring == other.ring {
      let step = other.number &- one.number
      if step == 1 || step == -1 || one.number == 0 && other.isLast || other.number == 0 && one.isLast { return false }
    }
    return side(one.a, one.b, other.a) &* side(one.a, one.b, other.b) <= 0
      && side(other.a, other.b, one.a) &* side(other.a, other.b, one.b) <= 0
  }

  /// 1 left, -1 right of the line through two positions, 0 on it.
  @inline(__always)
  private static func side(_ a: GridPosition, _ b: GridPosition, _ c: GridPosition) -> Int32 {
    ((b.x &- a.x) &* (c.y &- a.y) &- (b.y &- a.y) &* (c.x &- a.x)).signum()
  }

  /// Whether the narrow rings among several are in an even number of others, and holes in an odd one.
  private func areNested() -> Bool {
    guard rings.count > 1 else { return true }
    var steps = 0
    for (number, ring) in rings.enumerated() where ring.isNarrow {
      let place = positions[ring.range.lowerBound]
      var isInside = false
      steps += rings.count
      for (other, around) in rings.enumerated() where other != number {
        guard around.low.x <= place.x, around.low.y <= place.y, around.high.x >= place.x, around.high.y >= place.y else { continue }
        steps += around.range.count
        guard steps <= Self.most * (positions.count + 1000) else { return false }
        var last = positions[around.range.upperBound - 1]
        for next in positions[around.range] {
          if (last.y > place.y) != (next.y > place.y), (Self.side(last, next, place) > 0) == (next.y > last.y) { isInside.toggle() }
          last = next
        }
      }
      guard isInside == ring.isHole else { return false }
    }
    return true
  }
}
