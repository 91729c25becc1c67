// Fences that an object crossed between two fixes, neither of them inside.

import Geometry
import Proximity

extension FenceJudge {
  /// A stretch of a geodesic inside a fence, in metres from its start.
  private struct Crossing {
    let fence: Int
    let (start, end): (Double, Double)
  }

  /// Reports what the object crossed on the geodesic from the fix before.
  mutating func reportCrossings(from old: Fix, _ object: inout TrackedObject) {
    let fix = object.fix
    guard let line = try? geodesy.inverse(from: old.position, to: fix.position), line.distance > 0 else { return }
    let way = GeodesicWay(start: old.position, azimuth: line.startAzimuth, length: line.distance, geodesy: geodesy)
    let reach = monitor.buffer + max(radiusOfCrossing(fix), 0)
    var crossings: [Crossing] = []
    for row in rows(in: way.boxes(within: reach)) {
      let fence = store.id(ofPresent: row)
      guard !object.inside.contains(where: { $0.fence == fence }), admits(row), let shape = shape(row, fence) else { continue }
      let level = reach
      let geodesy = geodesy
      crossings += way.stretches { shape.distance(to: $0, within: .infinity, geodesy).map { $0 - level } }
        .map { Crossing(fence: fence, start: $0.lowerBound, end: $0.upperBound) }
    }
    let span = fix.time.seconds(since: old.time)
    let events = crossings.flatMap { [(at: $0.end, kind: GeotriggerEvent.Kind.exit, $0.fence), (at: $0.start, kind: .enter, $0.fence)] }
      .sorted { ($0.at, $0.kind == .exit ? 0 : 1, $0.2) < ($1.at, $1.kind == .exit ? 0 : 1, $1.2) }
    for (at, kind, fence) in events {
      report(
        kind, .crossed, fix, fence, at: old.time.advanced(by: span * at / way.length), position: way.position(at), from: old.position)
    }
  }

  private func radiusOfCrossing(_ fix: Fix) -> Double { monitor.accuracyMode == .geometryWithAccuracy ? fix.accuracy : 0 }
}

/// The geodesic between two fixes.
struct GeodesicWay {
  let start: Point
  let azimuth: Double
  /// In metres.
  let length: Double
  let geodesy: any Geodesy

  func position(_ metres: Double) -> Point {
    (try? geodesy.direct(from: start, azimuth: azimuth, distance: metres))?.0 ?? start
  }

  /// Boxes in longitude and latitude that hold all within a distance of it.
  func boxes(within reach: Double) -> [Envelope] {
    let count = max(1, min(64, Int(length / 50_000)))
    let half = length / Double(count) / 2
    return (0..<count).map { FenceShape.box(around: position(half * Double(2 * $0 + 1)), within: half + reach) }
  }

  /// Where a signed distance is negative, without what reaches either end.
  ///
  /// It changes by no more than the metres travelled, so it says how far one can go without missing a change of its sign.
  func stretches(_ distance: (Point) -> Double?) -> [ClosedRange<Double>] {
    var (stretches, entry, wasOutside) = ([ClosedRange<Double>](), Double?.none, false)
    var (at, step) = (0.0, 0.5)
    for count in 0... {
      guard let value = distance(position(at)) else { return stretches }
      if value > 0 {
        if let start = entry { stretches.append(start...at) }
        (entry, wasOutside) = (nil, true)
      } else if wasOutside, entry == nil {
        entry = at
      }
      guard at < length else { break }
      // At a fence's edge steps are short: after many they grow.
      if count % 256 == 255 { step *= 4 }
      at = min(at + max(abs(value), step), length)
    }
    return stretches
  }
}
