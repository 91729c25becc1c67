// The tables of members of data sources and location sources.

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
    Member(.velocity) { $0.velocity },
    Member(.interval) { $0.interval },
    Member(.loops) { $0.loops },
    Member(.owner) { $0.owner?.id },
    Member(.location) { $0.location },
  ]
}
