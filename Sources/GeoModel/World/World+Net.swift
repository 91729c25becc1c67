// What is kept of all that a command, a transaction or an edit noted and recorded: what it comes to, not the way there.

import Query

extension World {
  /// What undo has to do to take all of this back: nothing about what came and went, or is again what it was.
  ///
  /// Edits of graphics that came to nothing are taken back at once, which shows nowhere: earlier reversals count on it.
  ///
  /// - Complexity: linear in the notes, and in what an edit of graphics changed where that came to nothing.
  mutating func net(_ undoRecords: [any UndoRecord]) -> [any UndoRecord] {
    guard mayComeToLess(undoRecords) else { return undoRecords }
    let (came, moved) = structure(undoRecords)
    var net: [any UndoRecord] = []
    var values: [ViewModelID: Int] = [:]
    var graphics: [OverlayID: [Int]] = [:]
    for undoRecord in undoRecords where !came.contains(undoRecord.object) || revision(of: undoRecord.object) != nil {
      if !moved.contains(undoRecord.object) {
        if let later = undoRecord as? ValuesChanged {
          if let place = values[later.id], let first = net[place] as? ValuesChanged {
            net[place] = first.folded(with: later)
            continue
          }
          values[later.id] = net.count
        } else if let edit = undoRecord as? Edited<Overlay> {
          graphics[edit.id, default: []].append(net.count)
        }
      }
      net.append(undoRecord)
    }
    var void: Set<Int> = []
    for place in values.values {
      guard let undoRecord = net[place] as? ValuesChanged else { continue }
      if let rest = undoRecord.differing(in: self) { net[place] = rest } else { void.insert(place) }
    }
    for (id, places) in graphics {
      let edits = places.compactMap { (net[$0] as? Edited<Overlay>)?.undoRecord }
      guard let back = overlays.modify(id, { $0.store.forget(edits) }) ?? nil else { continue }
      for undoRecord in back { note(Edited<Overlay>(id: id, undoRecord: undoRecord, isUndone: false)) }
      void.formUnion(places)
    }
    guard !void.isEmpty else { return net }
    return net.indices.lazy.filter { !void.contains($0) }.map { net[$0] }
  }

  /// False where a look at each note says that all of them count, as it does of a bulk edit in many commands.
  private func mayComeToLess(_ undoRecords: [any UndoRecord]) -> Bool {
    var last: OverlayID?
    for undoRecord in undoRecords {
      switch undoRecord.kind {
      // What is not another has been left out already.
      case .members, .revision: continue
      case .coming, .going: return true
      case .contents:
        guard let edit = undoRecord as? Edited<Overlay> else { return true }
        guard edit.id != last else { continue }
        last = edit.id
        guard overlays[edit.id]?.store.isOther(since: edit.undoRecord) == true else { return true }
      }
    }
    return false
  }

  /// The objects that came, first of all that happened to them; and those that came or went at all.
  private func structure(
    _ undoRecords: [any UndoRecord]
  ) -> (came: Set<ObjectReference>, moved: Set<ObjectReference>) {
    var came: Set<ObjectReference> = []
    var moved: Set<ObjectReference> = []
    for undoRecord in undoRecords where undoRecord.kind.isStructure {
      if moved.insert(undoRecord.object).inserted, undoRecord.kind == .coming { came.insert(undoRecord.object) }
    }
    return (came, moved)
  }
}

/// A member of an object as changes are recorded of it.
enum RecordedMember: Hashable {
  case property(Property)
  case value(String)
}

/// Where something was recorded.
private struct RecordedPath: Hashable {
  let object: ObjectReference
  let member: RecordedMember

  init?(_ event: Change.Event) {
    switch event {
    case .changed(let object, let property): (self.object, member) = (object, .property(property))
    case .member(let object, let name): (self.object, member) = (object, .value(name))
    case .created, .closed, .graphics, .clock, .history, .document: return nil
    }
  }
}

extension World {
  /// Forgets what was recorded of members and graphics that are again what they were when the command began: equal values tell nothing.
  ///
  /// - Complexity: linear in what was recorded; in the notes, too, where a member or a graphic was recorded twice.
  mutating func forgetEqual() {
    // What follows may have been recorded on the way, and be again what it was.
    recordDerived()
    let graphics = equalGraphics()
    let twice = recordedTwice()
    guard !twice.isEmpty || !graphics.isEmpty else { return }
    let objects = Set(twice.map(\.object))
    let known = Dictionary(grouping: notes.filter { objects.contains($0.object) }, by: \.object)
    let sees = twice.contains { $0.member == .property(.environment) } ? Set(nodesSeeingAnotherEnvironment()) : []
    let equal = twice.filter { place in
      let notes = known[place.object] ?? []
      guard !notes.contains(where: \.kind.isStructure) else { return false }
      if place.member == .property(.environment) { return !sees.contains(place.object) }
      for note in notes { if let isAgain = note.isAgain(place.member, in: self) { return isAgain } }
      return follows(place) ?? false
    }
    guard !equal.isEmpty || !graphics.isEmpty else { return }
    trimRecords { event in
      if case .graphics(let overlay, let edit) = event, let ids = graphics[overlay] {
        return edit.without(ids).map { .graphics(overlay, $0) }
      }
      return RecordedPath(event).map(equal.contains) ?? false ? nil : event
    }
  }

  /// Where something was recorded more than once, by one origin: elsewhere is another value, or one that its author does not know of.
  private func recordedTwice() -> Set<RecordedPath> {
    guard recorded.count > 1 else { return [] }
    var origins: [RecordedPath: Origin] = [:]
    var twice: Set<RecordedPath> = []
    var mixed: Set<RecordedPath> = []
    for change in recorded {
      guard let place = RecordedPath(change.event), let origin = origins.updateValue(change.origin, forKey: place)
      else {
        continue
      }
      twice.insert(place)
      if origin != change.origin { mixed.insert(place) }
    }
    return twice.subtracting(mixed)
  }

  /// Whether what follows from other things is again what it was; nil for what does not.
  private func follows(_ place: RecordedPath) -> Bool? {
    let before = derivedAtBeginning
    switch place.member {
    case .property(.loadStatus):
      return derived.loadStatuses[place.object].map { $0 == before.loadStatuses[place.object] }
    case .property(.layerViewStates):
      let id = ViewID(place.object.id)
      return derived.views[id].map { $0.states == before.views[id]?.states }
    default: return nil
    }
  }
}

extension ValuesChanged {
  /// This and a later one as one: of each property what it was first.
  func folded(with later: ValuesChanged) -> ValuesChanged {
    ValuesChanged(
      id: id, before: before + later.before.filter { entry in !before.contains { $0.name == entry.name } })
  }

  /// What of it still makes a difference; nil for nothing.
  func differing(in world: World) -> ValuesChanged? {
    guard let model = world.viewModels[id] else { return self }
    let rest = before.filter { entry in
      (try? model.property(entry.name).isUndone) ?? false && model.values[entry.name] ?? .null != entry.value
    }
    return rest.isEmpty ? nil : ValuesChanged(id: id, before: rest)
  }
}
