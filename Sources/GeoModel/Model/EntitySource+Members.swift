// The table of members of entity sources.

extension EntitySource {
  public static let members: [Member<EntitySource>] = [
    Member(.owner) { $0.owner?.id },
    Member(.name, { $0.name }, set: { $0.name = $1 }),
    Member(.status) { $0.status },
    Member(.fields) { $0.schema.fields },
    Member(.trackIdField) { $0.schema.trackField },
    Member(.timeField) { $0.schema.name($0.schema.time) },
    Member(.speedField) { $0.schema.name($0.schema.speed) },
    Member(.courseField) { $0.schema.name($0.schema.course) },
    Member(.spatialReference) { $0.schema.reference },
    Member(
      .maxObservations, default: EntityLimits().maxObservations, { $0.limits.maxObservations },
      set: { $0.limits.maxObservations = $1 }),
    Member(
      .maxObservationsPerTrack, { $0.limits.maxObservationsPerTrack }, set: { $0.limits.maxObservationsPerTrack = $1 }),
    Member(.maxAge, { $0.limits.maxAge }, set: { $0.limits.maxAge = $1 }),
    Member(.replayFactor) { $0.replay?.factor },
    // Derived members: what is received and purged records their changes.
    Member(derived: .entityCount) { source, _ in source.contents.entities.count.memberValue },
    Member(derived: .observationCount) { source, _ in source.contents.observations.count.memberValue },
    Member(derived: .extent) { source, _ in source.contents.entities.extent.memberValue },
    Member(derived: .counts) { source, _ in .entityCounts(source.contents.counts) },
  ]
}

extension EntityStatus: MemberReadable {
  public var memberValue: MemberValue { .entityStatus(self) }
}
