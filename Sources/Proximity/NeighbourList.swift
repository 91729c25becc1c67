// The list of the nearest features found so far.

import FeatureStore

/// A feature and its distance.
public struct Neighbour: Hashable, Sendable {
  public let row: UInt32
  public let id: Int
  /// In metres, or planar in units of the reference.
  public let distance: Double
  /// Degrees clockwise from north, from the place; 0 in the plane.
  public let azimuth: Double

  /// Ascending by distance, ties by id.
  static func isBefore(_ left: Neighbour, _ right: Neighbour) -> Bool {
    left.distance != right.distance ? left.distance < right.distance : left.id < right.id
  }
}

/// The nearest of the inserted features within a distance; ties are resolved by id.
///
/// Ids are only read for equal distances, and at the end, because reading a feature costs more than everything else here. Methods
/// take the query instead of its store, because each copy of a store counts a dozen references.
struct NeighbourList<Detail: BitwiseCopyable> {
  struct Entry: BitwiseCopyable {
    let distance: Double
    let row: UInt32
    let detail: Detail
  }

  /// Up to this capacity the list is sorted, which takes half of the time of a heap.
  private static var sortedCapacity: Int { 64 }

  private let capacity: Int
  /// Features beyond this distance are not among the nearest.
  private(set) var limit: Double
  /// Sorted up to ``sortedCapacity``; above it a heap, farthest first: entry i is not nearer than entries 2i and 2i + 1, counted
  /// from 1.
  private(set) var entries: [Entry] = []

  init(capacity: Int, radius: Double) {
    (self.capacity, limit) = (capacity, radius)
    entries.reserveCapacity(min(capacity, Self.sortedCapacity))
  }

  /// The greatest distance; nil without entries.
  var greatestDistance: Double? { (isSorted ? entries.last : entries.first)?.distance }

  private var isSorted: Bool { capacity <= Self.sortedCapacity }

  /// - Complexity: O(log capacity) above ``sortedCapacity``.
  @inline(__always)
  mutating func insert(_ distance: Double, _ row: UInt32, _ detail: Detail, of query: NearestQuery) {
    guard distance <= limit else { return }
    let entry = Entry(distance: distance, row: row, detail: detail)
    if isSorted { sort(entry, query) } else { heap(entry, query) }
  }

  /// Whether a feature that is at least this far away could be inserted.
  func admits(_ bound: Double, _ row: UInt32, of query: NearestQuery) -> Bool {
    guard bound == limit, entries.count == capacity, let worst = isSorted ? entries.last : entries.first else {
      return bound <= limit
    }
    return Self.isBeforeByID(row, worst.row, query)
  }

  private mutating func sort(_ entry: Entry, _ query: NearestQuery) {
    if entries.count < capacity {
      entries.append(entry)
    } else {
      guard Self.isBefore(entry, entries[capacity &- 1], query) else { return }
    }
    entries.withUnsafeMutableBufferPointer { list in
      var place = list.count &- 1
      while place > 0, Self.isBefore(entry, list[place &- 1], query) {
        list[place] = list[place &- 1]
        place &-= 1
      }
      list[place] = entry
      if list.count == capacity { limit = list[capacity &- 1].distance }
    }
  }

  private mutating func heap(_ entry: Entry, _ query: NearestQuery) {
    if entries.count < capacity {
      entries.append(entry)
      rise(entry, query)
    } else if Self.isBefore(entry, entries[0], query) {
      sink(entry, query)
    }
    if entries.count == capacity { limit = entries[0].distance }
  }

  /// Moves the last entry up to its place in the heap.
  private mutating func rise(_ entry: Entry, _ query: NearestQuery) {
    var place = entries.count
    while place > 1, Self.isBefore(entries[place / 2 - 1], entry, query) {
      entries[place - 1] = entries[place / 2 - 1]
      place /= 2
    }
    entries[place - 1] = entry
  }

  /// Replaces the first entry of the heap.
  private mutating func sink(_ entry: Entry, _ query: NearestQuery) {
    var place = 1
    while 2 * place <= entries.count {
      var next = 2 * place
      if next < entries.count, Self.isBefore(entries[next - 1], entries[next], query) { next += 1 }
      guard Self.isBefore(entry, entries[next - 1], query) else { break }
      entries[place - 1] = entries[next - 1]
      place = next
    }
    entries[place - 1] = entry
  }

  @inline(__always)
  private static func isBefore(_ left: Entry, _ right: Entry, _ query: NearestQuery) -> Bool {
    left.distance != right.distance ? left.distance < right.distance : isBeforeByID(left.row, right.row, query)
  }

  @inline(never)
  private static func isBeforeByID(_ left: UInt32, _ right: UInt32, _ query: NearestQuery) -> Bool {
    query.store.id(ofPresent: left) < query.store.id(ofPresent: right)
  }

  /// The neighbours in order.
  func neighbours(of query: NearestQuery, _ measure: (Entry) -> (distance: Double, azimuth: Double)) -> [Neighbour] {
    var all = entries.map { each in
      let (distance, azimuth) = measure(each)
      return Neighbour(row: each.row, id: query.store.id(ofPresent: each.row), distance: distance, azimuth: azimuth)
    }
    all.sort(by: Neighbour.isBefore)
    return all
  }
}
