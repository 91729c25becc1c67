// Which cells of a grid are seen from one of them: rays to the edges of the grid, the algorithm R2 of W. R. Franklin and C. K. Ray ("Higher
// isn't necessarily better: visibility algorithms and experiments", 1994) with more rays than edge cells.

import Geometry

/// What is seen from the middle of a cell.
public struct Viewshed: Sendable {
  public enum Cell {
    public static let hidden: UInt8 = 0
    public static let visible: UInt8 = 1
    /// Without a height, or too far away.
    public static let unknown: UInt8 = 255
  }

  /// Rays for each cell of an edge: a cell is judged by the two on both sides of its middle, at most a quarter of a cell apart.
  private static let raysPerCell = 4

  public let width: Int
  public let height: Int
  public let column: Int
  public let row: Int
  /// The height of the ground at the observer, in metres.
  public let standing: Double
  /// The height of the eye, in metres.
  public let eye: Double
  /// The height of the target above the ground, or with `isAboveGround` false above the heights' zero.
  public let target: Double
  public let isAboveGround: Bool
  public let maxDistance: Double
  private let distances: (Double, Double, Double)
  private let falls: (Double, Double, Double)

  /// - Parameters:
  ///   - fall: how far the ground falls away one metre to the east and one to the north, in metres; it grows with the square.
  public init(
    width: Int, height: Int, column: Int, row: Int, standing: Double, eye: Double, target: Double, isAboveGround: Bool, maxDistance: Double,
    metric: CellMetric, fall: (east: Double, north: Double)
  ) {
    (self.width, self.height, self.column, self.row) = (width, height, column, row)
    (self.standing, self.eye, self.target, self.isAboveGround, self.maxDistance) = (standing, eye, target, isAboveGround, maxDistance)
    distances = metric.form()
    falls = metric.form(east: fall.east, north: fall.north)
  }

  /// The four triangles of the grid between its diagonals through the observer, which are independent of each other.
  public enum Side: Int, CaseIterable, Sendable { case east, south, west, north }

  /// The visibility of cells that one side has, ring by ring.
  public struct Part: Sendable {
    let side: Side
    let before: Int
    let span: Int
    var cells: [UInt8]
  }

  /// The rings of a side: the number of them, and of cells before and after the observer's column or row.
  private func reach(_ side: Side) -> (rings: Int, before: Int, after: Int) {
    switch side {
    case .east: (width - 1 - column, row, height - 1 - row)
    case .west: (column, row, height - 1 - row)
    case .south: (height - 1 - row, column, width - 1 - column)
    case .north: (row, column, width - 1 - column)
    }
  }

  /// Offsets in columns and rows of the place `ring` rings away and `along` cells along the ring.
  private static func offset(_ side: Side, _ ring: Int, _ along: Int) -> (Int, Int) {
    switch side {
    case .east: (ring, along)
    case .west: (-ring, along)
    case .south: (along, ring)
    case .north: (along, -ring)
    }
  }

  /// The visibility of one side's cells.
  ///
  /// - Parameters:
  ///   - heights: row by row; NaN without a value: such cells hide nothing.
  ///   - check: called for each ring; throws to cancel.
  /// - Complexity: O(n) in cells of the side.
  public func scan(_ side: Side, _ heights: [Float], checking check: () throws -> Void) rethrows -> Part {
    let (rings, before, after) = reach(side)
    let span = before + 1 + after
    var part = Part(side: side, before: before, span: span, cells: [])
    guard rings > 0 else { return part }
    part.cells = Array(repeating: Cell.unknown, count: rings * span)
    // Slopes are multiplied by the distance of a ring along the axis: along a ray that is a constant factor.
    let rays = rings * Self.raysPerCell
    // The ground at an eye or a target that is below it hides all.
    let isBuried = Float(eye) < Float(standing) || isAboveGround && target < 0
    let highest = Double(Float(target))
    var horizon = [Double](repeating: isBuried ? .infinity : -.greatestFiniteMagnitude, count: 2 * rays + 1)
    var slopes = [Double](repeating: 0, count: span)
    let (dc, dr) = Self.offset(side, 1, 0)
    let (ac, ar) = Self.offset(side, 0, 1)
    let (outward, along) = (dr * width + dc, ar * width + ac)
    // The forms of distance and fall in rings and cells along them.
    func turned(_ form: (Double, Double, Double)) -> (Double, Double, Double) {
      let sign = Double(dc + dr)
      return dc != 0 ? (form.0, sign * form.1, form.2) : (form.2, sign * form.1, form.0)
    }
    let (far, fall, limit) = (turned(distances), turned(falls), maxDistance * maxDistance)
    let ownsDiagonals = dc != 0
    try heights.withUnsafeBufferPointer { heights in
      try part.cells.withUnsafeMutableBufferPointer { cells in
        try horizon.withUnsafeMutableBufferPointer { horizon in
          try slopes.withUnsafeMutableBufferPointer { slopes in
            for ring in 1...rings {
              try check()
              let (low, high) = (max(-ring, -before), min(ring, after))
              let (k, inverse) = (Double(ring), 1 / Double(ring))
              let start = row * width + column + ring * outward
              let raysPerStep = Double(rays) * inverse
              for j in low...high {
                let a = Double(j)
                let height = Double(heights[start + j * along])
                let drop = eye + fall.0 * k * k + fall.1 * k * a + fall.2 * a * a
                let slope = (height - drop) * inverse
                slopes[j + before] = slope
                guard abs(j) < ring || ownsDiagonals, !slope.isNaN, far.0 * k * k + far.1 * k * a + far.2 * a * a <= limit else { continue }
                let seen = isAboveGround ? slope + target * inverse : highest < height ? .nan : (target - drop) * inverse
                // Between two rays: beside the middle the ground may be higher, and on an even slope hide it.
                let way = a * raysPerStep + Double(rays)
                let ray = min(Int(way), 2 * rays - 1)
                let part = way - Double(ray)
                let hiding = horizon[ray] * (1 - part) + horizon[ray + 1] * part
                cells[(ring - 1) * span + j + before] = seen >= hiding ? Cell.visible : Cell.hidden
              }
              raise(horizon, slopes, ring, low, high, before, rays)
            }
          }
        }
      }
    }
    return part
  }

  /// Raises the horizon of each ray by the ground where it crosses a ring.
  @inline(__always)
  private func raise(
    _ horizon: UnsafeMutableBufferPointer<Double>, _ slopes: UnsafeMutableBufferPointer<Double>, _ ring: Int, _ low: Int, _ high: Int,
    _ before: Int, _ rays: Int
  ) {
    // Ray m crosses the ring m * ring / rays cells along it.
    let step = Double(ring) / Double(rays)
    var ray = -(-low * rays / ring)
    for j in low..<high {
      let (a, b) = (slopes[j + before], slopes[j + 1 + before])
      // Rays up to the next cell, without it.
      let product = (j + 1) * rays
      let end = product >= 0 ? (product + ring - 1) / ring : -(-product / ring)
      if !a.isNaN, !b.isNaN {
        let base = a - Double(j) * (b - a)
        let rise = (b - a) * step
        while ray < end {
          let slope = base + rise * Double(ray)
          if slope > horizon[ray + rays] { horizon[ray + rays] = slope }
          ray += 1
        }
      } else {
        // Ground beside a gap reaches half a cell into it.
        while ray < end {
          let slope = Double(ray) * step - Double(j) < 0.5 ? a : b
          if slope > horizon[ray + rays] { horizon[ray + rays] = slope }
          ray += 1
        }
      }
    }
    while ray * ring <= high * rays, ray <= rays {
      if slopes[high + before] > horizon[ray + rays] { horizon[ray + rays] = slopes[high + before] }
      ray += 1
    }
  }

  /// The visibility of all cells, row by row.
  public func joined(_ parts: [Part]) -> [UInt8] {
    var result = [UInt8](repeating: Cell.unknown, count: width * height)
    result.withUnsafeMutableBufferPointer { result in
      result[row * width + column] = Cell.visible
      for part in parts {
        let (dc, dr) = Self.offset(part.side, 1, 0)
        let (ac, ar) = Self.offset(part.side, 0, 1)
        let (outward, along) = (dr * width + dc, ar * width + ac)
        part.cells.withUnsafeBufferPointer { cells in
          for ring in stride(from: 1, through: cells.count / part.span, by: 1) {
            let reach = dc != 0 ? ring : ring - 1
            let start = row * width + column + ring * outward
            for j in max(-reach, -part.before)...min(reach, part.span - 1 - part.before) {
              result[start + j * along] = cells[(ring - 1) * part.span + j + part.before]
            }
          }
        }
      }
    }
    return result
  }
}
