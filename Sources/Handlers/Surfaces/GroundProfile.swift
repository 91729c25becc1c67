// The ground along a line: where it is sampled, and the statistics of what is found.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform

/// Samples along a line of geodesics.
struct GroundProfile {
  static let maximumCount = 1_000_000
  /// Maximum number of samples where the request leaves their distance open.
  private static let usualCount = 100_000

  private(set) var points: [Point] = []
  private(set) var distances: [Double] = []
  private(set) var length = 0.0

  /// - Parameter vertices: in WGS 84.
  init(_ vertices: [Point], step: Double?, count: Int?, _ ground: Ground, _ share: WorkShare) throws {
    let lines = try zip(vertices, vertices.dropFirst()).enumerated().map { index, ends in
      if index & 1023 == 0 { try share.checkpoint(index, of: vertices.count) }
      return try ground.geodesy.inverse(from: ends.0, to: ends.1)
    }
    length = lines.reduce(0) { $0 + $1.distance }
    if let count {
      try place(vertices, lines, count, ground, share)
    } else {
      let step = try step ?? Self.step(along: vertices, length, ground, share)
      let needed = lines.reduce(1) { $0 + max(($1.distance / step).rounded(.up), 1) }
      guard needed <= Double(Self.maximumCount) else {
        throw RPCError.surfaceTooLarge(
          needed, limit: Self.maximumCount, "The profile would have \(Int(min(needed, 9e15))) samples.", path: "/params/step")
      }
      try place(vertices, lines, step, ground, share)
    }
  }

  /// The vertices, and places between them.
  private mutating func place(
    _ vertices: [Point], _ lines: [GeodesicLine], _ step: Double, _ ground: Ground, _ share: WorkShare
  ) throws {
    var start = 0.0
    for (index, line) in lines.enumerated() {
      try share.work?.checkCancelled()
      let pieces = max(Int((line.distance / step).rounded(.up)), 1)
      let along = (1..<max(pieces, 1)).map { line.distance * Double($0) / Double(pieces) }
      add(vertices[index], start)
      try Self.walk(vertices[index], line, along, ground, share) { add($0, start + $1) }
      start += line.distance
    }
    if let last = vertices.last { add(last, length) }
  }

  /// So many places at equal distances.
  private mutating func place(
    _ vertices: [Point], _ lines: [GeodesicLine], _ count: Int, _ ground: Ground, _ share: WorkShare
  ) throws {
    var (start, next) = (0.0, 0)
    for (index, line) in lines.enumerated() {
      try share.work?.checkCancelled()
      var along: [Double] = []
      while next < count - 1, length * Double(next) / Double(count - 1) < start + line.distance {
        along.append(max(length * Double(next) / Double(count - 1) - start, 0))
        next += 1
      }
      try Self.walk(vertices[index], line, along, ground, share) { add($1 == 0 ? vertices[index] : $0, start + $1) }
      start += line.distance
    }
    // A line without length has all of them at its end.
    while distances.count < count, let last = vertices.last { add(last, length) }
  }

  /// The places at distances along a line, of which a cancel leaves out the rest.
  private static func walk(
    _ start: Point, _ line: GeodesicLine, _ distances: [Double], _ ground: Ground, _ share: WorkShare, _ body: (Point, Double) -> Void
  ) throws {
    for first in stride(from: 0, to: distances.count, by: 1 << 14) {
      try share.work?.checkCancelled()
      let part = Array(distances[first..<min(first + (1 << 14), distances.count)])
      for (point, distance) in zip(try ground.geodesy.line(from: start, azimuth: line.startAzimuth, distances: part), part) {
        body(point, distance)
      }
    }
  }

  private mutating func add(_ point: Point, _ distance: Double) {
    // The vertices of a line may be whole turns apart from where the geodesic arrives.
    let turns = points.last.map { (($0.x - point.x) / 360).rounded() * 360 } ?? 0
    points.append(Point(x: point.x + turns, y: point.y))
    distances.append(distance)
  }

  /// The shorter side of a cell of the first source that has a height along a line.
  private static func step(along vertices: [Point], _ length: Double, _ ground: Ground, _ share: WorkShare) throws -> Double {
    let least = max(length / Double(max(usualCount - vertices.count, 1)), 1e-3)
    let probes = try GroundProfile(vertices, step: nil, count: 65, ground, share).points
    let found = try ground.heights(probes, .nearest, share).sources
    guard let index = found.firstIndex(where: { $0 >= 0 }), let source = ground.surface.elevationSources[found[index]].loaded,
      let side = ground.cellSide(of: source, at: probes[index])
    else { return max(length / 1000, least) }
    return max(side, least)
  }

  /// - Parameter heights: NaN where the ground has none.
  func statistics(_ heights: [Double]) -> SurfaceProtocol.ProfileStatistics? {
    let known = heights.lazy.filter { !$0.isNaN }
    guard let least = known.min(), let greatest = known.max() else { return nil }
    var result = SurfaceProtocol.ProfileStatistics(
      minElevation: least, maxElevation: greatest, meanElevation: known.reduce(0, +) / Double(known.count), gain: 0, loss: 0,
      surfaceLength: 0, maxUpSlope: 0, maxDownSlope: 0, meanSlope: 0)
    var (slopes, flat) = (0.0, 0.0)
    for index in heights.indices.dropFirst() where !heights[index - 1].isNaN && !heights[index].isNaN {
      let (rise, run) = (heights[index] - heights[index - 1], distances[index] - distances[index - 1])
      // The height of one place is one height, but for rounding.
      guard run > 0 else { continue }
      let angle = atan2(rise, run) * 180 / .pi
      result.gain += max(rise, 0)
      result.loss += max(-rise, 0)
      result.surfaceLength += (rise * rise + run * run).squareRoot()
      result.maxUpSlope = max(result.maxUpSlope, angle)
      result.maxDownSlope = max(-angle, result.maxDownSlope)
      slopes += abs(angle) * run
      flat += run
    }
    result.meanSlope = flat > 0 ? slopes / flat : 0
    return result
  }
}
