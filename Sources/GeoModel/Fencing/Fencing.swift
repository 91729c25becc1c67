// The live state of geotriggers: the last fix of each object, what it is inside of, and what happened. None of it is saved or undone.

import DequeModule
import Expressions
import FeatureStore
import Filtering
import Geometry
import Proximity

/// What a feed says of one of its objects at one time.
public struct Fix: Sendable {
  /// The id of the object: that of the location source, or a track's.
  public var object: Text
  /// The object's number in its feed: 0 for that of a location source, the entity's otherwise.
  public var number: Int
  public var time: Instant
  /// Longitude and latitude in degrees on WGS 84.
  public var position: Point
  /// The horizontal accuracy in metres.
  public var accuracy = 0.0
  /// In metres per second.
  public var speed: Double?
  /// In degrees clockwise from true north.
  public var course: Double?
  /// The observation that has further attributes. Its number, as its row would keep the columns from being written in place.
  var observation: Int?

  public init(
    object: Text, number: Int = 0, time: Instant, position: Point, accuracy: Double = 0, speed: Double? = nil, course: Double? = nil
  ) {
    (self.object, self.number, self.time, self.position) = (object, number, time, position)
    (self.accuracy, self.speed, self.course) = (accuracy, speed, course)
  }
}

/// A transition of an object over a fence.
public struct GeotriggerEvent: Sendable {
  public enum Kind: String, Sendable { case enter, exit, forecast, withdrawn, sequence }
  public enum Cause: String, Sendable {
    case moved, dwelled, crossed, approaching, turnedAway, completed
    case fenceChanged, fenceMoved, fenceRemoved, filterChanged, objectPurged, monitorStarted, monitorStopped
  }
  public let number: Int
  public let kind: Kind
  public let cause: Cause
  public let object: Text
  public let fence: Int
  /// The id of the layer or overlay.
  public let fences: Text
  public let rule: GeotriggerRule
  public let time: Instant
  public let position: Point
  public let previousPosition: Point?
  /// When a forecast says that the object enters.
  public let expectedTime: Instant?
  /// Null without one.
  public let message: AttributeValue
  public let actions: [Text]
}

/// An object of a feed, as last judged.
struct TrackedObject: Sendable {
  var fix: Fix
  var inside: [Membership] = []
  /// Fences that it is expected to enter.
  var forecasts: [Int] = []
  /// For each step of the sequence but the last, when the latest run that has come so far began.
  var runs: [Instant?] = []
}

/// That an object is inside a fence.
public struct Membership: Sendable {
  public let fence: Int
  public internal(set) var since: Instant
  /// When it has entered; nil once it has.
  var due: Instant?
}

/// The fences of memberships: mostly few, but an object can be inside of thousands.
struct FenceIDs {
  let ids: [Int]
  private let many: Set<Int>?

  init(_ memberships: [Membership]) { self.init(memberships.map(\.fence)) }

  init(_ ids: [Int]) {
    self.ids = ids
    many = ids.count > 16 ? Set(ids) : nil
  }

  func contains(_ fence: Int) -> Bool { many?.contains(fence) ?? ids.contains(fence) }
}

/// Objects to judge again after an edit, or for the first time after a start; a part at a time.
struct Rejudging: Sendable {
  /// The edited fences; nil for all.
  var fences: Set<Int>?
  var cause: GeotriggerEvent.Cause
  /// The objects that this concerns, in descending order; nil for all, and for all of the feed when the monitor starts.
  var objects: [Int]?
  var isStart = false
  /// Of all, those up to this number have been judged.
  var last = Int.min

  init(fences: Set<Int>? = nil, cause: GeotriggerEvent.Cause) { (self.fences, self.cause) = (fences, cause) }

  mutating func merge(_ other: Rejudging) {
    if let more = other.fences { fences?.formUnion(more) } else { fences = nil }
    if let own = objects, let more = other.objects {
      objects = Set(own).union(more).sorted(by: >)
    } else if !(isStart && other.objects != nil) {
      objects = nil
      last = .min
    }
    cause = other.cause
  }
}

/// What one monitor knows.
struct Watch: Sendable {
  /// By their numbers in the feed.
  private(set) var objects = Numbered<TrackedObject>()
  /// The objects inside of each fence, also those whose dwell time has not passed.
  var holders: [Int: Set<Int>] = [:]
  var insideCount = 0
  var (eventCount, lateCount, inaccurateCount) = (0, 0, 0)
  /// The last ones, at least as many as clients may ask for.
  var events: [GeotriggerEvent] = []
  /// Memberships that wait for the minimum dwell, in the order in which they are due. Those that have ended meanwhile stay.
  var dwelling: [(due: Instant, object: Int, fence: Int)] = []
  var rejudging: Rejudging?
  /// A judgement that takes long, and what came after it.
  var current: Judgement?
  var waiting: Deque<FeedEntry> = []
  var fences: FenceSet?

  var isBehind: Bool { current != nil || !waiting.isEmpty }

  /// Number of events that are kept.
  static let eventLimit = 1000

  /// Sets what is known of an object, and who is inside of what; nil forgets it.
  ///
  /// - Parameter old: what was known before.
  mutating func set(_ object: TrackedObject?, at number: Int, from old: TrackedObject?) {
    replace(object, at: number)
    let (before, now) = (FenceIDs(old?.inside ?? []), FenceIDs(object?.inside ?? []))
    for fence in before.ids where !now.contains(fence) {
      holders[fence]?.remove(number)
      if holders[fence]?.isEmpty == true { holders[fence] = nil }
    }
    for fence in now.ids where !before.contains(fence) { holders[fence, default: []].insert(number) }
  }

  /// Sets what is known of an object; nil forgets it.
  mutating func replace(_ object: TrackedObject?, at number: Int) {
    if let object { objects.insert(object, at: number) } else { _ = objects.remove(number) }
  }

  mutating func append(_ event: GeotriggerEvent) {
    events.append(event)
    // Dropped a thousand at a time, as each time moves the others.
    if events.count >= 2 * Self.eventLimit { events.removeFirst(Self.eventLimit) }
  }

  mutating func await(_ due: Instant, _ object: Int, _ fence: Int) {
    let index = dwelling.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
    dwelling.insert((due, object, fence), at: index)
  }
}

/// Where a monitor's fences are, and what is kept to test them quickly.
struct FenceSet: Sendable {
  let object: ObjectReference
  let reference: SpatialReference
  /// Of a reference that goes around the world.
  let wrap: WorldWrap?
  let filter: BoundSource?
  /// The filters of a layer; nil where no conditions say them.
  let conditions: [CompiledExpression]?
  /// Whether the fences are the objects of the feed, of which none is its own fence.
  let isOwn: Bool
  /// By feature id.
  var shapes: [Int: FenceShape] = [:]

  /// Maximum number of shapes that are kept.
  static let shapeLimit = 100_000
}

/// The live state of all geotriggers.
struct Fencing: Sendable {
  /// By the number of the monitor.
  var watches: [Int: Watch] = [:]
  /// What changes have concerned since the last judgement.
  var noticed: [Int: Notice] = [:]
  /// Processes that end when their monitor has started.
  var starting: [GeotriggerMonitorID: [ProcessID]] = [:]
  /// What the judgements of the running command or tick have taken, by estimates in nanoseconds.
  var effort = 0

  /// What has changed for a monitor.
  struct Notice {
    /// Feed or fences are other objects.
    var isReset = false
    /// The feed has no objects any more.
    var isFeedClosed = false
    var warnings = false
    var rejudging: Rejudging?

    mutating func add(_ more: Rejudging) {
      if rejudging == nil { rejudging = more } else { rejudging?.merge(more) }
    }
  }
}

/// Restores how the fences of a monitor are tested, and what waits to be judged again.
struct FencesRenewed: UndoRecord {
  let monitor: GeotriggerMonitorID
  let number: Int
  /// Without shapes.
  let fences: FenceSet?
  let rejudging: Rejudging?
  var byteCount: Int { 0 }
  var object: ObjectReference { ObjectReference(.geotriggers, monitor.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { false }
  func undo(_ world: inout World) {}
  func rollBack(_ world: inout World) {
    world.fencing.watches[number]?.fences = fences
    world.fencing.watches[number]?.rejudging = rejudging
  }
}

/// Restores what judgements have changed.
struct Judged: UndoRecord {
  let monitor: GeotriggerMonitorID
  let number: Int
  /// The objects before, nil if there were none, in the order in which they changed.
  var objects: [(number: Int, before: TrackedObject?)]
  let counts: (inside: Int, events: Int, late: Int, inaccurate: Int)
  /// Whether something waited already, and how much: commands only add to it.
  let (wasBehind, waiting): (Bool, Int)
  /// The whole, where more than objects changed.
  let whole: Watch?
  var byteCount: Int { 0 }
  var object: ObjectReference { ObjectReference(.geotriggers, monitor.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { false }
  func undo(_ world: inout World) {}

  func rollBack(_ world: inout World) {
    if let whole {
      world.fencing.watches[number] = whole
      return
    }
    guard var watch = world.fencing.watches.removeValue(forKey: number) else { return }
    for (number, before) in objects.reversed() { watch.set(before, at: number, from: watch.objects[number]) }
    (watch.insideCount, watch.eventCount, watch.lateCount, watch.inaccurateCount) = counts
    watch.events.removeAll { $0.number > counts.events }
    watch.fences?.shapes = [:]
    watch.waiting.removeLast(max(0, watch.waiting.count - waiting))
    if !wasBehind { watch.current = nil }
    world.fencing.watches[number] = watch
  }
}
