// The root of the model: one value that holds every object, checks every command and records every change.

import Calendar
import Clusters
import Geometry
import HashTreeCollections

/// The whole model as a value: a copy is a snapshot that a task can read off the loop.
///
/// Commands are mutating methods. Each one checks before it changes anything, so a command that throws leaves the world
/// unchanged. All changes between ``begin(origin:)`` and ``commit(_:)`` share one revision and make one step of
/// history.
///
/// ```swift
/// world.begin(origin: .client(nil))
/// do {
///   let map = try world.createMap(id: nil, title: "City", reference: .webMercator)
///   world.commit("map/create")
///   reply(with: map.id)
/// } catch {
///   world.rollBack()
/// }
/// for change in world.takeChanges() { publish(change) }
/// ```
public struct World: Sendable {
  public private(set) var revision = 0
  /// The objects of each kind; `maps` and the like are its members.
  public internal(set) var registries = Registries()
  public internal(set) var clock: Clock
  public internal(set) var history = History()
  public internal(set) var document = DocumentState()
  /// Real time at the last command, in either mode of the clock.
  public var realTime: Instant

  public let transformer: any CoordinateTransformer
  public let geodesy: any Geodesy
  public let timeZones: any TimeZoneSource
  /// Clusters of layers and overlays. A cache of query results, not state.
  public let clusters = ClusterCache()

  private var changes: [Change] = []
  /// Number of `changes` that were already processed for derived state.
  private var examined = 0
  /// Whether changes were discarded before they were processed for derived state.
  private var isDerivedStale = false
  var derived = Derived()
  var fencing = Fencing()
  /// Index of references between objects, and of moving objects.
  var references = References()
  /// The recordings that run, by source.
  public internal(set) var recorders: [ObjectReference: [Recorder]] = [:]
  var origin = Origin.client(nil)
  /// The client whose steps the current command makes; nil where one has the model alone.
  var author: ClientNumber?
  /// The step that the current command takes back out of order, by changes that are no step yet.
  var takingBack: TakenBack?
  /// Whether the current command makes a step of history.
  var isStep = true
  /// Whether the current command is live: it makes no step, whatever it changes.
  public private(set) var isLive = false
  /// Revision of the oldest step that the current command has undone or redone; nil when there is none.
  var oldestReverted: Int?
  private var hasChanged = false
  /// Index of derived properties and links by their dependencies. Built on first use; nil before.
  var dependents: Dependents?
  /// The values that links last saw.
  var linkEnds: TreeDictionary<LinkID, LinkEnds> = [:]
  /// Number of records of the current command whose dependents have been collected.
  var propagated = 0
  /// Whether an environment scope, or an object's ancestors, changed since the last environment notification.
  var hasEnvironmentChanged = false
  /// Undo records of the current command.
  var journal = Journal()
  private var start: Start?
  var usedIDs = UsedIDs()
  /// Number of the newest object; see ``Registry``.
  private var lastNumber = 0
  private var lastProcess = 0
  private var ended: [(ProcessID, ProcessEnd)] = []
  /// The advance of the manual clock that is being made.
  public internal(set) var advance: ClockAdvance?
  /// Taps that have not been taken.
  var taps: [Tap] = []

  /// State at the beginning of the command that the journal does not restore.
  private struct Start {
    let revision: Int
    let changes: Int
    let examined: Int
    let ended: Int
    let taps: Int
    let advance: ClockAdvance?
    let clock: Clock
    let usedIDs: UsedIDs
    let derived: Derived
    let references: References
    let linkEnds: TreeDictionary<LinkID, LinkEnds>
    /// Set when the command has changed history itself.
    var history: History?
    /// Set when the command has replaced all objects; the world before that is the last of `replaced`.
    var hasReplaced = false
  }

  /// - Parameters:
  ///   - now: the current real time.
  ///   - isReplay: whether it passes only by ``beginAdvance(by:)``.
  public init(
    transformer: any CoordinateTransformer, geodesy: any Geodesy, timeZones: any TimeZoneSource = FixedTimeZones(),
    now: Instant, isReplay: Bool = false
  ) {
    self.transformer = transformer
    self.geodesy = geodesy
    self.timeZones = timeZones
    clock = Clock(now: now)
    clock.isReplayed = isReplay
    realTime = now
    for key in EnvironmentKey.builtIn { environmentKeys.insert(key, at: makeNumber()) }
    environments.insert(EnvironmentScope(nil), at: makeNumber())
  }

  // MARK: Commands

  /// Begins a command, a tick or the end of a task. The changes until ``commit(_:)`` share one revision and `origin`.
  ///
  /// - Parameters:
  ///   - isLive: whether the command makes no step of history; see ``checkLive()``.
  ///   - author: the client whose steps it makes; that of the origin if nil.
  public mutating func begin(origin: Origin, isLive: Bool = false, author: ClientNumber? = nil) {
    self.origin = origin
    if case .client(_, let client) = origin { self.author = author ?? client } else { self.author = author }
    takingBack = nil
    self.isLive = isLive
    hasChanged = false
    isStep = true
    history.isCut = false
    oldestReverted = nil
    propagated = 0
    fencing.effort = 0
    journal.clear()
    start = Start(
      revision: revision, changes: changes.count, examined: examined, ended: ended.count, taps: taps.count, advance: advance,
      clock: clock,
      usedIDs: usedIDs, derived: derived, references: references,
      linkEnds: linkEnds)
  }

  /// Reverts all changes since ``begin(origin:)``, so that a failed command has no effect.
  public mutating func rollBack() {
    guard let start else { return }
    if start.hasReplaced, let before = replaced.last {
      self = before
      return rollBack()
    }
    for undoRecord in journal.records.reversed() { undoRecord.rollBack(&self) }
    journal.clear()
    if let before = start.history { history = before }
    changes.removeLast(changes.count - start.changes)
    examined = start.examined
    derived = start.derived
    references = start.references
    linkEnds = start.linkEnds
    ended.removeLast(ended.count - start.ended)
    taps.removeLast(taps.count - start.taps)
    advance = start.advance
    usedIDs = start.usedIDs
    revision = start.revision
    hasChanged = false
    clock = start.clock
    propagated = 0
    hasEnvironmentChanged = false
  }

  /// Appends an undo record of a change that was just made to the journal.
  mutating func recordUndo(_ undoRecord: some UndoRecord) { journal.append(undoRecord) }

  /// Derived state at the beginning of the command.
  var derivedAtBeginning: Derived { start?.derived ?? derived }

  /// Saves history before the command changes it, so that ``rollBack()`` can restore it.
  mutating func saveHistoryForRollback() {
    if start?.history == nil { start?.history = history }
  }

  /// Whether the current command has changed history itself.
  var hasChangedHistory: Bool { start?.history != nil }

  /// Records of the current command that have not been taken.
  var recorded: ArraySlice<Change> { changes.dropFirst(start?.changes ?? 0) }

  /// Records a change of the current command, at the next revision.
  ///
  /// - Parameter number: the number of an object that was created or closed.
  mutating func record(
    _ event: Change.Event, by origin: Origin? = nil, number: Int? = nil, publishing published: Shared<LocationEvent>? = nil
  ) {
    if !hasChanged {
      revision += 1
      hasChanged = true
    }
    changes.append(
      Change(revision: revision, origin: origin ?? self.origin, event: event, number: number, published: published))
  }

  /// Transforms the records of the current command, all of which have been processed for derived state.
  ///
  /// - Parameter transform: returns the record to keep; nil drops it.
  mutating func compactMapRecords(_ transform: (Change.Event) -> Change.Event?) {
    let first = changes.count - recorded.count
    changes =
      changes[..<first]
      + changes[first...].compactMap { change in
        transform(change.event).map {
          Change(revision: change.revision, origin: change.origin, event: $0, published: change.published)
        }
      }
    examined = changes.count
    propagated = min(propagated, changes.count - first)
  }

  // MARK: Documents

  /// Worlds that another document has replaced, to be freed off the loop.
  private var replaced: [World] = []

  /// The world from before a document replaced it, if one did since the last call.
  public mutating func takeReplaced() -> World? {
    defer { if !replaced.isEmpty { replaced = [] } }
    return replaced.last
  }

  /// Takes over the state that continues from one document to the next.
  mutating func continueSession(of other: World) {
    revision = other.revision
    clock = other.clock
    advance = other.advance
    realTime = other.realTime
    history = other.history
    document = other.document
    lastNumber = max(lastNumber, other.lastNumber)
    lastProcess = other.lastProcess
  }

  /// Replaces all objects by those of a world made from ``emptied()``, as one change of the current command.
  mutating func replaceObjects(by next: World) {
    let before = self
    let made = next.revision
    self = next
    clients = before.clients
    continueSession(of: before)
    (changes, examined, ended, start, replaced) = (
      before.changes, before.changes.count, before.ended, before.start, [before]
    )
    start?.hasReplaced = true
    (origin, isStep, hasChanged) = (before.origin, before.isStep, before.hasChanged)
    journal.clear()
    propagated = recorded.count
    hasEnvironmentChanged = false
    usedIDs.replace(before.usedIDs)
    record(.replaced)
    examined = changes.count
    if made != revision { for collection in Collection.allCases { restamp(collection.kind, made) } }
    if let old = before.environments[EnvironmentScope.session] {
      let now = revision
      _ = environments.modify(old.id) { new in
        let isSame = new.values == old.values && new.objects == old.objects
        new.revision = isSame ? old.revision : now
      }
    }
  }

  /// Sets the current revision on objects that another world changed at revision `made`.
  private mutating func restamp<E: Entity>(_ kind: E.Type, _ made: Int) {
    let now = revision
    self[keyPath: E.registry].modifyAll { if $0.revision == made { $0.revision = now } }
  }

  /// Drops the changes since the last call, including derived ones that are not yet recorded.
  public mutating func discardChanges() {
    isDerivedStale = isDerivedStale || examined < changes.count
    changes = []
    examined = 0
    start = nil
    journal.clear()
    hasEnvironmentChanged = false
  }

  /// Returns the changes since the last call, including derived ones.
  public mutating func takeChanges() -> [Change] {
    recordDerived()
    defer {
      changes = []
      examined = 0
      start = nil
    }
    return changes
  }

  /// Whether all changes have been processed for derived state.
  var isDerivedCurrent: Bool { examined == changes.count && !isDerivedStale }

  /// Changes that have not been processed for derived state.
  mutating func takeUnexamined() -> ArraySlice<Change> {
    defer { examined = changes.count }
    return changes[examined...]
  }

  public var hasChanges: Bool { !changes.isEmpty }

  /// Number of changes of the current command so far.
  public var changeCount: Int { recorded.count }

  /// Makes the numbers of new objects differ from those of another world.
  mutating func skipNumbers(of other: World) { lastNumber = max(lastNumber, other.lastNumber) }
  mutating func skipNumbers(_ count: Int) { lastNumber += count }
  /// Whether the numbers of its objects are greater than all of another world.
  func comesAfter(_ other: World) -> Bool { sources.values.allSatisfy { $0.number > other.lastNumber } }

  /// The number of a new object.
  mutating func makeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Revision of the last change of an object before the current command; 0 if the object did not exist, the world's revision for nil.
  ///
  /// - Complexity: O(1); amortized, if the command has changed the object.
  public mutating func revisionAtBeginning(of object: ObjectReference?) -> Int {
    let begun = start?.revision ?? revision
    guard let object else { return begun }
    let now = revision(of: object) ?? 0
    guard now > begun else { return now }
    return journal.earlierRevision(of: object) ?? 0
  }

  // MARK: Processes

  mutating func makeProcess() -> ProcessID {
    lastProcess += 1
    return ProcessID(rawValue: lastProcess)
  }

  mutating func end(_ process: ProcessID, _ end: ProcessEnd) { ended.append((process, end)) }

  /// Processes that have ended since the last call.
  public mutating func takeEndedProcesses() -> [(ProcessID, ProcessEnd)] {
    defer { ended = [] }
    return ended
  }
}
