// Geotriggers: monitors of a feed and fences, as objects. What they know of the feed's objects is in `Fencing`.

import Expressions
import Geometry

/// The transitions that a monitor reports.
public enum GeotriggerRule: String, MemberSettable { case enter, exit, enterOrExit }

/// The spatial relations by which a fence is entered and left.
public enum FenceRelation: String, MemberSettable {
  case enterIntersectsExitDoesNotIntersect, enterContainsExitDoesNotContain, enterContainsExitDoesNotIntersect
}

/// What of a fix is compared with fences: its position, or the circle of its accuracy around it.
public enum FenceAccuracyMode: String, MemberSettable { case geometry, geometryWithAccuracy }

/// What keeps a started monitor from reporting.
public enum GeotriggerWarning: String, MemberElement {
  case feedNotStarted, noFences, badFences

  public static func memberValue(of list: [GeotriggerWarning]) -> MemberValue { .ids(TextList(list.map { Text($0.rawValue) })) }
}

/// An expression of any type over a fix and a fence.
public struct GeotriggerMessage: Hashable, MemberSettable {
  let expression: Expression

  public var memberValue: MemberValue { .expression(expression) }
  public static func read(_ value: MemberValue, at path: String) throws(ModelError) -> GeotriggerMessage? {
    switch value {
    case .expression(let expression): return GeotriggerMessage(expression: expression)
    case .text(let text):
      do throws(ExpressionError) { return GeotriggerMessage(expression: try Expression(text)) } catch {
        throw .expression(error, path: path)
      }
    default: return nil
    }
  }
}

/// Fences to be entered one after another.
public struct FenceSequence: Hashable, MemberSettable {
  /// What is true for the fence of each step.
  public let steps: [Expression]
  /// The time from the first to the last, in seconds.
  public let within: Double

  public init(steps: [Expression], within: Double) { (self.steps, self.within) = (steps, within) }

  public var memberValue: MemberValue { .fenceSequence(self) }
}

/// A monitor that watches the objects of a feed enter and exit fences.
public struct GeotriggerMonitor: Entity {
  public let id: GeotriggerMonitorID
  public var revision = 0
  /// The object that closes the monitor when it closes; nil for the session.
  public let owner: ObjectReference?
  /// The id of a location source or an entity source; of none any more, if that was closed.
  public internal(set) var feed: Text?
  /// The id of a layer, an overlay or an entity source.
  public internal(set) var fences: Text?
  public internal(set) var whereClause: Expression?
  public internal(set) var rule = GeotriggerRule.enterOrExit
  public internal(set) var relation = FenceRelation.enterIntersectsExitDoesNotIntersect
  /// In metres.
  public internal(set) var buffer = 0.0
  public internal(set) var accuracyMode = FenceAccuracyMode.geometry
  /// In metres; nil admits all fixes.
  public internal(set) var maxAccuracy: Double?
  /// In seconds.
  public internal(set) var minimumDwell = 0.0
  public internal(set) var reportsCrossings = false
  /// In seconds; 0 for no forecasts.
  public internal(set) var forecastHorizon = 0.0
  public internal(set) var sequence: FenceSequence?
  public internal(set) var condition: Expression?
  public internal(set) var message: GeotriggerMessage?
  public internal(set) var actions: [Text] = []
  /// What undo leaves alone.
  public internal(set) var live = Live()

  /// The state of a monitor, and counts of what it has judged.
  public struct Live: Hashable, Sendable {
    public internal(set) var status = LocationStatus.stopped
    public internal(set) var warnings: [GeotriggerWarning] = []
    public internal(set) var insideCount = 0
    public internal(set) var eventCount = 0
    public internal(set) var lateCount = 0
    public internal(set) var inaccurateCount = 0
    /// Whether the next ticks have something to do for it.
    var awaitsTicks = false
  }

  public var isRunning: Bool { live.status == .started || live.status == .starting }
  public var isMoving: Bool { live.awaitsTicks }
  public var references: [Text] { [feed, fences].compactMap { $0 } }
  /// What it counts is live data, so it does not count as a change of the owner.
  public var parent: ObjectReference? { nil }
  public var requirements: [ObjectReference] { owner.map { [$0] } ?? [] }

  public func undone(from current: GeotriggerMonitor) -> GeotriggerMonitor {
    var result = self
    (result.live, result.revision) = (current.live, current.revision)
    return result
  }

  public var restoredAfterRemoval: GeotriggerMonitor {
    var result = self
    result.live = Live()
    return result
  }

  /// The monitor in the form of documents, without ids of what these do not have.
  public func saved(in world: World) -> GeotriggerMonitor {
    var result = self
    func isSaved(_ id: Text) -> Bool { world.find(id.string).map(world.isSaved) ?? false }
    if let feed, !isSaved(feed) { result.feed = nil }
    if let fences, !isSaved(fences) { result.fences = nil }
    return result
  }
}

extension World {
  public mutating func createGeotrigger(
    id: GeotriggerMonitorID?, owner: ObjectReference?, _ changes: [MemberChange]
  ) throws(ModelError) -> GeotriggerMonitor {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    try check(changes)
    var monitor = try GeotriggerMonitor(id: id ?? GeotriggerMonitorID(""), owner: owner).setting(changes)
    try monitor.check()
    monitor = try GeotriggerMonitor(id: try claim(id, prefix: "geotrigger"), owner: owner).setting(changes)
    return insert(monitor)
  }

  /// Changes settings. If the monitor runs, the last fixes are judged again.
  public mutating func updateGeotrigger(_ id: GeotriggerMonitorID, _ changes: [MemberChange]) throws(ModelError) {
    try check(changes)
    try update(id, changes) { (monitor, _, _) throws(ModelError) in try monitor.check() }
    // Judges again, so that the answer agrees.
    recordDerived()
  }

  /// Throws unless feed and fences are objects of suitable kinds.
  private func check(_ changes: [MemberChange]) throws(ModelError) {
    for change in changes {
      guard case .text(let id)? = change.value else { continue }
      let collection = find(id)?.collection
      if change.name == "feed", collection != .locationSources, collection != .entitySources {
        throw .unknownID(.locationSources, id)
      }
      if change.name == "fences", collection != .overlays, collection != .entitySources {
        guard collection == .layers else { throw .unknownID(.layers, id) }
        _ = try layers.require(LayerID(id)).requireFeatures()
      }
    }
  }

  /// Starts a monitor. What prevents it becomes its status.
  public mutating func startGeotrigger(_ id: GeotriggerMonitorID) throws(ModelError) -> ProcessID {
    let monitor = try geotriggers.require(id)
    let process = makeProcess()
    if !monitor.isRunning { start(monitor) }
    if geotriggers[id]?.live.status == .starting { fencing.starting[id, default: []].append(process) } else { end(process, .completed) }
    return process
  }

  public mutating func stopGeotrigger(_ id: GeotriggerMonitorID) throws(ModelError) -> ProcessID {
    let monitor = try geotriggers.require(id)
    let process = makeProcess()
    stop(monitor)
    end(process, .completed)
    return process
  }
}

extension GeotriggerMonitor {
  /// Throws for names that a fix and a fence cannot have.
  fileprivate func check() throws(ModelError) {
    for (expression, name) in [(condition, "condition"), (message?.expression, "message")] {
      guard let expression else { continue }
      let known = expression.properties.filter { $0 == "type" || $0.hasPrefix("feed.") || $0.hasPrefix("fence.") }
      guard known.count < expression.properties.count else { continue }
      do throws(ExpressionError) {
        try expression.check(names: known + ["type", "fence.id", "feed.object", "feed.time", "feed.speed", "feed.course"])
      } catch { throw .expression(error, path: "/" + name) }
    }
  }
}
