// Geometries as the camera of a scene sees them: draped on its ground, without what is hidden.

import GeoModel
import Geometry
import Platform
import Terrain

extension SceneGround {
  /// Pixels that are left around a picture, so that cut edges are not seen.
  private static let margin = 64.0
  /// Pixels between the places at which a line is laid on uneven ground.
  private static let step = 4.0
  /// Edges of a line that are brought to the picture at once.
  private static let part = 4096
  /// How often an edge is halved at most.
  private static let halvings = 12

  /// What is seen of a geometry in longitudes and latitudes.
  ///
  /// - Parameters:
  ///   - original: the same geometry with its heights, which areas do not have.
  ///   - ratio: pixels to a device-independent pixel.
  ///   - margin: how far outside of the picture points may be, in pixels.
  ///   - check: called every few thousand positions; throws to cancel.
  func shape(
    of geometry: Geometry, heightsOf original: Geometry, ratio: Double, margin: Double = 0, checking check: () throws -> Void
  ) throws -> ScreenShape {
    var shape = ScreenShape()
    try collect(geometry, original, ratio, margin, into: &shape, check)
    return shape
  }

  private func collect(
    _ geometry: Geometry, _ original: Geometry, _ ratio: Double, _ margin: Double, into shape: inout ScreenShape, _ check: () throws -> Void
  ) throws {
    switch (geometry, original) {
    case (.point(let place?), .point(let point?)):
      if let point = try self.point(at: SIMD2(place.x, place.y), z: point.z ?? .nan, margin: margin) { shape.points.append(point) }
    case (.multiPoint(let places), .multiPoint(let points)):
      shape.points += try self.points(at: Self.run(places, points), margin: margin).compactMap { $0 }
    case (.lineString(let line), .lineString(let own)): shape.lines += try lines(Self.run(line, own), ratio, check)
    case (.multiLineString(let lines), .multiLineString(let own)):
      for (line, own) in zip(lines, own) { shape.lines += try self.lines(Self.run(line, own), ratio, check) }
    case (.polygon(let rings), _): try collect(rings, ratio, into: &shape, check)
    case (.multiPolygon(let polygons), _): for rings in polygons { try collect(rings, ratio, into: &shape, check) }
    case (.collection(let parts), .collection(let own)):
      for (part, own) in zip(parts, own) { try collect(part, own, ratio, margin, into: &shape, check) }
    default: return
    }
  }

  /// Positions with the heights of others; NaN where these have none.
  private static func run(_ places: Positions, _ own: Positions) -> [SIMD3<Double>] {
    let hasZ = own.hasZ && own.count == places.count
    return (0..<places.count).map { index in
      let at = index * places.stride
      return SIMD3(places.values[at], places.values[at + 1], hasZ ? own.values[index * own.stride + 2] : .nan)
    }
  }

  // MARK: Lines

  /// The vertices of a line, and as many between them as it needs to follow the ground.
  private func dense(_ run: [SIMD3<Double>], _ check: () throws -> Void) throws -> [SIMD3<Double>] {
    guard var last = run.first else { return [] }
    func geocentric(_ position: SIMD3<Double>) -> SIMD3<Double> {
      Geocentric.position(of: Point(x: position.x, y: position.y, z: position.z.isFinite ? max(-Self.ceiling, min(position.z, Self.ceiling)) : level))
    }
    let relief = hasRelief ? GroundMesh.highest * max(surface.elevationExaggeration, 1) : 0
    var result = [last]
    func add(_ from: SIMD3<Double>, _ to: SIMD3<Double>, _ start: SIMD3<Double>, _ end: SIMD3<Double>, _ halvings: Int) {
      let middle = (from + to) / 2
      let between = geocentric(middle)
      let edge = end - start
      let length = (edge * edge).sum().squareRoot()
      let way = perspective.eye - start
      let nearest = way - edge * max(0, min(1, length > 0 ? (way * edge).sum() / (length * length) : 0))
      let distance = max((nearest * nearest).sum().squareRoot(), 10)
      let longest = hasRelief ? max(Self.step * distance / perspective.focus, finest) : (2e6 * distance / perspective.focus).squareRoot()
      let isShort = length <= longest && abs(to.x - from.x) <= 2 && abs(to.y - from.y) <= 2
      guard !isShort, halvings > 0, maySee(perspective.place(of: between), radius: length + relief) else { return result.append(to) }
      add(from, middle, start, between, halvings - 1)
      add(middle, to, between, end, halvings - 1)
    }
    var (start, checked) = (geocentric(last), 0)
    for next in run.dropFirst() {
      if result.count > checked + 1024 {
        try check()
        checked = result.count
      }
      let end = geocentric(next)
      add(last, next, start, end, Self.halvings)
      (last, start) = (next, end)
    }
    return result
  }

  private func lines(_ run: [SIMD3<Double>], _ ratio: Double, _ check: () throws -> Void) throws -> [[SIMD2<Float>]] {
    guard run.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return [] }
    var lines: [[SIMD2<Float>]] = []
    // In parts, as a line that goes to and fro needs very many positions.
    for start in stride(from: 0, to: run.count - 1, by: Self.part) {
      let part = try dense(Array(run[start..<min(start + Self.part + 1, run.count)]), check)
      let found = try seen(try raised(part), ratio, check)
      if let end = lines.last?.last, let next = found.first?.first, (next - end).norm < 1e-3 {
        lines[lines.count - 1] += found[0].dropFirst()
        lines += found.dropFirst()
      } else {
        lines += found
      }
    }
    return lines
  }

  /// The parts of a line, given as the camera has it, that are in the picture and not hidden.
  private func seen(_ line: [SIMD3<Double>], _ ratio: Double, _ check: () throws -> Void) throws -> [[SIMD2<Float>]] {
    var runs: [[SIMD2<Float>]] = []
    var run: [SIMD2<Float>] = []
    var last: SIMD2<Double>?
    let tolerance = Float(0.25 / max(ratio, 0.25))
    func end() {
      if let last { add(last, isEnd: true) }
      if run.count > 1 { runs.append(run) }
      (run, last) = ([], nil)
    }
    func add(_ place: SIMD2<Double>, isEnd: Bool) {
      let place = SIMD2(Float(place.x), Float(place.y))
      if let before = run.last, (place - before).norm < (isEnd ? 1e-3 : tolerance) { return }
      run.append(place)
    }
    let (low, high) = (SIMD2(-1.0, -1.0), SIMD2(screen.width + 1, screen.height + 1))
    for index in line.indices.dropFirst() {
      if index & 255 == 255 { try check() }
      var (one, other) = (line[index - 1], line[index])
      guard max(one.z, other.z) > Self.near else {
        end()
        continue
      }
      if one.z < Self.near { one += (other - one) * ((Self.near - one.z) / (other.z - one.z)) }
      if other.z < Self.near { other = one + (other - one) * ((one.z - Self.near) / (one.z - other.z)) }
      let (start, edge) = (onScreen(one), onScreen(other) - onScreen(one))
      // The part within the picture.
      var (enters, leaves) = (0.0, 1.0)
      for axis in 0..<2 {
        guard edge[axis] != 0 else {
          if start[axis] < low[axis] || start[axis] > high[axis] { leaves = -1 }
          continue
        }
        let (a, b) = ((low[axis] - start[axis]) / edge[axis], (high[axis] - start[axis]) / edge[axis])
        (enters, leaves) = (max(enters, min(a, b)), min(leaves, max(a, b)))
      }
      guard enters <= leaves else {
        end()
        continue
      }
      if enters > 0 { end() }
      let length = (edge * edge).sum().squareRoot() * (leaves - enters)
      let steps = max(Int(length * scale / 1.5), 1)
      for step in 0...steps {
        let part = enters + (leaves - enters) * Double(step) / Double(steps)
        let (place, depth) = (start + edge * part, 1 / ((1 - part) / one.z + part / other.z))
        let inside = pointwiseMax(.zero, pointwiseMin(place, SIMD2(screen.width - 1e-6, screen.height - 1e-6)))
        guard isSeen(SIMD3((inside.x - screen.width / 2) * depth, (inside.y - screen.height / 2) * depth, depth)) else {
          end()
          continue
        }
        if run.isEmpty || step == steps { add(place, isEnd: false) }
        last = place
      }
      if leaves < 1 { end() }
    }
    end()
    return runs
  }

  // MARK: Areas

  private func collect(_ rings: [Positions], _ ratio: Double, into shape: inout ScreenShape, _ check: () throws -> Void) throws {
    let rings = try rings.map { try dense(Self.run($0, Positions()), check) }
    guard rings.allSatisfy({ $0.allSatisfy { $0.x.isFinite && $0.y.isFinite } }) else { return }
    let drawn = try rings.map { try raised($0) }
    // All in front of the horizon: a shape as on a map. What it holds of the earth's other side is not drawn.
    if !hasRelief, drawn.allSatisfy({ $0.allSatisfy { $0.z > Self.near } }), rings.allSatisfy({ $0.allSatisfy(isThisSide) }) {
      let shapes = ScreenShapes(width: screen.width, height: screen.height, margin: Self.margin, ratio: ratio)
      let area = shapes.rings(drawn.map { $0.map(onScreen) })
      if !area.isEmpty { shape.areas.append(area) }
      if shape.edges != nil { shape.edges? += area.map { $0 + [$0[0]] } }
      return
    }
    var edges: [[SIMD2<Float>]] = shape.edges ?? shape.areas.flatMap { $0.map { $0 + [$0[0]] } }
    for ring in drawn { edges += try seen(ring, ratio, check) }
    shape.edges = edges
    shape.areas += try covered(rings, check)
  }

  /// Whether a place of the ellipsoid is before the horizon: the tangent plane there has the eye above it.
  private func isThisSide(_ place: SIMD3<Double>) -> Bool {
    let axes = SIMD3(Geocentric.equator, Geocentric.equator, Geocentric.polar)
    return (Geocentric.position(of: Point(x: place.x, y: place.y)) / axes * (perspective.eye / axes)).sum() >= 1
  }

  /// The outlines of the samples whose ground is in an area, by the even-odd rule.
  private func covered(_ rings: [[SIMD3<Double>]], _ check: () throws -> Void) throws -> [[[SIMD2<Float>]]] {
    var (low, high) = (SIMD2(Double.infinity, .infinity), SIMD2(-Double.infinity, -Double.infinity))
    for place in rings.joined() {
      low = pointwiseMin(low, SIMD2(place.x, place.y))
      high = pointwiseMax(high, SIMD2(place.x, place.y))
    }
    guard low.x <= high.x else { return [] }
    let (size, across) = (Self.tile, tilesAcross)
    var (left, top, right, bottom) = (Int.max, Int.max, -1, -1)
    var found: [(tile: Int, turn: Double)] = []
    for (tile, box) in tiles.enumerated() {
      guard let box, box.yMax >= low.y, box.yMin <= high.y else { continue }
      for turn in [-360.0, 0, 360] where box.xMax + turn >= low.x && box.xMin + turn <= high.x {
        found.append((tile, turn))
        (left, right) = (min(left, tile % across), max(right, tile % across))
        (top, bottom) = (min(top, tile / across), max(bottom, tile / across))
      }
    }
    guard !found.isEmpty else { return [] }
    let edges = LatitudeBands(rings, low.y, high.y)
    let (x, y) = (left * size, top * size)
    let (width, height) = (min((right + 1) * size, self.width) - x, min((bottom + 1) * size, self.height) - y)
    var cells = [UInt8](repeating: 0, count: width * height)
    for (number, each) in found.enumerated() {
      if number & 15 == 0 { try check() }
      let (column, row) = (each.tile % across * size, each.tile / across * size)
      for sampleRow in row..<min(row + size, self.height) {
        for sample in column..<min(column + size, self.width) {
          let place = places[sampleRow * self.width + sample]
          if edges.holds(SIMD2(place.x + each.turn, place.y)) { cells[(sampleRow - y) * width + sample - x] = 1 }
        }
      }
    }
    let outline = try Outline(cells, width: width, of: 1, longest: 1) { _ in try check() }
    let corner = SIMD2(Float(x), Float(y))
    return outline.polygons.map { rings in
      rings.map { ring in
        // Through the middles of the sides, so that slanting edges have no stairs.
        var places: [SIMD2<Float>] = []
        for (one, two) in zip(ring, ring.dropFirst()) {
          let place = (corner + SIMD2(Float(one.x + two.x), Float(one.y + two.y)) / 2) / Float(scale)
          if places.count > 1 {
            let (before, after) = (places[places.count - 1] - places[places.count - 2], place - places[places.count - 1])
            if before.x * after.y == before.y * after.x { places.removeLast() }
          }
          places.append(place)
        }
        return places
      }
    }
  }
}

/// The edges of an area, by the latitudes at which they are.
private struct LatitudeBands {
  private typealias Edge = (from: SIMD2<Double>, to: SIMD2<Double>)
  private let south: Double
  private let step: Double
  private var bands: [[Edge]]

  init(_ rings: [[SIMD3<Double>]], _ south: Double, _ north: Double) {
    let count = max(1, min(rings.reduce(0) { $0 + $1.count } / 4, 4096))
    (self.south, step) = (south, max((north - south) / Double(count), 1e-12))
    bands = Array(repeating: [], count: count)
    for ring in rings {
      guard var from = ring.last.map({ SIMD2($0.x, $0.y) }) else { continue }
      for place in ring {
        let to = SIMD2(place.x, place.y)
        if from.y != to.y {
          for band in band(min(from.y, to.y))...band(max(from.y, to.y)) { bands[band].append((from, to)) }
        }
        from = to
      }
    }
  }

  private func band(_ latitude: Double) -> Int { max(0, min(Int((latitude - south) / step), bands.count - 1)) }

  /// False for places that are not.
  func holds(_ place: SIMD2<Double>) -> Bool {
    guard place.y >= south, place.y <= south + step * Double(bands.count) else { return false }
    var isInside = false
    for (from, to) in bands[band(place.y)] where (from.y > place.y) != (to.y > place.y) {
      if place.x < from.x + (to.x - from.x) * ((place.y - from.y) / (to.y - from.y)) { isInside.toggle() }
    }
    return isInside
  }
}
