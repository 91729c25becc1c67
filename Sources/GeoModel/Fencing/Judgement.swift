// One object's judgement at one fix, as a value that can wait between any two fences.

import FeatureStore
import Geometry

/// What a feed says of one of its objects, until it is judged.
enum FeedEntry: Sendable {
  case fix(Fix, GeotriggerEvent.Cause)
  case purged(Int)
}

/// In stages, each of which compares fences, then reports what it found.
struct Judgement: Sendable {
  enum Stage { case crossings, memberships, forecasts }

  /// A fence that matters: where the way comes to it or leaves it, in metres or seconds; that the object stays or comes inside.
  typealias Finding = (at: Double, isEnd: Bool, fence: Int)

  struct Step: Sendable {
    let kind: GeotriggerEvent.Kind
    let fence: Int
    let at: Double

    init(_ kind: GeotriggerEvent.Kind, _ fence: Int, at: Double = 0) { (self.kind, self.fence, self.at) = (kind, fence, at) }
  }

  var object: TrackedObject
  /// The fix before; nil if the same one is judged again.
  let previous: Fix?
  let cause: GeotriggerEvent.Cause
  /// When it began.
  let now: Instant
  /// Whether all ends, and the object is forgotten.
  var isForgotten = false
  private(set) var stage: Stage?
  var isComparing = false
  /// The way of crossings and forecasts.
  var way: GeodesicWay?
  /// What the object was inside of when the stage began.
  private(set) var inside = FenceIDs([Int]())
  /// What is still to be compared: rows, or ids once it has waited, as rows may be others then.
  private var rows: [UInt32] = []
  private var waiting: [Int] = []
  var found: [Finding] = []
  /// What is still to be reported, the last first.
  var steps: [Step] = []

  init(of fix: Fix, known: TrackedObject?, previous: Fix?, _ cause: GeotriggerEvent.Cause, now: Instant) {
    object = known ?? TrackedObject(fix: fix)
    object.fix = fix
    (self.previous, self.cause, self.now) = (previous, cause, now)
  }

  /// The next fence to compare.
  mutating func next(in store: FeatureStore) -> UInt32? {
    if let row = rows.popLast() { return row }
    while let id = waiting.popLast() { if let row = store.row(of: id) { return row } }
    return nil
  }

  var isByFix: Bool { cause == .moved }

  mutating func begin(_ stage: Stage, _ rows: [UInt32]) {
    (self.stage, self.rows, isComparing) = (stage, rows, true)
    inside = FenceIDs(object.inside)
  }

  mutating func pause(_ store: FeatureStore) {
    if !rows.isEmpty { waiting = rows.map(store.id(ofPresent:)) }
    rows = []
  }
}
