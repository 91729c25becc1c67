// What goes with an object: what it owns, what was set at it, what led to it.

import Query

extension World {
  /// Before an object goes: all that hangs on it. Undo brings back what can come back.
  mutating func release(_ object: ObjectReference) {
    for source in locationSources.values where source.owner == object { try? closeLocationSource(source.id) }
    guard hasFlow else { return }
    for model in viewModels.values where model.owner == object { remove(model.id) }
    for binding in bindings.values where binding.owner == object || binding.path?.object == object {
      remove(binding.id)
    }
    for link in links.values
    where link.owner == object || link.first.object == object || link.second.object == object {
      remove(link.id)
    }
    // A scope has its node's id: whoever refers to the node does not mean it.
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
      let lost = keys.filter { scope.values[$0]?.text == object.id }
      if !lost.isEmpty { changeKnown(scope.id, by: .binding) { for key in lost { $0.values[key] = .null } } }
    }
  }

  /// Whether there is anything that can hang on an object.
  private var hasFlow: Bool {
    viewModels.count > 0 || bindings.count > 0 || links.count > 0 || environments.count > 1
      || environments[EnvironmentScope.session]?.values.isEmpty == false
  }
}
