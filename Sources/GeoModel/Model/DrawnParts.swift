// What is drawn of a geometry of which some positions have no coordinates on the map, as behind the horizon of a globe.

import Geometry
import Platform

extension MapTransform {
  /// As ``drawn(_:checking:)``, without what has no coordinates in the target: lines end there, and areas go along the edge.
  ///
  /// - Parameter check: called every few thousand positions; throws to cancel.
  /// - Throws: `outsideDomain` if nothing is left.
  public func drawnParts(of geometry: Geometry, checking check: () throws -> Void) throws -> Geometry {
    do { return try drawn(geometry, checking: check) } catch let error as TransformError {
      guard case .outsideDomain = error else { throw error }
      let parts = try withoutActuallyEscaping(check) { check in
        var domain = MapDomain(self, check)
        return try domain.parts(of: geometry)
      }
      guard let first = parts.first else { throw error }
      return parts.count == 1 ? first : .collection(parts)
    }
  }
}

/// Cuts geometries at the edge of where a target has coordinates.
///
/// Between a position inside and one outside, the edge is found by bisection. A ring that leaves the domain comes back along its edge: each
/// position outside is moved onto the edge, towards the domain's middle. That leaves inside what is inside as long as straight lines to
/// the middle leave the domain once; those of the plane in which the source is, so that each copy of the domain, whole turns apart, is cut by itself.
private struct MapDomain {
  private typealias Place = SIMD2<Double>
  /// A position of the source, and where it is on the map; NaN outside of the domain.
  private struct Sample {
    var source: Place
    var place: Place
    var isInside: Bool { place.x == place.x }
  }

  private let transform: MapTransform
  private let check: () throws -> Void
  /// How far apart positions outside may be, in units of the source.
  private let step: Double
  private var middle: Place??

  /// Degrees.
  private static let pole = 90 - 1e-6
  /// Turns of the source in which areas are looked for.
  private static let maxTurns = 8.0
  private static let halvings = 32
  /// How often positions are put between those on the edge.
  private static let refinements = 6
  /// Radians between positions on the edge, as seen from the middle, at first.
  private static let angle = 0.5 * Double.pi / 180

  init(_ transform: MapTransform, _ check: @escaping () throws -> Void) {
    (self.transform, self.check) = (transform, check)
    step = transform.isFromDegrees ? 2 : (transform.sourceWrap?.width ?? 4e7) / 180
  }

  mutating func parts(of geometry: Geometry) throws -> [Geometry] {
    switch geometry {
    case .point(let point): try point.map { try parts(of: .multiPoint(Positions([$0]))) } ?? []
    case .multiPoint(let points):
      try samples(points).filter(\.isInside).map { .point(Point(x: $0.place.x, y: $0.place.y)) }
    case .lineString(let line): try lines(line).map { .lineString($0) }
    case .multiLineString(let parts): try parts.flatMap { try lines($0) }.map { .lineString($0) }
    case .polygon(let rings): try polygons(rings)
    case .multiPolygon(let polygons): try polygons.flatMap { try self.polygons($0) }
    case .collection(let parts): try parts.flatMap { try self.parts(of: $0) }
    }
  }

  // MARK: Positions

  private func samples(_ run: Positions) throws -> [Sample] {
    var values: [Double] = []
    values.append(xy: run)
    return try samples(values)
  }

  private func samples(_ values: [Double]) throws -> [Sample] {
    var samples: [Sample] = []
    samples.reserveCapacity(values.count / 2)
    for start in stride(from: 0, to: values.count, by: 8192) {
      try check()
      let sources = Array(values[start..<min(start + 8192, values.count)])
      var places = sources
      // A pole at the edge is inside at all longitudes, although only some of the meridians are.
      if transform.isFromDegrees {
        for index in stride(from: 1, to: places.count, by: 2) { places[index] = min(max(places[index], -Self.pole), Self.pole) }
      }
      try transform.transformKnown(&places)
      for index in stride(from: 0, to: sources.count, by: 2) {
        samples.append(Sample(source: Place(sources[index], sources[index + 1]), place: Place(places[index], places[index + 1])))
      }
    }
    return samples
  }

  /// The positions of a run, with more of them where a segment is not inside at both ends.
  private func dense(_ run: Positions) throws -> [Sample] {
    let own = try samples(run)
    guard var last = own.first else { return [] }
    var values = [last.source.x, last.source.y]
    for sample in own.dropFirst() {
      let way = sample.source - last.source
      let length = max(abs(way.x), abs(way.y))
      if length > step, !(sample.isInside && last.isInside) {
        // Of a segment that goes round the world more than once, some are enough.
        let count = min((length / step).rounded(.up), 1000)
        for index in stride(from: 1, to: count, by: 1) {
          let between = last.source + way * (index / count)
          values += [between.x, between.y]
        }
      }
      values += [sample.source.x, sample.source.y]
      last = sample
    }
    return values.count == 2 * own.count ? own : try samples(values)
  }

  /// The last positions inside on the ways from positions inside to others outside.
  private func edges(_ ways: [(inside: Sample, outside: Place)], _ isInside: (Sample) -> Bool) throws -> [Sample] {
    var ways = ways
    for _ in 0..<Self.halvings {
      let middles = try samples(ways.flatMap { way -> [Double] in
        let middle = (way.inside.source + way.outside) / 2
        return [middle.x, middle.y]
      })
      for (index, middle) in middles.enumerated() {
        if isInside(middle) { ways[index].inside = middle } else { ways[index].outside = middle.source }
      }
    }
    return ways.map(\.inside)
  }

  // MARK: Lines

  private func lines(_ run: Positions) throws -> [Positions] {
    let samples = try dense(run)
    var (lines, line): ([Positions], [Sample]) = ([], [])
    func end() {
      if line.count > 1 { lines.append(drawn(line, isRing: false)) }
      line = []
    }
    for (index, sample) in samples.enumerated() {
      let last = index > 0 ? samples[index - 1] : sample
      if sample.isInside {
        if !last.isInside { line = try edges([(sample, last.source)], \.isInside) }
        line.append(sample)
      } else if last.isInside {
        line += try edges([(last, sample.source)], \.isInside)
        end()
      }
    }
    end()
    return lines
  }

  /// Positions as they are drawn where the map wraps.
  private func drawn(_ samples: [Sample], isRing: Bool) -> Positions {
    var values = samples.flatMap { [$0.place.x, $0.place.y] }
    if let wrap = transform.targetWrap {
      if let sourceWrap = transform.sourceWrap {
        transform.unroll(&values, wrap, from: samples.flatMap { [$0.source.x, $0.source.y] }, sourceWrap)
      } else {
        transform.unroll(&values, wrap)
        if isRing { transform.close(&values, wrap) }
      }
    }
    return Positions(values: values)
  }

  // MARK: Areas

  /// A polygon for each copy of the domain in which something of it lies.
  private mutating func polygons(_ rings: [Positions]) throws -> [Geometry] {
    let samples = try rings.map { try dense($0) }
    guard let shell = samples.first, let first = shell.first, let middle = try middle(near: shell) else { return [] }
    let (low, high) = shell.reduce((first.source.x, first.source.x)) { (min($0.0, $1.source.x), max($0.1, $1.source.x)) }
    guard let wrap = transform.sourceWrap else { return try polygon(samples, around: middle, reach: .infinity).map { [$0] } ?? [] }
    let begin = ((low - middle.x) / wrap.width - 0.5).rounded(.up)
    let end = min(((high - middle.x) / wrap.width + 0.5).rounded(.down), begin + Self.maxTurns)
    return try stride(from: begin, through: end, by: 1).compactMap { turns in
      try polygon(samples, around: middle + Place(turns * wrap.width, 0), reach: wrap.width / 2)
    }
  }

  /// - Parameter reach: from the middle to the edge of its copy of the domain.
  private func polygon(_ rings: [[Sample]], around middle: Place, reach: Double) throws -> Geometry? {
    var drawn: [Positions] = []
    for (index, ring) in rings.enumerated() {
      let found = try self.ring(ring, around: middle, reach: reach)
      // A hole is nothing without what it is in.
      if index == 0, found == nil { return nil }
      if let found { drawn.append(found) }
    }
    return .polygon(drawn)
  }

  private func ring(_ samples: [Sample], around middle: Place, reach: Double) throws -> Positions? {
    func isInside(_ sample: Sample) -> Bool { sample.isInside && abs(sample.source.x - middle.x) <= reach }
    let samples = samples.first?.source == samples.last?.source ? Array(samples.dropLast()) : samples
    guard samples.count > 2, let center = try self.samples([middle.x, middle.y]).first else { return nil }
    guard let start = samples.firstIndex(where: isInside) else {
      let around = try edge(samples + samples.prefix(1), around: center, isInside)
      return around.count > 2 ? self.drawn(around + around.prefix(1), isRing: true) : nil
    }
    var ring: [Sample] = []
    var outside: [Sample] = []
    for offset in 0...samples.count {
      let (sample, last) = (samples[(start + offset) % samples.count], samples[(start + offset + samples.count - 1) % samples.count])
      if isInside(sample) {
        if !outside.isEmpty, let left = ring.last {
          let entry = try edges([(sample, last.source)], isInside)
          let way = [left] + outside + entry
          ring += try edge(way, around: center, isInside)
          ring += entry
          outside = []
        }
        ring.append(sample)
      } else {
        if outside.isEmpty, let left = ring.last { ring += try edges([(left, sample.source)], isInside) }
        outside.append(sample)
      }
    }
    return self.drawn(ring, isRing: true)
  }

  /// The positions on the edge beside a way outside that goes there as far around the middle as the way; none if that ends where it began.
  private func edge(_ way: [Sample], around center: Sample, _ isInside: (Sample) -> Bool) throws -> [Sample] {
    guard center.isInside else { return [] }
    var angles: [Double] = []
    for sample in way {
      let offset = sample.source - center.source
      let angle = atan2(offset.y, offset.x)
      let last = angles.last ?? angle
      angles.append(last + (angle - last).remainder(dividingBy: 2 * .pi))
    }
    guard let first = angles.first, let last = angles.last else { return [] }
    let sign: Double = last < first ? -1 : 1
    // Back and forth is left out: it would be an outline where there is no area.
    var ways: [(inside: Sample, outside: Place)] = []
    var reached = first
    for (sample, angle) in zip(way, angles) where sign * (angle - reached) >= Self.angle && sign * (last - angle) >= Self.angle {
      ways.append((center, sample.source))
      reached = angle
    }
    guard !ways.isEmpty else { return [] }
    let ends = (way.prefix(1).filter(isInside), way.suffix(1).filter(isInside))
    var edge = ends.0 + (try edges(ways, isInside)) + ends.1
    // The edge may run nearly towards the middle, as behind a pole.
    for _ in 0..<Self.refinements {
      var gaps: [(index: Int, way: (inside: Sample, outside: Place))] = []
      for index in 1..<max(edge.count, 1) {
        let (from, to) = (edge[index - 1].source - center.source, edge[index].source - center.source)
        let way = to - from
        guard max(abs(way.x), abs(way.y)) > step else { continue }
        gaps.append((index, (center, center.source + 4 * (from + to) / 2)))
      }
      guard !gaps.isEmpty else { break }
      let found = try edges(gaps.map(\.way), isInside)
      for (gap, sample) in zip(gaps, found).reversed() { edge.insert(sample, at: gap.index) }
    }
    return Array(edge.dropFirst(ends.0.count).dropLast(ends.1.count))
  }

  /// A position of the source in the middle of the domain, or at least within; nil if none is found.
  private mutating func middle(near samples: [Sample]) throws -> Place? {
    if let middle, let middle { return middle }
    if middle == nil {
      var values = [0.0, 0]
      try transform.transformer.transformKnown(&values, from: transform.target, to: transform.source)
      let found = try values[0].isNaN ? nil : self.samples(values).first.flatMap { $0.isInside ? $0.source : nil }
      middle = .some(found)
      if let found { return found }
    }
    return samples.first(where: \.isInside)?.source
  }
}
