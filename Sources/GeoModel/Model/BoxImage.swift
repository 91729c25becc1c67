// Where the features of a box in another reference can be: boxes of their own that leave none out, for the index.

import Geometry

extension CoordinateTransformer {
  /// Boxes that hold every position of `target` within `extent` whose place in `source` lies in `box`.
  ///
  /// The box is transformed at the points of a grid. Between those a smooth map leaves their range by less than its second
  /// differences, by which the range is widened; where the map breaks off those are as large as the break. Where a pole is
  /// inside, all longitudes are. Some 100 microseconds.
  /// - Returns: nil when no boxes are known to, as where the box leaves the world of `source`.
  public func boxes(
    holding box: Envelope, of source: SpatialReference, in target: SpatialReference, within extent: Envelope
  ) -> [Envelope]? {
    guard let from = try? describe(source), let to = try? describe(target) else { return nil }
    guard var box = clipped(box, to: from) else { return [] }
    // What lies beyond the edge of a map without poles counts as lying at it: a box up to the edge goes on without end.
    let limit = PolarLimit(from, self)
    box = limit?.clamped(box) ?? box
    let isAtEdge = limit.map { (south: box.yMin == $0.y.lowerBound, north: box.yMax == $0.y.upperBound) }
    // Beyond the size of the world the grid might step over it.
    let largest = from.kind == .geographic ? 360 : worldLength / (from.metersPerUnit ?? 1)
    guard box.width <= largest * 1.001, box.height <= largest * 1.001 else { return nil }
    let wrap = WorldWrap(to, self)
    // The other way around the grid ends before the pole, which has no place to compute with.
    let hasPoles = from.kind != .geographic || PolarLimit(to, self) == nil
    let beyond = hasPoles ? (south: false, north: false) : (south: box.yMin < -nearPole, north: box.yMax > nearPole)
    if beyond.south || beyond.north {
      (box.yMin, box.yMax) = (min(max(box.yMin, -nearPole), nearPole), max(min(box.yMax, nearPole), -nearPole))
    }
    guard let grid = SampleGrid(box, self, from: source, to: target, period: wrap?.width) else { return nil }

    var held = grid.bounds
    // What leads there and what leads back may come from different data, which differ by metres.
    let slack = (wrap?.width ?? worldLength / (to.metersPerUnit ?? metersPerDegree)) * 1e-6
    held.widen(x: grid.bend.x + slack, y: grid.bend.y + slack)
    var caps: [Envelope] = []
    if wrap != nil || PolarLimit(to, self) != nil {
      if beyond.south || isAtEdge?.south == true { held.yMin = -.greatestFiniteMagnitude }
      if beyond.north || isAtEdge?.north == true { held.yMax = .greatestFiniteMagnitude }
    } else if let isAtEdge {
      // Only in cylindrical maps what lies beyond is straight on.
      let (edge, pole) = (PolarLimit.latitude, 90.0)
      for (isThere, south, north) in [(isAtEdge.south, -pole, -edge), (isAtEdge.north, edge, pole)] where isThere {
        let cap = Envelope(xMin: -180, yMin: south, xMax: 180, yMax: north)
        guard let found = boxes(holding: cap, of: .wgs84, in: target, within: extent) else { return nil }
        caps += found
      }
    }
    let poles = from.kind == .geographic ? (south: false, north: false) : poles(near: box, of: source)
    if poles.south || poles.north {
      // There Mercator's y has no limit; where the pole lies at infinity in another way, nothing has.
      guard wrap != nil || PolarLimit(to, self) != nil else {
        return PolarLimit.latitudes(near: to, self) == nil ? [held] : nil
      }
      if poles.south { held.yMin = -.greatestFiniteMagnitude }
      if poles.north { held.yMax = .greatestFiniteMagnitude }
      return [held.moved(toX: extent.xMin, extent.xMax)]
    }
    guard let wrap else { return [held] + caps }
    // With less than a quarter of a turn from point to point they go around the world around no cell of the grid.
    guard grid.largestStep < wrap.width / 4, held.width < wrap.width else {
      return [held.moved(toX: extent.xMin, extent.xMax)]
    }
    return wrap.turns(of: held, meeting: extent)
  }

  /// What of a box can have positions in it: none come out beyond the edges of a world that goes around.
  private func clipped(_ box: Envelope, to info: SpatialReferenceInfo) -> Envelope? {
    var box = box
    if let wrap = WorldWrap(info, self) {
      box = box.moved(toX: max(box.xMin, wrap.xMin), min(box.xMax, wrap.xMax))
    }
    if info.kind == .geographic { (box.yMin, box.yMax) = (max(box.yMin, -90), min(box.yMax, 90)) }
    return box.xMin <= box.xMax && box.yMin <= box.yMax ? box : nil
  }

  /// Whether poles lie in a box or less than a cell of the grid away: there longitudes and Mercator's y change without limit.
  private func poles(near box: Envelope, of source: SpatialReference) -> (south: Bool, north: Bool) {
    var near = box
    near.widen(x: box.width / Double(SampleGrid.steps), y: box.height / Double(SampleGrid.steps))
    func isNear(_ latitude: Double) -> Bool {
      guard let pole = try? transform(Point(x: 0, y: latitude), from: .wgs84, to: source) else { return false }
      return near.contains(x: pole.x, y: pole.y)
    }
    return (isNear(-90), isNear(90))
  }
}

/// Degrees up to which Mercator's y is computed with.
private let nearPole = 89.0

/// Metres around the equator.
private let worldLength = 360 * metersPerDegree

/// What becomes of a box's points: a grid of them, edges included.
private struct SampleGrid {
  static let steps = 16
  private static let side = steps + 1

  /// Around them; x goes on beyond the world's edge where there is a period.
  private(set) var bounds = Envelope.none
  /// The largest second differences along the grid's lines.
  private(set) var bend = (x: 0.0, y: 0.0)
  /// The largest difference of x between neighbours.
  private(set) var largestStep = 0.0

  /// Nil when one has no place in `target`.
  ///
  /// - Parameter period: after how much x is the same again.
  init?(
    _ box: Envelope, _ transformer: any CoordinateTransformer, from source: SpatialReference,
    to target: SpatialReference, period: Double?
  ) {
    var values: [Double] = []
    values.reserveCapacity(2 * Self.side * Self.side)
    for row in 0...Self.steps {
      let up = Double(row) / Double(Self.steps)
      for column in 0...Self.steps {
        let along = Double(column) / Double(Self.steps)
        // Both ends exactly.
        values.append(box.xMin * (1 - along) + box.xMax * along)
        values.append(box.yMin * (1 - up) + box.yMax * up)
      }
    }
    do {
      try values.withUnsafeMutableBufferPointer { buffer in
        try transformer.transform(buffer, stride: 2, hasZ: false, from: source, to: target)
        if let period { Self.unroll(buffer, period) }
        measure(buffer)
      }
    } catch { return nil }
  }

  /// Takes each x to the turn where it is nearest to that of its neighbour.
  private static func unroll(_ values: UnsafeMutableBufferPointer<Double>, _ period: Double) {
    for place in 1..<(side * side) {
      let neighbour = place.isMultiple(of: side) ? place - side : place - 1
      values[2 * place] += ((values[2 * neighbour] - values[2 * place]) / period).rounded() * period
    }
  }

  private mutating func measure(_ values: UnsafeMutableBufferPointer<Double>) {
    for row in 0..<Self.side {
      for column in 0..<Self.side {
        let place = 2 * (row * Self.side + column)
        bounds.include(x: values[place], y: values[place + 1])
        compare(values, place, with: 2, before: column)
        compare(values, place, with: 2 * Self.side, before: row)
      }
    }
  }

  /// A point with those that lie `step` numbers before it, of which there are `count`.
  private mutating func compare(
    _ values: UnsafeMutableBufferPointer<Double>, _ place: Int, with step: Int, before count: Int
  ) {
    guard count > 0 else { return }
    let (x, y) = (values[place] - values[place - step], values[place + 1] - values[place + 1 - step])
    largestStep = max(largestStep, abs(x))
    guard count > 1 else { return }
    bend.x = max(bend.x, abs(x - (values[place - step] - values[place - 2 * step])))
    bend.y = max(bend.y, abs(y - (values[place + 1 - step] - values[place + 1 - 2 * step])))
  }
}

extension WorldWrap {
  /// A box as often as it meets `extent`, whole turns away; all of the extent's width when that is often.
  fileprivate func turns(of box: Envelope, meeting extent: Envelope) -> [Envelope] {
    let first = ((extent.xMin - box.xMax) / width).rounded(.up)
    let last = ((extent.xMax - box.xMin) / width).rounded(.down)
    guard first <= last else { return [] }
    guard last - first < 8 else { return [box.moved(toX: extent.xMin, extent.xMax)] }
    return stride(from: first, through: last, by: 1).map { turn in
      box.moved(toX: box.xMin + turn * width, box.xMax + turn * width)
    }
  }
}

extension Envelope {
  fileprivate mutating func widen(x: Double, y: Double) {
    self = Envelope(xMin: xMin - x, yMin: yMin - y, xMax: xMax + x, yMax: yMax + y)
  }
}
