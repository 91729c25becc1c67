// The nearest found so far.

/// A feature and its distance.
public struct Neighbour: Hashable, Sendable {
  public let row: UInt32
  public let id: Int
  /// In metres, or planar in units of the reference.
  public let distance: Double
  /// Degrees clockwise from north, from the place; 0 in the plane.
  public let azimuth: Double
}

/// At most ``capacity`` neighbours within a distance, sorted: ties by id.
///
/// Ids are read where distances are equal, and at the end: reading a feature costs more than everything else here.
struct NeighbourList {
  struct Entry {
    let row: UInt32
    let distance: Double
    var azimuth = 0.0
    /// As it is in the index; of a point.
    var position = SIMD2<Double>.zero
  }

  let capacity: Int
  private let radius: Double
  private(set) var found: [Entry] = []

  init(capacity: Int, radius: Double) {
    (self.capacity, self.radius) = (capacity, radius)
    found.reserveCapacity(min(capacity, 64) + 1)
  }

  /// What is farther away is none of the nearest.
  @inline(__always)
  var limit: Double { found.count < capacity ? radius : found[found.count &- 1].distance }

  mutating func insert(_ neighbour: Entry, of store: FeatureStore) {
    guard neighbour.distance <= limit else { return }
    if found.count == capacity {
      guard let last = found.last, Self.isBefore(neighbour, last, store) else { return }
    } else {
      found.append(neighbour)
    }
    // Moves what is behind it, in place.
    found.withUnsafeMutableBufferPointer { found in
      var index = found.count - 1
      while index > 0, Self.isBefore(neighbour, found[index - 1], store) {
        found[index] = found[index - 1]
        index -= 1
      }
      found[index] = neighbour
    }
  }

  @inline(__always)
  private static func isBefore(_ left: Entry, _ right: Entry, _ store: FeatureStore) -> Bool {
    left.distance != right.distance ? left.distance < right.distance : isBeforeByID(left, right, store)
  }

  @inline(never)
  private static func isBeforeByID(_ left: Entry, _ right: Entry, _ store: FeatureStore) -> Bool {
    (store[left.row]?.id ?? 0) < (store[right.row]?.id ?? 0)
  }

  /// The neighbours with their ids.
  func neighbours(of store: FeatureStore) -> [Neighbour] {
    found.map { each in
      Neighbour(row: each.row, id: store[each.row]?.id ?? 0, distance: each.distance, azimuth: each.azimuth)
    }
  }

  /// The same with the roots of the distances. Different squares may have one root: ties are then by id.
  func rooted(_ store: FeatureStore) -> NeighbourList {
    var list = NeighbourList(capacity: capacity, radius: .infinity)
    for each in found { list.insert(Entry(row: each.row, distance: each.distance.squareRoot()), of: store) }
    return list
  }
}
