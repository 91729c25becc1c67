// Where the pixels of a picture lie in a raster: computed at some of them, interpolated between where that is exact enough.

import GeoModel
import Geometry
import Platform
import Sorting

/// The places of a frame's pixels in a raster, in columns and rows of its file.
struct RasterGrid {
  /// Pixels along the side of a cell, between whose corners places are interpolated.
  static let cell = 16
  /// How far an interpolated place may be off, in pixels of the frame, where this is tested: at the middles of cells and their sides.
  private static let tolerance = 0.125

  private enum Cell {
    /// The raster is elsewhere.
    case outside
    /// The place of the first corner, the steps by pixel, and the change of one step by the other.
    case linear(SIMD2<Double>, SIMD2<Double>, SIMD2<Double>, SIMD2<Double>)
    /// The places of the corners, the middles of the sides and that of the cell, between which places are interpolated in quarters.
    case quarters([SIMD2<Double>])
    case exact
  }

  private let frame: PixelFrame
  private let info: RasterInfo
  private let transformer: any CoordinateTransformer
  /// The period of x in the raster's reference; nil if it has none.
  private let wrap: WorldWrap?
  private let columns: Int
  private var cells: [Cell] = []
  /// The pixels of the file along a pixel of the frame.
  private(set) var ratio = 0.0
  /// The cells that meet the raster: columns and rows.
  private(set) var covered: (columns: Range<Int>, rows: Range<Int>)?

  /// - Throws: also if PROJ does not know a reference.
  init(
    _ frame: PixelFrame, _ info: RasterInfo, _ transformer: any CoordinateTransformer, checking check: CancellationCheck
  ) throws {
    (self.frame, self.info, self.transformer) = (frame, info, transformer)
    let description = try transformer.describe(info.reference)
    wrap = WorldWrap(description, transformer)
    columns = (frame.width + Self.cell - 1) / Self.cell
    let rows = (frame.height + Self.cell - 1) / Self.cell
    var ratios: [Double] = []
    var above = try nodes(atHalf: 0)
    for row in 0..<rows {
      try check(Double(row) / Double(rows))
      let (middle, below) = (try nodes(atHalf: 2 * row + 1), try nodes(atHalf: 2 * row + 2))
      for column in 0..<columns {
        let at = 2 * column
        let (cell, ratio) = made(
          of: [above[at], above[at + 1], above[at + 2], middle[at], middle[at + 1], middle[at + 2], below[at], below[at + 1], below[at + 2]])
        cells.append(cell)
        if case .outside = cell { continue }
        if let ratio { ratios.append(ratio) }
        let old = covered ?? (column..<column + 1, row..<row + 1)
        covered = (min(old.columns.lowerBound, column)..<max(old.columns.upperBound, column + 1), old.rows.lowerBound..<row + 1)
      }
      above = below
    }
    ratios.sort()
    ratio = ratios.isEmpty ? Double(max(info.width, info.height)) / Double(max(frame.width, frame.height)) : ratios[ratios.count / 2]
  }

  /// The positions in the raster's reference along a row of corners or middles of cells; NaN where there is none.
  private func nodes(atHalf row: Int) throws -> [SIMD2<Double>] {
    let half = Double(Self.cell / 2)
    return try positions((0...2 * columns).map { frame.position(x: Double($0) * half, y: Double(row) * half) })
  }

  private func positions(_ places: [SIMD2<Double>]) throws -> [SIMD2<Double>] {
    guard frame.reference != info.reference else { return places }
    return try transformer.transformEach(places.map { Point(x: $0.x, y: $0.y) }, from: frame.reference, to: info.reference).map {
      guard let point = try? $0.get() else { return SIMD2(.nan, .nan) }
      return SIMD2(point.x, point.y)
    }
  }

  private func pixel(_ position: SIMD2<Double>) -> SIMD2<Double> {
    let pixel = info.transform.pixel(x: position.x, y: position.y)
    return SIMD2(pixel.column, pixel.row)
  }

  /// - Parameter nodes: three rows of three.
  private func made(of nodes: [SIMD2<Double>]) -> (cell: Cell, ratio: Double?) {
    var nodes = nodes
    let isWhole = nodes.allSatisfy { $0.x.isFinite && $0.y.isFinite }
    guard isWhole else { return (nodes.allSatisfy { !$0.x.isFinite } ? .outside : .exact, nil) }
    if let wrap {
      for index in nodes.indices { nodes[index].x += wrap.shift(nodes[index].x, nearest: nodes[4].x) }
      // The turn in which the cell ends beyond the raster's western edge.
      var box = nodes.reduce((nodes[0].x, nodes[0].x)) { (min($0.0, $1.x), max($0.1, $1.x)) }
      let turns = (((info.extent.xMin - box.1) / wrap.width).rounded(.down) + 1) * wrap.width
      box = (box.0 + turns, box.1 + turns)
      for index in nodes.indices { nodes[index].x += turns }
      // That edge goes through the cell, and the eastern one of a raster around the world as well.
      if box.0 < info.extent.xMin, box.0 + wrap.width < info.extent.xMax { return (.exact, nil) }
    }
    let places = nodes.map(pixel)
    let (low, high) = places.reduce((places[0], places[0])) { (pointwiseMin($0.0, $1), pointwiseMax($0.1, $1)) }
    guard high.x > 0, high.y > 0, low.x < Double(info.width), low.y < Double(info.height) else { return (.outside, nil) }
    let (first, right, below, last) = (places[0], places[2], places[6], places[8])
    let size = Double(Self.cell)
    let (across, down) = ((right - first) / size, (below - first) / size)
    let twist = (last - right - below + first) / (size * size)
    let ratio = max((across * across).sum(), (down * down).sum()).squareRoot()
    let area = across.x * down.y - across.y * down.x
    var worst = 0.0
    for (index, place) in places.enumerated() {
      let (x, y) = (Double(index % 3) * size / 2, Double(index / 3) * size / 2)
      let off = first + x * across + y * down + x * y * twist - place
      // In pixels of the frame: near a pole one of the file is much wider than high.
      let (right, below) = ((off.x * down.y - off.y * down.x) / area, (across.x * off.y - across.y * off.x) / area)
      worst = max(worst, abs(right), abs(below))
      if right.isNaN || below.isNaN { worst = .infinity }
    }
    // Between nodes at half the distance the error is a quarter.
    let cell: Cell =
      worst <= Self.tolerance ? .linear(first, across, down, twist) : worst <= 3 * Self.tolerance ? .quarters(places) : .exact
    return (cell, ratio > 0 ? ratio : nil)
  }

  /// Writes the places of the pixels of a cell that are within the frame, row by row, `stride` apart; NaN outside of the raster's reference.
  func places(column: Int, row: Int, into target: UnsafeMutablePointer<SIMD2<Double>>, stride: Int, scale: SIMD2<Double>) throws {
    let width = min(Self.cell, frame.width - column * Self.cell), height = min(Self.cell, frame.height - row * Self.cell)
    switch cells[row * columns + column] {
    case .outside:
      for y in 0..<height { for x in 0..<width { target[y * stride + x] = SIMD2(.nan, .nan) } }
    case .linear(let first, let across, let down, let twist):
      for y in 0..<height {
        let v = Double(y) + 0.5
        for x in 0..<width {
          let u = Double(x) + 0.5
          target[y * stride + x] = (first + u * across + v * down + u * v * twist) * scale
        }
      }
    case .quarters(let nodes):
      let half = Self.cell / 2
      for y in 0..<height {
        let (below, v) = (y / half, (Double(y % half) + 0.5) / Double(half))
        for x in 0..<width {
          let (right, u) = (x / half, (Double(x % half) + 0.5) / Double(half))
          let first = 3 * below + right
          let top = nodes[first] + u * (nodes[first + 1] - nodes[first])
          let bottom = nodes[first + 3] + u * (nodes[first + 4] - nodes[first + 3])
          target[y * stride + x] = (top + v * (bottom - top)) * scale
        }
      }
    case .exact:
      for y in 0..<height {
        let top = Double(row * Self.cell + y) + 0.5
        let found = try positions((0..<width).map { frame.position(x: Double(column * Self.cell + $0) + 0.5, y: top) })
        for x in 0..<width {
          var place = found[x]
          if let wrap { place.x += ((info.extent.xMin - place.x) / wrap.width).rounded(.up) * wrap.width }
          target[y * stride + x] = pixel(place) * scale
        }
      }
    }
  }
}
