// What layers are changed in: appearance, time, how a group shows what is in it, and which features are selected.

import Query

extension World {
  /// Changes a layer. One that is made visible in an exclusive group hides the others there.
  ///
  /// - Throws: also what could never show anything of the layer's fields.
  public mutating func updateLayer(_ id: LayerID, _ changes: [MemberChange]) throws(ModelError) {
    try update(id, changes) { (layer, old, members) throws(ModelError) in
      for member in members {
        if let value = member.ownValue(of: layer) { try layer.features?.check(value, at: member.name) }
      }
      try layer.finishUpdate(from: old)
    }
    let isShown = changes.contains { if $0.name == "isVisible", case .flag(true)? = $0.value { true } else { false } }
    if isShown, let layer = layers[id] { hideOthers(around: layer) }
  }

  /// Changes a layer as its document says, whatever its fields have become since: ``fault(of:)`` tells. Layers of an exclusive group
  /// that were visible side by side are so again: the last one shows.
  public mutating func restoreLayer(_ id: LayerID, _ changes: [MemberChange]) throws(ModelError) {
    try update(id, changes) { (layer, old, _) throws(ModelError) in try layer.finishUpdate(from: old) }
  }

  /// What of a layer asks for fields that its features do not have; nil for nothing.
  public func fault(of layer: Layer) -> ModelError? {
    guard let features = layer.features else { return nil }
    do {
      for member in Layer.members where member.traits.contains(.settable) {
        if let value = member.ownValue(of: layer) { try features.check(value, at: member.name) }
      }
      return nil
    } catch { return error }
  }

  private mutating func hideOthers(around layer: Layer) {
    guard let grouping = layer.group.flatMap({ layers[$0]?.grouping }), grouping.visibilityMode == .exclusive else {
      return
    }
    for other in grouping.layers where other != layer.id && layers[other]?.appearance.isVisible == true {
      changeKnown(other) { $0.appearance.isVisible = false }
    }
  }

  // MARK: Selection

  /// Changes the selection of a loaded layer; answers how many of the features that count are selected then. Features that do not
  /// count are not selected. Undo leaves selections alone.
  public mutating func selectFeatures(
    _ ids: [Int], _ mode: SelectionMode, of id: LayerID
  ) throws(ModelError) -> Int {
    let old = try layers.require(id).requireFeatures()
    guard let store = old.store else { throw .notLoaded(id.rawValue) }
    let before = store.selectedIDs
    let selected = Set(before)
    // What was selected before a filter hid it can still be let go.
    let wanted = mode == .remove ? Set(ids) : old.shown(ids)
    var changed: Set<Int>
    switch mode {
    case .add: changed = wanted.subtracting(selected)
    case .remove: changed = wanted.intersection(selected)
    case .replace: changed = wanted.symmetricDifference(selected)
    }
    let unknown = ids.enumerated().filter { !store.contains(id: $0.element) }
    guard unknown.isEmpty else {
      throw .items(
        unknown.prefix(100).map { item in
          ItemError(index: item.offset, .noFeature(item.element))
        }, count: unknown.count)
    }
    guard !changed.isEmpty else { return old.selectedCount }
    recordUndo(Selected(id: id, ids: before))
    do {
      try layers.modify(id) { (layer) throws(StoreFailure) in
        try layer.features?.store?.setSelected(false, ids: changed.intersection(selected).sorted())
        try layer.features?.store?.setSelected(true, ids: changed.subtracting(selected).sorted())
        layer.features?.countSelected()
      }
    } catch { throw ModelError(error) }
    // Others may be selected though they are as many as before.
    record(.changed(ObjectReference(.layers, id.rawValue), .selectedCount))
    touch(id)
    return layers[id]?.features?.selectedCount ?? 0
  }
}

/// The selection of a layer was another.
struct Selected: UndoRecord {
  let id: LayerID
  let ids: [Int]
  var byteCount: Int { 64 + ids.count * 8 }
  var object: ObjectReference { ObjectReference(.layers, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { false }
  func rollBack(_ world: inout World) {
    _ = world.layers.modify(id) { layer in
      let now = layer.store?.selectedIDs ?? []
      // Both are ids of features that are there.
      try? layer.features?.store?.setSelected(false, ids: now)
      try? layer.features?.store?.setSelected(true, ids: ids)
      layer.features?.countSelected()
    }
  }
  func undo(_ world: inout World) {}
}

extension Layer {
  fileprivate mutating func finishUpdate(from old: Layer) throws(ModelError) {
    try appearance.checkScaleRange()
    if let old = old.features, features?.filtersDiffer(from: old) == true { features?.countSelected() }
  }
}

extension LayerFeatures {
  /// Refuses the value of a member that asks for fields which are not there, or cannot be used so.
  ///
  /// - Parameter name: of the member, for errors.
  fileprivate func check(_ value: MemberValue, at name: String) throws(ModelError) {
    let path = "/" + name
    // A layer's fields are known before its features are.
    var declared: FeatureSchema { FeatureStore(fields: schema.fields).schema }
    switch value {
    case .expression(let expression):
      _ = try Expression.condition(expression.text, over: store?.schema ?? declared, at: path)
    case .time(let time): try check(time, at: path)
    default:
      do throws(SymbologyError) { try value.checkSymbology(for: declared) } catch {
        throw .symbology(error.under(name))
      }
    }
  }
}

extension MemberValue {
  /// Refuses what features with these columns could never show.
  fileprivate func checkSymbology(for schema: @autoclosure () -> FeatureSchema) throws(SymbologyError) {
    switch self {
    case .renderer(let renderer): try renderer.check(for: schema())
    case .labels(let labels):
      let schema = schema()
      for (index, label) in labels.enumerated() {
        do { try label.check(for: schema) } catch { throw error.under(String(index)) }
      }
    case .popup(let popup): try popup.check(for: schema())
    default: break
    }
  }
}
