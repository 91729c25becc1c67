// Checks of types: each is used, and none contains itself endlessly.

extension Checks {
  func unusedTypes() {
    let methods = definition.methods.flatMap { $0.params.references + $0.result.references + $0.part.flatMap(\.type.names) }
    let used = definition.reachable(
      from: ["Meta"] + definition.domains.compactMap(\.file) + methods
        + definition.notifications.flatMap(\.params.references) + definition.statePaths.flatMap(\.type.names)
        + definition.errors.flatMap { $0.data.flatMap(\.type.names) })
    for type in definition.types where !used.contains(type.name) {
      problems.report(type.about.path, "type \(type.name) is never used")
    }
  }

  /// An object that contains itself would be endless. A union may contain itself; it is `indirect` in Swift.
  func recursion() {
    for type in definition.types {
      guard case .object = type.kind else { continue }
      let contained = definition.reachable(from: type.contained) { next in
        if case .object = next.kind { next.contained } else { [] }
      }
      if contained.contains(type.name) {
        problems.report(type.about.path, "\(type.name) contains itself; put an array, a map or a union between")
      }
    }
  }
}
