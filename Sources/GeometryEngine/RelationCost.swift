// What a relation of two geometries costs GEOS, estimated before it is asked: positions are cheap, crossings are not.

import Geometry

/// The estimated time of GEOS for a relation.
///
/// GEOS puts a node at each crossing of segments, also within one geometry, and labels each of them: 2,000 positions of a smooth line take a
/// tenth of a millisecond, 2,000 of a star minutes. Crossings are counted by the boxes of monotone chains, as GEOS finds them, up to a
/// limit. Figures of GEOS 3.11: 40 ns a position, 2 us a crossing and more of each where there are many.
public enum RelationCost {
  private static let ofPosition = 40.0
  private static let ofChainPair = 5.0
  private static let ofSegmentPair = 30.0
  private static let ofPart = 25.0
  private static let ofStep = 10.0

  private static func crossings(_ count: Int) -> Double { Double(count) * (2_000 + 8 * Double(count).squareRoot()) }

  /// Nanoseconds if all segments of both crossed one another; infinite for what must not be computed in the server.
  static func most(_ first: Geometry, _ second: Geometry) -> Double {
    var count = 0
    guard !second.isExtreme else { return .infinity }
    first.forEachPositions { count += $0.count }
    second.forEachPositions { count += $0.count }
    return worst(count)
  }

  /// Nanoseconds if all segments of so many positions crossed one another.
  static func worst(_ count: Int) -> Double { count < 1 << 16 ? crossings(count * count / 2) : .infinity }

  /// Nanoseconds for a geometry alone: what GEOS computes of it before it compares; `limit` or more stops the count.
  public static func alone(_ geometry: Geometry, limit: Double) -> Double {
    geometry.isExtreme ? .infinity : cost(Segments(geometry), nil, limit)
  }

  /// Nanoseconds for what two geometries have in common; `limit` or more stops the count.
  public static func between(_ first: Geometry, _ second: Geometry, limit: Double) -> Double {
    guard let box = first.envelope, let other = second.envelope, box.intersects(other) else { return 0 }
    return cost(Segments(first, near: other), Segments(second, near: box), limit)
  }

  /// What the costs of many relations of one geometry have in common, so that each is estimated without going through all of it.
  struct Side {
    private let envelope: Envelope?
    private let parts: Parts
    private let segments: Segments
    /// The boxes of runs of chains, which are close to each other.
    private let runs: [Envelope]
    private static let run = 64

    init(_ geometry: Geometry) {
      (envelope, parts, segments) = (geometry.envelope, RelationCost.parts(geometry), Segments(geometry))
      runs = stride(from: 0, to: segments.chains.count, by: Self.run).map { [segments] start in
        segments.chains[start..<min(start + Self.run, segments.chains.count)].reduce(into: Envelope.none) {
          ($0.xMin, $0.yMin) = (min($0.xMin, $1.xMin), min($0.yMin, $1.yMin))
          ($0.xMax, $0.yMax) = (max($0.xMax, $1.xMax), max($0.yMax, $1.yMax))
        }
      }
    }

    /// See ``RelationCost/between(_:_:limit:)``.
    func between(_ other: Geometry, limit: Double) -> Double {
      guard let envelope, let box = other.envelope, box.intersects(envelope) else { return 0 }
      let near = runs.indices.lazy.filter { runs[$0].intersects(box) }.map { [segments] run in
        segments.chains[run * Self.run..<min((run + 1) * Self.run, segments.chains.count)].lazy.filter { $0.meets(box) }
      }.joined()
      return RelationCost.cost(segments.only(Array(near)), Segments(other, near: envelope), limit)
    }

    /// See ``RelationCost/placing(_:_:)``.
    func placing(_ other: Geometry) -> Double {
      guard let envelope, let box = other.envelope, box.intersects(envelope) else { return 0 }
      return RelationCost.placing(parts, RelationCost.parts(other))
    }
  }

  /// Nanoseconds for the places of parts in the other geometry: GEOS looks for each that meets nothing among all parts of the other, and
  /// walks along those whose box it is in. 100,000 points and 10,000 squares take 22 s, 10,000 squares and as many others 9 s.
  public static func placing(_ first: Geometry, _ second: Geometry) -> Double {
    guard let box = first.envelope, let other = second.envelope, box.intersects(other) else { return 0 }
    return placing(parts(first), parts(second))
  }

  private typealias Parts = (count: Double, longest: Double)

  private static func placing(_ one: Parts, _ two: Parts) -> Double {
    func walk(_ parts: Parts) -> Double { ofPart * parts.count + ofStep * parts.longest }
    return one.count * walk(two) + two.count * walk(one)
  }

  /// Points, lines and rings, and the positions of the longest.
  private static func parts(_ geometry: Geometry) -> Parts {
    var (count, longest) = (0, 0)
    for part in geometry.flattened {
      let isPoints = part.dimension == 0
      part.forEachPositions {
        count += isPoints ? $0.count : 1
        longest = max(longest, isPoints ? 1 : $0.count)
      }
    }
    return (Double(count), Double(longest))
  }

  private static func cost(_ first: Segments, _ second: Segments?, _ limit: Double) -> Double {
    let positions = Double(first.positions + (second?.positions ?? 0)) * ofPosition
    guard positions < limit else { return positions }
    var (chainPairs, segmentPairs, crossed) = (0, 0, 0)
    func current() -> Double {
      positions + Double(chainPairs) * ofChainPair + Double(segmentPairs) * ofSegmentPair + crossings(crossed)
    }
    let chains =
      (first.chains.map { ($0, false) } + (second?.chains.map { ($0, true) } ?? [])).sorted { $0.0.xMin < $1.0.xMin }
    for index in chains.indices {
      let (chain, isSecond) = chains[index]
      var next = index + 1
      while next < chains.count, chains[next].0.xMin <= chain.xMax {
        let (other, isOtherSecond) = chains[next]
        next += 1
        chainPairs += 1
        guard second == nil || isSecond != isOtherSecond, chain.yMin <= other.yMax, other.yMin <= chain.yMax else {
          if chainPairs & 4095 == 0, current() >= limit { return current() }
          continue
        }
        let (left, right) = (isSecond ? second ?? first : first, isOtherSecond ? second ?? first : first)
        left.meet(chain.first..<chain.last, right, other.first..<other.last) { a, b in
          segmentPairs += 1
          // Neighbours of one line share a position, which is no crossing.
          guard second != nil || abs(a - b) > 1, left.crosses(a, right, b, countsEnds: second != nil) else { return }
          crossed += 1
        }
        if current() >= limit { return current() }
      }
    }
    return current()
  }
}

extension Double {
  /// Whether its square or the quotient of two such numbers leaves the range of numbers.
  var isExtreme: Bool { self != 0 && !(1e-100...1e100).contains(magnitude) }
}

extension Geometry {
  /// Whether it has numbers with which GEOS may compute without end or crash: its indexes halve boxes, and divide by their sides. Only the
  /// engine's process is risked for it.
  public var isExtreme: Bool {
    var isExtreme = false
    forEachPositions { line in
      for index in 0..<line.count where !isExtreme {
        isExtreme = line.values[index * line.stride].isExtreme || line.values[index * line.stride + 1].isExtreme
      }
    }
    return isExtreme
  }
}

/// The segments of a geometry in monotone chains: along each, neither x nor y turns back, so that the box of any part is that of its ends.
struct Segments {
  struct Chain {
    /// The positions at its ends.
    let first: Int
    let last: Int
    let xMin: Double
    let xMax: Double
    let yMin: Double
    let yMax: Double

    func meets(_ box: Envelope) -> Bool { xMin <= box.xMax && box.xMin <= xMax && yMin <= box.yMax && box.yMin <= yMax }
  }

  private(set) var positions = 0
  private(set) var chains: [Chain] = []
  private(set) var points: [SIMD2<Double>] = []

  /// - Parameter box: chains outside of it are left out; nil for all.
  init(_ geometry: Geometry, near box: Envelope? = nil) {
    geometry.forEachPositions { line in
      positions += line.count
      points.reserveCapacity(points.count + line.count)
      var start = points.count
      var direction: (x: Double, y: Double) = (0, 0)
      let begin = start
      for index in 0..<line.count {
        points.append(SIMD2(line.values[index * line.stride], line.values[index * line.stride + 1]))
        let last = points.count - 1
        guard last > begin else { continue }
        let step = points[last] - points[last - 1]
        let turns = step.x * direction.x < 0 || step.y * direction.y < 0
        if turns {
          add(start, last - 1, box)
          start = last - 1
          direction = (0, 0)
        }
        if step.x != 0 { direction.x = step.x }
        if step.y != 0 { direction.y = step.y }
      }
      if points.count - 1 > start { add(start, points.count - 1, box) }
    }
  }

  /// The same with some of its chains.
  func only(_ chains: [Chain]) -> Segments {
    var some = self
    some.chains = chains
    return some
  }

  private mutating func add(_ first: Int, _ last: Int, _ box: Envelope?) {
    let low = pointwiseMin(points[first], points[last])
    let high = pointwiseMax(points[first], points[last])
    if let box, low.x > box.xMax || high.x < box.xMin || low.y > box.yMax || high.y < box.yMin { return }
    chains.append(Chain(first: first, last: last, xMin: low.x, xMax: high.x, yMin: low.y, yMax: high.y))
  }

  /// Calls `body` with each pair of segments, by their first positions, whose boxes meet. Source: the monotone chains of JTS.
  func meet(_ own: Range<Int>, _ other: Segments, _ others: Range<Int>, _ body: (Int, Int) -> Void) {
    let (a, b) = (points[own.lowerBound], points[own.upperBound])
    let (c, d) = (other.points[others.lowerBound], other.points[others.upperBound])
    guard max(a.x, b.x) >= min(c.x, d.x), max(c.x, d.x) >= min(a.x, b.x), max(a.y, b.y) >= min(c.y, d.y),
      max(c.y, d.y) >= min(a.y, b.y)
    else { return }
    if own.count <= 1, others.count <= 1 { return body(own.lowerBound, others.lowerBound) }
    if own.count >= others.count {
      let middle = own.lowerBound + own.count / 2
      meet(own.lowerBound..<middle, other, others, body)
      meet(middle..<own.upperBound, other, others, body)
    } else {
      let middle = others.lowerBound + others.count / 2
      meet(own, other, others.lowerBound..<middle, body)
      meet(own, other, middle..<others.upperBound, body)
    }
  }

  /// Whether two segments share a position; rounding does not matter here.
  ///
  /// - Parameter countsEnds: whether a common end counts.
  func crosses(_ index: Int, _ other: Segments, _ otherIndex: Int, countsEnds: Bool) -> Bool {
    let (a, b, c, d) = (points[index], points[index + 1], other.points[otherIndex], other.points[otherIndex + 1])
    if !countsEnds, a == c || a == d || b == c || b == d { return false }
    func side(_ p: SIMD2<Double>, _ q: SIMD2<Double>, _ r: SIMD2<Double>) -> Double {
      (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
    }
    return side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0
  }
}
