// Positions of a line, ring or multipoint in one flat array: one allocation whatever the length.

/// Positions of one layout, stored x, y[, z][, m] one after the other.
public struct Positions: Hashable, Sendable {
  public let hasZ: Bool
  public let hasM: Bool
  /// `count * stride` numbers.
  public private(set) var values: [Double]

  public var stride: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }
  public var count: Int { values.count / stride }
  public var isEmpty: Bool { values.isEmpty }

  public init(hasZ: Bool = false, hasM: Bool = false) {
    self.init(values: [], hasZ: hasZ, hasM: hasM)
  }

  /// - Precondition: `values.count` is a multiple of the layout's stride.
  public init(values: [Double], hasZ: Bool = false, hasM: Bool = false) {
    self.hasZ = hasZ
    self.hasM = hasM
    self.values = values
    precondition(values.count.isMultiple(of: stride))
  }

  /// Takes the layout of the first point. A coordinate missing in a later point becomes NaN; an additional one is
  /// dropped.
  public init(_ points: [Point]) {
    self.init(hasZ: points.first?.z != nil, hasM: points.first?.m != nil)
    values.reserveCapacity(points.count * stride)
    for point in points { append(point) }
  }

  public mutating func append(_ point: Point) {
    values.append(point.x)
    values.append(point.y)
    if hasZ { values.append(point.z ?? .nan) }
    if hasM { values.append(point.m ?? .nan) }
  }

  public subscript(index: Int) -> Point {
    let base = index * stride
    return Point(
      x: values[base], y: values[base + 1],
      z: hasZ ? values[base + 2] : nil,
      m: hasM ? values[base + (hasZ ? 3 : 2)] : nil)
  }

  /// Whether x and y are finite, and Z and M unless they are NaN, which means unknown.
  public var isFinite: Bool {
    let stride = stride
    return values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count, by: stride) {
        guard values[base].isFinite, values[base + 1].isFinite else { return false }
        for index in base + 2..<base + stride where values[index].isInfinite { return false }
      }
      return true
    }
  }

  /// Whether some positions have a Z, and others have none.
  public var lacksZ: Bool { hasZ && lacks(2) }

  /// Whether some but not all positions have M.
  public var lacksM: Bool { hasM && lacks(hasZ ? 3 : 2) }

  private func lacks(_ ordinate: Int) -> Bool {
    Swift.stride(from: ordinate, to: values.count, by: stride).contains { values[$0].isNaN }
  }

  public var points: [Point] { (0..<count).map { self[$0] } }

  /// Changes the numbers in place. Their count cannot change.
  public mutating func withMutableValues<E: Error>(
    _ body: (UnsafeMutableBufferPointer<Double>) throws(E) -> Void
  ) throws(E) {
    try values.withUnsafeMutableBufferPointer { (buffer) throws(E) in try body(buffer) }
  }
}

extension [Double] {
  /// Appends x and y of each position.
  public mutating func append(xy positions: Positions) {
    let stride = positions.stride
    guard stride > 2 else {
      append(contentsOf: positions.values)
      return
    }
    for start in Swift.stride(from: 0, to: positions.values.count, by: stride) {
      append(positions.values[start])
      append(positions.values[start + 1])
    }
  }
}
