// What a step of history keeps of all that was noted in it: what it comes to, not the way there.

import Query

extension World {
  /// What undo has to do to take all of this back: nothing about what came and went, or is again what it was.
  ///
  /// Edits of graphics that came to nothing are taken back at once, which shows nowhere: earlier reversals count on it.
  ///
  /// - Complexity: linear in the notes, and in what an edit of graphics changed where that came to nothing.
  mutating func net(_ reversals: [any Reversal]) -> [any Reversal] {
    guard mayComeToLess(reversals) else { return reversals }
    let (came, moved) = structure(reversals)
    var net: [any Reversal] = []
    var values: [ViewModelID: Int] = [:]
    var graphics: [OverlayID: [Int]] = [:]
    for reversal in reversals where !came.contains(reversal.object) || revision(of: reversal.object) != nil {
      if !moved.contains(reversal.object) {
        if let later = reversal as? ValuesChanged {
          if let place = values[later.id], let first = net[place] as? ValuesChanged {
            net[place] = first.folded(with: later)
            continue
          }
          values[later.id] = net.count
        } else if let edit = reversal as? Edited<Overlay> {
          graphics[edit.id, default: []].append(net.count)
        }
      }
      net.append(reversal)
    }
    var void: Set<Int> = []
    for place in values.values {
      guard let reversal = net[place] as? ValuesChanged else { continue }
      if let rest = reversal.differing(in: self) { net[place] = rest } else { void.insert(place) }
    }
    for (id, places) in graphics {
      let edits = places.compactMap { (net[$0] as? Edited<Overlay>)?.reversal }
      guard let back = overlays.modify(id, { $0.store.forget(edits) }) ?? nil else { continue }
      for reversal in back { note(Edited<Overlay>(id: id, reversal: reversal, isUndone: false)) }
      void.formUnion(places)
    }
    guard !void.isEmpty else { return net }
    return net.indices.lazy.filter { !void.contains($0) }.map { net[$0] }
  }

  /// False where a look at each note says that all of them count, as it does of a bulk edit in many commands.
  private func mayComeToLess(_ reversals: [any Reversal]) -> Bool {
    var last: OverlayID?
    for reversal in reversals {
      switch reversal.kind {
      // What is not another has been left out already.
      case .members, .revision: continue
      case .coming, .going: return true
      case .contents:
        guard let edit = reversal as? Edited<Overlay> else { return true }
        guard edit.id != last else { continue }
        last = edit.id
        guard overlays[edit.id]?.store.isOther(since: edit.reversal) == true else { return true }
      }
    }
    return false
  }

  /// The objects that came, first of all that happened to them; and those that came or went at all.
  private func structure(
    _ reversals: [any Reversal]
  ) -> (came: Set<ObjectReference>, moved: Set<ObjectReference>) {
    var came: Set<ObjectReference> = []
    var moved: Set<ObjectReference> = []
    for reversal in reversals where reversal.kind.isStructure {
      if moved.insert(reversal.object).inserted, reversal.kind == .coming { came.insert(reversal.object) }
    }
    return (came, moved)
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
