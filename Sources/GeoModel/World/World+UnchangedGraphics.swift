// Finds graphics that were changed and changed back within one command or transaction, whose records are dropped.

extension World {
  /// Graphics that were recorded more than once and have the state again that they had when the command began.
  ///
  /// The order of insertion is not compared, as it is not published. Overlays with changes of several origins are
  /// skipped: a value that is unchanged for one origin is new to another.
  ///
  /// - Complexity: linear in the journal and, for overlays with several edits, in the graphics of these.
  func equalGraphics() -> [OverlayID: Set<Int>] {
    var equal: [OverlayID: Set<Int>] = [:]
    for (id, edits) in Dictionary(grouping: journal.lazy.compactMap { $0 as? Edited }, by: \.id)
    // The several records of one call contain each graphic once.
    where edits.reduce(0, { $0 + $1.calls }) > 1 {
      let ids = equalGraphics(of: id, edits)
      if !ids.isEmpty { equal[id] = ids }
    }
    return equal
  }

  private func equalGraphics(of id: OverlayID, _ edits: [Edited]) -> Set<Int> {
    guard let store = overlays[id]?.store else { return [] }
    var equal: Set<Int> = []
    var open: [Int] = []
    for (graphic, wasThere) in repeated(in: id) {
      switch (wasThere, store.contains(id: graphic)) {
      case (false, false): equal.insert(graphic)
      case (true, true): open.append(graphic)
      default: break
      }
    }
    guard !open.isEmpty else { return equal }
    // An overlay that the command inserts is published as a whole.
    let overlay = ObjectReference(.overlays, id.rawValue)
    guard !journal.contains(where: { $0.kind.isStructure && $0.object == overlay }) else { return equal }
    return equal.union(store.equal(open, since: edits.map(\.undoRecord)))
  }

  /// Graphics that one origin recorded more than once, each with whether it existed before.
  private func repeated(in overlay: OverlayID) -> [Int: Bool] {
    var edits: [GraphicsEdit] = []
    var ids: [Int] = []
    var origins: Set<Origin> = []
    for change in recorded {
      guard case .graphics(overlay, let edit) = change.event else { continue }
      edits.append(edit)
      edit.ids.forEach { ids.append($0) }
      origins.insert(change.origin)
    }
    guard origins.count == 1 else { return [:] }
    // Ids mostly ascend; sorting is linear then.
    ids.sort()
    let repeated = Set(zip(ids, ids.dropFirst()).lazy.filter { $0 == $1 }.map(\.0))
    guard !repeated.isEmpty else { return [:] }
    var wasThere: [Int: Bool] = [:]
    for edit in edits.reversed() {
      edit.ids.forEach { if repeated.contains($0) { wasThere[$0] = edit.kind != .added } }
    }
    return wasThere
  }
}

extension GraphicsEdit {
  /// The edit without some graphics; nil if none are left.
  func without(_ graphics: Set<Int>) -> GraphicsEdit? {
    var left: [Int] = []
    ids.forEach { if !graphics.contains($0) { left.append($0) } }
    guard left.count < ids.count else { return self }
    return left.isEmpty ? nil : GraphicsEdit(kind, .list(left))
  }
}
