// What the camera of a scene sees of the ground: for each sample of a picture how far away it is, where, and how it is lit.

import GeoModel
import Geometry
import Platform
import Sorting

/// The ground of a scene on the screen of its camera.
///
/// ```swift
/// let ground = try SceneGround(perspective, surface, ratio: 1, transformer, isCancelled: { false }) { _ in }
/// let place = try ground.point(at: SIMD2(-84.25, 36.6))  // nil where a mountain or the earth hides it
/// ```
///
/// The ground is the ellipsoid, or where the surface has heights a mesh of them. Depths of all samples are kept, with which everything
/// else is compared: 21 bytes for each of at most 4,194,304 samples, and while they are drawn some 70 MB for the mesh.
package struct SceneGround: Sendable {
  static let sampleLimit = 4_194_304.0
  /// Samples along the side of a tile.
  static let tile = 16
  /// What is farther away than the ground by a part of the distance is hidden.
  private static let slack = 1.003
  /// The lowest ground, in metres.
  private static let lowest = -500.0
  /// The greatest height above the ellipsoid at which something is drawn, in metres: squares of greater ones are no numbers.
  static let ceiling = 1e12
  /// What is nearer than this to the eye's plane is not drawn, in metres.
  static let near = 0.1

  let perspective: Perspective
  let surface: BaseSurface
  private let transformer: any CoordinateTransformer
  private let isCancelled: @Sendable () -> Bool
  /// In samples.
  let width: Int
  let height: Int
  /// Samples to a device-independent pixel.
  let scale: Double
  /// Whether heights of the ground are seen; not from far away.
  let hasRelief: Bool
  /// About how high ground near the camera is, in metres.
  let level: Double
  /// Metres on the ground in which it hardly changes.
  let finest: Double
  /// Metres in the direction of view; infinite in the sky.
  let depths: [Float]
  /// From 1 in shadow to 255; 0 where the surface has no height.
  let light: [UInt8]
  /// Longitudes and latitudes; NaN in the sky. Longitudes are within a half turn of the camera's.
  let places: [SIMD2<Double>]
  /// The boxes of the tiles, row by row; nil where only sky is seen.
  let tiles: [Envelope?]
  /// Of all that is seen of the ground.
  let box: Envelope?
  /// Of all ground, within a half turn of the camera.
  var earth: Envelope {
    let x = Geocentric.point(at: perspective.eye).x
    return Envelope(xMin: x - 180, yMin: -90, xMax: x + 180, yMax: 90)
  }

  var screen: Screen { perspective.screen }
  var tilesAcross: Int { (width + Self.tile - 1) / Self.tile }

  /// - Parameters:
  ///   - ratio: pixels to a device-independent pixel; a pixel has up to four samples.
  ///   - check: called every few milliseconds with the fraction done; throws to cancel.
  /// - Complexity: O(samples), plus the reading of at most 2^19 heights.
  package init(
    _ perspective: Perspective, _ surface: BaseSurface, ratio: Double, _ transformer: any CoordinateTransformer,
    isCancelled: @escaping @Sendable () -> Bool, checking check: CancellationCheck
  ) throws {
    (self.perspective, self.surface, self.transformer, self.isCancelled) = (perspective, surface, transformer, isCancelled)
    let screen = perspective.screen
    scale = min(2 * ratio, (Self.sampleLimit / (screen.width * screen.height)).squareRoot())
    (width, height) = (max(Int(screen.width * scale), 1), max(Int(screen.height * scale), 1))
    let eye = Geocentric.point(at: perspective.eye)
    let highest = GroundMesh.highest * surface.elevationExaggeration
    hasRelief = surface.hasHeights && highest * perspective.focus > 0.5 * (eye.z ?? 0)
    var depths = [Float](repeating: .infinity, count: width * height)
    var light = [UInt8](repeating: 0, count: width * height)
    finest = hasRelief ? 0.5 * surface.finest(transformer) : 0
    var level = 0.0
    if hasRelief {
      let mesh = try GroundMesh(perspective, surface, ratio: ratio, transformer, isCancelled: isCancelled) { try check(0.6 * $0) }
      try mesh.draw(width: width, height: height, scale: scale, &depths, &light) { try check(0.6 + 0.1 * $0) }
      level = mesh.below
    }
    self.level = level
    var places = [SIMD2<Double>](repeating: SIMD2(.nan, .nan), count: width * height)
    for row in 0..<height {
      try check(0.7 + 0.3 * Double(row) / Double(height))
      for column in 0..<width {
        let way = perspective.way(x: (Double(column) + 0.5) / scale, y: (Double(row) + 0.5) / scale)
        let index = row * width + column
        if depths[index] == .infinity {
          guard let near = Geocentric.crossing(from: perspective.eye, along: way, raisedBy: 0)?.near, near > 0 else { continue }
          depths[index] = Float(near)
        }
        let point = Geocentric.point(at: perspective.eye + way * Double(depths[index]))
        places[index] = SIMD2(point.x + ((eye.x - point.x) / 360).rounded() * 360, point.y)
      }
    }
    (self.depths, self.light, self.places) = (depths, light, places)
    tiles = Self.tiles(places, width, height)
    var box = Envelope.none
    for tile in tiles { if let tile { box.include(tile) } }
    guard box.xMin <= box.xMax else {
      self.box = nil
      return
    }
    // Between the last sample of the ground and the first of the sky it goes on to the horizon.
    let (east, north, up) = Geocentric.axes(longitude: eye.x, latitude: eye.y)
    let horizon = GroundMesh.horizon(max(eye.z ?? 0, 1)) + (hasRelief ? GroundMesh.horizon(highest) : 0)
    for index in depths.indices where depths[index] < .infinity {
      let (column, row) = (index % width, index / width)
      let isLast =
        column > 0 && depths[index - 1] == .infinity || column < width - 1 && depths[index + 1] == .infinity
        || row > 0 && depths[index - width] == .infinity || row < height - 1 && depths[index + width] == .infinity
      guard isLast else { continue }
      let way = perspective.way(x: (Double(column) + 0.5) / scale, y: (Double(row) + 0.5) / scale)
      let azimuth = atan2((way * east).sum(), (way * north).sum())
      let normal = up * cos(horizon) + (north * cos(azimuth) + east * sin(azimuth)) * sin(horizon)
      let x = atan2(normal.y, normal.x) * 180 / .pi
      let place = SIMD2(x + ((eye.x - x) / 360).rounded() * 360, asin(max(-1, min(1, normal.z))) * 180 / .pi)
      box.include(Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y))
    }
    var seesPole = false
    for latitude in [-90.0, 90] {
      let pole = perspective.place(of: Geocentric.position(of: Point(x: 0, y: latitude)))
      guard pole.z > 0, Self.isSeen(pole, depths, width, height, scale, perspective) else { continue }
      seesPole = true
      (box.yMin, box.yMax) = (min(box.yMin, latitude), max(box.yMax, latitude))
    }
    if seesPole || box.width > 300 { (box.xMin, box.xMax) = (eye.x - 180, eye.x + 180) }
    self.box = box.widened(by: 0.02 * max(box.width, box.height))
  }

  private static func tiles(_ places: [SIMD2<Double>], _ width: Int, _ height: Int) -> [Envelope?] {
    stride(from: 0, to: height, by: tile).flatMap { top in
      stride(from: 0, to: width, by: tile).map { left in
        var box = Envelope.none
        for row in top..<min(top + tile, height) {
          for index in row * width + left..<row * width + min(left + tile, width) where places[index].x == places[index].x {
            let place = places[index]
            box.include(Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y))
          }
        }
        return box.xMin <= box.xMax ? box : nil
      }
    }
  }

  // MARK: What is hidden

  /// Whether no ground is before something that is in front of the camera; outside of the picture nothing is.
  func isSeen(_ place: SIMD3<Double>) -> Bool { Self.isSeen(place, depths, width, height, scale, perspective) }

  private static func isSeen(
    _ place: SIMD3<Double>, _ depths: [Float], _ width: Int, _ height: Int, _ scale: Double, _ perspective: Perspective
  ) -> Bool {
    let middle = SIMD2(perspective.screen.width, perspective.screen.height) / 2
    let point = middle + SIMD2(place.x, place.y) / place.z
    guard point.x >= 0, point.y >= 0, point.x * scale < Double(width), point.y * scale < Double(height) else { return false }
    let (column, row) = (Int(point.x * scale), Int(point.y * scale))
    let own = depths[row * width + column]
    if own < .infinity, place.z <= Double(own) * slack { return true }
    // The samples around it, too, as the mesh is not exactly where the ground is; but nothing is seen through the earth.
    let isNear = (max(row - 1, 0)...min(row + 1, height - 1)).contains { y in
      (max(column - 1, 0)...min(column + 1, width - 1)).contains { place.z <= Double(depths[y * width + $0]) * slack }
    }
    guard isNear else { return false }
    let way = perspective.way(x: point.x, y: point.y)
    guard let earth = Geocentric.crossing(from: perspective.eye, along: way, raisedBy: lowest)?.near, earth > 0 else { return true }
    return place.z <= earth * slack
  }

  // MARK: Places

  func onScreen(_ place: SIMD3<Double>) -> SIMD2<Double> {
    SIMD2(screen.width / 2 + place.x / place.z, screen.height / 2 + place.y / place.z)
  }

  /// Positions as the camera has them: longitude, latitude, and metres above the ellipsoid or NaN for the ground. None is below the ground.
  func raised(_ positions: [SIMD3<Double>]) throws -> [SIMD3<Double>] {
    var heights: [Double] = []
    if hasRelief {
      let points = positions.map { Point(x: $0.x, y: $0.y) }
      guard let found = try surface.heights(at: points, transformer, onlyKept: false, isCancelled: isCancelled) else { return [] }
      heights = found.heights.map { $0 * found.factor }
    }
    return positions.enumerated().map { index, position in
      let ground = hasRelief ? heights[index] : 0
      let height = max(-Self.ceiling, min(position.z.isFinite ? max(position.z, ground) : ground, Self.ceiling))
      return perspective.place(of: Geocentric.position(of: Point(x: position.x, y: position.y, z: height)))
    }
  }

  /// Where a position is drawn; nil if it is hidden or not in the picture.
  func point(at place: SIMD2<Double>, z: Double = .nan, margin: Double = 0) throws -> SIMD2<Float>? {
    try points(at: [SIMD3(place.x, place.y, z)], margin: margin)[0]
  }

  /// Where positions are drawn, as ``raised(_:)`` has them; nil for those that are hidden or not in the picture.
  ///
  /// - Parameter margin: how far outside of the picture they may be, in pixels; what is there is hidden as the picture's edge is.
  func points(at places: [SIMD3<Double>], margin: Double) throws -> [SIMD2<Float>?] {
    let edge = margin.isFinite ? min(max(margin, 0), 4096) : 0
    var result = [SIMD2<Float>?](repeating: nil, count: places.count)
    // Heights are read where something may be seen.
    let relief = hasRelief ? GroundMesh.highest * max(surface.elevationExaggeration, 1) : 0
    let near = places.indices.filter { index in
      let place = places[index]
      guard place.x.isFinite, place.y.isFinite else { return false }
      let height = place.z.isFinite ? max(-Self.ceiling, min(place.z, Self.ceiling)) : 0
      let own = perspective.place(of: Geocentric.position(of: Point(x: place.x, y: place.y, z: hasRelief ? height : max(height, 0))))
      return maySee(own, radius: relief + 1 + abs(own.z) * 2 * edge / perspective.focus)
    }
    for (index, drawn) in zip(near, try raised(near.map { places[$0] })) where drawn.z > Self.near {
      let point = onScreen(drawn)
      let inside = pointwiseMax(.zero, pointwiseMin(point, SIMD2(screen.width - 1e-6, screen.height - 1e-6)))
      guard abs(point.x - inside.x) <= edge, abs(point.y - inside.y) <= edge else { continue }
      let (x, y) = (inside.x - screen.width / 2, inside.y - screen.height / 2)
      if isSeen(SIMD3(x * drawn.z, y * drawn.z, drawn.z)) { result[index] = SIMD2(Float(point.x), Float(point.y)) }
    }
    return result
  }

  /// Whether a ball may be in front of the camera and between the sides of its picture.
  func maySee(_ place: SIMD3<Double>, radius: Double) -> Bool {
    guard place.z > -radius else { return false }
    let (x, y) = (abs(place.x) / perspective.focus, abs(place.y) / perspective.focus)
    let (right, down) = (screen.width / 2 / perspective.focus, screen.height / 2 / perspective.focus)
    return x - right * place.z <= radius * (1 + right * right).squareRoot() && y - down * place.z <= radius * (1 + down * down).squareRoot()
  }
}
