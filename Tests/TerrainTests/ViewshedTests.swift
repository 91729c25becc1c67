// What is seen of random ground, against a line of sight to each cell.

import Geometry
import Terrain
import Testing

/// A grid of square cells.
struct Ground {
  let width: Int
  let height: Int
  var heights: [Float]

  /// Rough hills: random heights, smoothed.
  init(_ width: Int, _ height: Int, rounds: Int, using random: inout SeededGenerator) {
    (self.width, self.height) = (width, height)
    heights = (0..<width * height).map { _ in Float.random(in: 0...100, using: &random) }
    for _ in 0..<rounds {
      var next = heights
      for index in heights.indices {
        let beside = [index - 1, index + 1, index - width, index + width].filter { heights.indices.contains($0) }
        next[index] = beside.reduce(0) { $0 + heights[$1] } / Float(beside.count)
      }
      heights = next
    }
  }

  func viewshed(
    _ column: Int, _ row: Int, eye: Double, target: Double = 0, maxDistance: Double = 1e9, cell: Double = 10, fall: Double = 0
  ) -> [UInt8] {
    let viewshed = Viewshed(
      width: width, height: height, column: column, row: row, standing: Double(heights[row * width + column]), eye: eye, target: target,
      isAboveGround: true, maxDistance: maxDistance,
      metric: CellMetric(column: SIMD2(cell, 0), row: SIMD2(0, -cell)), fall: (fall, fall))
    return viewshed.joined(Viewshed.Side.allCases.map { viewshed.scan($0, heights) {} })
  }

  /// Whether a cell is seen: the ground is linear between the middles of cells where the line crosses columns, or rows if it is steeper.
  func sees(_ column: Int, _ row: Int, _ c: Int, _ r: Int, eye: Double, target: Double, cell: Double, fall: Double) -> Bool {
    let (dc, dr) = (c - column, r - row)
    let steps = max(abs(dc), abs(dr))
    func rise(_ height: Double, _ part: Double) -> Double {
      let way = part * (Double(dc * dc + dr * dr)).squareRoot() * cell
      return (height - fall * way * way - eye) / way
    }
    let wanted = rise(Double(heights[r * width + c]) + target, 1)
    for step in stride(from: 1, to: steps, by: 1) {
      let part = Double(step) / Double(steps)
      let (x, y) = (Double(column) + part * Double(dc), Double(row) + part * Double(dr))
      let height: Double
      if abs(dc) >= abs(dr) {
        let low = min(Int(y), self.height - 2)
        let (a, b) = (heights[low * width + Int(x.rounded())], heights[(low + 1) * width + Int(x.rounded())])
        height = Double(a) + (y - Double(low)) * Double(b - a)
      } else {
        let low = min(Int(x), width - 2)
        let (a, b) = (heights[Int(y.rounded()) * width + low], heights[Int(y.rounded()) * width + low + 1])
        height = Double(a) + (x - Double(low)) * Double(b - a)
      }
      if rise(height, part) > wanted + 1e-12 { return false }
    }
    return true
  }
}

struct ViewshedTests {
  /// At most one cell in a hundred is judged otherwise: those at the edges of what is seen.
  @Test(arguments: UInt64(0)..<12)
  func `a cell is seen as the line of sight to it says`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let ground = Ground(Int.random(in: 20...90, using: &random), Int.random(in: 20...90, using: &random), rounds: Int(seed % 4) * 3, using: &random)
    let (column, row) = (Int.random(in: 0..<ground.width, using: &random), Int.random(in: 0..<ground.height, using: &random))
    let eye = Double(ground.heights[row * ground.width + column]) + Double.random(in: 1...60, using: &random)
    let (target, fall) = (Double.random(in: 0...5, using: &random), seed % 2 == 0 ? 0 : 1e-5)
    let cells = ground.viewshed(column, row, eye: eye, target: target, fall: fall)
    var wrong = 0
    for index in cells.indices where index != row * ground.width + column {
      let sees = ground.sees(
        column, row, index % ground.width, index / ground.width, eye: eye, target: target, cell: 10, fall: fall)
      wrong += sees == (cells[index] == Viewshed.Cell.visible) ? 0 : 1
    }
    #expect(wrong * 100 <= cells.count, "\(wrong) of \(cells.count)")
    #expect(cells[row * ground.width + column] == Viewshed.Cell.visible)
  }

  @Test func `a plain is seen up to the distance, gaps are unknown, a wall hides what is behind it`() {
    var random = SeededGenerator(seed: 1)
    var ground = Ground(41, 41, rounds: 0, using: &random)
    ground.heights = Array(repeating: 5, count: 41 * 41)
    let plain = ground.viewshed(20, 20, eye: 7, maxDistance: 150)
    for index in plain.indices {
      let (c, r) = (index % 41 - 20, index / 41 - 20)
      #expect(plain[index] == (c * c + r * r <= 225 ? Viewshed.Cell.visible : Viewshed.Cell.unknown))
    }
    for row in 0..<41 { ground.heights[row * 41 + 25] = 50 }
    ground.heights[20 * 41 + 22] = .nan
    let walled = ground.viewshed(20, 20, eye: 7)
    #expect(walled[20 * 41 + 22] == Viewshed.Cell.unknown)
    #expect((0..<41).allSatisfy { walled[$0 * 41 + 25] == Viewshed.Cell.visible })
    #expect((0..<41).allSatisfy { row in (26..<41).allSatisfy { walled[row * 41 + $0] == Viewshed.Cell.hidden } })
    #expect((0..<41).allSatisfy { row in (0..<22).allSatisfy { walled[row * 41 + $0] == Viewshed.Cell.visible } })
  }

  @Test(arguments: [(0.0, 0.0), (1.5, 0.4), (-0.3, 2.0), (-1.0, -1.0)])
  func `an even slope is seen wholly from above it`(east: Double, south: Double) {
    var random = SeededGenerator(seed: 1)
    var ground = Ground(61, 61, rounds: 0, using: &random)
    ground.heights = (0..<61 * 61).map { Float(10 * (east * Double($0 % 61) + south * Double($0 / 61))) }
    #expect(ground.viewshed(30, 30, eye: Double(ground.heights[30 * 61 + 30]) + 2).allSatisfy { $0 == Viewshed.Cell.visible })
  }

  @Test func `grids of one cell, row or column have no other sides`() {
    for (width, height) in [(1, 1), (9, 1), (1, 9)] {
      var random = SeededGenerator(seed: 1)
      var ground = Ground(width, height, rounds: 0, using: &random)
      ground.heights = (0..<width * height).map { Float($0 * $0) }
      #expect(ground.viewshed(0, 0, eye: 1).allSatisfy { $0 == Viewshed.Cell.visible })
    }
  }

  @Test(arguments: UInt64(0)..<40)
  func `outlines have the area of the cells, one polygon for each connected part`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (width, height) = (Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
    let share = Double.random(in: 0...1, using: &random)
    let cells = (0..<width * height).map { _ in UInt8(Double.random(in: 0...1, using: &random) < share ? 1 : 0) }
    let outline = Outline(cells, width: width, of: 1, longest: seed % 2 == 0 ? .max : 3) { _ in }
    func area(_ ring: Outline.Ring) -> Int {
      zip(ring, ring.dropFirst()).reduce(0) { $0 + Int($1.0.x) * Int($1.1.y) - Int($1.1.x) * Int($1.0.y) }
    }
    #expect(outline.polygons.reduce(0) { $0 + $1.reduce(0) { $0 + area($1) } } == 2 * cells.count { $0 == 1 })
    var parts = 0
    var open = Set(cells.indices.filter { cells[$0] == 1 })
    while let first = open.popFirst() {
      parts += 1
      var stack = [first]
      while let cell = stack.popLast() {
        for next in [cell - width, cell + width, cell % width > 0 ? cell - 1 : -1, cell % width < width - 1 ? cell + 1 : -1] {
          if open.remove(next) != nil { stack.append(next) }
        }
      }
    }
    #expect(outline.polygons.count == parts)
    for rings in outline.polygons {
      #expect(area(rings[0]) > 0 && rings.dropFirst().allSatisfy { area($0) < 0 })
      for ring in rings {
        #expect(ring.first == ring.last && Set(ring).count == ring.count - 1, "a ring does not touch itself")
      }
    }
  }
}
