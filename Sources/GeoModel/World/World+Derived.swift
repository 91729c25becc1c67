// Records what follows from other things when it has become another: found from the changes alone, so that a layer more costs the same
// in a map of thousands.

import HashTreeCollections

/// What is to be looked at because of some changes, and who made them.
private struct Due {
  /// Maps, scenes and groups in which a layer stands otherwise, has come or gone.
  var statuses: [ObjectReference: Origin] = [:]
  /// Those of them in which another layer may be the first that failed.
  var reordered: Set<ObjectReference> = []
  /// What those were that have become another, and by whom.
  var changed: [ObjectReference: (before: LoadStatus, origin: Origin)] = [:]
  /// By map or scene, what may stand otherwise in its views.
  var trees: [ViewContent: Trees] = [:]
  var moved: [ViewID: Origin] = [:]

  struct Trees {
    var origin: Origin
    /// Layers at the top level, each with all below it.
    var tops: Set<LayerID> = []
    var gone: [LayerID] = []
  }
}

extension World {
  /// Records what follows from the changes since the last call. Called before changes are taken; calling it more often is no harm.
  ///
  /// - Complexity: O(changes), and O(views) and O(layers below the same top layer) for each map and scene whose layers they concern;
  ///   O(layers) for a view that was zoomed, and where more than one layer of a list has failed.
  public mutating func recordDerived() {
    var due = Due()
    for change in takeUnexamined() { note(change, &due) }
    recordLoadStatuses(&due)
    if !due.trees.isEmpty {
      for id in views.ids {
        guard let view = views[id], let trees = due.trees[view.content] else { continue }
        recordStates(of: trees, in: view)
      }
    }
    for (id, origin) in due.moved.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let view = views[id] else {
        derived.views[id] = nil
        continue
      }
      // Only zooming matters.
      if derived.views[id]?.scale != view.camera.scale { recordStates(in: view, by: origin) }
    }
  }

  private mutating func note(_ change: Change, _ due: inout Due) {
    let origin = change.origin
    switch change.event {
    case .created(let object), .closed(let object):
      switch object.collection {
      case .maps, .scenes: due.statuses[object] = origin
      case .layers:
        count(LayerID(object.id), by: origin, &due)
        if layers[LayerID(object.id)]?.kind == .group { due.statuses[object] = origin }
      case .views: due.moved[ViewID(object.id)] = origin
      default: break
      }
    case .changed(let object, let property):
      switch (object.collection, property) {
      case (.layers, .loadStatus), (.layers, .group): count(LayerID(object.id), by: origin, &due)
      case (.layers, .layers):
        reorder(object, by: origin, &due)
        noteTree(of: LayerID(object.id), by: origin, &due)
      case (.layers, .isVisible), (.layers, .minScale), (.layers, .maxScale), (.layers, .visibilityMode):
        noteTree(of: LayerID(object.id), by: origin, &due)
      case (.maps, .operationalLayers), (.maps, .basemap), (.maps, .tables), (.scenes, .operationalLayers),
        (.scenes, .basemap), (.scenes, .tables):
        reorder(object, by: origin, &due)
      case (.views, .viewpoint), (.views, .width), (.views, .dpi): due.moved[ViewID(object.id)] = origin
      default: break
      }
    default: break
    }
  }

  // MARK: Load status

  /// Counts a layer as what it is now, where it is now.
  private mutating func count(_ id: LayerID, by origin: Origin, _ due: inout Due) {
    let layer = layers[id]
    let old = derived.counted[id]
    let new = layer.flatMap { layer in
      layer.parent.map {
        Derived.Counted(
          container: layer.container, parent: $0,
          status: layer.features?.loadStatus ?? derived.loadStatuses[layer.reference] ?? .loaded)
      }
    }
    derived.counted[id] = new
    if let old { tally(old, -1, by: origin, &due) }
    if let new { tally(new, 1, by: origin, &due) }
    if layer == nil { derived.loadStatuses[ObjectReference(.layers, id.rawValue)] = nil }
    guard let container = (new ?? old)?.container else { return }
    if layer == nil {
      due.trees[container, default: Due.Trees(origin: origin)].gone.append(id)
      due.trees[container]?.origin = origin
    } else {
      noteTree(of: id, by: origin, &due)
    }
  }

  private mutating func tally(_ counted: Derived.Counted, _ by: Int, by origin: Origin, _ due: inout Due) {
    guard counted.status != .loaded else { return }
    var tally = derived.tallies[counted.parent] ?? Derived.Tally()
    tally.count(counted.status, by)
    derived.tallies[counted.parent] = tally == Derived.Tally() ? nil : tally
    due.statuses[counted.parent] = origin
    if case .failed = counted.status { due.reordered.insert(counted.parent) }
  }

  /// What lies in a map, scene or group has another order, or is other layers.
  private func reorder(_ object: ObjectReference, by origin: Origin, _ due: inout Due) {
    guard let failed = derived.tallies[object]?.failed, failed > 0 else { return }
    // Of one that has failed it does not matter where it lies.
    if failed == 1, case .failed? = derived.loadStatuses[object] { return }
    due.statuses[object] = origin
    due.reordered.insert(object)
  }

  private mutating func recordLoadStatuses(_ due: inout Due) {
    // What a group has become counts in what it lies in.
    while let (object, origin) = due.statuses.popFirst() {
      let old = derived.loadStatuses[object]
      let isReordered = due.reordered.remove(object) != nil
      let new = revision(of: object).map { _ in merged(object, old, isReordered: isReordered) }
      guard new != old else { continue }
      derived.loadStatuses[object] = new
      // What is new is told whole, of what is gone there is nothing to tell.
      if let old, due.changed[object] == nil { due.changed[object] = (old, origin) }
      due.changed[object]?.origin = origin
      if new != nil, object.collection == .layers { count(LayerID(object.id), by: origin, &due) }
    }
    for (object, change) in due.changed.sorted(by: { Self.order($0.key) < Self.order($1.key) }) {
      guard let now = derived.loadStatuses[object], now != change.before else { continue }
      record(.changed(object, .loadStatus), by: change.origin)
    }
  }

  /// Maps and scenes come before groups.
  private static func order(_ object: ObjectReference) -> (Int, String) {
    (object.collection == .layers ? 1 : 0, object.id)
  }

  /// The status of a map, scene or group by what is counted in it.
  private func merged(_ object: ObjectReference, _ old: LoadStatus?, isReordered: Bool) -> LoadStatus {
    let tally = derived.tallies[object] ?? Derived.Tally()
    guard tally.failed > 0 else {
      return tally.loading > 0 ? .loading : tally.notLoaded > 0 ? .notLoaded : .loaded
    }
    if case .failed? = old, !isReordered, let old { return old }
    return status(of: object)
  }

  /// The same by a look at all that lies in it.
  private func status(of object: ObjectReference) -> LoadStatus {
    switch object.collection {
    case .maps: loadStatus(of: .map(MapID(object.id)))
    case .scenes: loadStatus(of: .scene(SceneID(object.id)))
    default: layers[LayerID(object.id)].map { loadStatus(of: $0) } ?? .loaded
    }
  }

  // MARK: Layers in views

  private func noteTree(of id: LayerID, by origin: Origin, _ due: inout Due) {
    // Tables are in no view.
    guard let layer = layers[id], layer.kind != .table else { return }
    let top = layer.group.flatMap { groups(around: $0).last } ?? id
    due.trees[layer.container, default: Due.Trees(origin: origin)].tops.insert(top)
    due.trees[layer.container]?.origin = origin
  }

  /// What stands otherwise in a view because of some layers.
  private mutating func recordStates(of trees: Due.Trees, in view: View) {
    // One that was zoomed, or is new, is looked at as a whole.
    guard var known = derived.views[view.id], known.scale == view.camera.scale else { return }
    var hasChanged = false
    for id in trees.gone where known.states.removeValue(forKey: id) != nil { hasChanged = true }
    var now: [(layer: LayerID, state: LayerViewState)] = []
    for top in trees.tops { add(top, at: known.scale, to: &now) }
    for (layer, state) in now where known.states[layer] != state {
      known.states[layer] = state
      hasChanged = true
    }
    guard hasChanged else { return }
    derived.views[view.id] = known
    record(.changed(view.reference, .layerViewStates), by: trees.origin)
  }

  private mutating func recordStates(in view: View, by origin: Origin) {
    let states = TreeDictionary(uniqueKeysWithValues: layerViewStates(of: view).map { ($0.layer, $0.state) })
    let new = Derived.ViewStates(scale: view.camera.scale, states: states)
    if let old = derived.views.updateValue(new, forKey: view.id), old.states != states {
      record(.changed(view.reference, .layerViewStates), by: origin)
    }
  }
}
