// Records changes of derived state. Computes only what the changes invalidate, so that the cost of adding a layer does not grow
// with the number of layers in its map.

import HashTreeCollections

/// Derived state that changes have invalidated, each with the origin of the last such change.
private struct Invalid {
  /// Maps, scenes and groups in which a layer's status changed, or a layer was added or removed.
  var statuses: [ObjectReference: Origin] = [:]
  /// Containers in `statuses` whose first failed layer may be another one.
  var reordered: Set<ObjectReference> = []
  /// Earlier statuses of the objects whose status has changed.
  var changed: [ObjectReference: (before: LoadStatus, origin: Origin)] = [:]
  /// By map or scene, the layers whose view states may have changed.
  var trees: [ViewContent: Trees] = [:]
  var rescaled: [ViewID: Origin] = [:]

  struct Trees {
    private(set) var origin: Origin
    /// Top-level layers; each stands for its whole subtree.
    private(set) var tops: Set<LayerID> = []
    private(set) var removed: [LayerID] = []

    init(origin: Origin) { self.origin = origin }

    mutating func add(top: LayerID, by origin: Origin) {
      tops.insert(top)
      self.origin = origin
    }

    mutating func add(removed: LayerID, by origin: Origin) {
      self.removed.append(removed)
      self.origin = origin
    }
  }
}

extension World {
  /// Records changes of derived state since the last call. ``takeChanges()`` calls it; further calls are harmless.
  ///
  /// - Complexity: O(changes), plus O(views + layers of the changed subtrees) for each map and scene concerned;
  ///   O(layers) for a view whose scale changed, and for a container with more than one failed layer.
  public mutating func recordDerived() {
    let unexamined = takeUnexamined()
    guard !unexamined.isEmpty else { return }
    var invalid = Invalid()
    for change in unexamined {
      invalidate(by: change, &invalid)
      notice(change)
    }
    recordLoadStatuses(&invalid)
    for view in viewsShowing(invalid.trees.keys) {
      if let trees = invalid.trees[view.content] { recordStates(of: trees, in: view) }
    }
    for (id, origin) in invalid.rescaled.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let view = views[id] else {
        derived.views[id] = nil
        continue
      }
      // Layer view states depend on the scale alone.
      if derived.views[id]?.scale != view.camera.scale { recordStates(in: view, by: origin) }
    }
    guard !fencing.noticed.isEmpty else { return }
    judgeNoticed()
    recordDerived()
  }

  private mutating func invalidate(by change: Change, _ invalid: inout Invalid) {
    let origin = change.origin
    switch change.event {
    case .created(let object):
      switch object.collection {
      case .maps, .scenes: invalid.statuses[object] = origin
      case .layers:
        guard let number = change.number else { break }
        count(number, by: origin, &invalid)
        if derived.counted[CreationNumber(number)]?.isGroup == true { invalid.statuses[object] = origin }
      case .views: invalid.rescaled[ViewID(object.id)] = origin
      default: break
      }
    case .closed(let object):
      switch object.collection {
      case .maps, .scenes: invalid.statuses[object] = origin
      case .layers: if let number = change.number { countNoMore(object, number, by: origin, &invalid) }
      case .views:
        // A later view with the same id is another object.
        derived.views[ViewID(object.id)] = nil
        invalid.rescaled[ViewID(object.id)] = origin
      default: break
      }
    case .changed(let object, let property):
      switch (object.collection, property) {
      case (.layers, .loadStatus), (.layers, .group):
        if let number = layers.number(of: LayerID(object.id)) { count(number, by: origin, &invalid) }
      case (.layers, .layers):
        invalidateOrder(object, by: origin, &invalid)
        invalidateTree(of: LayerID(object.id), by: origin, &invalid)
      case (.layers, .isVisible), (.layers, .minScale), (.layers, .maxScale), (.layers, .visibilityMode):
        invalidateTree(of: LayerID(object.id), by: origin, &invalid)
      case (.maps, .operationalLayers), (.maps, .basemap), (.maps, .tables), (.scenes, .operationalLayers),
        (.scenes, .basemap), (.scenes, .tables):
        invalidateOrder(object, by: origin, &invalid)
      case (.views, .map), (.views, .scene):
        // The content is another one, so all states are computed again.
        derived.views[ViewID(object.id)]?.scale = .nan
        invalid.rescaled[ViewID(object.id)] = origin
      case (.views, .viewpoint), (.views, .width), (.views, .dpi): invalid.rescaled[ViewID(object.id)] = origin
      default: break
      }
    case .replaced, .member, .graphics, .entities, .clock, .history, .document: break
    }
  }

  /// The views of maps and scenes, in the order of creation.
  private func viewsShowing(_ contents: some Sequence<ViewContent>) -> [View] {
    let ids = contents.flatMap { content in
      referrers(to: content.reference, of: View.self).filter { views[$0]?.content == content }
    }
    return ids.map { (id: $0, number: views.number(of: $0) ?? 0) }.sorted { $0.number < $1.number }
      .compactMap { views[$0.id] }
  }

  // MARK: Load status

  /// Updates the tally of the container for a layer's current status and container.
  ///
  /// - Parameter number: the number of the layer, which may be removed by now.
  private mutating func count(_ number: Int, by origin: Origin, _ invalid: inout Invalid) {
    let new = layers.read(at: number) { layer in
      Derived.Counted(
        container: layer.pointee.container, parent: layer.pointee.directContainer,
        isGroup: layer.pointee.kind == .group,
        status: layer.pointee.ownLoadStatus ?? derived.loadStatuses[layer.pointee.reference] ?? .loaded)
    }
    guard let new else { return }
    if let old = derived.counted.updateValue(new, forKey: CreationNumber(number)) { add(old, -1, by: origin, &invalid) }
    add(new, 1, by: origin, &invalid)
    invalidateTree(of: number, by: origin, &invalid)
  }

  /// Removes a layer from the tally of its container.
  private mutating func countNoMore(
    _ layer: ObjectReference, _ number: Int, by origin: Origin, _ invalid: inout Invalid
  ) {
    guard let old = derived.counted.removeValue(forKey: CreationNumber(number)) else { return }
    if old.isGroup { derived.loadStatuses[layer] = nil }
    add(old, -1, by: origin, &invalid)
    invalid.trees[old.container, default: Invalid.Trees(origin: origin)].add(removed: LayerID(layer.id), by: origin)
  }

  private mutating func add(_ counted: Derived.Counted, _ by: Int, by origin: Origin, _ invalid: inout Invalid) {
    guard counted.status != .loaded else { return }
    var tally = derived.tallies[counted.parent] ?? Derived.Tally()
    tally.count(counted.status, by)
    derived.tallies[counted.parent] = tally == Derived.Tally() ? nil : tally
    invalid.statuses[counted.parent] = origin
    if case .failed = counted.status { invalid.reordered.insert(counted.parent) }
  }

  /// Marks a container whose set or order of layers has changed.
  private func invalidateOrder(_ object: ObjectReference, by origin: Origin, _ invalid: inout Invalid) {
    guard let failed = derived.tallies[object]?.failed, failed > 0 else { return }
    // A single failed layer determines the status at any index.
    if failed == 1, case .failed? = derived.loadStatuses[object] { return }
    invalid.statuses[object] = origin
    invalid.reordered.insert(object)
  }

  private mutating func recordLoadStatuses(_ invalid: inout Invalid) {
    // The status of a group counts in its container, so changes propagate upwards.
    while !invalid.statuses.isEmpty {
      let statuses = invalid.statuses
      invalid.statuses = [:]
      for (object, origin) in statuses { recordLoadStatus(of: object, by: origin, &invalid) }
    }
    for (object, change) in invalid.changed.sorted(by: { Self.order($0.key) < Self.order($1.key) }) {
      guard let now = derived.loadStatuses[object], now != change.before else { continue }
      record(.changed(object, .loadStatus), by: change.origin)
    }
  }

  private mutating func recordLoadStatus(of object: ObjectReference, by origin: Origin, _ invalid: inout Invalid) {
    let isReordered = !invalid.reordered.isEmpty && invalid.reordered.remove(object) != nil
    guard let number = number(of: object) else {
      derived.loadStatuses[object] = nil
      return
    }
    let old = derived.loadStatuses[object]
    let new = merged(object, old, isReordered: isReordered)
    guard new != old else { return }
    derived.loadStatuses[object] = new
    // Deltas send new objects whole, so they need no record.
    if let old, invalid.changed[object] == nil { invalid.changed[object] = (old, origin) }
    invalid.changed[object]?.origin = origin
    // A group without a known status has been counted as loaded.
    if object.collection == .layers, new != old ?? .loaded { count(number, by: origin, &invalid) }
  }

  /// Maps and scenes before groups.
  private static func order(_ object: ObjectReference) -> (Int, String) {
    (object.collection == .layers ? 1 : 0, object.id)
  }

  /// The load status of a map, scene or group from its tally. Layers are read only to find the first failed one.
  private func merged(_ object: ObjectReference, _ old: LoadStatus?, isReordered: Bool) -> LoadStatus {
    let tally = derived.tallies[object] ?? Derived.Tally()
    guard tally.failed > 0 else {
      return tally.loading > 0 ? .loading : tally.notLoaded > 0 ? .notLoaded : .loaded
    }
    if case .failed? = old, !isReordered, let old { return old }
    return status(of: object)
  }

  /// The load status of a map, scene or group from its layers.
  private func status(of object: ObjectReference) -> LoadStatus {
    switch object.collection {
    case .maps: computedLoadStatus(of: .map(MapID(object.id)))
    case .scenes: computedLoadStatus(of: .scene(SceneID(object.id)))
    default: layers[LayerID(object.id)].map { computedLoadStatus(of: $0) } ?? .loaded
    }
  }

  // MARK: Layers in views

  private func invalidateTree(of id: LayerID, by origin: Origin, _ invalid: inout Invalid) {
    if let number = layers.number(of: id) { invalidateTree(of: number, by: origin, &invalid) }
  }

  private func invalidateTree(of number: Int, by origin: Origin, _ invalid: inout Invalid) {
    let layer = layers.read(at: number) { layer in
      (
        id: layer.pointee.id, kind: layer.pointee.kind, group: layer.pointee.group, container: layer.pointee.container
      )
    }
    // Views do not show tables.
    guard let layer, layer.kind != .table else { return }
    let top = layer.group.flatMap { groups(around: $0).last } ?? layer.id
    invalid.trees[layer.container, default: Invalid.Trees(origin: origin)].add(top: top, by: origin)
  }

  /// Records changed layer view states of one view.
  private mutating func recordStates(of trees: Invalid.Trees, in view: View) {
    // States of a view that is new or has another scale are computed as a whole elsewhere.
    guard var known = derived.views[view.id], known.scale == view.camera.scale else { return }
    let before = known.states
    for id in trees.removed { known.states[id] = nil }
    var now: [(layer: LayerID, state: LayerViewState)] = []
    for top in trees.tops { add(top, at: known.scale, to: &now) }
    for (layer, state) in now where known.states[layer] != state { known.states[layer] = state }
    guard known.states != before else { return }
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
