// The geometries of a chunk or a batch: points packed, others as values.

import Geometry
import SpatialIndex

/// Geometries by row.
///
/// While all are points without M, or absent, coordinates are columns of numbers. An x of NaN then marks a missing
/// position, and y its kind: 0 no geometry, 1 an empty point. A point that contains NaN is kept as a `Geometry`.
package struct GeometryColumn: Sendable {
  private(set) var x: [Double] = []
  private(set) var y: [Double] = []
  /// Empty while no point has a z; NaN for a point without one.
  private(set) var z: [Double] = []
  /// Used instead of the columns once a row is not a packable point.
  private(set) var others: [Geometry?] = []
  private(set) var isPacked = true

  package init() {}

  package init(_ geometries: [Geometry?]) {
    if case .point?? = geometries.first { reserve(geometries.count) } else { others.reserveCapacity(geometries.count) }
    for (row, geometry) in geometries.enumerated() { set(geometry, at: row) }
  }

  package init(x: [Double], y: [Double], z: [Double]) {
    self.x = x
    self.y = y
    self.z = z
    // NaN in either coordinate means an unknown position.
    for row in x.indices where x[row].isNaN || y[row].isNaN {
      self.x[row] = .nan
      self.y[row] = 0
    }
  }

  package var count: Int { isPacked ? x.count : others.count }

  /// The type of geometries that differ.
  static let mixedType = "Unknown"

  /// The simple features type of all geometries; nil if there are none.
  var typeName: String? {
    guard !isPacked else { return x.indices.contains { has($0) } ? "Point" : nil }
    var type: String?
    for case let geometry? in others {
      let own = geometry.typeName
      guard type ?? own == own else { return Self.mixedType }
      type = own
    }
    return type
  }

  /// Whether a position has a Z above 0.
  var rises: Bool {
    guard !isPacked else { return z.contains { $0 > 0 } }
    return others.contains { geometry in
      var rises = false
      geometry?.forEachPositions { run in
        rises = rises || run.hasZ && Swift.stride(from: 2, to: run.values.count, by: run.stride).contains { run.values[$0] > 0 }
      }
      return rises
    }
  }

  /// Whether a row has a geometry, even an empty one.
  @inline(__always)
  package func has(_ row: Int) -> Bool {
    guard row < count else { return false }
    return isPacked ? !x[row].isNaN || y[row] == 1 : others[row] != nil
  }

  /// Whether every row has a point in the columns.
  var isEveryPacked: Bool {
    guard isPacked else { return false }
    // The loop vectorizes.
    var missing = 0
    for x in x { missing &+= x == x ? 0 : 1 }
    return missing == 0
  }

  /// Whether every row has a point in the columns that is in the index.
  var isEveryFinite: Bool {
    guard isPacked else { return false }
    // A number that is not finite is NaN times 0. The loop vectorizes.
    var missing = 0
    for row in x.indices { missing &+= x[row] * 0 == 0 && y[row] * 0 == 0 ? 0 : 1 }
    return missing == 0
  }

  package subscript(row: Int) -> Geometry? {
    guard row < count else { return nil }
    guard isPacked else { return others[row] }
    if x[row].isNaN { return y[row] == 1 ? .point(nil) : nil }
    let z = row < z.count && !z[row].isNaN ? z[row] : nil
    return .point(Point(x: x[row], y: y[row], z: z))
  }

  /// The index entry of the row; nil without a finite box.
  func indexed(_ row: Int) -> IndexedGeometry? {
    guard row < count else { return nil }
    guard isPacked else {
      if case .point(let point?)? = others[row] { return IndexedGeometry(x: point.x, y: point.y) }
      return others[row]?.envelope.flatMap(IndexedGeometry.init)
    }
    return IndexedGeometry(x: x[row], y: y[row])
  }

  /// The rows that have y outside of a range. O(positions).
  func rowsOutside(_ range: ClosedRange<Double>) -> [Int] {
    guard isPacked else {
      return others.indices.filter { row in
        others[row]?.envelope.map { $0.yMin < range.lowerBound || $0.yMax > range.upperBound } ?? false
      }
    }
    // The loop vectorizes; the rows are only collected if there are any. For a missing position y is 0 or 1.
    var isAnyOutside = false
    for y in y { isAnyOutside = isAnyOutside || y < range.lowerBound || y > range.upperBound }
    return isAnyOutside ? y.indices.filter { y[$0] < range.lowerBound || y[$0] > range.upperBound } : []
  }

  @inline(__always)
  mutating func appendNone() {
    guard isPacked else { return others.append(nil) }
    x.append(.nan)
    y.append(0)
    if !z.isEmpty { z.append(.nan) }
  }

  mutating func pad(to rows: Int) {
    while count < rows { appendNone() }
  }

  @inline(__always)
  mutating func setPoint(x: Double, y: Double, z: Double?, at row: Int) {
    guard isPacked, !x.isNaN, !y.isNaN else { return set(.point(Point(x: x, y: y, z: z)), at: row) }
    pad(to: row &+ 1)
    self.x[row] = x
    self.y[row] = y
    if let z { setZ(z, at: row) } else if row < self.z.count { self.z[row] = .nan }
  }

  private mutating func setZ(_ value: Double, at row: Int) {
    z.reserveCapacity(x.capacity)
    while z.count < x.count { z.append(.nan) }
    z[row] = value
  }

  mutating func set(_ geometry: Geometry?, at row: Int) {
    pad(to: row + 1)
    if isPacked {
      switch geometry {
      case nil, .point(nil)?:
        x[row] = .nan
        y[row] = geometry == nil ? 0 : 1
        if row < z.count { z[row] = .nan }
        return
      case .point(let point?)? where point.m == nil && !point.x.isNaN && !point.y.isNaN:
        return setPoint(x: point.x, y: point.y, z: point.z, at: row)
      default: unpack()
      }
    }
    others[row] = geometry
  }

  private mutating func unpack() {
    others = (0..<count).map { self[$0] }
    isPacked = false
    x = []
    y = []
    z = []
  }

  /// Adds `rows` of a batch after row `start`.
  mutating func append(_ batch: GeometryColumn, _ rows: Range<Int>, at start: Int) {
    pad(to: start)
    guard isPacked, batch.isPacked else {
      for row in rows { set(batch[row], at: start + row - rows.lowerBound) }
      return
    }
    let end = start + rows.count
    x.grow(to: end)
    y.grow(to: end)
    x.append(contentsOf: batch.x[rows])
    y.append(contentsOf: batch.y[rows])
    if !z.isEmpty || !batch.z.isEmpty {
      z.grow(to: end)
      while z.count < start { z.append(.nan) }
      if batch.z.isEmpty {
        while z.count < end { z.append(.nan) }
      } else {
        z.append(contentsOf: batch.z[rows])
      }
    }
  }

  /// The point of a row that is stored in the columns.
  @inline(__always)
  func packedPoint(_ row: Int) -> (x: Double, y: Double, z: Double?)? {
    guard isPacked, row < x.count, !x[row].isNaN else { return nil }
    return (x[row], y[row], row < z.count && !z[row].isNaN ? z[row] : nil)
  }

  /// Adds one row of another column.
  @inline(__always)
  package mutating func append(_ other: GeometryColumn, _ row: Int) {
    if isPacked, z.isEmpty, other.z.isEmpty, let point = other.packedPoint(row) {
      x.append(point.x)
      y.append(point.y)
    } else {
      set(other[row], at: count)
    }
  }

  mutating func truncate(to rows: Int) {
    x.truncate(to: rows)
    y.truncate(to: rows)
    z.truncate(to: rows)
    others.truncate(to: rows)
  }

  /// Approximate memory in bytes.
  var byteCount: Int {
    let packed = (x.count + y.count + z.count) * 8
    return others.reduce(packed) { sum, geometry in
      var sum = sum + 80
      geometry?.forEachPositions { sum += $0.values.count * 8 + 32 }
      return sum
    }
  }

  mutating func reserve(_ rows: Int) {
    x.reserveCapacity(rows)
    y.reserveCapacity(rows)
  }
}

extension Array {
  /// Makes room for `count` elements of a chunk's column: doubles, up to a full chunk.
  mutating func grow(to count: Int) {
    if count > capacity { reserveCapacity(Swift.max(count, Swift.min(capacity * 2, FeatureChunk.capacity))) }
  }

  /// Drops the elements after `count`.
  mutating func truncate(to count: Int) {
    if self.count > count { removeLast(self.count - count) }
  }
}
