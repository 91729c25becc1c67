// Generalisation: lines and rings with fewer positions, none farther from the original than an offset.

extension Geometry {
  /// The geometry with fewer positions in lines and rings, by the algorithm of Douglas and Peucker in x and y ("Algorithms for
  /// the reduction of the number of points required to represent a digitized line or its caricature", Cartographica 10, 1973).
  ///
  /// First and last positions stay. A ring keeps at least four positions. Points stay as they are.
  ///
  /// - Parameters:
  ///   - offset: greatest distance of an omitted position from the new line, in units of the coordinates.
  ///   - check: called at least every few thousand distances; throws to cancel.
  /// - Complexity: O(n log n) in positions for typical lines, O(n²) for adversarial ones.
  public func generalized(_ offset: Double, checking check: () throws -> Void) rethrows -> Geometry {
    switch self {
    case .point, .multiPoint: self
    case .lineString(let line): .lineString(try line.generalized(offset, isRing: false, check))
    case .multiLineString(let lines):
      .multiLineString(try lines.map { try $0.generalized(offset, isRing: false, check) })
    case .polygon(let rings): .polygon(try rings.map { try $0.generalized(offset, isRing: true, check) })
    case .multiPolygon(let polygons):
      .multiPolygon(try polygons.map { rings in try rings.map { try $0.generalized(offset, isRing: true, check) } })
    case .collection(let parts): .collection(try parts.map { try $0.generalized(offset, checking: check) })
    }
  }
}

extension Geometry {
  /// The geometry with the positions that another, made of it, has in each line and ring; nil if that has not as many that are not empty.
  package func choosing(_ fewer: Geometry) -> Geometry? {
    var lines: [Positions] = []
    fewer.forEachPositions { if !$0.isEmpty { lines.append($0) } }
    var next = 0
    let whole = mapPositions { line in
      guard !line.isEmpty else { return line }
      next += 1
      return next <= lines.count ? line.choosing(lines[next - 1]) : line
    }
    return next == lines.count ? whole : nil
  }

  /// The largest distance of a position from the line that one with some of the same positions has in its place; infinity if it has others.
  ///
  /// - Complexity: O(n) for positions that have the same order.
  package func deviation(of fewer: Geometry) -> Double {
    switch (self, fewer) {
    case (.point, .point), (.multiPoint, .multiPoint): self == fewer ? 0 : .infinity
    case (.lineString(let line), .lineString(let other)): line.deviation(of: other, isRing: false)
    case (.multiLineString(let lines), .multiLineString(let others)): lines.deviation(of: others, isRing: false)
    case (.polygon(let rings), .polygon(let others)): rings.deviation(of: others, isRing: true)
    case (.multiPolygon(let polygons), .multiPolygon(let others)) where polygons.count == others.count:
      zip(polygons, others).reduce(0) { max($0, $1.0.deviation(of: $1.1, isRing: true)) }
    case (.collection(let parts), .collection(let others)) where parts.count == others.count:
      zip(parts, others).reduce(0) { max($0, $1.0.deviation(of: $1.1)) }
    default: .infinity
    }
  }
}

extension [Positions] {
  fileprivate func deviation(of fewer: [Positions], isRing: Bool) -> Double {
    guard count == fewer.count else { return .infinity }
    return zip(self, fewer).reduce(0) { Swift.max($0, $1.0.deviation(of: $1.1, isRing: isRing)) }
  }
}

extension Positions {
  /// The positions in these places with their own Z and M, as far as they are here in this order; a ring may begin elsewhere.
  fileprivate func choosing(_ fewer: Positions) -> Positions {
    var index = (0..<count).first { self[$0].x == fewer[0].x && self[$0].y == fewer[0].y } ?? 0
    return Positions(fewer.points.map { point in
      for step in 0..<count {
        let place = self[(index + step) % count]
        guard place.x == point.x, place.y == point.y else { continue }
        index += step
        return place
      }
      return point
    })
  }

  /// A ring may begin elsewhere.
  fileprivate func deviation(of fewer: Positions, isRing: Bool) -> Double {
    let places = (0..<(isRing ? max(count - 1, 0) : count)).map { SIMD2(self[$0].x, self[$0].y) }
    let kept = (0..<fewer.count).map { SIMD2(fewer[$0].x, fewer[$0].y) }
    guard var start = kept.first else { return places.isEmpty ? 0 : .infinity }
    guard var index = places.firstIndex(of: start) else { return .infinity }
    var (largest, steps) = (0.0, 0)
    for end in kept.dropFirst() {
      let way = end - start
      let square = (way * way).sum()
      while true {
        index = isRing ? (index + 1) % places.count : index + 1
        steps += 1
        guard index < places.count, steps <= places.count else { return .infinity }
        if places[index] == end { break }
        let gap = places[index] - start
        let across = gap - (square > 0 ? min(max((gap * way).sum() / square, 0), 1) : 0) * way
        largest = max(largest, (across * across).sum())
      }
      start = end
    }
    return largest.squareRoot()
  }

  fileprivate func generalized(_ offset: Double, isRing: Bool, _ check: () throws -> Void) rethrows -> Positions {
    let last = count - 1
    guard last >= (isRing ? 4 : 2) else { return self }
    var line = LineReduction(self, offset: offset)
    try line.reduce(0, last, check)
    if isRing, line.keptCount < 4 {
      // Keep the position farthest from the start, and the one that forms the largest triangle with both.
      let far = max(line.farthest(0, last).index, 1)
      line.keep(far)
      let (left, right) = (line.farthest(0, far), line.farthest(far, last))
      line.keep(left.distance >= right.distance && far > 1 ? left.index : right.index)
    }
    return line.keptCount == count ? self : line.kept
  }
}

/// Selects the positions of a line to keep.
private struct LineReduction {
  private let positions: Positions
  private let offset: Double
  private var stays: [Bool]
  private(set) var keptCount = 2

  init(_ positions: Positions, offset: Double) {
    (self.positions, self.offset) = (positions, offset)
    stays = Array(repeating: false, count: positions.count)
    stays[0] = true
    stays[positions.count - 1] = true
  }

  mutating func keep(_ index: Int) {
    guard !stays[index] else { return }
    stays[index] = true
    keptCount += 1
  }

  /// Keeps the positions needed between two kept ones.
  mutating func reduce(_ first: Int, _ last: Int, _ check: () throws -> Void) rethrows {
    var waiting = [(first, last)]
    var work = 0
    while let (first, last) = waiting.popLast() {
      guard last - first > 1 else { continue }
      work += last - first
      if work > 4096 {
        work = 0
        try check()
      }
      let (index, distance) = farthest(first, last)
      guard distance > offset else { continue }
      keep(index)
      waiting += [(first, index), (index, last)]
    }
  }

  /// The position between two others that is farthest from the segment between them; `first` if there is none.
  func farthest(_ first: Int, _ last: Int) -> (index: Int, distance: Double) {
    let stride = positions.stride
    return positions.values.withUnsafeBufferPointer { values in
      let start = SIMD2(values[first * stride], values[first * stride + 1])
      let direction = SIMD2(values[last * stride], values[last * stride + 1]) - start
      let length = (direction * direction).sum()
      var found = (index: first, square: -1.0)
      for index in first + 1..<max(last, first + 1) {
        let from = SIMD2(values[index * stride], values[index * stride + 1]) - start
        let along = length > 0 ? min(max((from * direction).sum() / length, 0), 1) : 0
        let across = from - along * direction
        let square = (across * across).sum()
        if square > found.square { found = (index, square) }
      }
      return (found.index, max(found.square, 0).squareRoot())
    }
  }

  var kept: Positions {
    let stride = positions.stride
    var values: [Double] = []
    values.reserveCapacity(keptCount * stride)
    for index in stays.indices where stays[index] {
      values += positions.values[index * stride..<(index + 1) * stride]
    }
    return Positions(values: values, hasZ: positions.hasZ, hasM: positions.hasM)
  }
}
