// The edges of one geometry in a tree of boxes, in the plane or in space, so that few pairs of edges are compared.

import Geometry
import Platform
import SpatialIndex
import SpatialRelations

/// An axis-aligned box in space; in the plane z is 0.
struct SpaceBox: BitwiseCopyable {
  var lower: SIMD3<Double>
  var upper: SIMD3<Double>

  /// Squared distance to another box; 0 if they meet.
  @inline(__always)
  func squaredGap(to other: SpaceBox) -> Double {
    let (below, above) = (lower - other.upper, other.lower - upper)
    let gap = below.replacing(with: above, where: above .> below)
    let way = gap.replacing(with: 0, where: gap .< 0)
    return way.x * way.x + way.y * way.y + way.z * way.z
  }

  @inline(__always)
  mutating func include(_ other: SpaceBox) {
    lower.replace(with: other.lower, where: other.lower .< lower)
    upper.replace(with: other.upper, where: other.upper .> upper)
  }
}

/// The edges of a geometry. A point is an edge without length, and so is an edge between equal positions.
///
/// On the ellipsoid the ends of edges are positions in space, in metres, and an edge, which is straight in longitude and latitude, is at
/// most its `sag` away from the chord between its ends. Boxes hold the edges themselves.
///
/// Memory is unmanaged: arrays in a class would be retained and released for each pair of edges. Confined to one thread.
final class EdgeTree {
  struct Edge: BitwiseCopyable {
    var first: Int32
    var last: Int32
  }

  enum Surface {
    /// Coordinates are multiplied by the factor.
    case plane(Double)
    case ellipsoid
  }

  static let fanout = 8

  let box: IndexedBox
  /// The greatest magnitude of a coordinate.
  let reach: Double
  /// x and y as given.
  let places: UnsafeMutableBufferPointer<SIMD2<Double>>
  /// In space.
  let points: UnsafeMutableBufferPointer<SIMD3<Double>>
  let edges: UnsafeMutableBufferPointer<Edge>
  /// Boxes of the edges, then of each eight boxes of the level below.
  private(set) var levels: [UnsafeMutableBufferPointer<SpaceBox>] = []
  let geometry: Geometry
  private lazy var areas = Self.areas(of: geometry)

  /// Nil for an empty geometry, and for one with a position that is not on the surface.
  init?(_ geometry: Geometry, on surface: Surface, checking check: () throws -> Void) rethrows {
    var lines = (runs: [(positions: Positions, isLine: Bool)](), count: 0, edges: 0)
    Self.collect(geometry, into: &lines)
    guard lines.count > 0, lines.count < 1 << 31 else { return nil }
    self.geometry = geometry
    places = .allocate(capacity: lines.count)
    points = .allocate(capacity: lines.count)
    edges = .allocate(capacity: lines.edges)
    var box = Envelope.none
    var (place, edge, isOn) = (0, 0, true)
    for (positions, isLine) in lines.runs {
      for index in 0..<positions.count {
        if place & 255 == 255 { try check() }
        let base = index * positions.stride
        let position = SIMD2(positions.values[base], positions.values[base + 1])
        box.include(x: position.x, y: position.y)
        places[place] = position
        switch surface {
        case .plane(let factor): points[place] = SIMD3(position.x * factor, position.y * factor, 0)
        case .ellipsoid: points[place] = Ellipsoid.position(position)
        }
        isOn = isOn && points[place].x.isFinite && points[place].y.isFinite
        if !isLine || index > 0 || positions.count == 1 {
          edges[edge] = Edge(first: Int32(isLine && index > 0 ? place - 1 : place), last: Int32(place))
          edge += 1
        }
        place += 1
      }
    }
    self.box = IndexedBox(box)
    reach = max(abs(box.xMin), abs(box.xMax), abs(box.yMin), abs(box.yMax))
    if case .ellipsoid = surface, reach > 1e9 || box.yMin < -90 || box.yMax > 90 { isOn = false }
    guard isOn else { return nil }
    makeLevels(isCurved: { if case .ellipsoid = surface { true } else { false } }())
  }

  deinit {
    places.deallocate()
    points.deallocate()
    edges.deallocate()
    for level in levels { level.deallocate() }
  }

  private static func collect(
    _ geometry: Geometry, into lines: inout (runs: [(positions: Positions, isLine: Bool)], count: Int, edges: Int)
  ) {
    var isLine = true
    switch geometry {
    case .collection(let parts):
      for part in parts { collect(part, into: &lines) }
      return
    case .point, .multiPoint: isLine = false
    case .lineString, .multiLineString, .polygon, .multiPolygon: break
    }
    geometry.forEachPositions { positions in
      let count = positions.count
      guard count > 0 else { return }
      lines.runs.append((positions, isLine))
      lines.count += count
      lines.edges += isLine ? max(count - 1, 1) : count
    }
  }

  private func makeLevels(isCurved: Bool) {
    let first = UnsafeMutableBufferPointer<SpaceBox>.allocate(capacity: edges.count)
    for index in 0..<edges.count {
      let edge = edges[index]
      let (a, b) = (points[Int(edge.first)], points[Int(edge.last)])
      let sag = isCurved ? Ellipsoid.sag(places[Int(edge.first)], places[Int(edge.last)], a, b) : 0
      first[index] = SpaceBox(
        lower: a.replacing(with: b, where: b .< a) - sag, upper: a.replacing(with: b, where: b .> a) + sag)
    }
    levels.append(first)
    var last = first
    while last.count > 1 {
      let next = UnsafeMutableBufferPointer<SpaceBox>.allocate(capacity: (last.count + Self.fanout - 1) / Self.fanout)
      for index in next.indices {
        var box = last[index * Self.fanout]
        for child in index * Self.fanout + 1..<max(index * Self.fanout + 1, min((index + 1) * Self.fanout, last.count)) {
          box.include(last[child])
        }
        next[index] = box
      }
      levels.append(next)
      last = next
    }
  }

  // MARK: Areas

  private struct Area {
    let box: Envelope
    let polygons: Geometry
    /// For many edges.
    let index: EdgeIndex?
  }

  private static func areas(of geometry: Geometry) -> [Area] {
    switch geometry {
    case .collection(let parts): return parts.flatMap(areas)
    case .polygon, .multiPolygon:
      guard let box = geometry.envelope else { return [] }
      var count = 0
      geometry.forEachPositions { count += $0.count }
      return [Area(box: box, polygons: geometry, index: count > 64 ? EdgeIndex(geometry) : nil)]
    case .point, .multiPoint, .lineString, .multiLineString: return []
    }
  }

  /// Whether a polygon holds a part of another geometry, of which no edge crosses this one's.
  ///
  /// - Parameter turn: the period of x, 0 if there is none.
  func holdsPart(of other: EdgeTree, turn: Double) -> Bool {
    guard !areas.isEmpty, box.lower.y <= other.box.upper.y, other.box.lower.y <= box.upper.y else { return false }
    var next = Int32(-1)
    for edge in other.edges {
      // An edge that does not continue the one before begins a part.
      let isFirst = edge.first != next || edge.first == edge.last
      next = edge.last
      if isFirst, holds(other.places[Int(edge.first)], turn: turn) { return true }
    }
    return false
  }

  private func holds(_ place: SIMD2<Double>, turn: Double) -> Bool {
    areas.contains { area in
      guard place.y >= area.box.yMin, place.y <= area.box.yMax else { return false }
      return Self.turns(place.x, place.x, area.box.xMin, area.box.xMax, turn).contains { shift in
        let position = SIMD2(place.x + shift, place.y)
        return (area.index?.location(of: position) ?? area.polygons.location(of: position)) != .exterior
      }
    }
  }

  /// The multiples of `turn`, eight at most, by which a range of x is moved to meet another.
  static func turns(_ low: Double, _ high: Double, _ otherLow: Double, _ otherHigh: Double, _ turn: Double) -> [Double] {
    guard turn > 0 else { return low <= otherHigh && high >= otherLow ? [0] : [] }
    let first = ((otherLow - high) / turn).rounded(.up)
    let last = ((otherHigh - low) / turn).rounded(.down)
    return stride(from: first, through: min(last, first + 7), by: 1).map { $0 * turn }
  }
}
