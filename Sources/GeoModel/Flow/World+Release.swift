// Release of an object: what closes or changes together with it.

extension World {
  /// Closes and clears all that belongs or refers to an object that is about to be removed. Undo restores it where
  /// possible.
  mutating func release(_ object: ObjectReference) {
    for source in locationSources.values where source.owner == object { try? closeLocationSource(source.id) }
    for model in viewModels.values where model.owner == object { remove(model.id) }
    for binding in bindings.values where binding.owner == object || binding.path?.object == object {
      remove(binding.id)
    }
    for link in links.values
    where link.owner == object || link.first.object == object || link.second.object == object {
      remove(link.id)
    }
    // A scope has the id of its node, so references to that id mean the node.
    guard object.collection != .environments else { return }
    forgetReferences(to: object)
    if environments[EnvironmentID(object.id)]?.node == object { remove(EnvironmentID(object.id)) }
    guard object.collection == .viewModels else { return }
    for scope in environments.values where scope.objects.values.contains(ViewModelID(object.id)) {
      changeScope(scope.id) { scope in scope.objects = scope.objects.filter { $0.value.rawValue != object.id } }
    }
  }

  private mutating func forgetReferences(to object: ObjectReference) {
    for model in viewModels.values {
      let names = model.properties.filter {
        $0.type == .reference && model.values[$0.name]?.text == object.id
      }.map(\.name)
      if !names.isEmpty { write(names.map { ($0, .null) }, of: model.id, by: .binding) }
    }
    let keys = environmentKeys.values.filter { $0.definition.type == .reference }.map(\.id.rawValue)
    guard !keys.isEmpty else { return }
    for scope in environments.values {
      let dangling = keys.filter { scope.values[$0]?.text == object.id }
      if !dangling.isEmpty { changeKnown(scope.id, by: .binding) { for key in dangling { $0.values[key] = .null } } }
    }
  }
}
