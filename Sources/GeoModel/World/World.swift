// The root of the model: one value that holds every object, checks every command and records every change.

import Calendar
import Geometry
import Query

/// Everything the server owns. A value: copying it is the snapshot that a task reads.
///
/// Commands are its mutating methods. Each checks before it changes, so one that throws has changed nothing. All that
/// changes between ``begin(origin:)`` and ``commit(_:)`` counts as one revision and one step of history.
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
  /// Where real time stood at the last command, whatever the clock's mode.
  public var realTime: Instant

  public let transformer: any CoordinateTransformer
  public let geodesy: any Geodesy
  public let timeZones: any TimeZoneSource

  private var changes: [Change] = []
  /// How many of them have been looked at for what follows from them.
  private var examined = 0
  var derived = Derived()
  /// False when nothing moves by itself for sure: then nobody has to look through all views.
  public internal(set) var mayMove = false
  var origin = Origin.client(nil)
  /// Whether what is done now becomes a step of history.
  var isStep = true
  /// Where the command has taken steps back: the revision at which the oldest of them was done.
  var takenBack: Int?
  private var hasChanged = false
  /// Who follows what; nil until somebody asks.
  var dependents: Dependents?
  /// How much of what was recorded since the command began has been followed.
  var followed = 0
  /// Whether scopes of the environment have changed, or who lies under which, and those who see them have not been told.
  var hasEnvironmentChanged = false
  /// What was before the command that runs, in the order of its changes.
  private var journal: [any UndoRecord] = []
  /// How many of them have become part of a step.
  private var taken = 0
  /// How many of them had been made when those who see another environment were told last.
  private var told = 0
  private var start: Start?
  /// Every object id of the document: none comes twice.
  private var takenIDs: Set<String> = []
  /// Those of earlier documents, which may be chosen again and are minted no more.
  private var retiredIDs: Set<String> = []
  private var mintedIDs = 0
  private var lastProcess = 0
  private var ended: [(ProcessID, ProcessEnd)] = []

  /// What is not in the journal, as it was when the command began.
  private struct Start {
    let revision: Int
    let changes: Int
    let examined: Int
    let ended: Int
    let clock: Clock
    let mintedIDs: Int
    let derived: Derived
    var claimed: [String] = []
    /// Once another document has begun.
    var ids: (taken: Set<String>, retired: Set<String>)?
    /// Once the command has changed it itself.
    var history: History?
  }

  /// - Parameter now: where real time stands.
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

  /// Before each command, tick or end of a task: what follows is one revision, made by `origin`.
  public mutating func begin(origin: Origin) {
    self.origin = origin
    hasChanged = false
    isStep = true
    takenBack = nil
    followed = 0
    forgetNotes()
    start = Start(
      revision: revision, changes: changes.count, examined: examined, ended: ended.count, clock: clock,
      mintedIDs: mintedIDs, derived: derived)
  }

  /// Takes back all that was done since ``begin(origin:)``: a command that fails changes nothing.
  public mutating func rollBack() {
    guard let start else { return }
    for undoRecord in journal.reversed() { undoRecord.rollBack(&self) }
    forgetNotes()
    if let before = start.history { history = before }
    changes.removeLast(changes.count - start.changes)
    examined = start.examined
    derived = start.derived
    ended.removeLast(ended.count - start.ended)
    if let before = start.ids { (takenIDs, retiredIDs) = before }
    for id in start.claimed { takenIDs.remove(id) }
    mintedIDs = start.mintedIDs
    revision = start.revision
    hasChanged = false
    clock = start.clock
    followed = 0
    hasEnvironmentChanged = false
    dependents = nil
  }

  /// Notes what takes a change back, after it was made.
  mutating func note(_ undoRecord: some UndoRecord) {
    // Of an object's members the first note counts. Only the last ones are looked at: noting twice is no harm.
    if undoRecord.kind == .members {
      for earlier in journal.suffix(min(4, journal.count - max(taken, told))).reversed()
      where earlier.object == undoRecord.object {
        if earlier.kind == .members { return }
        if earlier.kind.isStructure { break }
      }
    }
    // Many small edits in one transaction cost what one large edit does.
    if undoRecord.kind == .contents, journal.count > taken, journal[journal.count - 1].absorb(undoRecord) { return }
    journal.append(undoRecord)
  }

  /// The reversals noted since ``begin(origin:)`` or the last call. They are kept until the command is done, as it may fail yet.
  mutating func takeNotes() -> [any UndoRecord] {
    defer { taken = journal.count }
    return taken == 0 ? journal : Array(journal[taken...])
  }

  /// The reversals noted since ``begin(origin:)``, in their order.
  var notes: [any UndoRecord] { journal }

  /// The reversals noted since the last call: the first of an object tells how it was then.
  mutating func takeUnpublishedRecords() -> ArraySlice<any UndoRecord> {
    defer { told = journal.count }
    return journal[told...]
  }

  /// What followed when the command began.
  var derivedAtBeginning: Derived { start?.derived ?? derived }

  /// The command is done, or undone.
  mutating func forgetNotes() {
    if !journal.isEmpty { journal = [] }
    taken = 0
    told = 0
  }

  /// Before the command changes history itself: when it fails, that is as it was, too.
  mutating func keepHistory() {
    if start?.history == nil { start?.history = history }
  }

  /// What was recorded since ``begin(origin:)`` and has not been taken.
  var recorded: ArraySlice<Change> { changes.dropFirst(start?.changes ?? 0) }

  /// Records a change of the current command, at the next revision.
  mutating func record(_ event: Change.Event, by origin: Origin? = nil) {
    if !hasChanged {
      revision += 1
      hasChanged = true
    }
    changes.append(Change(revision: revision, origin: origin ?? self.origin, event: event))
  }

  /// Makes others of the records of the current command, all of which have been looked at for what follows from them.
  ///
  /// - Parameter body: what is left of one; nil for nothing.
  mutating func trimRecords(_ body: (Change.Event) -> Change.Event?) {
    let first = changes.count - recorded.count
    changes =
      changes[..<first]
      + changes[first...].compactMap { change in
        body(change.event).map { Change(revision: change.revision, origin: change.origin, event: $0) }
      }
    examined = changes.count
    followed = min(followed, changes.count - first)
  }

  /// What has happened since the last call.
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

  /// The changes from which nothing has been derived yet.
  mutating func takeUnexamined() -> ArraySlice<Change> {
    defer { examined = changes.count }
    return changes[examined...]
  }

  public var hasChanges: Bool { !changes.isEmpty }

  // MARK: Ids

  /// The id for a new object: `wanted`, if the document never used it, or a minted one.
  mutating func claim<Element: Entity>(_ wanted: ID<Element>?, prefix: String) throws(ModelError) -> ID<Element> {
    if let wanted {
      guard takenIDs.insert(wanted.rawValue).inserted else { throw .idExists(wanted.rawValue) }
      start?.claimed.append(wanted.rawValue)
      return wanted
    }
    return ID(mint(prefix))
  }

  /// An id that the session never used.
  mutating func mint(_ prefix: String) -> String {
    while true {
      mintedIDs += 1
      let id = prefix + String(mintedIDs)
      guard !retiredIDs.contains(id), takenIDs.insert(id).inserted else { continue }
      start?.claimed.append(id)
      return id
    }
  }

  /// Another document begins, to which nothing of the old one can come back: its ids may be chosen again.
  mutating func retireIDs() {
    if start?.ids == nil { start?.ids = (takenIDs, retiredIDs) }
    retiredIDs.formUnion(takenIDs)
    takenIDs = []
  }

  /// Takes an id for an object that comes with a document.
  mutating func reclaim(_ id: String) { takenIDs.insert(id) }

  /// Whether a create with this id can be carried out; to be asked before anything else is checked.
  public func checkFree<Element: Entity>(_ wanted: ID<Element>?) throws(ModelError) {
    if let wanted, takenIDs.contains(wanted.rawValue) { throw .idExists(wanted.rawValue) }
  }

  /// The revision of an object's last change; nil when there is none.
  public func revision(of object: ObjectReference) -> Int? { revision(of: object.id, object.collection.kind) }

  /// The revision of an object's last change before the current command began, 0 where it was not there; the world's for nil.
  ///
  /// - Complexity: O(1), and linear in what the command has noted where it has changed the object itself.
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

  /// The object of that id, of any kind.
  public func find(_ id: String) -> ObjectReference? {
    Collection.allCases.lazy.filter(\.hasUniqueIDs).map { ObjectReference($0, id) }.first { revision(of: $0) != nil }
  }

  // MARK: Processes

  mutating func makeProcess() -> ProcessID {
    lastProcess += 1
    return ProcessID(rawValue: lastProcess)
  }

  mutating func end(_ process: ProcessID, _ end: ProcessEnd) { ended.append((process, end)) }

  /// The processes that have ended since the last call.
  public mutating func takeEndedProcesses() -> [(ProcessID, ProcessEnd)] {
    defer { ended = [] }
    return ended
  }
}
