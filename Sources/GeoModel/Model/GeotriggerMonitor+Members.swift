// The table of members of geotriggers.

extension GeotriggerMonitor {
  public static let members: [Member<GeotriggerMonitor>] = [
    Member(.owner) { $0.owner?.id },
    Member(.feed, { $0.feed }, set: { $0.feed = $1 }),
    Member(.fences, { $0.fences }, set: { $0.fences = $1 }),
    Member(.whereClause, { $0.whereClause }, set: { $0.whereClause = $1 }),
    Member(.rule, default: .enterOrExit, { $0.rule }, set: { $0.rule = $1 }),
    Member(.relation, default: .enterIntersectsExitDoesNotIntersect, { $0.relation }, set: { $0.relation = $1 }),
    Member(.buffer, default: 0, { $0.buffer }, set: { $0.buffer = $1 }),
    Member(.accuracyMode, default: .geometry, { $0.accuracyMode }, set: { $0.accuracyMode = $1 }),
    Member(.maxAccuracy, { $0.maxAccuracy }, set: { $0.maxAccuracy = $1 }),
    Member(.minimumDwell, default: 0, { $0.minimumDwell }, set: { $0.minimumDwell = $1 }),
    Member(.reportCrossings, default: false, { $0.reportsCrossings }, set: { $0.reportsCrossings = $1 }),
    Member(.forecastHorizon, default: 0, { $0.forecastHorizon }, set: { $0.forecastHorizon = $1 }),
    Member(.sequence, { $0.sequence }, set: { $0.sequence = $1 }),
    Member(.condition, { $0.condition }, set: { $0.condition = $1 }),
    Member(.message, { $0.message }, set: { $0.message = $1 }),
    Member(.actions, default: [], { $0.actions }, set: { $0.actions = $1 }),
    Member(.status) { $0.live.status },
    Member(.warnings) { $0.live.warnings },
    Member(.insideCount) { $0.live.insideCount },
    Member(.eventCount) { $0.live.eventCount },
    Member(.lateCount) { $0.live.lateCount },
    Member(.inaccurateCount) { $0.live.inaccurateCount },
  ]
}
