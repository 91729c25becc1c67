// What of a large area lies around a small box, as polygons that are as small: so an overlay costs what it meets, not the whole.

import Geometry
import GeometryEngine

/// A valid area of many positions that many small geometries meet.
///
/// An overlay of GEOS cuts both sides at a box around what they share, all segments that meet it left whole, and so does ``piece(around:)``
/// with more room. Positions that the cut makes are therefore in no overlay of the piece, and those of the overlay are the same bits.
package struct LargeArea: Sendable {
  package let edges: EdgeIndex
  private let box: Envelope
  private let polygons: [[Ring]]

  /// A closed ring, its inside on the left, with the boxes of runs of its edges.
  private struct Ring: Sendable {
    static let run = 64
    let positions: Positions
    let box: Envelope
    let boxes: [Envelope]

    init(_ positions: Positions) {
      self.positions = positions
      var (whole, boxes) = (Envelope.none, [Envelope]())
      for first in Swift.stride(from: 0, to: positions.count - 1, by: Self.run) {
        var box = Envelope.none
        for index in first...min(first + Self.run, positions.count - 1) {
          let point = positions[index]
          box.include(x: point.x, y: point.y)
        }
        boxes.append(box)
        whole.include(box)
      }
      (self.box, self.boxes) = (whole, boxes)
    }

    /// The edges of the runs that meet a box.
    func forEachEdge(near box: Envelope, _ body: (_ isNext: Bool, SIMD2<Double>, SIMD2<Double>) -> Void) {
      var last = -1
      positions.values.withUnsafeBufferPointer { values in
        for (number, own) in boxes.enumerated() where own.intersects(box) {
          for index in number * Self.run..<min((number + 1) * Self.run, positions.count - 1) {
            body(
              last == index - 1, SIMD2(values[2 * index], values[2 * index + 1]), SIMD2(values[2 * index + 2], values[2 * index + 3]))
            last = index
          }
        }
      }
    }
  }

  /// Positions of an area that is worth it.
  private static let fewest = 512

  /// Nil for what is no area, or has few positions or extreme numbers.
  package init?(_ geometry: Geometry) {
    var count = 0
    geometry.forEachPositions { count += $0.count }
    guard count >= Self.fewest, !geometry.isExtreme, let edges = EdgeIndex(geometry) else { return nil }
    (self.edges, box) = (edges, edges.box)
    switch geometry.isPlain ? geometry.withRightHandRings : nil {
    case .polygon(let rings): polygons = [rings.map(Ring.init)]
    case .multiPolygon(let all): polygons = all.map { $0.map(Ring.init) }
    case .point, .multiPoint, .lineString, .multiLineString, .collection, nil: polygons = []
    }
  }

  /// What of it lies around a geometry; nil if that is all, cannot be cut without doubt, or if one has Z: an overlay takes it from all
  /// positions. Collections are overlaid part by part, so nil for them, too.
  package func piece(around geometry: Geometry) -> Geometry? {
    if case .collection = geometry { return nil }
    guard !polygons.isEmpty, geometry.isPlain, let near = geometry.envelope?.widened else { return nil }
    var window = near
    for ring in polygons.joined() where ring.box.intersects(near) {
      ring.forEachEdge(near: near) { _, start, end in
        let (low, high) = (pointwiseMin(start, end), pointwiseMax(start, end))
        let edge = Envelope(xMin: low.x, yMin: low.y, xMax: high.x, yMax: high.y)
        if edge.intersects(near) { window.include(edge) }
      }
    }
    window = window.widened
    guard window.isFinite, !window.contains(box) else { return nil }
    var (cut, whole, holes) = (WindowCut(window), [[Positions]](), [Positions]())
    for rings in polygons where rings.first?.box.intersects(window) == true {
      if window.contains(rings[0].box) {
        whole.append(rings.map(\.positions))
        continue
      }
      for (number, ring) in rings.enumerated() where ring.box.intersects(window) {
        if window.contains(ring.box) {
          if number > 0 { holes.append(ring.positions) }
          continue
        }
        cut.begin()
        ring.forEachEdge(near: window) { isNext, start, end in cut.add(isNext: isNext, start, end) }
        cut.end()
      }
    }
    guard let outer = cut.rings(isInside: edges.location(of: SIMD2(window.xMin, window.yMin)) == .interior) else { return nil }
    var polygons = outer.map { [$0] }
    for hole in holes {
      guard let index = polygons.count == 1 ? 0 : outer.firstIndex(where: { $0.surrounds(hole) }) else { return nil }
      polygons[index].append(hole)
    }
    return .multiPolygon(polygons + whole)
  }
}

extension Geometry {
  /// Whether it has neither Z nor M.
  fileprivate var isPlain: Bool {
    var isPlain = true
    forEachPositions { if $0.stride > 2 { isPlain = false } }
    return isPlain
  }
}

extension Envelope {
  /// With more room than GEOS gives a box, and sides where positions hardly are.
  fileprivate var widened: Envelope {
    let size = max(width, height)
    let room = 0.2371 * size + 1e-9 * max(abs(xMin), abs(xMax), abs(yMin), abs(yMax))
    return Envelope(xMin: xMin - room, yMin: yMin - room, xMax: xMax + room, yMax: yMax + room)
  }
}

extension Positions {
  /// Whether a ring that does not cross this one lies in it.
  fileprivate func surrounds(_ other: Positions) -> Bool {
    for point in other.points {
      var crossings = RingCrossings(SIMD2(point.x, point.y))
      forEachEdge { crossings.add($0, $1) }
      switch crossings.location {
      case .interior: return true
      case .exterior: return false
      case .boundary: continue
      }
    }
    return false
  }
}

/// Rings cut at the sides of a window: the paths within it, joined along its sides.
private struct WindowCut {
  /// Where a path enters or leaves: the side counterclockwise from the lower one, and how far along it.
  private struct Place: Comparable {
    let side: Int
    let along: Double
    let path: Int
    let isExit: Bool
    static func < (one: Place, other: Place) -> Bool { (one.side, one.along) < (other.side, other.along) }
  }

  private let window: Envelope
  private let corners: [SIMD2<Double>]
  private var paths: [[SIMD2<Double>]] = []
  private var places: [Place] = []
  private var path: [SIMD2<Double>]?
  /// What the ring has within the window before it leaves it for the first time, if it begins there.
  private var head: [SIMD2<Double>]?
  /// Where the current path has entered; nil for the one that began within.
  private var entry: Place?
  private var isDoubtful = false

  init(_ window: Envelope) {
    self.window = window
    corners = [
      SIMD2(window.xMin, window.yMin), SIMD2(window.xMax, window.yMin), SIMD2(window.xMax, window.yMax), SIMD2(window.xMin, window.yMax),
    ]
  }

  mutating func begin() { (path, head, entry) = (nil, nil, nil) }

  /// Adds an edge of a ring, in order; those between, and only those, that are wholly outside may be left out.
  mutating func add(isNext: Bool, _ start: SIMD2<Double>, _ end: SIMD2<Double>) {
    if !isNext, path != nil { isDoubtful = true }
    guard let (from, to) = part(start, end) else { return }
    if from == 0 {
      if path == nil { path = [start] }
    } else {
      guard let (side, along, position) = place(start, end, from) else { return isDoubtful = true }
      if path != nil { isDoubtful = true }
      (path, entry) = ([position], Place(side: side, along: along, path: paths.count, isExit: false))
    }
    guard to < 1 else {
      path?.append(end)
      return
    }
    guard let (side, along, position) = place(start, end, to), let made = path else { return isDoubtful = true }
    path = nil
    guard let begun = entry else {
      // The part before belongs to the ring's end.
      guard head == nil else { return isDoubtful = true }
      head = made + [position]
      places.append(Place(side: side, along: along, path: -1, isExit: true))
      return
    }
    entry = nil
    places += [begun, Place(side: side, along: along, path: paths.count, isExit: true)]
    paths.append(made + [position])
  }

  mutating func end() {
    guard let head else { return isDoubtful = isDoubtful || path != nil }
    guard let path, let entry else { return isDoubtful = true }
    for index in places.indices where places[index].path < 0 {
      places[index] = Place(side: places[index].side, along: places[index].along, path: paths.count, isExit: true)
    }
    places.append(entry)
    paths.append(path + head.dropFirst())
  }

  /// Closed rings, counterclockwise; nil if they are not certain.
  ///
  /// - Parameter isInside: whether the first corner is within the area.
  func rings(isInside: Bool) -> [Positions]? {
    guard !isDoubtful else { return nil }
    guard !paths.isEmpty else { return isInside ? [Self.ring(corners)] : [] }
    let order = places.sorted()
    guard order.count == 2 * paths.count else { return nil }
    var entries = [Int](repeating: -1, count: paths.count), exits = entries
    for (index, place) in order.enumerated() {
      let next = order[(index + 1) % order.count]
      guard next.isExit != place.isExit, next.side != place.side || next.along != place.along else { return nil }
      if place.isExit { exits[place.path] = index } else { entries[place.path] = index }
    }
    var (made, isDone) = ([Positions](), [Bool](repeating: false, count: paths.count))
    for first in paths.indices where !isDone[first] {
      var (ring, path) = ([SIMD2<Double>](), first)
      repeat {
        guard !isDone[path], exits[path] >= 0 else { return nil }
        isDone[path] = true
        ring += paths[path]
        let exit = order[exits[path]], entry = order[(exits[path] + 1) % order.count]
        let turns = entry.side > exit.side || entry.side == exit.side && entry.along > exit.along ? 0 : 4
        for side in exit.side..<entry.side + turns { ring.append(corners[(side + 1) % 4]) }
        path = entry.path
      } while path != first
      made.append(Self.ring(ring))
    }
    return made
  }

  private static func ring(_ positions: [SIMD2<Double>]) -> Positions {
    Positions(values: (positions + positions.prefix(1)).flatMap { [$0.x, $0.y] })
  }

  /// The part of an edge that is within the window, of 0 to 1 (Y.-D. Liang, B. A. Barsky, 1984).
  private func part(_ start: SIMD2<Double>, _ end: SIMD2<Double>) -> (Double, Double)? {
    let way = end - start
    var (from, to) = (0.0, 1.0)
    /// - Returns: whether some of the edge is on the inner side.
    func limit(_ distance: Double, _ change: Double) -> Bool {
      if distance < 0, change <= 0 { return false }
      if distance < 0 { from = max(from, -distance / change) } else if distance + change < 0 { to = min(to, -distance / change) }
      return true
    }
    guard limit(start.x - window.xMin, way.x), limit(window.xMax - start.x, -way.x), limit(start.y - window.yMin, way.y),
      limit(window.yMax - start.y, -way.y)
    else { return nil }
    return from < to ? (from, to) : nil
  }

  /// The side that an edge crosses at a part of its length, and where; nil too close to a corner.
  private func place(
    _ start: SIMD2<Double>, _ end: SIMD2<Double>, _ part: Double
  ) -> (side: Int, along: Double, position: SIMD2<Double>)? {
    let way = end - start
    let position = start + part * way
    let candidates: [(Int, Double)] = [
      (0, (window.yMin - start.y) / way.y), (1, (window.xMax - start.x) / way.x), (2, (window.yMax - start.y) / way.y),
      (3, (window.xMin - start.x) / way.x),
    ]
    guard let side = candidates.first(where: { $0.1 == part })?.0 else { return nil }
    let isLevel = side == 0 || side == 2
    let along = isLevel ? position.x : position.y
    guard isLevel ? along > window.xMin && along < window.xMax : along > window.yMin && along < window.yMax else { return nil }
    let corner = corners[side]
    return (side, side < 2 ? along : -along, isLevel ? SIMD2(along, corner.y) : SIMD2(corner.x, along))
  }
}
