// The live state of geotriggers: the last fix of each object, what it is inside of, and what happened. None of it is saved or undone.

import Expressions
import FeatureStore
import Filtering
import Geometry
import Proximity

/// What a feed says of one of its objects at one time.
public struct Fix: Sendable {
  /// The id of the object in its feed.
  public var object: Text
  public var time: Instant
  /// Longitude and latitude in degrees on WGS 84.
  public var position: Point
  /// The horizontal accuracy in metres.
  public var accuracy = 0.0
  /// In metres per second.
  public var speed: Double?
  /// In degrees clockwise from true north.
  public var course: Double?
  /// The value of a further attribute; nil for null.
  public var attribute: (@Sendable (_ name: String) -> AttributeValue?)?

  public init(
    object: Text, time: Instant, position: Point, accuracy: Double = 0, speed: Double? = nil, course: Double? = nil,
    attribute: (@Sendable (_ name: String) -> AttributeValue?)? = nil
  ) {
    (self.object, self.time, self.position, self.accuracy) = (object, time, position, accuracy)
    (self.speed, self.course, self.attribute) = (speed, course, attribute)
  }
}

/// A transition of an object over a fence.
public struct GeotriggerEvent: Sendable {
  public enum Kind: String, Sendable { case enter, exit, forecast, withdrawn, sequence }
  public enum Cause: String, Sendable {
    case moved, dwelled, crossed, approaching, turnedAway, completed
    case fenceChanged, fenceRemoved, filterChanged, objectPurged, monitorStarted, monitorStopped
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

/// Objects to judge again after an edit, a part at a time.
struct Rejudging: Sendable {
  /// The edited fences; nil for all.
  var fences: Set<Int>?
  var cause: GeotriggerEvent.Cause
  /// The next object.
  var slot = 0

  mutating func merge(_ other: Rejudging) {
    if let more = other.fences { fences?.formUnion(more) } else { fences = nil }
    (cause, slot) = (other.cause, 0)
  }
}

/// What one monitor knows.
struct Watch: Sendable {
  /// Objects by the order of their first fixes.
  var objects = Numbered<TrackedObject>()
  var slots: [Text: Int] = [:]
  var lastSlot = -1
  var insideCount = 0
  var (eventCount, lateCount, inaccurateCount) = (0, 0, 0)
  /// The last ones, at least as many as clients may ask for.
  var events: [GeotriggerEvent] = []
  /// Memberships that wait for the minimum dwell, in the order in which they are due.
  var dwelling: [(due: Instant, slot: Int, fence: Int)] = []
  var rejudging: Rejudging?
  var fences: FenceSet?

  /// Number of events that are kept.
  static let eventLimit = 1000

  mutating func append(_ event: GeotriggerEvent) {
    events.append(event)
    // Dropped a thousand at a time, as each time moves the others.
    if events.count >= 2 * Self.eventLimit { events.removeFirst(Self.eventLimit) }
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

  /// What has changed for a monitor.
  struct Notice {
    /// Feed or fences are other objects.
    var isReset = false
    var warnings = false
    var rejudging: Rejudging?

    mutating func add(_ more: Rejudging) {
      if rejudging == nil { rejudging = more } else { rejudging?.merge(more) }
    }
  }
}

/// Restores what judgements have changed.
struct Judged: UndoRecord {
  let monitor: GeotriggerMonitorID
  let number: Int
  /// The objects before, nil if there were none, in the order in which they changed.
  var objects: [(slot: Int, before: TrackedObject?)]
  let counts: (inside: Int, events: Int, late: Int, inaccurate: Int)
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
    for (slot, before) in objects.reversed() {
      if let before {
        watch.objects.insert(before, at: slot)
        watch.slots[before.fix.object] = slot
      } else if let added = watch.objects.remove(slot) {
        watch.slots[added.fix.object] = nil
      }
    }
    (watch.insideCount, watch.eventCount, watch.lateCount, watch.inaccurateCount) = counts
    watch.events.removeAll { $0.number > counts.events }
    watch.fences?.shapes = [:]
    world.fencing.watches[number] = watch
  }
}
