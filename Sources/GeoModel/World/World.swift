// The root of the model: one value that holds every object, checks every command and records every change.

import Calendar
import Geometry
import HashTreeCollections

/// The whole model, as a value: a copy is a snapshot that a task can read off the loop.
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
  public internal(set) var sources = Registry<Source>()
  public internal(set) var maps = Registry<Map>()
  public internal(set) var layers = Registry<Layer>()
  public internal(set) var scenes = Registry<Scene>()
  public internal(set) var views = Registry<View>()
  public internal(set) var overlays = Registry<Overlay>()
  public internal(set) var locationSources = Registry<LocationSource>()
  public internal(set) var viewModelTypes = Registry<ViewModelType>()
  public internal(set) var viewModels = Registry<ViewModel>()
  public internal(set) var bindings = Registry<Binding>()
  public internal(set) var links = Registry<Link>()
  public internal(set) var environmentKeys = Registry<EnvironmentKey>()
  public internal(set) var environments = Registry<EnvironmentScope>()
  public internal(set) var clock: Clock
  public internal(set) var history = History()
  public internal(set) var document = DocumentState()
  /// Real time at the last command, in either mode of the clock.
  public var realTime: Instant

  public let transformer: any CoordinateTransformer
  public let geodesy: any Geodesy
  public let timeZones: any TimeZoneSource

  private var changes: [Change] = []
  /// Number of entries of `changes` from which derived state has been recorded.
  private var examined = 0
  var derived = Derived()
  /// False only when no animation and no location source runs, so that ticks need not scan the views.
  public internal(set) var mayMove = false
  var origin = Origin.client(nil)
  /// Whether the current command makes a step of history.
  var isStep = true
  /// Revision of the oldest step that the current command has undone or redone; nil when there is none.
  var oldestReverted: Int?
  private var hasChanged = false
  /// Index of derived properties and links by what they depend on. Built on first use; nil before.
  var dependents: Dependents?
  /// Number of records of the current command whose dependents have been collected.
  var propagated = 0
  /// Whether an environment scope, or an object's ancestors, changed since the last environment notification.
  var hasEnvironmentChanged = false
  /// Undo records of the current command, oldest first.
  private(set) var journal: [any UndoRecord] = []
  /// Journal length when undo records were last taken for a step.
  private var stepMark = 0
  /// Journal length at the last environment notification.
  private var environmentMark = 0
  private var start: Start?
  /// Ids in use in the document, by living and removed objects. None is used twice.
  private var takenIDs: TreeSet<String> = []
  /// Ids of earlier documents of the session. Clients may choose them again; the server mints none of them.
  private var retiredIDs: TreeSet<String> = []
  private var mintedIDs = 0
  private var lastProcess = 0
  private var ended: [(ProcessID, ProcessEnd)] = []

  /// State at the beginning of the command that the journal does not restore.
  private struct Start {
    let revision: Int
    let changes: Int
    let examined: Int
    let ended: Int
    let clock: Clock
    let mintedIDs: Int
    let takenIDs: TreeSet<String>
    let retiredIDs: TreeSet<String>
    let derived: Derived
    /// Set when the command has changed history itself.
    var history: History?
  }

  /// - Parameter now: the current real time.
  public init(
    transformer: any CoordinateTransformer, geodesy: any Geodesy, timeZones: any TimeZoneSource = FixedTimeZones(),
    now: Instant
  ) {
    self.transformer = transformer
    self.geodesy = geodesy
    self.timeZones = timeZones
    clock = Clock(now: now)
    realTime = now
    for key in EnvironmentKey.builtIn { environmentKeys.insert(key) }
    environments.insert(EnvironmentScope(nil))
  }

  // MARK: Commands

  /// Begins a command, a tick or the end of a task. The changes until ``commit(_:)`` share one revision and `origin`.
  public mutating func begin(origin: Origin) {
    self.origin = origin
    hasChanged = false
    isStep = true
    oldestReverted = nil
    propagated = 0
    clearJournal()
    start = Start(
      revision: revision, changes: changes.count, examined: examined, ended: ended.count, clock: clock,
      mintedIDs: mintedIDs, takenIDs: takenIDs, retiredIDs: retiredIDs, derived: derived)
  }

  /// Reverts all changes since ``begin(origin:)``, so that a failed command has no effect.
  public mutating func rollBack() {
    guard let start else { return }
    for undoRecord in journal.reversed() { undoRecord.rollBack(&self) }
    clearJournal()
    if let before = start.history { history = before }
    changes.removeLast(changes.count - start.changes)
    examined = start.examined
    derived = start.derived
    ended.removeLast(ended.count - start.ended)
    (takenIDs, retiredIDs) = (start.takenIDs, start.retiredIDs)
    mintedIDs = start.mintedIDs
    revision = start.revision
    hasChanged = false
    clock = start.clock
    propagated = 0
    hasEnvironmentChanged = false
    dependents = nil
  }

  /// Appends an undo record of a change that was just made to the journal.
  mutating func recordUndo(_ undoRecord: some UndoRecord) {
    // The first memento of an object covers later ones. Only the last four records are searched: a duplicate costs
    // memory, no error.
    if undoRecord.kind == .members {
      for earlier in journal.suffix(min(4, journal.count - max(stepMark, environmentMark))).reversed()
      where earlier.object == undoRecord.object {
        if earlier.kind == .members { return }
        if earlier.kind.isStructure { break }
      }
    }
    // Merging keeps many small edits in one transaction as cheap as one large edit.
    if undoRecord.kind == .contents, journal.count > stepMark, journal[journal.count - 1].absorb(undoRecord) { return }
    journal.append(undoRecord)
  }

  /// Undo records since ``begin(origin:)`` or the last call. The journal keeps them, since the command may still fail.
  mutating func takeStepRecords() -> [any UndoRecord] {
    defer { stepMark = journal.count }
    return stepMark == 0 ? journal : Array(journal[stepMark...])
  }

  /// Undo records since the last call. The first record of an object holds its earlier state.
  mutating func takeUnpublishedRecords() -> ArraySlice<any UndoRecord> {
    defer { environmentMark = journal.count }
    return journal[environmentMark...]
  }

  /// Derived state at the beginning of the command.
  var derivedAtBeginning: Derived { start?.derived ?? derived }

  /// Empties the journal when a command has ended.
  mutating func clearJournal() {
    if !journal.isEmpty { journal = [] }
    stepMark = 0
    environmentMark = 0
  }

  /// Saves history before the command changes it, so that ``rollBack()`` can restore it.
  mutating func saveHistoryForRollback() {
    if start?.history == nil { start?.history = history }
  }

  /// Records of the current command that have not been taken.
  var recorded: ArraySlice<Change> { changes.dropFirst(start?.changes ?? 0) }

  /// Records a change of the current command, at the next revision.
  mutating func record(_ event: Change.Event, by origin: Origin? = nil) {
    if !hasChanged {
      revision += 1
      hasChanged = true
    }
    changes.append(Change(revision: revision, origin: origin ?? self.origin, event: event))
  }

  /// Transforms the records of the current command, from all of which derived state has been recorded.
  ///
  /// - Parameter transform: gives the record to keep; nil drops it.
  mutating func compactMapRecords(_ transform: (Change.Event) -> Change.Event?) {
    let first = changes.count - recorded.count
    changes =
      changes[..<first]
      + changes[first...].compactMap { change in
        transform(change.event).map { Change(revision: change.revision, origin: change.origin, event: $0) }
      }
    examined = changes.count
    propagated = min(propagated, changes.count - first)
  }

  /// Returns the changes since the last call, derived ones included.
  public mutating func takeChanges() -> [Change] {
    recordDerived()
    if mayMove { mayMove = isMoving }
    defer {
      changes = []
      examined = 0
      start = nil
    }
    return changes
  }

  /// Changes from which no derived state has been recorded.
  mutating func takeUnexamined() -> ArraySlice<Change> {
    defer { examined = changes.count }
    return changes[examined...]
  }

  public var hasChanges: Bool { !changes.isEmpty }

  // MARK: Ids

  /// Returns the id for a new object: `wanted`, if the document has never used it, or a minted one.
  mutating func claim<Element: Entity>(_ wanted: ID<Element>?, prefix: String) throws(ModelError) -> ID<Element> {
    if let wanted {
      guard takenIDs.insert(wanted.rawValue).inserted else { throw .idExists(wanted.rawValue) }
      return wanted
    }
    return ID(mint(prefix))
  }

  /// Returns an id that the session has never used.
  mutating func mint(_ prefix: String) -> String {
    while true {
      mintedIDs += 1
      let id = prefix + String(mintedIDs)
      if !retiredIDs.contains(id), takenIDs.insert(id).inserted { return id }
    }
  }

  /// Frees all ids when another document begins: no undo can restore objects of the old document.
  mutating func retireIDs() {
    retiredIDs.formUnion(takenIDs)
    takenIDs = []
  }

  /// Takes the id of an object that is read from a document.
  mutating func reclaim(_ id: String) { takenIDs.insert(id) }

  /// Throws `idExists` if a new object cannot have this id. Called before other checks, so that this error wins.
  public func checkFree<Element: Entity>(_ wanted: ID<Element>?) throws(ModelError) {
    if let wanted, takenIDs.contains(wanted.rawValue) { throw .idExists(wanted.rawValue) }
  }

  /// Revision of the last change of an object; nil if there is no such object.
  public func revision(of object: ObjectReference) -> Int? { revision(of: object.id, object.collection.kind) }

  /// Revision of the last change of an object before the current command: 0 if there was no such object; the world's
  /// revision for nil.
  ///
  /// - Complexity: O(1); linear in the journal if the command has changed the object.
  public func revisionAtBeginning(of object: ObjectReference?) -> Int {
    let begun = start?.revision ?? revision
    guard let object else { return begun }
    let now = revision(of: object) ?? 0
    guard now > begun else { return now }
    return journal.first { $0.kind == .revision && $0.object == object }?.revisionBefore ?? 0
  }

  private func revision<E: Entity>(of id: String, _ kind: E.Type) -> Int? {
    self[keyPath: kind.registry][ID(id)]?.revision
  }

  /// The ids of all objects of a kind, in the order of creation.
  public func ids(of collection: Collection) -> [String] { ids(of: collection.kind) }

  private func ids<E: Entity>(of kind: E.Type) -> [String] { self[keyPath: kind.registry].ids.map(\.rawValue) }

  /// Finds an object of any kind by its id.
  public func find(_ id: String) -> ObjectReference? {
    Collection.allCases.lazy.filter(\.hasUniqueIDs).map { ObjectReference($0, id) }.first { revision(of: $0) != nil }
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
