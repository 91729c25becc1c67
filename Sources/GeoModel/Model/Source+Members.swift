// The tables of members of data sources and location sources.

import NMEA

extension Source {
  public static let members: [Member<Source>] = [
    Member(.driver) { $0.driver },
    Member(.path) { $0.path },
    Member(.status) { $0.status },
    Member(.layers) { $0.layers },
    Member(.warnings) { $0.warnings.isEmpty ? nil : Value.array($0.warnings.map(Value.string)) },
  ]
}

extension LocationSource {
  public static let members: [Member<LocationSource>] = [
    Member(.kind) { $0.kind },
    Member(.status) { $0.status },
    Member(.line) { $0.simulation?.line },
    Member(.startTime) { $0.simulation?.startTime?.text },
    Member(.velocity) { $0.simulation?.velocity },
    Member(.interval) { $0.simulation?.interval },
    Member(.loops) { $0.loops },
    Member(.authorization) { $0.authorization },
    Member(.owner) { $0.owner?.id },
    Member(.staleAfter, { $0.staleAfter }, set: { $0.staleAfter = $1 }),
    Member(.source) { $0.upstream },
    Member(.maxAccuracy, { $0.filter?.maxAccuracy }, set: { (source, value) in source.setFilter { $0.maxAccuracy = value } })
      .only { $0.filter != nil },
    Member(.minDistance, { $0.filter?.minDistance }, set: { (source, value) in source.setFilter { $0.minDistance = value } })
      .only { $0.filter != nil },
    Member(.minInterval, { $0.filter?.minInterval }, set: { (source, value) in source.setFilter { $0.minInterval = value } })
      .only { $0.filter != nil },
    Member(.layer) { $0.replay?.layer ?? $0.snap?.layer },
    Member(.maxDistance, { $0.snap?.maxDistance ?? 0 }, set: { (source, value) in source.setSnap { $0.maxDistance = value } })
      .only { $0.snap != nil },
    Member(.timeField) { $0.replay?.timeField },
    Member(.factor) { $0.replay?.factor },
    Member(.entitySource) { $0.tracked?.source },
    Member(.track) { $0.tracked?.track.value },
    Member(.isStale) { $0.isStale },
    // Changes are recorded as locations come: observers of each get those between, too.
    Member(derived: .location) { source, _ in source.location.memberValue },
    Member(derived: .heading) { source, _ in source.heading.memberValue },
    Member(.refusals) { $0.refusals.isEmpty ? nil : Value.object(of: $0.refusals) },
    Member(.satellites) { $0.satellites.isEmpty ? nil : Value.array($0.satellites.map(\.value)) },
  ]

  private var simulation: Simulation? { if case .simulated(let simulation) = feed { simulation } else { nil } }

  private var filter: LocationFilter? { if case .filtered(let filter) = feed { filter } else { nil } }

  private var snap: LocationSnap? { if case .snapped(let snap) = feed { snap } else { nil } }

  private var replay: Replay? { if case .replay(let replay) = feed { replay } else { nil } }

  public var tracked: TrackedEntity? { if case .tracked(let entity) = feed { entity } else { nil } }

  private mutating func setFilter(_ change: (inout LocationFilter) -> Void) {
    guard case .filtered(var filter) = feed else { return }
    change(&filter)
    feed = .filtered(filter)
  }

  private mutating func setSnap(_ change: (inout LocationSnap) -> Void) {
    guard case .snapped(var snap) = feed else { return }
    change(&snap)
    feed = .snapped(snap)
  }

  /// This source with the settings of an earlier state.
  func withSettings(of earlier: LocationSource) -> LocationSource {
    var result = self
    result.staleAfter = earlier.staleAfter
    if let filter = earlier.filter {
      result.setFilter {
        ($0.maxAccuracy, $0.minDistance, $0.minInterval) = (filter.maxAccuracy, filter.minDistance, filter.minInterval)
      }
    }
    if let snap = earlier.snap { result.setSnap { $0.maxDistance = snap.maxDistance } }
    return result
  }

  private var loops: Bool? {
    switch feed {
    case .simulated(let simulation): simulation.loops
    case .replay(let replay): replay.loops
    case .external, .nmea, .filtered, .snapped, .tracked: nil
    }
  }

  public var authorization: LocationAuthorization? {
    if case .external(let authorization) = feed { authorization } else { nil }
  }
}

extension NMEASatellite {
  fileprivate var value: Value {
    var members = Value.Members()
    members["system"] = .string(system)
    members["id"] = .integer(Int64(id))
    for (name, number) in [("elevation", elevation), ("azimuth", azimuth), ("signal", signal)] {
      members[name] = number.map { .number($0) }
    }
    members["isUsed"] = .boolean(isUsed)
    return .object(members)
  }
}

extension Value {
  /// An object of members in the order of their names.
  fileprivate static func object(of counts: [String: Int]) -> Value {
    var members = Members()
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { members[name] = .integer(Int64(count)) }
    return .object(members)
  }
}
