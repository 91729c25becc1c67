// The root of the model: one value that holds every object, checks every command and records every change.

import Geometry
import Query

/// Everything the server owns. A value: copying it is the snapshot that a task reads.
///
/// Commands are its mutating methods. Each checks before it changes, so one that throws has changed nothing. All that
/// changes between ``begin(origin:)`` and the next one counts as one revision.
public struct World: Sendable {
  public private(set) var revision = 0
  public internal(set) var sources = Registry<Source>()
  public internal(set) var maps = Registry<Map>()
  public internal(set) var layers = Registry<Layer>()
  public internal(set) var scenes = Registry<Scene>()
  public internal(set) var views = Registry<View>()
  public internal(set) var overlays = Registry<Overlay>()
  public internal(set) var locationSources = Registry<LocationSource>()
  public internal(set) var clock: Clock
  /// Where real time stood at the last command, whatever the clock's mode.
  public var realTime: Instant

  public let transformer: any CoordinateTransformer
  public let geodesy: any Geodesy

  private var changes: [Change] = []
  private(set) var origin = Origin.client(nil)
  private var hasChanged = false
  /// Every object id of the session: none comes twice.
  private var takenIDs: Set<String> = []
  private var mintedIDs = 0
  private var lastProcess = 0
  private var ended: [(ProcessID, ProcessEnd)] = []

  /// - Parameter now: where real time stands.
  public init(transformer: any CoordinateTransformer, geodesy: any Geodesy, now: Instant) {
    self.transformer = transformer
    self.geodesy = geodesy
    clock = Clock(now: now)
    realTime = now
  }

  // MARK: Commands

  /// Before each command, tick or end of a task: what follows is one revision, made by `origin`.
  public mutating func begin(origin: Origin) {
    self.origin = origin
    hasChanged = false
  }

  /// Records a change of the current command, at the next revision.
  mutating func record(_ event: Change.Event, by origin: Origin? = nil) {
    if !hasChanged {
      revision += 1
      hasChanged = true
    }
    changes.append(Change(revision: revision, origin: origin ?? self.origin, event: event))
  }

  /// What has happened since the last call.
  public mutating func takeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }

  public var hasChanges: Bool { !changes.isEmpty }

  // MARK: Ids

  /// The id for a new object: `wanted`, if it was never used, or a minted one.
  mutating func claim<Element: Entity>(_ wanted: ID<Element>?, prefix: String) throws(ModelError) -> ID<Element> {
    if let wanted {
      guard takenIDs.insert(wanted.rawValue).inserted else { throw .idExists(wanted.rawValue) }
      return wanted
    }
    while true {
      mintedIDs += 1
      let id = prefix + String(mintedIDs)
      if takenIDs.insert(id).inserted { return ID(id) }
    }
  }

  /// Whether a create with this id can be carried out; to be asked before anything else is checked.
  public func checkFree<Element: Entity>(_ wanted: ID<Element>?) throws(ModelError) {
    if let wanted, takenIDs.contains(wanted.rawValue) { throw .idExists(wanted.rawValue) }
  }

  /// The revision of an object's last change; nil when there is none.
  public func revision(of object: ObjectReference) -> Int? {
    switch object.collection {
    case .sources: sources[ID(object.id)]?.revision
    case .maps: maps[ID(object.id)]?.revision
    case .layers: layers[ID(object.id)]?.revision
    case .scenes: scenes[ID(object.id)]?.revision
    case .views: views[ID(object.id)]?.revision
    case .overlays: overlays[ID(object.id)]?.revision
    case .locationSources: locationSources[ID(object.id)]?.revision
    }
  }

  /// The object of that id, of any kind.
  public func find(_ id: String) -> ObjectReference? {
    Collection.allCases.lazy.map { ObjectReference($0, id) }.first { revision(of: $0) != nil }
  }

  // MARK: Touching

  // An object's revision is its own or any descendant's last: layers count for their map, overlays for their view.

  mutating func touch(_ id: SourceID) { sources.modify(id) { $0.revision = revision } }
  mutating func touch(_ id: MapID) { maps.modify(id) { $0.revision = revision } }
  mutating func touch(_ id: SceneID) { scenes.modify(id) { $0.revision = revision } }
  mutating func touch(_ id: ViewID) { views.modify(id) { $0.revision = revision } }
  mutating func touch(_ id: LocationSourceID) { locationSources.modify(id) { $0.revision = revision } }
  mutating func touch(_ id: LayerID) {
    layers.modify(id) { $0.revision = revision }
    if let map = layers[id]?.map { touch(map) }
  }
  mutating func touch(_ id: OverlayID) {
    overlays.modify(id) { $0.revision = revision }
    if let view = overlays[id]?.view { touch(view) }
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
