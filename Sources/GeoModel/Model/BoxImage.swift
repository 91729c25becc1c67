// The images of a box in another reference: boxes that contain every feature in it, for a query of the spatial index.

import Geometry

extension CoordinateTransformer {
  /// Boxes that contain every position of `target` within `extent` whose position in `source` is in `box`.
  ///
  /// The box is transformed at the points of a grid. Between grid points, a smooth projection exceeds their range by less than
  /// its second differences, by which the range is widened; at a discontinuity the second differences are as large as the jump.
  /// If a pole is inside, all longitudes are included. Takes about 100 microseconds.
  ///
  /// - Returns: nil if no such boxes are known, for example if the box exceeds the world of `source`.
  public func boxes(
    holding box: Envelope, of source: SpatialReference, in target: SpatialReference, within extent: Envelope
  ) -> [Envelope]? {
    guard let from = try? describe(source), let to = try? describe(target) else { return nil }
    guard var box = clipped(box, to: from) else { return [] }
    // A map with poles at infinity is clamped there: a box up to the edge extends to infinity.
    let limit = PolarLimit(from, self)
    box = limit?.clamped(box) ?? box
    let isAtEdge = limit.map { (south: box.yMin == $0.y.lowerBound, north: box.yMax == $0.y.upperBound) }
    // In a box larger than the world, the world could lie between two points of the grid.
    let largest = from.kind == .geographic ? from.turn : worldLength / (from.metersPerUnit ?? 1)
    guard box.width <= largest * 1.001, box.height <= largest * 1.001 else { return nil }
    let wrap = WorldWrap(to, self)
    var extent = extent
    if let wrap, let longest = try? bend(from: target, to: source) {
      let length = max(extent.width, extent.height)
      let more = length > longest ? max(length / 2, wrap.width) : length / 2
      extent.widen(x: more, y: more)
    }
    // In the opposite direction the grid ends before the pole, which has no finite coordinates.
    let hasPoles = !from.isInDegrees || PolarLimit(to, self) == nil
    let beyond = hasPoles ? (south: false, north: false) : (south: box.yMin < -nearPole, north: box.yMax > nearPole)
    if beyond.south || beyond.north {
      (box.yMin, box.yMax) = (min(max(box.yMin, -nearPole), nearPole), max(min(box.yMax, nearPole), -nearPole))
    }
    guard let grid = SampleGrid(box, self, from: source, to: target, period: wrap?.width) else { return nil }

    var image = grid.bounds
    // The transformations of the two directions may use different grid files, which differ by metres.
    let slack = (wrap?.width ?? worldLength / (to.metersPerUnit ?? metersPerDegree)) * 1e-6
    image.widen(x: grid.bend.x + slack, y: grid.bend.y + slack)
    var caps: [Envelope] = []
    if wrap.map({ !$0.isTilted }) ?? (PolarLimit(to, self) != nil) {
      if beyond.south || isAtEdge?.south == true { image.yMin = -.greatestFiniteMagnitude }
      if beyond.north || isAtEdge?.north == true { image.yMax = .greatestFiniteMagnitude }
    } else if let isAtEdge {
      // Only in cylindrical maps do positions beyond the edge continue straight on.
      let (edge, pole) = (PolarLimit.latitude, 90.0)
      for (isThere, south, north) in [(isAtEdge.south, -pole, -edge), (isAtEdge.north, edge, pole)] where isThere {
        let cap = Envelope(xMin: -180, yMin: south, xMax: 180, yMax: north)
        guard let found = boxes(holding: cap, of: .wgs84, in: target, within: extent) else { return nil }
        caps += found
      }
    }
    let poles = from.isInDegrees && !to.isTilted ? (south: false, north: false) : poles(near: box, of: source, in: to)
    if poles.south || poles.north {
      // At a pole, Mercator's y is unbounded; other projections with poles at infinity are unbounded in x and y.
      guard wrap != nil || PolarLimit(to, self) != nil else {
        return PolarLimit.latitudes(near: to, self) == nil ? [image] : nil
      }
      if poles.south { image.yMin = -.greatestFiniteMagnitude }
      if poles.north { image.yMax = .greatestFiniteMagnitude }
      return [image.moved(toX: extent.xMin, extent.xMax)] + caps
    }
    guard let wrap else { return [image] + caps }
    // With steps of less than a quarter turn, no cell of the grid can span the edge of the world unnoticed.
    guard grid.largestStep < wrap.width / 4, image.width < wrap.width else {
      return [image.moved(toX: extent.xMin, extent.xMax)] + caps
    }
    return wrap.turns(of: image, meeting: extent) + caps
  }

  /// How long a geometry can be so that its edges, straight in `target`, are within half of its length around its box, in units of
  /// `source`: a thousand kilometres. Nil if they are within the box.
  public func bend(from source: SpatialReference, to target: SpatialReference) throws(TransformError) -> Double? {
    let (from, to) = (try describe(source), try describe(target))
    guard !WorldWrap.keepsLines(WorldWrap(from, self), WorldWrap(to, self)) else { return nil }
    return 1e6 / (from.metersPerUnit ?? metersPerDegree * 360 / from.turn)
  }

  /// The part of a box that can contain positions: the part inside the world, if the reference wraps.
  private func clipped(_ box: Envelope, to info: SpatialReferenceInfo) -> Envelope? {
    var box = box
    if let wrap = WorldWrap(info, self) {
      box = box.moved(toX: max(box.xMin, wrap.xMin), min(box.xMax, wrap.xMax))
    }
    if info.kind == .geographic { (box.yMin, box.yMax) = (max(box.yMin, -info.turn / 4), min(box.yMax, info.turn / 4)) }
    return box.xMin <= box.xMax && box.yMin <= box.yMax ? box : nil
  }

  /// Whether the box has a pole inside or within a cell of the grid: longitudes and Mercator's y change without limit
  /// there.
  private func poles(near box: Envelope, of source: SpatialReference, in target: SpatialReferenceInfo) -> (south: Bool, north: Bool) {
    var near = box
    near.widen(x: box.width / Double(SampleGrid.steps), y: box.height / Double(SampleGrid.steps))
    func isNear(_ latitude: Double) -> Bool {
      let (place, frame) =
        target.isTilted ? (Point(x: 0, y: latitude / 360 * target.turn), target.reference) : (Point(x: 0, y: latitude), .wgs84)
      guard let pole = try? transform(place, from: frame, to: source) else { return false }
      return near.contains(x: pole.x, y: pole.y)
    }
    return (isNear(-90), isNear(90))
  }
}

/// Maximum latitude for computing Mercator's y, in degrees.
private let nearPole = 89.0

/// Length of the equator, in metres.
private let worldLength = 360 * metersPerDegree

/// The image of a box: a grid of its points, edges included.
private struct SampleGrid {
  static let steps = 16
  private static let side = steps + 1

  /// Extent of the image; x continues beyond the edge of the world if there is a period.
  private(set) var bounds = Envelope.none
  /// Maximum second differences along the lines of the grid.
  private(set) var bend = (x: 0.0, y: 0.0)
  /// Maximum difference of x between neighbours.
  private(set) var largestStep = 0.0

  /// Nil if a point has no coordinates in `target`.
  ///
  /// - Parameter period: the period of x in the target.
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
        // This form is exact at both ends.
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

  /// Shifts each x by whole turns to be nearest to its neighbour's.
  private static func unroll(_ values: UnsafeMutableBufferPointer<Double>, _ period: Double) {
    for index in 1..<(side * side) {
      let neighbour = index.isMultiple(of: side) ? index - side : index - 1
      values[2 * index] += ((values[2 * neighbour] - values[2 * index]) / period).rounded() * period
    }
  }

  private mutating func measure(_ values: UnsafeMutableBufferPointer<Double>) {
    for row in 0..<Self.side {
      for column in 0..<Self.side {
        let index = 2 * (row * Self.side + column)
        bounds.include(x: values[index], y: values[index + 1])
        compare(values, index, with: 2, before: column)
        compare(values, index, with: 2 * Self.side, before: row)
      }
    }
  }

  /// Measures the differences of a point to its predecessors in one direction.
  ///
  /// - Parameters:
  ///   - step: distance of the predecessors in `values`.
  ///   - count: number of predecessors.
  private mutating func compare(
    _ values: UnsafeMutableBufferPointer<Double>, _ index: Int, with step: Int, before count: Int
  ) {
    guard count > 0 else { return }
    let (x, y) = (values[index] - values[index - step], values[index + 1] - values[index + 1 - step])
    largestStep = max(largestStep, abs(x))
    guard count > 1 else { return }
    bend.x = max(bend.x, abs(x - (values[index - step] - values[index - 2 * step])))
    bend.y = max(bend.y, abs(y - (values[index + 1 - step] - values[index + 1 - 2 * step])))
  }
}

extension WorldWrap {
  /// The copies of a box, whole turns apart, that meet `extent`; one box as wide as the extent if there would be many.
  fileprivate func turns(of box: Envelope, meeting extent: Envelope) -> [Envelope] {
    let first = ((extent.xMin - box.xMax) / width).rounded(.up)
    let last = ((extent.xMax - box.xMin) / width).rounded(.down)
    guard first <= last else { return [] }
    guard last - first < 8 else { return [box.moved(toX: extent.xMin, extent.xMax)] }
    return stride(from: first, through: last, by: 1).map { box.moved(byX: $0 * width) }
  }
}

extension Envelope {
  fileprivate mutating func widen(x: Double, y: Double) {
    self = Envelope(xMin: xMin - x, yMin: yMin - y, xMax: xMax + x, yMax: yMax + y)
  }
}
