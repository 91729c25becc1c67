// Which features are fences, which of them may hold a fix, and whether one does.

import FeatureStore
import Geometry
import Proximity
import SpatialIndex

extension FenceJudge {
  /// The radius of the circle that is compared with fences.
  func radius(_ fix: Fix) -> Double { monitor.accuracyMode == .geometryWithAccuracy ? max(fix.accuracy, 0) : 0 }

  /// Whether a feature is a fence, by the filters.
  func admits(_ row: UInt32) -> Bool {
    if let filter = fences.filter, !(store[row].map(filter.isTrue) ?? false) { return false }
    guard let features else { return true }
    guard let conditions = fences.conditions else { return !features.shown([row]).isEmpty }
    return store[row].map { row in conditions.allSatisfy { $0.isTrue(for: row) } } ?? false
  }

  /// Whether a fence holds a fix by the monitor's relation.
  ///
  /// - Parameter staying: whether the object is inside already.
  mutating func holds(_ row: UInt32, _ fence: Int, _ fix: Fix, staying: Bool) -> Bool {
    let isStrict =
      switch monitor.relation {
      case .enterIntersectsExitDoesNotIntersect: false
      case .enterContainsExitDoesNotContain: true
      case .enterContainsExitDoesNotIntersect: !staying
      }
    let radius = radius(fix)
    let reach = isStrict ? monitor.buffer - radius : monitor.buffer + radius
    if let point = fences.reference == .wgs84 ? store[row]?.point : nil, monitor.buffer > 0 || radius > 0 {
      effort += 200
      return FenceShape.isWithin(reach, fix.position, Point(x: point.x, y: point.y), geodesy)
    }
    guard let shape = shape(row, fence) else { return false }
    guard monitor.buffer > 0 || radius > 0 else {
      effort += 200
      return places(of: fix.position).contains { shape.holds($0, strictly: isStrict) }
    }
    effort += 1000
    return shape.isWithin(reach, of: fix.position, geodesy)
  }

  mutating func shape(_ row: UInt32, _ fence: Int) -> FenceShape? {
    if let known = watch.fences?.shapes[fence] { return known }
    guard let geometry = store[row]?.geometry else { return nil }
    effort += 8000
    let projector = fences.reference == .wgs84 ? nil : try? GeometryProjector(from: fences.reference, to: .wgs84, transformer)
    let needsDistances =
      monitor.buffer > 0 || monitor.accuracyMode == .geometryWithAccuracy || monitor.reportsCrossings || monitor.forecastHorizon > 0
    let place: (Geometry) throws -> Geometry = { try projector?.project($0) {} ?? $0 }
    let shape = FenceShape(geometry, needsDistances ? place : nil)
    if watch.fences?.shapes.count ?? 0 >= FenceSet.shapeLimit { watch.fences?.shapes = [:] }
    watch.fences?.shapes[fence] = shape
    return shape
  }

  /// A position in the coordinates of the fences, with its copies whole turns away that fences may have.
  private func places(of position: Point) -> [SIMD2<Double>] {
    guard let extent = store.extent else { return [] }
    var place = position
    if fences.reference != .wgs84 {
      guard let moved = try? transformer.transform(position, from: .wgs84, to: fences.reference) else { return [] }
      place = moved
    }
    guard let width = fences.wrap?.width else { return [SIMD2(place.x, place.y)] }
    return [0, -width, width].compactMap { turn in
      place.x + turn >= extent.xMin && place.x + turn <= extent.xMax ? SIMD2(place.x + turn, place.y) : nil
    }
  }

  /// The features that may hold a fix, in no order.
  mutating func rows(near fix: Fix) -> [UInt32] {
    let reach = monitor.buffer + radius(fix)
    guard reach == 0 else { return rows(in: [FenceShape.box(around: fix.position, within: reach)]) }
    let places = places(of: fix.position)
    var found = FoundRows()
    for place in places { store.index.search(Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y), into: &found) }
    guard found.count > 0 else { return [] }
    let rows = found.withRows { Array($0) }
    // Where a place has two longitudes, a fence may be found by both.
    return places.count > 1 ? Array(Set(rows)) : rows
  }

  /// The features whose box meets boxes in longitude and latitude, each once.
  mutating func rows(in boxes: [Envelope]) -> [UInt32] {
    guard let extent = store.extent else { return [] }
    let searched = boxes.flatMap { box -> [Envelope] in
      guard fences.reference != .wgs84 else {
        return [0, -360, 360].map { Envelope(xMin: box.xMin + $0, yMin: box.yMin, xMax: box.xMax + $0, yMax: box.yMax) }
          .filter(extent.intersects)
      }
      return transformer.boxes(holding: box, of: .wgs84, in: fences.reference, within: extent) ?? [extent]
    }
    let rows = store.rows(in: searched)
    effort += 1000 * boxes.count + 20 * rows.count
    return rows
  }
}
