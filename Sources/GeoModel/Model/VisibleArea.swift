// The visible area of a view in degrees. Around a pole or across the antimeridian, the screen's corners alone do not determine it.

import Geometry

/// The part of the world on the screen of a view, in a geographic reference.
public struct VisibleArea: Sendable {
  /// Closed rings with longitudes in -180...180, from west to east. A ring around a pole is closed along it.
  public let rings: [Positions]
  /// The box around the visible area; `xMin > xMax` if it crosses the antimeridian.
  public let box: Envelope
}

extension View {
  /// The visible area of a view whose reference does not wrap around the world.
  ///
  /// The edges of the screen are sampled in steps of at most a degree of longitude. Between three samples a smooth curve departs
  /// from the line by at most an eighth of their second difference, by which the box is widened. Inside an area, latitude and
  /// longitude have no extremes except at poles, so all extremes are on its edges.
  ///
  /// If a position on an edge of the screen has no coordinates in `target`, as beyond the edge of a map of the whole world, the
  /// area is the world.
  ///
  /// - Complexity: some hundred transformations.
  public func visibleArea(
    in target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws(TransformError) -> VisibleArea {
    let world = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    var outline: ScreenOutline
    do throws(TransformError) { outline = try ScreenOutline(self, in: target, transformer) } catch {
      guard case .outsideDomain = error else { throw error }
      return VisibleArea(rings: [world.ring], box: world)
    }
    let (hasSouth, hasNorth) = (shows(pole: -90, of: target, transformer), shows(pole: 90, of: target, transformer))
    if hasSouth && hasNorth { return VisibleArea(rings: [world.ring], box: world) }
    var box = outline.bounds
    if hasSouth || hasNorth {
      let pole = hasNorth ? 90.0 : -90.0
      outline.close(along: pole)
      box = Envelope(xMin: -180, yMin: min(box.yMin, pole), xMax: 180, yMax: max(box.yMax, pole))
    } else if box.width >= 360 {
      (box.xMin, box.xMax) = (-180, 180)
    } else {
      let turns = ((box.xMin + 180) / 360).rounded(.down)
      box = box.moved(toX: box.xMin - turns * 360, box.xMax - turns * 360)
      if box.xMax > 180 { box.xMax -= 360 }
    }
    (box.yMin, box.yMax) = (max(box.yMin, -90), min(box.yMax, 90))
    return VisibleArea(rings: outline.turns, box: box)
  }

  private func shows(pole: Double, of reference: SpatialReference, _ transformer: any CoordinateTransformer) -> Bool {
    guard let point = try? transformer.transform(Point(x: 0, y: pole), from: reference, to: self.reference.reference)
    else { return false }
    let (x, y) = screenPoint(of: point)
    return x >= 0 && x <= screen.width && y >= 0 && y <= screen.height
  }
}

/// The edges of a screen in degrees, longitudes continued beyond ±180.
private struct ScreenOutline {
  /// Initial steps per edge, which are halved where longitude changes fast.
  private static let steps = 32
  private static let halvings = 12

  private let view: View
  private let target: SpatialReference
  private let transformer: any CoordinateTransformer
  private var points: [Point] = []
  /// Indexes of the screen's corners, where the outline has a real bend.
  private var corners: Set<Int> = []

  init(_ view: View, in target: SpatialReference, _ transformer: any CoordinateTransformer) throws(TransformError) {
    (self.view, self.target, self.transformer) = (view, target, transformer)
    let (width, height) = (view.screen.width, view.screen.height)
    let ends = [(0, height), (width, height), (width, 0), (0, 0), (0, height)]
    points = [try point(ends[0].0, ends[0].1)]
    for (start, end) in zip(ends, ends.dropFirst()) {
      corners.insert(points.count - 1)
      var from = start
      for step in 1...Self.steps {
        let part = Double(step) / Double(Self.steps)
        let to = (start.0 + (end.0 - start.0) * part, start.1 + (end.1 - start.1) * part)
        try append(try point(to.0, to.1), from: from, to: to, halvings: Self.halvings)
        from = to
      }
    }
  }

  private func point(_ x: Double, _ y: Double) throws(TransformError) -> Point {
    try transformer.transform(view.location(x: x, y: y), from: view.reference.reference, to: target)
  }

  /// Appends the point of `to`, and points before it while longitude changes by more than a degree.
  private mutating func append(
    _ point: Point, from: (Double, Double), to: (Double, Double), halvings: Int
  ) throws(TransformError) {
    let last = points[points.count - 1]
    let x = point.x + ((last.x - point.x) / 360).rounded() * 360
    guard abs(x - last.x) > 1, halvings > 0 else { return points.append(Point(x: x, y: point.y)) }
    let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2)
    try append(try self.point(middle.0, middle.1), from: from, to: middle, halvings: halvings - 1)
    try append(point, from: middle, to: to, halvings: halvings - 1)
  }

  /// The box around the outline, widened by the possible distance of the curve from the line between samples.
  var bounds: Envelope {
    var box = Envelope.none
    for point in points { box.include(x: point.x, y: point.y) }
    var bend = (x: 0.0, y: 0.0)
    for index in points.indices.dropFirst(2) where !corners.contains(index - 1) {
      let (a, b, c) = (points[index - 2], points[index - 1], points[index])
      bend = (max(bend.x, abs(a.x - 2 * b.x + c.x)), max(bend.y, abs(a.y - 2 * b.y + c.y)))
    }
    return Envelope(
      xMin: box.xMin - bend.x / 8, yMin: box.yMin - bend.y / 8, xMax: box.xMax + bend.x / 8,
      yMax: box.yMax + bend.y / 8)
  }

  /// Completes an outline around a pole, which ends a turn away from its start.
  mutating func close(along pole: Double) {
    guard let first = points.first, let last = points.last else { return }
    points += [Point(x: last.x, y: pole), Point(x: first.x, y: pole), first]
  }

  /// The outline within each turn of the world, moved to -180...180.
  var turns: [Positions] {
    guard let box = Geometry.multiPoint(Positions(points)).envelope else { return [] }
    let first = ((box.xMin + 180) / 360).rounded(.down)
    let last = ((box.xMax + 180) / 360).rounded(.down)
    return stride(from: first, through: last, by: 1).compactMap { turn in
      let piece = Positions(points).clipped(fromX: turn * 360 - 180, toX: turn * 360 + 180)
      // Rounding leaves slivers at the edge of the world.
      guard let box = Geometry.multiPoint(piece).envelope, box.width > 1e-9 else { return nil }
      return Positions(piece.points.map { Point(x: $0.x - turn * 360, y: $0.y) })
    }
  }
}

extension Envelope {
  fileprivate var ring: Positions {
    Positions(values: [xMin, yMin, xMax, yMin, xMax, yMax, xMin, yMax, xMin, yMin])
  }
}
