// The nearest found so far.

/// A feature and its distance.
public struct Neighbour: Hashable, Sendable {
  public let row: UInt32
  public let id: Int
  /// In metres, or planar in units of the reference.
  public let distance: Double
  /// Degrees clockwise from north, from the place; 0 in the plane.
  public var azimuth = 0.0

  @inline(__always)
  func isBefore(_ other: Neighbour) -> Bool {
    distance != other.distance ? distance < other.distance : id < other.id
  }
}

/// At most ``capacity`` neighbours within a distance, sorted: ties by id.
struct NeighbourList {
  let capacity: Int
  private let radius: Double
  private(set) var found: [Neighbour] = []

  init(capacity: Int, radius: Double) {
    (self.capacity, self.radius) = (capacity, radius)
    found.reserveCapacity(min(capacity, 64) + 1)
  }

  /// What is farther away is none of the nearest.
  @inline(__always)
  var limit: Double { found.count < capacity ? radius : found[found.count &- 1].distance }

  @inline(never)
  mutating func insert(_ neighbour: Neighbour) {
    guard neighbour.distance <= limit else { return }
    if found.count == capacity {
      guard let last = found.last, neighbour.isBefore(last) else { return }
      found.removeLast()
    }
    var index = found.count
    // Few are behind it, as most are found in about their order.
    while index > 0, neighbour.isBefore(found[index - 1]) { index -= 1 }
    found.insert(neighbour, at: index)
  }
}
