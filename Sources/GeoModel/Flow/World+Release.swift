// Release of an object: closes or changes what depends on it.

import Clusters
import Geometry

extension World {
  /// Closes the objects that belong to an object about to be removed, and clears references to it. Undo restores these where possible.
  ///
  /// - Complexity: linear in the objects that refer to it, plus sorting.
  mutating func release(_ object: ObjectReference) {
    clusters.forget(ModelPath(object).description)
    let isReferredTo = !references.all(to: object.text).isEmpty
    if isReferredTo {
      // Objects that it owns, and bindings and links that lead to it.
      for collection in Collection.owned { collection.kind.closeAll(with: object, in: &self) }
    }
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

  /// Closes an object as the method of its kind does.
  public mutating func close<E: Entity>(_ id: ID<E>) throws(ModelError) { try E.close(id, in: &self) }

  /// Throws if an object of this owner would be nested too deep in owners. A change counts for all of them, so its cost grows
  /// with the depth.
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
