// How views follow a location: a view's own display, and displays that views share.

import Geometry

/// How a view follows the location. A word of the wire.
public enum AutoPanMode: String, MemberSettable { case off, recenter, navigation, compassNavigation }

/// A movement of a view, as far as auto-pan is concerned.
public enum ViewMovement: Hashable, Sendable {
  /// Of the scale alone.
  case zoom
  case other
}

/// A location source, and how views follow it.
public struct LocationDisplay: Hashable, Sendable {
  public internal(set) var source: LocationSourceID?
  public internal(set) var autoPanMode = AutoPanMode.off
  /// The part of the screen in which the location may move without recentering: 0 always recenters, 1 only at the edge.
  public internal(set) var wanderExtentFactor = 0.5
  /// The scale at the first location after auto-pan begins.
  public internal(set) var initialZoomScale = 10_000.0
  /// Where the location is on the screen in both navigation modes: 0 is the bottom, 1 the top.
  public internal(set) var navigationPointHeightFactor = 0.125
  /// The display that the view shows in place of its own.
  public internal(set) var shared: SharedLocationDisplayID?
  /// Whether the initial zoom is still to be made.
  var awaitsZoom = false

  /// Begins auto-pan, or ends it.
  mutating func setMode(_ mode: AutoPanMode) {
    if autoPanMode == .off, mode != .off { awaitsZoom = true }
    autoPanMode = mode
  }
}

/// A location display that views share and that outlives them, with what a client draws of the location.
public struct SharedLocationDisplay: Entity {
  public let id: SharedLocationDisplayID
  public var revision = 0
  public let owner: ObjectReference?
  public internal(set) var settings = LocationDisplay()
  /// Number of positions of the trail; 0 for none.
  public internal(set) var trailLength = 0.0
  public internal(set) var location: Location?
  public internal(set) var heading: Double?
  /// The last positions, oldest first.
  public internal(set) var trail: [Value] = []

  /// The symbol of the location.
  public enum Symbol: String, MemberSettable { case none, position, course, heading }

  public var symbol: Symbol {
    guard let location else { return .none }
    if settings.autoPanMode == .compassNavigation, heading != nil { return .heading }
    if location.course != nil, location.speed ?? 0 > 0 { return .course }
    return heading == nil ? .position : .heading
  }

  /// Where the symbol points, in degrees clockwise from true north.
  public var symbolAngle: Double? {
    switch symbol {
    case .none, .position: nil
    case .course: location?.course
    case .heading: heading
    }
  }

  /// Takes over what a source has published.
  mutating func follow(_ source: LocationSource?, _ locations: [Location]) {
    (location, heading) = (source?.location, source?.heading)
    trail += locations.compactMap(\.position).map { point in
      .array(([point.x, point.y] + (point.z.map { [$0] } ?? [])).map(Value.number))
    }
    trail.removeFirst(max(0, trail.count - Int(trailLength)))
  }

  public var references: [Text] { settings.source.map { [Text($0.rawValue)] } ?? [] }
  public static func close(_ id: SharedLocationDisplayID, in world: inout World) throws(ModelError) {
    _ = try world.locationDisplays.require(id)
    world.forgetDisplay(id)
    world.remove(id)
  }
  public static func undoInsertion(of id: SharedLocationDisplayID, at number: Int, in world: inout World) {
    guard world.locationDisplays.number(of: id) == number else { return }
    try? close(id, in: &world)
  }
  /// Live data and the mode, which movements of views change, are left alone.
  public func undone(from current: SharedLocationDisplay) -> SharedLocationDisplay {
    var result = self
    result.revision = current.revision
    (result.location, result.heading, result.trail) = (current.location, current.heading, current.trail)
    (result.settings.autoPanMode, result.settings.awaitsZoom) = (current.settings.autoPanMode, current.settings.awaitsZoom)
    result.trail.removeFirst(max(0, result.trail.count - Int(trailLength)))
    return result
  }
  public func withoutDanglingReferences(in world: World) -> SharedLocationDisplay {
    var result = self
    let source = settings.source.flatMap { world.locationSources[$0] }
    if source == nil { result.settings.source = nil }
    if world.locationDisplays[id]?.settings.source != result.settings.source { result.trail = [] }
    result.follow(source, [])
    return result
  }

  public static let members: [Member<SharedLocationDisplay>] = [
    Member(.owner) { $0.owner?.id },
    Member(.source, { $0.settings.source.map { Text($0.rawValue) } }, set: { $0.settings.source = $1.map { ID($0.string) } }),
    Member(.autoPanMode, { $0.settings.autoPanMode }, set: { $0.settings.setMode($1) }),
    Member(.wanderExtentFactor, { $0.settings.wanderExtentFactor }, set: { $0.settings.wanderExtentFactor = $1 }),
    Member(.initialZoomScale, { $0.settings.initialZoomScale }, set: { $0.settings.initialZoomScale = $1 }),
    Member(
      .navigationPointHeightFactor, { $0.settings.navigationPointHeightFactor },
      set: { $0.settings.navigationPointHeightFactor = $1 }),
    Member(.trailLength, { $0.trailLength }, set: { $0.trailLength = $1.rounded() }),
    Member(.location) { $0.location },
    Member(.symbol) { $0.symbol },
    Member(.symbolAngle) { $0.symbolAngle },
    Member(.trail) { $0.trail.isEmpty ? nil : Value.array($0.trail) },
  ]
}
