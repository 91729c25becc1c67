// Relations between instants and intervals, by the Time Ontology in OWL (W3C and OGC 16-071r3).

import Calendar

/// A time from a start to an end, both included. The start and end of an instant are equal.
struct Period: Hashable, Sendable {
  /// A position on the time line. An open start is before all others, an open end after them.
  struct Bound: Hashable, Comparable, Sendable {
    private let seconds: Int64
    private let nanoseconds: Int64

    init(_ time: CivilTime) { (seconds, nanoseconds) = (time.seconds, time.nanoseconds) }
    private init(seconds: Int64) { (self.seconds, nanoseconds) = (seconds, 0) }

    static let past = Bound(seconds: .min)
    static let future = Bound(seconds: .max)

    static func < (left: Bound, right: Bound) -> Bool {
      (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
  }

  let start: Bound
  let end: Bound

  init(_ time: CivilTime) {
    start = Bound(time)
    end = start
  }

  /// Nil if the end is before the start.
  init?(start: Bound, end: Bound) {
    guard start <= end else { return nil }
    (self.start, self.end) = (start, end)
  }
}

enum TemporalRelation: Sendable {
  case after, before, disjoint, equals, intersects
  case contains, during, finishes, finishedBy, meets, metBy, overlaps, overlappedBy, starts, startedBy

  func holds(_ a: Period, _ b: Period) -> Bool {
    switch self {
    case .after: a.start > b.end
    case .before: a.end < b.start
    case .disjoint: a.start > b.end || a.end < b.start
    case .intersects: a.start <= b.end && a.end >= b.start
    case .equals: a == b
    case .contains: a.start < b.start && a.end > b.end
    case .during: a.start > b.start && a.end < b.end
    case .finishes: a.end == b.end && a.start > b.start
    case .finishedBy: a.end == b.end && a.start < b.start
    case .meets: a.end == b.start
    case .metBy: a.start == b.end
    case .overlaps: a.start < b.start && a.end > b.start && a.end < b.end
    case .overlappedBy: a.start > b.start && a.start < b.end && a.end > b.end
    case .starts: a.start == b.start && a.end < b.end
    case .startedBy: a.start == b.start && a.end > b.end
    }
  }
}
