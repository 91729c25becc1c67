// Changes of selections, for graphics and features.

import FeatureStore

/// How given ids change a selection.
public enum SelectionMode: Hashable, Sendable {
  case new, add, subtract

  /// The rows whose selection changes when rows are given. Both lists are ascending, as is the result.
  ///
  /// - Complexity: O(rows).
  func changes(of selected: [UInt32], by given: [UInt32]) -> [UInt32] {
    var result: [UInt32] = []
    var (next, nextSelected) = (0, 0)
    while next < given.count || nextSelected < selected.count {
      let isGiven = next < given.count && (nextSelected == selected.count || given[next] <= selected[nextSelected])
      let isSelected = nextSelected < selected.count && (next == given.count || selected[nextSelected] <= given[next])
      let row = isGiven ? given[next] : selected[nextSelected]
      let isChanged =
        switch self {
        case .new: isGiven != isSelected
        case .add: isGiven && !isSelected
        case .subtract: isGiven && isSelected
        }
      if isChanged { result.append(row) }
      next += isGiven ? 1 : 0
      nextSelected += isSelected ? 1 : 0
    }
    return result
  }
}

extension FeatureStore {
  /// Throws `items` with each id that does not exist.
  func requireAll(_ ids: [Int], _ error: (Int) -> ItemError.Reason) throws(ModelError) {
    let unknown = ids.enumerated().filter { !contains(id: $0.element) }
    guard unknown.isEmpty else {
      throw .items(
        unknown.prefix(100).map { ItemError(index: $0.offset, error($0.element)) }, count: unknown.count)
    }
  }
}

extension World {
  /// Changes the selection of a layer, an overlay or an entity source by those of `ids` that still exist. The ids come from an
  /// earlier state of the object.
  ///
  /// - Returns: the existing ids, and the number of selected features; nil if the object is closed or not loaded.
  public mutating func select(
    existing ids: [Int], _ mode: SelectionMode, of object: ObjectReference
  ) throws(ModelError) -> (ids: [Int], count: Int)? {
    if object.collection == .overlays {
      guard let ids = overlays[OverlayID(object.id)].map({ ids.filter($0.store.contains(id:)) }) else { return nil }
      return (ids, try selectGraphics(ids, mode, of: OverlayID(object.id)))
    }
    if object.collection == .entitySources {
      guard let store = entitySources.read(EntitySourceID(object.id), { $0.pointee.contents.entities }) else { return nil }
      let ids = ids.filter(store.contains(id:))
      toggleSelection(of: mode.changes(of: store.selectedRows, by: store.rows(of: ids)), in: object)
      return (ids, entitySources.read(EntitySourceID(object.id)) { $0.pointee.contents.entities.selectedCount } ?? 0)
    }
    guard let store = layers[LayerID(object.id)].flatMap({ live($0).store }) else { return nil }
    let ids = ids.filter(store.contains(id:))
    return (ids, try selectFeatures(ids, mode, of: LayerID(object.id)))
  }

  /// Changes the selection of a loaded layer. Hidden features cannot be selected. Undo leaves selections alone.
  ///
  /// - Returns: the number of visible selected features.
  /// - Complexity: O(ids log n + n / 64).
  public mutating func selectFeatures(
    _ ids: [Int], _ mode: SelectionMode, of id: LayerID
  ) throws(ModelError) -> Int {
    let changed = try changes(ofSelectionOf: id, by: ids, mode)
    toggleSelection(of: changed, in: layers[id]?.features?.entitySource.map { ObjectReference(.entitySources, $0.rawValue) }
      ?? ObjectReference(.layers, id.rawValue))
    return selectedCount(of: id)
  }

  private func selectedCount(of id: LayerID) -> Int { layers[id].flatMap { live($0).features?.selectedCount } ?? 0 }

  private func changes(
    ofSelectionOf id: LayerID, by ids: [Int], _ mode: SelectionMode
  ) throws(ModelError) -> [UInt32] {
    let features = try live(try layers.require(id)).requireFeatures()
    guard let store = features.store else { throw .notLoaded(id.rawValue) }
    try store.requireAll(ids) { .noFeature($0) }
    let rows = store.rows(of: ids)
    // Subtraction may name features that a filter hides.
    return mode.changes(of: store.selectedRows, by: mode == .subtract ? rows : features.shown(rows))
  }

  /// Changes the selection of rows of a layer or of an entity source, whose entities are the features of the layers over it.
  private mutating func toggleSelection(of rows: [UInt32], in object: ObjectReference) {
    guard !rows.isEmpty else { return }
    recordUndo(Selected(object: object, ids: selectable(object)?.ids(of: rows) { _ in } ?? []))
    toggle(rows, in: object)
    // Recorded even if the count is equal, since other features are selected.
    let changed = object.collection == .layers ? [LayerID(object.id)] : layers(over: object)
    for layer in changed {
      record(.changed(ObjectReference(.layers, layer.rawValue), .selectedCount))
      touch(layer)
    }
  }

  fileprivate func selectable(_ object: ObjectReference) -> FeatureStore? {
    object.collection == .layers
      ? layers[LayerID(object.id)]?.features?.store
      : entitySources.read(EntitySourceID(object.id)) { $0.pointee.contents.entities }
  }

  fileprivate mutating func toggle(_ rows: [UInt32], in object: ObjectReference) {
    guard object.collection == .layers else {
      _ = entitySources.modify(EntitySourceID(object.id)) { $0.contents.toggleSelected(rows) }
      return
    }
    _ = layers.modify(LayerID(object.id)) { layer in
      layer.features?.store?.toggleSelected(rows)
      layer.features?.countSelected()
    }
  }

  /// Changes the selection of an overlay.
  ///
  /// - Returns: the number of selected graphics.
  /// - Complexity: O(ids log n + n / 64).
  public mutating func selectGraphics(_ ids: [Int], _ mode: SelectionMode, of id: OverlayID) throws(ModelError) -> Int {
    let changed = try changes(ofSelectionOf: id, by: ids, mode)
    guard !changed.isEmpty else { return overlays[id]?.selectedCount ?? 0 }
    let ids = overlays[id]?.store.ids(of: changed) { _ in } ?? []
    try edit(id, isUndone: false) { (store, undoRecord) throws(StoreFailure) in
      store.toggleSelected(changed, recording: &undoRecord)
      return ((), [GraphicsEdit(kind: .updated, ids: .list(ids))])
    }
    return overlays[id]?.selectedCount ?? 0
  }

  private func changes(
    ofSelectionOf id: OverlayID, by ids: [Int], _ mode: SelectionMode
  ) throws(ModelError) -> [UInt32] {
    let store = try overlays.require(id).store
    try store.requireAll(ids) { .store(.noSuchID($0)) }
    return mode.changes(of: store.selectedRows, by: store.rows(of: ids))
  }
}

/// Reverts a change of the selection of a layer or an entity source.
private struct Selected: UndoRecord {
  let object: ObjectReference
  /// The ids that were selected or deselected.
  let ids: [Int]
  var byteCount: Int { 64 + ids.count * 8 }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { false }
  func rollBack(_ world: inout World) { world.toggle(world.selectable(object)?.rows(of: ids) ?? [], in: object) }
  func undo(_ world: inout World) {}
}
