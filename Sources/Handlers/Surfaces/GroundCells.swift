// Values of cells: heights, slopes, aspects, shading.

import GeoModel
import GeoProtocol
import Geometry
import Planning
import Platform
import Terrain
import WireCoding

extension GridFrame {
  /// The cells in which points in WGS 84 lie; the nearest one for a point beyond the grid.
  func cells(at points: [Point], _ ground: Ground) throws -> [(column: Int, row: Int)] {
    let wrap = WorldWrap(try ground.transformer.describe(reference), ground.transformer)
    let extent = transform.extent(width: width, height: height)
    return try ground.transformer.transformEach(points, from: .wgs84, to: reference).map { place in
      guard let place = try? place.get() else { return (0, 0) }
      let turned = wrap?.turned(place, into: extent) ?? place
      let pixel = transform.pixel(x: turned.x, y: turned.y)
      return (Int(min(max(pixel.column, 0), Double(width - 1))), Int(min(max(pixel.row, 0), Double(height - 1))))
    }
  }
}

extension Gradient {
  init(_ cells: ArraySlice<Double>, _ metric: CellMetric, _ method: SlopeMethod) {
    let c = Array(cells)
    self.init((c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]), metric, method)
  }
}

struct GroundCells {
  /// Cells between those whose steps are computed; the others are interpolated.
  private static let spacing = 32
  /// How far interpolated steps may be off in the middle of a block, as a part of them: at a pole, and in cells of degrees, they are not even.
  private static let tolerance = 5e-3

  let grid: GroundGrid
  let columns: Range<Int>
  let rows: Range<Int>
  let ground: Ground
  let method: SlopeMethod

  /// The values of the cells, row by row; NaN without one.
  func values(_ params: SurfaceProtocol.Cells.Params, _ share: WorkShare) throws -> [Float] {
    let azimuth = params.azimuth, altitude = params.altitude, zFactor = params.zFactor
    switch params.quantity {
    case .elevation:
      var values: [Float] = []
      values.reserveCapacity(rows.count * columns.count)
      for row in rows {
        try share.work?.checkCancelled()
        values += grid.heights[row * grid.frame.width + columns.lowerBound..<row * grid.frame.width + columns.upperBound]
      }
      return values
    case .slope: return try gradients(share) { Float($0.slope) }
    case .aspect: return try gradients(share) { Float($0.aspect) }
    case .hillshade:
      return try gradients(share) {
        let light = Gradient(east: $0.east * zFactor, north: $0.north * zFactor).light(azimuth: azimuth, altitude: altitude)
        return light.isNaN ? .nan : Float((1 + 254 * max(light, 0)).rounded(.down))
      }
    }
  }

  private func gradients(_ share: WorkShare, _ value: @Sendable (Gradient) -> Float) throws -> [Float] {
    let bands = stride(from: rows.lowerBound, to: rows.upperBound, by: Self.spacing).map { $0..<min($0 + Self.spacing, rows.upperBound) }
    let nodes = Array(stride(from: columns.lowerBound, to: columns.upperBound - 1, by: Self.spacing)) + [columns.upperBound - 1]
    return try share.concurrently(bands.count) { index in
      let band = bands[index]
      let (top, bottom) = (
        nodes.map { grid.frame.metric(at: $0, band.lowerBound, ground) }, nodes.map { grid.frame.metric(at: $0, band.upperBound - 1, ground) }
      )
      let middle = (band.lowerBound + band.upperBound - 1) / 2
      let areEven = nodes.indices.map { node in
        let next = min(node + 1, nodes.count - 1)
        let column = (nodes[node] + nodes[next]) / 2
        let (u, v) = (Self.part(column, nodes[node], nodes[next]), Self.part(middle, band.lowerBound, band.upperBound - 1))
        guard let exact = grid.frame.metric(at: column, middle, ground),
          let guess = CellMetric.between(.between(top[node], bottom[node], v), .between(top[next], bottom[next], v), u)
        else { return true }
        return guess.isNear(exact, Self.tolerance)
      }
      var result: [Float] = []
      result.reserveCapacity(band.count * columns.count)
      grid.heights.withUnsafeBufferPointer { heights in
        for row in band {
          let down = Self.part(row, band.lowerBound, band.upperBound - 1)
          let metrics = zip(top, bottom).map { CellMetric.between($0, $1, down) }
          for (node, first) in nodes.enumerated() {
            let end = node + 1 < nodes.count ? nodes[node + 1] : first + 1
            let (left, right) = (metrics[node], node + 1 < nodes.count ? metrics[node + 1] : metrics[node])
            for column in first..<end {
              let even = areEven[node] ? CellMetric.between(left, right, Self.part(column, first, end)) : grid.frame.metric(at: column, row, ground)
              guard let metric = even else {
                result.append(.nan)
                continue
              }
              let (a, b, c) = ((row - 1) * grid.frame.width + column, row * grid.frame.width + column, (row + 1) * grid.frame.width + column)
              let cells = (
                Double(heights[a - 1]), Double(heights[a]), Double(heights[a + 1]), Double(heights[b - 1]), Double(heights[b]),
                Double(heights[b + 1]), Double(heights[c - 1]), Double(heights[c]), Double(heights[c + 1])
              )
              result.append(cells.4.isNaN ? .nan : value(Gradient(cells, metric, method)))
            }
          }
        }
      }
      return result
    }.flatMap { $0 }
  }

  private static func part(_ number: Int, _ first: Int, _ last: Int) -> Double {
    last > first ? Double(number - first) / Double(last - first) : 0
  }
}

extension CellMetric {
  fileprivate func isNear(_ other: CellMetric, _ tolerance: Double) -> Bool {
    func isNear(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Bool {
      ((a - b) * (a - b)).sum() <= tolerance * tolerance * (b * b).sum()
    }
    return isNear(column, other.column) && isNear(row, other.row)
  }

  /// Interpolated linearly; nil where one end is unknown.
  static func between(_ a: CellMetric?, _ b: CellMetric?, _ part: Double) -> CellMetric? {
    guard let a, let b else { return nil }
    return CellMetric(column: a.column + (b.column - a.column) * part, row: a.row + (b.row - a.row) * part)
  }
}
