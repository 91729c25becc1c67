// Release of an object: what closes or changes together with it.

import Geometry

extension World {
  /// Closes and clears all that belongs or refers to an object that is about to be removed. Undo restores it where
  /// possible.
  ///
  /// - Complexity: linear in what refers to the object, but for sorting.
  mutating func release(_ object: ObjectReference) {
    clusters.forget(ModelPath(object).description)
    let isReferredTo = !references.all(to: object.text).isEmpty
    if isReferredTo { closeReferrers(to: object) }
    // A scope has the id of its node, so references to that id mean the node.
    guard object.collection != .environments else { return }
    if isReferredTo { forgetReferences(to: object) }
    if environments[EnvironmentID(object.id)]?.node == object { remove(EnvironmentID(object.id)) }
    guard isReferredTo, object.collection == .viewModels else { return }
    for id in referrers(to: object, of: EnvironmentScope.self) {
      guard environments[id]?.objects.values.contains(ViewModelID(object.id)) == true else { continue }
      changeScope(id) { scope in scope.objects = scope.objects.filter { $0.value.rawValue != object.id } }
    }
  }

  /// Closes an object of any kind that clients create, as the method of its kind does.
  public mutating func close(_ object: ObjectReference) throws(ModelError) {
    switch object.collection {
    case .sources: try closeSource(ID(object.id))
    case .maps: try closeMap(ID(object.id))
    case .layers: try removeLayer(ID(object.id))
    case .scenes: try closeScene(ID(object.id))
    case .views: try closeView(ID(object.id))
    case .overlays: try closeOverlay(ID(object.id))
    case .locationSources: try closeLocationSource(ID(object.id))
    case .viewModels: try closeViewModel(ID(object.id))
    case .bindings: try closeBinding(ID(object.id))
    case .links: try unlink(ID(object.id))
    case .viewModelTypes, .environmentKeys, .environments: break
    }
  }

  /// Closes what the object owns, and bindings and links that lead to it.
  private mutating func closeReferrers(to object: ObjectReference) {
    for id in referrers(to: object, of: LocationSource.self) where locationSources[id]?.owner == object {
      try? closeLocationSource(id)
    }
    for id in referrers(to: object, of: ViewModel.self) where viewModels[id]?.owner == object { remove(id) }
    for id in referrers(to: object, of: Binding.self) {
      guard let binding = bindings[id], binding.owner == object || binding.path?.object == object else { continue }
      remove(id)
    }
    for id in referrers(to: object, of: Link.self) {
      guard let link = links[id], [link.owner, link.first.object, link.second.object].contains(object) else { continue }
      remove(id)
    }
  }

  /// Throws if an object of this owner would have too many owners around it: a change counts for all of them.
  func checkNesting(inOwner owner: ObjectReference?) throws(ModelError) {
    var depth = 0
    var next = owner
    while let here = next, !Self.nodeCollections.contains(here.collection) {
      depth += 1
      guard depth < Self.groupDepthLimit else { throw .tooManyOwners(limit: Self.groupDepthLimit) }
      next = parent(of: here)
    }
  }

  private mutating func forgetReferences(to object: ObjectReference) {
    for id in referrers(to: object, of: ViewModel.self) {
      guard let model = viewModels[id] else { continue }
      let names = model.properties.filter {
        $0.type == .reference && model.values[$0.name]?.text == object.id
      }.map(\.name)
      if !names.isEmpty { write(names.map { ($0, .null) }, of: id, by: .binding) }
    }
    for id in referrers(to: object, of: EnvironmentScope.self) {
      let dangling = (environments[id]?.values ?? [:]).filter { name, value in
        value.text == object.id && environmentKeys[EnvironmentKeyID(name)]?.definition.type == .reference
      }.keys
      if !dangling.isEmpty { changeKnown(id, by: .binding) { for key in dangling { $0.values[key] = .null } } }
    }
  }
}
