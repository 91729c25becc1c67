// Coalesces undo records and change records of a command, a transaction or an edit: changes that cancel each other out
// are dropped.

import FeatureStore

extension World {
  /// The undo records that revert the same changes, without those of objects that were inserted and removed, or that are back in
  /// their earlier state.
  ///
  /// Stores drop edits of graphics without effect at once, since earlier undo records apply to the state before those edits.
  ///
  /// - Complexity: linear in the records, and in the graphics of edits without effect.
  mutating func coalesced(_ undoRecords: [any UndoRecord]) -> [any UndoRecord] {
    let (inserted, structural) = structure(undoRecords)
    var result: [any UndoRecord] = []
    var values: [ViewModelID: Int] = [:]
    var graphics: [OverlayID: [Int]] = [:]
    for undoRecord in undoRecords where !inserted.contains(undoRecord.object) || revision(of: undoRecord.object) != nil
    {
      if !structural.contains(undoRecord.object) {
        if let later = undoRecord as? ValuesChanged {
          if let index = values[later.id], let first = result[index] as? ValuesChanged {
            result[index] = first.merged(with: later)
            continue
          }
          values[later.id] = result.count
        } else if let edit = undoRecord as? Edited {
          graphics[edit.id, default: []].append(result.count)
        }
      }
      result.append(undoRecord)
    }
    var noOps: Set<Int> = []
    for index in values.values {
      guard let undoRecord = result[index] as? ValuesChanged else { continue }
      if let remaining = undoRecord.differing(in: self) { result[index] = remaining } else { noOps.insert(index) }
    }
    for (id, indexes) in graphics {
      let edits = indexes.compactMap { (result[$0] as? Edited)?.undoRecord }
      guard let back = overlays.modify(id, { $0.store.forget(edits) }) ?? nil else { continue }
      for undoRecord in back { recordUndo(Edited(id: id, undoRecord: undoRecord, isUndone: false)) }
      noOps.formUnion(indexes)
    }
    guard !noOps.isEmpty else { return result }
    return result.indices.lazy.filter { !noOps.contains($0) }.map { result[$0] }
  }

  /// Objects whose first record is an insertion, and all objects that were inserted or removed.
  private func structure(
    _ undoRecords: [any UndoRecord]
  ) -> (inserted: Set<ObjectReference>, structural: Set<ObjectReference>) {
    var inserted: Set<ObjectReference> = []
    var structural: Set<ObjectReference> = []
    for undoRecord in undoRecords where undoRecord.kind.isStructure {
      if structural.insert(undoRecord.object).inserted, undoRecord.kind == .insertion {
        inserted.insert(undoRecord.object)
      }
    }
    return (inserted, structural)
  }
}

extension World {
  /// Drops change records of members and graphics whose value is again the one at the beginning of the command.
  ///
  /// - Complexity: linear in the change records, and in the journal if a member or graphic was recorded more than once.
  mutating func dropUnchangedRecords() {
    // Derived state may have changed and changed back as well.
    recordDerived()
    let graphics = equalGraphics()
    let twice = pathsRecordedTwice()
    guard !twice.isEmpty || !graphics.isEmpty else { return }
    let objects = Set(twice.map(\.object))
    let known = Dictionary(grouping: journal.records.filter { objects.contains($0.object) }, by: \.object)
    let nodes = twice.contains { $0.names[2] == "environment" } ? Set(nodesWithChangedEnvironment()) : []
    let equal = twice.filter { path in
      guard let object = path.object else { return false }
      let undoRecords = known[object] ?? []
      guard !undoRecords.contains(where: \.kind.isStructure) else { return false }
      let name = path.names[2].string
      if name == "environment", object.collection != .viewModels { return !nodes.contains(object) }
      for record in undoRecords {
        if let isUnchanged = record.isUnchanged(name, in: self) { return isUnchanged }
      }
      return isDerivedUnchanged(name, of: object)
    }
    guard !equal.isEmpty || !graphics.isEmpty else { return }
    compactMapRecords { event in
      if case .graphics(let overlay, let edit) = event, let ids = graphics[overlay] {
        return edit.without(ids).map { .graphics(overlay, $0) }
      }
      return equal.contains(event.path) ? nil : event
    }
  }

  /// Members that one origin alone recorded more than once. With several origins, the records stay, since each origin only knows
  /// its own value.
  private func pathsRecordedTwice() -> Set<ModelPath> {
    guard recorded.count > 1 else { return [] }
    var origins: [ModelPath: Origin] = [:]
    var twice: Set<ModelPath> = []
    var mixed: Set<ModelPath> = []
    for change in recorded {
      switch change.event {
      case .changed, .member: break
      case .replaced, .created, .closed, .graphics, .entities, .clock, .history, .document: continue
      }
      let path = change.event.path
      guard let origin = origins.updateValue(change.origin, forKey: path) else { continue }
      twice.insert(path)
      if origin != change.origin { mixed.insert(path) }
    }
    return twice.subtracting(mixed)
  }

  /// Whether a member is derived and has the same value as at the beginning of the command.
  private func isDerivedUnchanged(_ name: String, of object: ObjectReference) -> Bool {
    let before = derivedAtBeginning
    switch name {
    case "loadStatus": return derived.loadStatuses[object].map { $0 == before.loadStatuses[object] } ?? false
    case "layerViewStates":
      let id = ViewID(object.id)
      return derived.views[id].map { $0.states == before.views[id]?.states } ?? false
    default: return false
    }
  }
}

extension ValuesChanged {
  /// Merges this and a later record: of each property, the first value counts.
  func merged(with later: ValuesChanged) -> ValuesChanged {
    ValuesChanged(
      id: id, before: before + later.before.filter { entry in !before.contains { $0.name == entry.name } })
  }

  /// The entries that differ from the current values; nil if there is none.
  func differing(in world: World) -> ValuesChanged? {
    guard let model = world.viewModels[id] else { return self }
    let remaining = before.filter { entry in
      (try? model.property(entry.name).isUndone) ?? false && model.values[entry.name] ?? .null != entry.value
    }
    return remaining.isEmpty ? nil : ValuesChanged(id: id, before: remaining)
  }
}
