// Fences on the way: those that an object crossed between two fixes, neither of them inside, and those that it is about to enter.

import Geometry
import Proximity

extension FenceJudge {
  /// Reports what the object crossed on the geodesic from the fix before.
  mutating func reportCrossings(from old: Fix, _ object: inout TrackedObject) {
    let fix = object.fix
    guard let line = try? geodesy.inverse(from: old.position, to: fix.position), line.distance > 0 else { return }
    let way = GeodesicWay(start: old.position, azimuth: line.startAzimuth, length: line.distance, geodesy: geodesy)
    var crossings: [(at: Double, isExit: Bool, fence: Int)] = []
    forEachFence(on: way, of: fix, besides: object.inside) { fence, distance in
      for stretch in way.stretches(distance) {
        crossings.append((stretch.lowerBound, false, fence))
        crossings.append((stretch.upperBound, true, fence))
      }
    }
    crossings.sort { ($0.at, $0.isExit ? 0 : 1, $0.fence) < ($1.at, $1.isExit ? 0 : 1, $1.fence) }
    let span = fix.time.seconds(since: old.time)
    for (at, isExit, fence) in crossings {
      let (time, position) = (old.time.advanced(by: span * at / way.length), way.position(at))
      if isExit {
        report(.exit, .crossed, fix, fence, at: time, position: position, from: old.position)
      } else {
        enter(fence, &object, .crossed, at: time, position: position, from: old.position)
      }
    }
  }

  /// Reports fences that the object will enter at its speed and course, and those that it will enter no more.
  mutating func forecast(_ object: inout TrackedObject, _ cause: GeotriggerEvent.Cause) {
    guard monitor.forecastHorizon > 0 || !object.forecasts.isEmpty else { return }
    let fix = object.fix
    var expected: [(fence: Int, after: Double)] = []
    if let speed = fix.speed, let course = fix.course, speed > 0, speed.isFinite, course.isFinite, monitor.forecastHorizon > 0 {
      // Nothing is as far away as half of the earth's circumference.
      let length = min(speed * monitor.forecastHorizon, 20_000_000)
      let way = GeodesicWay(start: fix.position, azimuth: course, length: length, geodesy: geodesy)
      forEachFence(on: way, of: fix, besides: object.inside) { fence, distance in
        if let entry = way.entry(distance) { expected.append((fence, entry / speed)) }
      }
    }
    let kept = FenceIDs(expected.map(\.fence) + object.inside.map(\.fence))
    for fence in object.forecasts where !kept.contains(fence) {
      report(.withdrawn, ending(fence, cause == .moved ? .turnedAway : cause), fix, fence, at: cause == .moved ? fix.time : now)
    }
    for (fence, after) in expected.sorted(by: { ($0.after, $0.fence) < ($1.after, $1.fence) }) where !object.forecasts.contains(fence) {
      report(
        .forecast, cause == .moved ? .approaching : cause, fix, fence, at: cause == .moved ? fix.time : now,
        expected: fix.time.advanced(by: after))
    }
    object.forecasts = expected.map(\.fence)
  }

  /// Calls `body` with the fences near a way, and how far a place is from where each is entered.
  private mutating func forEachFence(
    on way: GeodesicWay, of fix: Fix, besides inside: [Membership], _ body: (_ fence: Int, _ distance: (Point) -> Double?) -> Void
  ) {
    let (level, inside) = (monitor.buffer + radius(fix), FenceIDs(inside))
    for row in rows(in: way.boxes(within: level)) {
      let fence = store.id(ofPresent: row)
      guard !inside.contains(fence), !fences.isOwn || fence != fix.number, admits(row), let shape = shape(row, fence) else { continue }
      effort += 200_000
      body(fence) { [geodesy] in shape.distance(to: $0, within: .infinity, geodesy).map { $0 - level } }
    }
  }
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

  /// How far it is to where a signed distance is no more positive; nil if it never is.
  func entry(_ distance: (Point) -> Double?) -> Double? {
    var entry: Double?
    trace(distance) { at, value in
      if value <= 0 { entry = at }
      return value > 0
    }
    return entry
  }

  /// Where a signed distance is negative, without what reaches either end.
  func stretches(_ distance: (Point) -> Double?) -> [ClosedRange<Double>] {
    var (stretches, entry, wasOutside) = ([ClosedRange<Double>](), Double?.none, false)
    trace(distance) { at, value in
      if value > 0 {
        if let start = entry { stretches.append(start...at) }
        (entry, wasOutside) = (nil, true)
      } else if wasOutside, entry == nil {
        entry = at
      }
      return true
    }
    return stretches
  }

  /// Calls `body` with distances along the way until it returns false.
  ///
  /// It changes by no more than the metres travelled, so it says how far one can go without missing a change of its sign.
  private func trace(_ distance: (Point) -> Double?, _ body: (_ at: Double, _ value: Double) -> Bool) {
    var (at, step) = (0.0, 0.5)
    for count in 0... {
      guard let value = distance(position(at)), body(at, value), at < length else { return }
      // At a fence's edge steps are short: after many they grow.
      if count % 256 == 255 { step *= 4 }
      at = min(at + max(abs(value), step), length)
    }
  }
}
