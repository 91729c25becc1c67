// Heights of a scene's ground around its camera, as a mesh that is finer where it is nearer.

import GeoModel
import Geometry
import Platform
import Sorting
import Terrain

/// The ground in circles around the place below the camera, as far as its sources go. Cells are up to three pixels wide, and half as long where
/// it is seen from above, else as long; or so much larger that there are at most 2^19.
struct GroundMesh {
  /// The highest ground, in metres.
  static let highest = 9000.0
  private static let limit = 1 << 19
  private static let radius = 6_371_000.0
  /// How long cells are seen from above, and at most, in their widths.
  private static let (shortest, longest) = (0.5, 1.0)

  /// The height of the ground below the camera, exaggerated.
  let below: Double
  private let screen: Screen
  private let columns: Int
  private let rows: Int
  /// As the camera has them.
  private var vertices: [SIMD3<Double>] = []
  private var light: [UInt8] = []

  /// How far away the horizon of a height is, in radians.
  static func horizon(_ height: Double) -> Double { acos(radius / (radius + height)) }

  init(
    _ perspective: Perspective, _ surface: BaseSurface, ratio: Double, _ transformer: any CoordinateTransformer,
    isCancelled: @escaping @Sendable () -> Bool, checking check: CancellationCheck
  ) throws {
    screen = perspective.screen
    let eye = Geocentric.point(at: perspective.eye)
    let (east, north, up) = Geocentric.axes(longitude: eye.x, latitude: eye.y)
    let factor = surface.elevationExaggeration
    below = factor * (try surface.heights(at: [eye], transformer, onlyKept: false, isCancelled: isCancelled)?.heights.first ?? 0)
    let (altitude, clearance) = (max(eye.z ?? 0, 1), max(abs((eye.z ?? 0) - below), 2))
    let farthest = min(
      Self.radius * (Self.horizon(altitude) + Self.horizon(Self.highest * max(factor, 1))), surface.farthest(from: eye, transformer) * 1.01 + 1000)
    let azimuths = Self.azimuths(perspective, east, north, up)
    // Around the place below the camera what is seen of a circle is never wider than the picture.
    let nadir = perspective.place(of: perspective.eye - up)
    let corner = SIMD2(screen.width, screen.height) / 2
    let offset = nadir.z > 0 ? SIMD2(nadir.x, nadir.y) / nadir.z : SIMD2(.infinity, .infinity)
    let reach = pointwiseMax(corner + offset, corner - offset)
    let across = min(perspective.focus, (reach * reach).sum().squareRoot())
    // Distances on the ground of the circles.
    var (cell, turns, distances) = (max(3 / ratio, 1), 0, [Double]())
    repeat {
      let angle = cell / perspective.focus
      turns = max(Int(((azimuths.upperBound - azimuths.lowerBound) * across / cell).rounded(.up)), 3)
      var next = 0.01 * angle * clearance
      distances = []
      while next < farthest, distances.count <= Self.limit {
        distances.append(next)
        let way = (next * next + clearance * clearance).squareRoot()
        next += angle * way * min(Self.shortest * way / clearance, Self.longest)
      }
      distances.append(farthest)
      cell *= 1.2
    } while (turns + 1) * distances.count > Self.limit
    let (columns, rows) = (turns + 1, distances.count)
    (self.columns, self.rows) = (columns, rows)
    let isRound = azimuths.upperBound - azimuths.lowerBound > 2 * .pi - 1e-9
    let turn = (azimuths.upperBound - azimuths.lowerBound) / Double(turns)

    let directions = (0..<columns).map { column -> (out: SIMD3<Double>, side: SIMD3<Double>) in
      let azimuth = azimuths.lowerBound + turn * Double(column)
      return (north * cos(azimuth) + east * sin(azimuth), east * cos(azimuth) - north * sin(azimuth))
    }
    var points: [Point] = []
    points.reserveCapacity(columns * rows)
    for distance in distances {
      let angle = distance / Self.radius
      for direction in directions {
        let normal = up * cos(angle) + direction.out * sin(angle)
        points.append(Point(x: atan2(normal.y, normal.x) * 180 / .pi, y: asin(max(-1, min(1, normal.z))) * 180 / .pi))
      }
    }
    let heights = try surface.drawnHeights(at: points, transformer, isCancelled: isCancelled) { try check(0.8 * $0) }
    vertices.reserveCapacity(points.count)
    light = [UInt8](repeating: 0, count: points.count)
    for row in 0..<rows {
      try check(0.8 + 0.2 * Double(row) / Double(rows))
      for column in 0..<columns {
        let index = row * columns + column
        let (place, height) = (points[index], heights[index])
        vertices.append(perspective.place(of: Geocentric.position(of: Point(x: place.x, y: place.y, z: height.isNaN ? 0 : height))))
        guard !height.isNaN else { continue }
        // Around the place below the camera cells are too small for a slope.
        let (middle, before, after) = (max(row, 1), max(row - 1, 0), min(max(row, 1) + 1, rows - 1))
        let left = column > 0 ? column - 1 : isRound ? columns - 2 : 0
        let right = column < columns - 1 ? column + 1 : isRound ? 1 : column
        func near(_ row: Int, _ column: Int) -> Double {
          let near = heights[row * columns + column]
          return near.isNaN ? height : near
        }
        let angle = distances[middle] / Self.radius
        let axes = Geocentric.axes(longitude: place.x, latitude: place.y)
        let aside = directions[column].side * (sin(angle) * turn * Self.radius)
        let away = (directions[column].out * cos(angle) - up * sin(angle)) * ((distances[after] - distances[before]) / 2)
        let metric = CellMetric(
          column: SIMD2((aside * axes.east).sum(), (aside * axes.north).sum()),
          row: SIMD2((away * axes.east).sum(), (away * axes.north).sum()))
        let gradient = Gradient(
          (0, near(before, column), 0, near(middle, left), height, near(middle, right), 0, near(after, column), 0), metric,
          .zevenbergenThorne)
        light[index] = gradient.shade
      }
    }
  }

  /// The directions in which ground may be seen, in radians clockwise from north.
  private static func azimuths(
    _ perspective: Perspective, _ east: SIMD3<Double>, _ north: SIMD3<Double>, _ up: SIMD3<Double>
  ) -> ClosedRange<Double> {
    let screen = perspective.screen
    let sees = [-1.0, 1].contains { side in
      let place = perspective.place(of: perspective.eye + up * side)
      return place.z > 0 && abs(place.x / place.z) <= screen.width / 2 + 8 && abs(place.y / place.z) <= screen.height / 2 + 8
    }
    func azimuth(_ x: Double, _ y: Double) -> Double {
      let way = perspective.way(x: x * screen.width, y: y * screen.height)
      return atan2((way * east).sum(), (way * north).sum())
    }
    let middle = azimuth(0.5, 0.5)
    let turns = (0...32).flatMap { step -> [Double] in
      let part = Double(step) / 32
      return [azimuth(part, 0), azimuth(part, 1), azimuth(0, part), azimuth(1, part)].map {
        ($0 - middle).remainder(dividingBy: 2 * .pi)
      }
    }
    guard !sees, let low = turns.min(), let high = turns.max(), high - low < 1.7 * .pi else { return middle - .pi...middle + .pi }
    return middle + low - 0.01...middle + high + 0.01
  }

  // MARK: Drawing

  /// Draws the nearest ground of each sample.
  func draw(
    width: Int, height: Int, scale: Double, _ depths: inout [Float], _ shades: inout [UInt8], checking check: CancellationCheck
  ) throws {
    let middle = SIMD2(screen.width, screen.height) / 2
    let end = SIMD2(Double(width), Double(height))
    // The place in samples, and one divided by the depth; NaN behind the camera.
    let places = vertices.map { vertex -> SIMD3<Double> in
      guard vertex.z > SceneGround.near else { return SIMD3(.nan, .nan, .nan) }
      let place = (middle + SIMD2(vertex.x, vertex.y) / vertex.z) * scale
      return SIMD3(place.x, place.y, 1 / vertex.z)
    }
    try depths.withUnsafeMutableBufferPointer { depths in
      try shades.withUnsafeMutableBufferPointer { shades in
        func fill(_ one: Int, _ two: Int, _ three: Int) {
          let (a, b, c) = (places[one], places[two], places[three])
          let (low, high) = (pointwiseMin(a, pointwiseMin(b, c)), pointwiseMax(a, pointwiseMax(b, c)))
          // False for NaN.
          guard low.x < end.x, low.y < end.y, high.x > 0, high.y > 0, a.z + b.z + c.z > 0 else { return }
          let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
          guard area != 0 else { return }
          let share = 1 / area
          let isLit = light[one] > 0 && light[two] > 0 && light[three] > 0
          let brightness = SIMD3(Double(light[one]), Double(light[two]), Double(light[three]))
          let inverse = SIMD3(a.z, b.z, c.z)
          let (left, right) = (max(Int(low.x - 0.5), 0), min(Int(high.x), width - 1))
          let (top, bottom) = (max(Int(low.y - 0.5), 0), min(Int(high.y), height - 1))
          guard left <= right, top <= bottom else { return }
          for row in top...bottom {
            let y = Double(row) + 0.5
            for column in left...right {
              let x = Double(column) + 0.5
              let v = ((x - a.x) * (c.y - a.y) - (y - a.y) * (c.x - a.x)) * share
              let w = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) * share
              let parts = SIMD3(1 - v - w, v, w)
              guard parts.min() >= -1e-9 else { continue }
              let depth = Float(1 / (parts * inverse).sum())
              let index = row * width + column
              guard depth < depths[index] else { continue }
              depths[index] = depth
              shades[index] = isLit ? UInt8(max(1, min(255, (parts * brightness).sum()))) : 0
            }
          }
        }
        for row in 0..<rows - 1 {
          try check(Double(row) / Double(rows))
          for column in 0..<columns - 1 {
            let index = row * columns + column
            fill(index, index + 1, index + columns)
            fill(index + 1, index + columns + 1, index + columns)
          }
        }
      }
    }
  }
}

extension Gradient {
  /// How ground is lit from the northwest, as hillshades are: from 1 in shadow to 255.
  var shade: UInt8 { UInt8(max(1, min(255, 1 + 254 * light(azimuth: 315, altitude: 45)))) }
}

extension BaseSurface {
  /// Heights that are read at once.
  private static var batch: Int { 1 << 14 }

  /// Exaggerated heights in WGS 84; NaN where there is none.
  func drawnHeights(
    at points: [Point], _ transformer: any CoordinateTransformer, isCancelled: @escaping @Sendable () -> Bool,
    checking check: CancellationCheck
  ) throws -> [Double] {
    var heights: [Double] = []
    heights.reserveCapacity(points.count)
    for start in stride(from: 0, to: points.count, by: Self.batch) {
      try check(Double(start) / Double(points.count))
      let some = Array(points[start..<min(start + Self.batch, points.count)])
      let found = try samples(
        at: some, reference: .wgs84, interpolation: .bilinear, stopsAtNoData: false, transformer: transformer, isCancelled: isCancelled)
      heights += found?.heights.map { $0 * elevationExaggeration } ?? some.map { _ in .nan }
    }
    return heights
  }

  /// The side of the smallest cells, in metres.
  func finest(_ transformer: any CoordinateTransformer) -> Double {
    elevationSources.compactMap(\.loaded).reduce(.infinity) { smallest, source in
      let info = try? transformer.describe(source.reference)
      return min(smallest, source.resolution * (info?.kind == .geographic ? metersPerDegree : info?.metersPerUnit ?? 1))
    }
  }

  /// How far away the sources have heights at most, in metres along the ground.
  fileprivate func farthest(from place: Point, _ transformer: any CoordinateTransformer) -> Double {
    let up = Geocentric.axes(longitude: place.x, latitude: place.y).up
    var smallest = 1.0
    for source in elevationSources.compactMap(\.loaded) {
      let box = source.extent
      let edge = (0...16).flatMap { step -> [Point] in
        let (x, y) = (box.xMin + box.width * Double(step) / 16, box.yMin + box.height * Double(step) / 16)
        return [Point(x: x, y: box.yMin), Point(x: x, y: box.yMax), Point(x: box.xMin, y: y), Point(x: box.xMax, y: y)]
      }
      for point in edge {
        guard let point = try? transformer.transform(point, from: source.reference, to: .wgs84) else { return .infinity }
        smallest = min(smallest, (Geocentric.axes(longitude: point.x, latitude: point.y).up * up).sum())
      }
    }
    // What holds more than half of the earth is farthest elsewhere.
    return smallest > 0 ? acos(smallest) * 6_378_137 : .infinity
  }
}
