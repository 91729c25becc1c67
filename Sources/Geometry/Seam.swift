// The edge at which a map that goes around the world is cut, and geometries in one piece across it.

/// A reference that goes around the world: x and x + width are one place. What crosses the edge is written beyond it, or cut there in two.
public struct Seam: Hashable, Sendable {
  public let west: Double
  public let width: Double
  public var east: Double { west + width }

  public init(west: Double, width: Double) { (self.west, self.width) = (west, width) }

  /// Files write the edge with a rounding error.
  private var tolerance: Double { width * 1e-10 }

  public func isOn(_ x: Double) -> Bool { isSame(x, west) }

  /// Whether two x are one place.
  public func isSame(_ x: Double, _ other: Double) -> Bool { abs((x - other).remainder(dividingBy: width)) <= tolerance }

  /// Whether a box meets the edge.
  public func reaches(_ box: Envelope) -> Bool { box.xMin <= west + tolerance || box.xMax >= east - tolerance }

  /// Whether a box goes on beyond the edge.
  public func exceeds(_ box: Envelope) -> Bool { box.xMin < west - tolerance || box.xMax > east + tolerance }

  /// Whether the edge, in any turn of the world, is within a box.
  public func crosses(_ box: Envelope) -> Bool {
    ((box.xMin + tolerance - west) / width).rounded(.down) < ((box.xMax - tolerance - west) / width).rounded(.up) - 1
  }

  /// Whether a box goes around the world.
  public func isGirdled(by box: Envelope) -> Bool { box.width >= width - tolerance }

  fileprivate func snapped(_ x: Double) -> Double {
    abs(x - west) <= tolerance ? west : abs(x - east) <= tolerance ? east : x
  }
}

/// A geometry of one dimension whose pieces are side by side across the edge of the world.
public struct UnrolledGeometry: Sendable {
  private struct Part {
    let geometry: Geometry
    /// The whole turns by which it is moved.
    let turns: Double
    /// Whether it ends at the eastern edge, or begins there: then another may continue it.
    let isCut: Bool
  }

  private let seam: Seam
  private let parts: [Part]

  /// Nil for a collection of several dimensions.
  public init?(_ geometry: Geometry, _ seam: Seam) {
    guard let geometry = geometry.uniform else { return nil }
    self.seam = seam
    parts = geometry.pieces.compactMap { piece in
      let piece = piece.mapX(seam.snapped)
      guard let box = piece.envelope else { return nil }
      var turns = -((box.center.x - seam.west) / seam.width).rounded(.down)
      let (low, high) = (seam.snapped(box.xMin + turns * seam.width), seam.snapped(box.xMax + turns * seam.width))
      // Cut there: it goes on from what ends at the eastern edge.
      if low == seam.west, high < seam.east { turns += 1 }
      return Part(geometry: piece, turns: turns, isCut: low == seam.west || high == seam.east)
    }
  }

  /// The geometry, moved by whole turns: what is to be united, as it continues across the edge, and the rest.
  ///
  /// Each x is moved once: places that are written alike stay alike.
  public func pieces(at turn: Double) -> (cut: Geometry?, others: Geometry?) {
    func all(_ isCut: Bool) -> Geometry? {
      let found = parts.filter { $0.isCut == isCut }
      let moved = found.map { part in
        let shift = (part.turns + turn) * seam.width
        return part.geometry.mapX { x in seam.snapped(x + shift) }
      }
      return found.isEmpty ? nil : Geometry.collection(moved).uniform
    }
    return (all(true), all(false))
  }
}

extension Geometry {
  /// The points, lines or polygons that a geometry consists of.
  package var pieces: [Geometry] {
    switch self {
    case .multiPoint(let points): points.points.map { .point($0) }
    case .multiLineString(let lines): lines.map { .lineString($0) }
    case .multiPolygon(let polygons): polygons.map { .polygon($0) }
    case .collection(let parts): parts.flatMap(\.pieces)
    case .point, .lineString, .polygon: [self]
    }
  }

  /// The geometry with another x of each position.
  package func mapX(_ body: (Double) -> Double) -> Geometry {
    mapPositions { $0.mapX(body) }
  }
}

extension Positions {
  package func mapX(_ body: (Double) -> Double) -> Positions {
    var moved = self
    let stride = stride
    moved.withMutableValues { values in
      for index in Swift.stride(from: 0, to: values.count, by: stride) { values[index] = body(values[index]) }
    }
    return moved
  }
}
