// Fences on the way: those that an object crossed between two fixes, neither of them inside, and those that it is about to enter.

import Geometry
import Proximity

extension FenceJudge {
  /// Begins with what the object may have crossed on the geodesic from the fix before.
  mutating func beginCrossings(_ judgement: inout Judgement) {
    guard let start = judgement.previous?.position, let line = try? geodesy.inverse(from: start, to: judgement.object.fix.position) else {
      return judgement.begin(.crossings, [])
    }
    let way = GeodesicWay(start: start, azimuth: line.startAzimuth, length: line.distance, geodesy: geodesy)
    begin(.crossings, on: line.distance > 0 ? way : nil, &judgement)
  }

  mutating func concludeCrossings(_ found: [Judgement.Finding], _ judgement: inout Judgement) {
    judgement.steps = found.sorted { ($1.at, $1.isEnd ? 0 : 1, $1.fence) < ($0.at, $0.isEnd ? 0 : 1, $0.fence) }.map {
      Judgement.Step($0.isEnd ? .exit : .enter, $0.fence, at: $0.at)
    }
  }

  mutating func cross(_ step: Judgement.Step, _ judgement: inout Judgement) {
    guard let way = judgement.way, let old = judgement.previous else { return }
    let fix = judgement.object.fix
    let time = old.time.advanced(by: fix.time.seconds(since: old.time) * step.at / way.length)
    let position = way.position(step.at)
    if step.kind == .exit {
      report(.exit, .crossed, fix, step.fence, at: time, position: position, from: old.position)
    } else {
      enter(step.fence, &judgement.object, .crossed, at: time, position: position, from: old.position)
    }
  }

  /// Begins with fences that the object may enter at its speed and course.
  mutating func beginForecasts(_ judgement: inout Judgement) {
    let fix = judgement.object.fix
    var way: GeodesicWay?
    if !judgement.isForgotten, let speed = fix.speed, let course = fix.course, speed > 0, speed.isFinite, course.isFinite {
      // Nothing is as far away as half of the earth's circumference.
      let length = min(speed * monitor.forecastHorizon, 20_000_000)
      if length > 0 { way = GeodesicWay(start: fix.position, azimuth: course, length: length, geodesy: geodesy) }
    }
    begin(.forecasts, on: way, &judgement)
  }

  mutating func concludeForecasts(_ found: [Judgement.Finding], _ judgement: inout Judgement) {
    let kept = FenceIDs(found.map(\.fence) + judgement.inside.ids)
    let known = FenceIDs(judgement.object.forecasts)
    let expected = found.sorted { ($1.at, $1.fence) < ($0.at, $0.fence) }.filter { !known.contains($0.fence) }
    judgement.steps =
      expected.map { Judgement.Step(.forecast, $0.fence, at: $0.at) }
      + known.ids.reversed().filter { !kept.contains($0) }.map { Judgement.Step(.withdrawn, $0) }
    // Those inside are expected no more, which their entry has said.
    judgement.object.forecasts = known.ids.filter { !judgement.inside.contains($0) }
  }

  /// Reports a fence that the object will enter, or one that it will enter no more.
  mutating func forecast(_ step: Judgement.Step, _ judgement: inout Judgement) {
    let (fix, cause, fence) = (judgement.object.fix, judgement.cause, step.fence)
    let time = judgement.isByFix ? fix.time : now
    if step.kind == .withdrawn {
      let ended = judgement.isForgotten ? cause : ending(fence, judgement.isByFix ? .turnedAway : cause)
      report(.withdrawn, ended, fix, fence, at: time)
      effort += judgement.object.forecasts.count
      judgement.object.forecasts.removeAll { $0 == fence }
    } else {
      report(
        .forecast, judgement.isByFix ? .approaching : cause, fix, fence, at: time, expected: fix.time.advanced(by: step.at))
      judgement.object.forecasts.append(fence)
    }
  }

  private mutating func begin(_ stage: Judgement.Stage, on way: GeodesicWay?, _ judgement: inout Judgement) {
    judgement.way = way
    judgement.begin(stage, way.map { rows(in: $0.boxes(within: monitor.buffer + radius(judgement.object.fix))) } ?? [])
  }

  /// Finds where a way comes to a fence, by how far its places are from where the fence is entered.
  mutating func compare(_ row: UInt32, _ fence: Int, onWayOf judgement: inout Judgement) {
    guard !judgement.inside.contains(fence), admits(row), let shape = shape(row, fence), let way = judgement.way else { return }
    let level = monitor.buffer + radius(judgement.object.fix)
    var count = 0
    func distance(_ place: Point) -> Double? {
      count += 1
      return shape.distance(to: place, within: .infinity, geodesy).map { $0 - level }
    }
    if judgement.stage == .crossings {
      for stretch in way.stretches(distance) {
        judgement.found.append((stretch.lowerBound, false, fence))
        judgement.found.append((stretch.upperBound, true, fence))
      }
    } else if let speed = judgement.object.fix.speed, let entry = way.entry(distance) {
      judgement.found.append((entry / speed, false, fence))
    }
    effort += 8000 * count
  }
}

/// The geodesic between two fixes.
struct GeodesicWay: Sendable {
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
