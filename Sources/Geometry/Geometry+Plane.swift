// What is measured and moved in the plane. Z and M are kept.

import Platform

extension Geometry {
  /// The most positions that an operation may make of one geometry.
  public static let mostPositions = 10_000_000

  /// The length of lines, and of the rings of polygons.
  public var planarLength: Double {
    guard dimension > 0 else { return 0 }
    var length = 0.0
    for part in flattened where part.dimension > 0 { part.forEachPositions { length += $0.length } }
    return length
  }

  /// The area of polygons: of each its outer ring less the holes, whatever their direction.
  public var planarArea: Double {
    flattened.flatMap(\.polygons).reduce(0) { sum, rings in
      sum + rings.enumerated().reduce(0) { $0 + ($1.offset == 0 ? 1 : -1) * abs($1.element.doubledArea) / 2 }
    }
  }

  /// The only part of a collection of one, and a collection of a single type as its multipart type.
  package func part(ofDimension dimension: Int) -> Geometry {
    let parts = flattened.filter { $0.dimension == dimension && !$0.isEmpty }
    if parts.count == 1 { return parts[0] }
    guard let whole = Geometry.collection(parts).uniform, !parts.isEmpty else {
      return dimension == 2 ? .polygon([]) : dimension == 1 ? .lineString(Positions()) : .point(nil)
    }
    return whole
  }

  // MARK: Densifying

  /// The number of positions of ``densified(_:)``; infinite where there is no such number.
  public func densifiedCount(_ length: Double) -> Double {
    var count = 0.0
    for part in flattened {
      part.forEachPositions { line in
        count += Double(line.count) + (part.dimension > 0 ? line.length / length : 0)
      }
    }
    return count
  }

  /// Segments divided equally, so that none is longer than a length. All coordinates are interpolated.
  public func densified(_ length: Double) -> Geometry {
    if case .collection(let parts) = self { return .collection(parts.map { $0.densified(length) }) }
    guard dimension > 0 else { return self }
    return mapPositions { line in
      let stride = line.stride
      var values: [Double] = []
      for base in Swift.stride(from: 0, to: line.values.count - stride, by: stride) {
        let (start, end) = (line.values[base..<base + stride], line.values[base + stride..<base + 2 * stride])
        values += start
        let pieces = (hypot(end[base + stride] - start[base], end[base + stride + 1] - start[base + 1]) / length).rounded(.up)
        guard pieces > 1 else { continue }
        for piece in 1..<Int(pieces) {
          let part = Double(piece) / pieces
          values += zip(start, end).map { $0 + part * ($1 - $0) }
        }
      }
      values += line.values.suffix(stride)
      return Positions(values: values, hasZ: line.hasZ, hasM: line.hasM)
    }
  }

  // MARK: Moving

  /// Each position moved: x and y to `body`'s, Z by `dz`.
  public func moved(z dz: Double = 0, _ body: (Double, Double) -> (Double, Double)) -> Geometry {
    mapPositions { (positions: Positions) -> Positions in
      var moved = positions
      let (stride, hasZ) = (positions.stride, positions.hasZ)
      moved.withMutableValues { values in
        for base in Swift.stride(from: 0, to: values.count, by: stride) {
          (values[base], values[base + 1]) = body(values[base], values[base + 1])
          if hasZ { values[base + 2] += dz }
        }
      }
      return moved
    }
  }

  // MARK: Nearest

  /// A place of a geometry, and how far it is.
  public struct Nearest: Hashable, Sendable {
    public let point: Point
    public let distance: Double
    /// Index of the line, ring or point, and in it of the position, or of the one where the segment begins.
    public let part: Int
    public let vertex: Int

    public init(point: Point, distance: Double, part: Int, vertex: Int) {
      (self.point, self.distance, self.part, self.vertex) = (point, distance, part, vertex)
    }
  }

  /// The position nearest to a point; nil if there is none.
  public func nearestVertex(to point: Point) -> Nearest? {
    nearest { line, index, _ in
      let vertex = line[index]
      return (vertex, hypot(vertex.x - point.x, vertex.y - point.y))
    }
  }

  /// The place on lines and outlines nearest to a point; of points the nearest one. Z and M are interpolated.
  public func nearestCoordinate(to point: Point) -> Nearest? {
    nearest { line, index, isLine in
      let start = line[index]
      guard isLine, index + 1 < line.count else { return (start, hypot(start.x - point.x, start.y - point.y)) }
      let end = line[index + 1]
      let (x, y) = (end.x - start.x, end.y - start.y)
      let length = x * x + y * y
      let part = length == 0 ? 0 : min(max(((point.x - start.x) * x + (point.y - start.y) * y) / length, 0), 1)
      func mix(_ a: Double?, _ b: Double?) -> Double? { a.flatMap { a in b.map { a + part * ($0 - a) } } }
      let place = part == 1 ? end : Point(x: start.x + part * x, y: start.y + part * y, z: mix(start.z, end.z), m: mix(start.m, end.m))
      return (place, hypot(place.x - point.x, place.y - point.y))
    }
  }

  private func nearest(_ place: (_ line: Positions, _ index: Int, _ isLine: Bool) -> (Point, Double)) -> Nearest? {
    var best: Nearest?
    var part = 0
    for member in flattened {
      let isLine = member.dimension > 0
      member.forEachPositions { line in
        for index in 0..<line.count {
          let (point, distance) = place(line, index, isLine)
          guard best.map({ distance < $0.distance }) ?? true else { continue }
          best = Nearest(point: point, distance: distance, part: isLine ? part : part + index, vertex: isLine ? index : 0)
        }
        part += isLine ? 1 : line.count
      }
    }
    return best
  }
}

extension Geometry {
  /// Whether a place is within a polygon or on its outline, by the even-odd rule. Polygons of a collection may overlap.
  public func covers(x: Double, y: Double) -> Bool {
    let point = Point(x: x, y: y)
    return flattened.flatMap(\.polygons).contains { rings in rings.count { $0.encloses(point) } % 2 == 1 }
  }
}

extension Positions {
  /// Whether a point is within a ring, by the even-odd rule.
  package func encloses(_ point: Point) -> Bool {
    guard count > 2 else { return false }
    var (isInside, last) = (false, self[count - 1])
    for index in 0..<count {
      let next = self[index]
      defer { last = next }
      guard (last.y > point.y) != (next.y > point.y) else { continue }
      if point.x < last.x + (next.x - last.x) * (point.y - last.y) / (next.y - last.y) { isInside.toggle() }
    }
    return isInside
  }
}
